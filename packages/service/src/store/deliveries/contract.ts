/**
 * Deliveries and their attempts. A delivery moves so, and in no other way:
 *
 *     enriching ──its body is whole──▶ pending
 *     enriching ──its body cannot be completed──▶ quarantined ──replay──▶ enriching
 *     pending ──claim──▶ leased ──complete──▶ succeeded | failed
 *        ▲                 │ retry, or the lease ran out
 *        └─────────────────┘
 *     leased ──a process that sent nothing else died of it──▶ quarantined
 *     succeeded | failed | quarantined ──replay──▶ pending
 *     enriching | pending ──its block left the chain, or its stream was deleted──▶ cancelled
 *     cancelled ──its block came back──▶ enriching | pending
 */
import type {
  AttemptParts,
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryFacets,
  DeliveryFilter,
  DeliveryOrder,
  DeliverySummary,
} from '@sluice/kit/contract';
import type { SealedSecret } from '../access/contract.ts';

export interface ClaimedDelivery {
  id: string;
  leaseToken: string;
  /** By the ledger's clock, in Unix milliseconds. */
  claimedAt: number;
  streamId: string;
  phase: DeliverySummary['phase'];
  /** Attempts made before this one. */
  attempts: number;
  /** Whether one of them was the quick retry before the schedule. */
  fastRetried: boolean;
  /** What is sent and signed, as UTF-8. */
  body: Uint8Array;
  /** Of what is stored of it. */
  bodyBytes: number;
  webhookUrl: string;
  records: number;
  headers: Record<string, string>;
  /** The newest first. */
  secrets: SealedSecret[];
  /** As in {@link NewMatch}. */
  part: number;
  parts: number;
  /** The stream is in `error`, and this delivery is to show whether its receiver is back. */
  isProbe: boolean;
  /** Milliseconds until its turn, where its stream is sent so many in a second; 0 otherwise. */
  waitMs: number;
}

/** A delivery as the ledger has it; what comes next is the schedule's to say. */
export type KeptDelivery = Omit<DeliveryDetail, 'bodyBytes' | 'laterWaitsMs' | 'labels'> & {
  /** One of its attempts was the quick retry before the schedule. */
  fastRetried: boolean;
};

/** How an attempt reached its receiver, or did not. */
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
  /** HTTP status; null when no answer came. */
  status: number | null;
  /** Null on success. */
  error: string | null;
  responseBody: string;
  /** Null where that is all: it was answered at once on an open connection, or by an inbox of ours. */
  transport: AttemptTransport | null;
  /** `retry` needs `retryInMs`; `quarantined` when the process that sent it alone died of it. */
  result: 'succeeded' | 'retry' | 'failed' | 'quarantined';
  retryInMs: number;
  /** The retry is the quick one before the schedule. */
  isFastRetry: boolean;
}

/** How the last attempt of a delivery ended. */
export type AttemptResult = 'delivered' | 'undelivered';

export interface AttemptedFilter {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  /** One or both; a delivery that was given up without an attempt is undelivered. */
  results: readonly AttemptResult[];
  /** Joins the bodies in; a page then ends early when they become too large together. */
  withBody: boolean;
  streamId?: string | undefined;
  /** Lower case. */
  transactionHash?: string | undefined;
  chains?: readonly string[] | undefined;
  blockNumbers?: readonly number[] | undefined;
  /** Unix milliseconds, both ends included. */
  from?: number | undefined;
  to?: number | undefined;
}

export interface AttemptedDelivery extends DeliverySummary {
  /** Where the last attempt went. */
  webhookUrl: string;
  /** What the last attempt sent; undefined where it was not asked for. */
  body: string | undefined;
}

export interface DeliveryListing extends DeliveryFilter, DeliveryOrder {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
}

export interface FacetReads {
  /** At most 100,000 rows are read for each of at most three questions. */
  countFacets(filter: DeliveryFilter): Promise<DeliveryFacets>;
}

export interface HistoryReads {
  /** Newest first; bounds on time go by when the delivery was made. */
  listAttempted(
    filter: AttemptedFilter,
  ): Promise<{ rows: AttemptedDelivery[]; next: string | undefined }>;
  /** How many rows all pages of this filter have together; counts a million at most. */
  countAttempted(filter: Omit<AttemptedFilter, 'limit' | 'after' | 'withBody'>): Promise<number>;
}

export interface DeliveryReads {
  /** Newest first by default. */
  listDeliveries(filter: DeliveryListing): Promise<{
    rows: DeliverySummary[];
    next: string | undefined;
  }>;
  readDelivery(id: string): Promise<KeptDelivery | undefined>;
  /** Exactly what its last attempt sent, or what the first one will. */
  readDeliveryBody(id: string): Promise<string | undefined>;
  /** When the oldest delivery was made, in Unix milliseconds; null without any. */
  readOldestDelivery(): Promise<number | null>;
  /** Whether there is one for `claimSuspect`. */
  hasDueSuspect(): Promise<boolean>;
  /**
   * When the oldest delivery of an active stream became due, or began to wait for enrichment; null while
   * none is waiting.
   */
  readOldestDue(): Promise<number | null>;
}

export interface DeliveryWrites {
  /**
   * Leases due deliveries for `leaseMs`, at most `limit` together, and per stream at most
   * `perStream` less what of that is `taken`. Of a stream in `error` one in ten minutes, as a probe.
   * A stream's own limits and order hold whichever process claims.
   */
  claimDeliveries(claim: {
    limit: number;
    /** Of all bodies together; one delivery is claimed however large. */
    maxBytes: number;
    perStream: number;
    taken: Record<string, number>;
    leaseMs: number;
  }): Promise<ClaimedDelivery[]>;
  /**
   * Leases one delivery that two leases in a row were lost with, to be sent from a process alone;
   * undefined where none is due of another than these streams.
   */
  claimSuspect(claim: {
    leaseMs: number;
    notStreams: readonly string[];
  }): Promise<ClaimedDelivery | undefined>;
  /** A suspect is in its process: losing its lease from now on says nothing of it. */
  noteIsolated(suspect: Pick<ClaimedDelivery, 'id' | 'leaseToken'>): Promise<void>;
  /** Leases last so long from now on, those that still hold; answers with their deliveries. */
  extendLeases(
    leases: readonly Pick<ClaimedDelivery, 'id' | 'leaseToken'>[],
    leaseMs: number,
  ): Promise<string[]>;
  /** Records attempts whose lease still holds; answers with the deliveries it changed. */
  completeDeliveries(outcomes: readonly AttemptOutcome[]): Promise<DeliverySummary[]>;
  /**
   * Returns deliveries to the queue whose lease ran out, or every lease with `all`; one that ten
   * leases on end were lost with, although it is isolated since the second, is quarantined. Answers
   * with how many of each, and how many are suspect from now on.
   */
  releaseLeases(
    scope: 'expired' | 'all',
  ): Promise<{ released: number; suspects: number; quarantined: DeliverySummary[] }>;
}

export interface HistoryWrites {
  /**
   * Makes a delivery due at once, whatever came of it before, and where its receiver fails and is spared,
   * the delivery that asks whether it is back. One that is on its way already, or was cancelled, stays as
   * it is. Answers with what it was and is; undefined when this stream has no
   * such delivery or is deleted.
   */
  replayDelivery(
    streamId: string,
    id: string,
  ): Promise<{ before: DeliverySummary; after: DeliverySummary } | undefined>;
  /** Gives up a delivery that waits: it has failed. Undefined when it does not wait. */
  stopDelivery(id: string): Promise<DeliverySummary | undefined>;
}
