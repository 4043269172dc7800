/**
 * Our own routes under `/sluice/…`: what the console and the command line need beyond the
 * compatible API. Reached by `x-api-key` or by a console session.
 * Times are Unix milliseconds; sizes are bytes.
 */
import type { Route } from './routes.ts';

const route = <const M extends Route['method'], const P extends string>(method: M, path: P) => ({
  method,
  path,
});

export const SLUICE_ROUTES = {
  /** Trades an API key for a session cookie. Body `{ apiKey }`; 204, or 401. */
  createSession: route('POST', '/sluice/session'),
  /** 204 while the request carries a valid key or session, else 401. */
  checkSession: route('GET', '/sluice/session'),
  deleteSession: route('DELETE', '/sluice/session'),
  /** `{ result: StreamSummary[] }`, newest stream first. */
  listStreamSummaries: route('GET', '/sluice/streams'),
  /** {@link DeliveryPage}; query `limit`, `cursor`, `streamId`, `state`. */
  listDeliveries: route('GET', '/sluice/deliveries'),
  /** {@link DeliveryDetail}. */
  getDelivery: route('GET', '/sluice/deliveries/{id}'),
  /** `{ result: ChainHealth[] }`. */
  listChains: route('GET', '/sluice/chains'),
  /**
   * Server-sent events: `id` and, as JSON in `data`, a {@link LiveEvent}. While nothing happens a
   * comment line is sent at least every 15 seconds, so that a reader notices a dead connection.
   */
  liveEvents: route('GET', '/sluice/events'),
} as const satisfies Record<string, Route>;

/** In the order a delivery lives: `enriching` awaits what is still read from the chain. */
export const DELIVERY_STATES = [
  'enriching',
  'pending',
  'leased',
  'succeeded',
  'failed',
  'cancelled',
] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];
/** `removed`: the notice that the block left the chain. */
export type DeliveryPhase = 'unconfirmed' | 'confirmed' | 'removed';

/** A row of a delivery list: at most 300 bytes as JSON for ordinary names. */
export interface DeliverySummary {
  /** The `webhook-id` of every attempt. */
  id: string;
  streamId: string;
  /** The same for the deliveries of one block and the notice of its removal. */
  matchId: string;
  tag: string;
  chainId: string;
  blockNumber: number;
  phase: DeliveryPhase;
  state: DeliveryState;
  /** Logs, transactions and internal transactions in the body. */
  records: number;
  /** HTTP attempts so far. */
  attempts: number;
  /** HTTP status of the last attempt; null before the first and when no answer came. */
  status: number | null;
  /** Why the last attempt failed, for people; null when it did not. */
  error: string | null;
  /** Of the last attempt, from the first byte sent to the end of the answer. */
  durationMs: number | null;
  createdAt: number;
  updatedAt: number;
  /** When the next attempt is due; null when none is. */
  nextAttemptAt: number | null;
}

export interface DeliveryAttempt {
  /** 1 for the first. */
  number: number;
  webhookUrl: string;
  startedAt: number;
  durationMs: number;
  status: number | null;
  error: string | null;
  /** The first 4 KiB of the answer, as text. */
  responseBody: string;
}

export interface DeliveryDetail extends DeliverySummary {
  blockHash: string;
  webhookUrl: string;
  /** Exactly the bytes of the last attempt, or of the first one to come. */
  body: string;
  attemptList: DeliveryAttempt[];
}

export interface DeliveryPage {
  /** Newest first. */
  result: DeliverySummary[];
  /** Absent on the last page. */
  cursor?: string;
}

export interface StreamSummary {
  id: string;
  tag: string;
  description: string;
  webhookUrl: string;
  status: 'active' | 'paused' | 'error' | 'terminated';
  statusMessage: string;
  chainIds: string[];
  allAddresses: boolean;
  amountOfAddresses: number;
  topic0: string[];
  createdAt: number;
  /** Deliveries waiting to be sent or retried. */
  queue: number;
  /** Deliveries that got a 2xx in the last 24 hours. */
  delivered24h: number;
  /** Failed attempts in the last 24 hours. */
  failedAttempts24h: number;
  /** Deliveries that got a 2xx, per 5 minutes, oldest first, 24 numbers for the last 2 hours. */
  deliveredSeries: number[];
  /** Time of the newest delivery, null before the first. */
  lastDeliveryAt: number | null;
}

export type ChainState = 'starting' | 'live' | 'catching-up' | 'down';

export interface ChainHealth {
  id: string;
  name: string;
  code: string;
  state: ChainState;
  /** For people: why it is down, or empty. */
  message: string;
  /** Newest block the source knows, null before it answered. */
  head: number | null;
  /** Last block whose deliveries are committed, null before the first. */
  checkpoint: number | null;
  confirmations: number;
  /** Newest blocks first, at most 60. */
  blocks: ChainBlock[];
}

/** One tick of the block tape. */
export interface ChainBlock {
  number: number;
  hash: string;
  timestamp: number;
  /** Streams that matched the block. */
  matches: number;
}

/**
 * What `/sluice/events` sends. Each event has an increasing `id`; a client that reconnects with
 * `Last-Event-ID` gets what it missed, or `reset` where that is no longer held: refetch then.
 */
export type LiveEvent =
  | { type: 'delivery'; delivery: DeliverySummary }
  | { type: 'block'; chainId: string; block: ChainBlock; head: number }
  /** Blocks above `blockNumber` left the chain. */
  | { type: 'reorg'; chainId: string; blockNumber: number }
  | { type: 'chain'; chain: Omit<ChainHealth, 'blocks'> }
  /** A stream was created, changed or deleted. */
  | { type: 'stream'; streamId: string }
  | { type: 'reset' };
