/**
 * Deliveries and their attempts. A delivery changes state only in these ways:
 *
 *     enriching ──its body is complete──▶ pending
 *     enriching ──its body cannot be completed──▶ quarantined ──replay──▶ enriching
 *     pending ──claim──▶ leased ──complete──▶ succeeded | failed
 *        ▲                 │ retry, or the lease expired
 *        └─────────────────┘
 *     leased ──its isolated process died──▶ quarantined
 *     succeeded | failed | quarantined ──replay──▶ pending
 *     enriching | pending ──its block left the chain, or its stream was deleted──▶ cancelled
 *     cancelled ──its block came back──▶ enriching | pending
 */
import type {
  AttemptParts,
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryCounts,
  DeliveryFilter,
  DeliveryOrder,
  DeliverySummary,
} from '@sluice/kit/contract';
import type { SealedSecret } from '../access/contract.ts';

export interface ClaimedDelivery {
  id: string;
  leaseToken: string;
  /** Unix milliseconds by the ledger's clock. */
  claimedAt: number;
  streamId: string;
  phase: DeliverySummary['phase'];
  /** Attempts made before this one. */
  attempts: number;
  /** Whether one of them was the fast retry before the schedule. */
  fastRetried: boolean;
  /** The signed request body, as UTF-8. */
  body: Uint8Array;
  /** Size of the stored body. */
  bodyBytes: number;
  webhookUrl: string;
  records: number;
  headers: Record<string, string>;
  /** Newest first. */
  secrets: SealedSecret[];
  /** As in {@link NewMatch}. */
  part: number;
  parts: number;
  /** The stream is in `error`, and this delivery checks whether its receiver is back. */
  isProbe: boolean;
  /** Milliseconds until its turn if the stream has a limit per second; 0 otherwise. */
  waitMs: number;
}

/** A delivery as stored in the ledger; the schedule decides what comes next. */
export type KeptDelivery = Omit<DeliveryDetail, 'bodyBytes' | 'remainingWaitsMs' | 'labels'> & {
  /** Whether one of its attempts was the fast retry before the schedule. */
  fastRetried: boolean;
};

/** How an attempt reached its receiver, or failed to. */
export type AttemptTransport = Pick<DeliveryAttempt, 'address' | 'certificate'> & {
  parts: AttemptParts;
};

export interface AttemptOutcome {
  id: string;
  leaseToken: string;
  webhookUrl: string;
  /** Unix milliseconds. */
  startedAt: number;
  durationMs: number;
  /** HTTP status; null if there was no response. */
  status: number | null;
  /** Null on success. */
  error: string | null;
  responseBody: string;
  /**
   * Null if there is nothing to report: an immediate response on an open connection, or one from a
   * built-in inbox.
   */
  transport: AttemptTransport | null;
  /** `retry` needs `retryInMs`; `quarantined` when its isolated process died. */
  result: 'succeeded' | 'retry' | 'failed' | 'quarantined';
  retryInMs: number;
  /** Whether the retry is the fast one before the schedule. */
  isFastRetry: boolean;
}

/** How the last attempt of a delivery ended. */
export type AttemptResult = 'delivered' | 'undelivered';

export interface AttemptedFilter {
  limit: number;
  /** The last id of the previous page. */
  after?: string | undefined;
  /** One or both; a delivery that was given up without an attempt is undelivered. */
  results: readonly AttemptResult[];
  /** Includes the bodies; a page then ends early when they become too large together. */
  withBody: boolean;
  streamId?: string | undefined;
  /** Lowercase. */
  transactionHash?: string | undefined;
  chains?: readonly string[] | undefined;
  blockNumbers?: readonly number[] | undefined;
  /** Unix milliseconds, both ends included. */
  from?: number | undefined;
  to?: number | undefined;
}

export interface AttemptedDelivery extends DeliverySummary {
  /** URL of the last attempt. */
  webhookUrl: string;
  /** Body of the last attempt; undefined if it was not requested. */
  body: string | undefined;
}

export interface DeliveryListing extends DeliveryFilter, DeliveryOrder {
  limit: number;
  /** The last id of the previous page. */
  after?: string | undefined;
}

export interface CountReads {
  /** Reads at most 25,000 rows for each of at most three queries. */
  countByField(filter: DeliveryFilter): Promise<DeliveryCounts>;
}

export interface HistoryReads {
  /** Newest first; time bounds apply to the creation of the delivery. */
  listAttempted(
    filter: AttemptedFilter,
  ): Promise<{ rows: AttemptedDelivery[]; next: string | undefined }>;
  /** Returns the number of rows on all pages of this filter together, up to a million. */
  countAttempted(filter: Omit<AttemptedFilter, 'limit' | 'after' | 'withBody'>): Promise<number>;
}

export interface DeliveryReads {
  /** Newest first by default. */
  listDeliveries(filter: DeliveryListing): Promise<{
    rows: DeliverySummary[];
    next: string | undefined;
  }>;
  readDelivery(id: string): Promise<KeptDelivery | undefined>;
  /** Returns exactly what the last attempt sent, or what the first one will send. */
  readDeliveryBody(id: string): Promise<string | undefined>;
  /** When the oldest delivery was created, in Unix milliseconds; null if there is none. */
  readOldestDelivery(): Promise<number | null>;
  /** Whether `claimSuspect` would find a delivery. */
  hasDueSuspect(): Promise<boolean>;
  /**
   * When the oldest delivery of an active stream became due, or began to wait for enrichment; null
   * if none is waiting.
   */
  readOldestDue(): Promise<number | null>;
}

export interface DeliveryWrites {
  /**
   * Leases due deliveries for `leaseMs`: at most `limit` in total, and per stream at most
   * `perStream` minus what is `taken`. A stream in `error` gets one every ten minutes, as a probe.
   * A stream's own limits and order apply across all processes.
   */
  claimDeliveries(claim: {
    limit: number;
    /** Limit for all bodies together; one delivery is claimed however large it is. */
    maxBytes: number;
    perStream: number;
    taken: Record<string, number>;
    leaseMs: number;
  }): Promise<ClaimedDelivery[]>;
  /**
   * Leases one delivery that lost two leases in a row, to be sent from an isolated process;
   * undefined if none is due outside of `notStreams`.
   */
  claimSuspect(claim: {
    leaseMs: number;
    notStreams: readonly string[];
  }): Promise<ClaimedDelivery | undefined>;
  /**
   * The isolated process has received the suspect: losing its lease from now on does not count
   * against it.
   */
  recordIsolated(suspect: Pick<ClaimedDelivery, 'id' | 'leaseToken'>): Promise<void>;
  /**
   * Extends those of the leases that are still held by `leaseMs` from now; returns the ids of their
   * deliveries.
   */
  extendLeases(
    leases: readonly Pick<ClaimedDelivery, 'id' | 'leaseToken'>[],
    leaseMs: number,
  ): Promise<string[]>;
  /** Records attempts whose leases are still held; returns the deliveries that changed. */
  completeDeliveries(outcomes: readonly AttemptOutcome[]): Promise<DeliverySummary[]>;
  /**
   * Returns deliveries to the queue whose lease expired, or all leased ones with `all`. A delivery
   * that lost ten leases in a row, despite isolation after the second, is quarantined. Returns how
   * many of each, and how many became suspect.
   */
  releaseLeases(
    scope: 'expired' | 'all',
  ): Promise<{ released: number; suspects: number; quarantined: DeliverySummary[] }>;
}

export interface HistoryWrites {
  /**
   * Makes a delivery due at once, whatever its state, and if its receiver is backed off because of
   * failures, ends the back-off so that this delivery checks whether it is back. A delivery that is
   * already in progress, or was cancelled, does not change. Returns its state before and after;
   * undefined if the stream has no such delivery or is deleted.
   */
  replayDelivery(
    streamId: string,
    id: string,
  ): Promise<{ before: DeliverySummary; after: DeliverySummary } | undefined>;
  /** Gives up a pending delivery, which then counts as failed. Undefined if it is not pending. */
  stopDelivery(id: string): Promise<DeliverySummary | undefined>;
}
