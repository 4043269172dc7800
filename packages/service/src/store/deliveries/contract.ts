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
  DeliverySearch,
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
  /** Number of attempts before this one. */
  attempts: number;
  /** Whether one of them was the fast retry before the schedule. */
  fastRetried: boolean;
  /** The signed request body, as UTF-8. */
  body: Uint8Array;
  /** Size of the stored body in bytes. */
  bodyBytes: number;
  webhookUrl: string;
  records: number;
  headers: Record<string, string>;
  /** Newest first. */
  secrets: SealedSecret[];
  /** See {@link NewMatch}. */
  part: number;
  parts: number;
  /** True if the stream is in `error` and this delivery checks whether its receiver works again. */
  isProbe: boolean;
  /** Milliseconds until its turn if the stream has a limit per second; 0 otherwise. */
  waitMs: number;
}

/** A delivery in the ledger. The schedule decides what comes next. */
export type KeptDelivery = Omit<DeliveryDetail, 'bodyBytes' | 'remainingWaitsMs' | 'labels'> & {
  /** Whether one of its attempts was the fast retry before the schedule. */
  fastRetried: boolean;
};

/** Connection data of an attempt that reached its receiver or failed. */
export type AttemptTransport = Pick<DeliveryAttempt, 'address' | 'certificate'> & {
  parts: AttemptParts;
};

export interface AttemptOutcome {
  id: string;
  leaseToken: string;
  webhookUrl: string;
  /** Time in Unix milliseconds. */
  startedAt: number;
  durationMs: number;
  /** HTTP status; null if there was no response. */
  status: number | null;
  /** Error; null on success. */
  error: string | null;
  responseBody: string;
  /** Null for an immediate response on an open connection, or from a built-in inbox. */
  transport: AttemptTransport | null;
  /** `retry` requires `retryInMs`; `quarantined` means that its isolated process died. */
  result: 'succeeded' | 'retry' | 'failed' | 'quarantined';
  retryInMs: number;
  /** Whether this is the fast retry before the schedule. */
  isFastRetry: boolean;
}

/** Outcome of the last attempt of a delivery. */
export type AttemptResult = 'delivered' | 'undelivered';

export interface AttemptedFilter {
  limit: number;
  /** The last id of the previous page. */
  after?: string | undefined;
  /** One or both. A delivery that was stopped without an attempt counts as undelivered. */
  results: readonly AttemptResult[];
  /** True to include the bodies. A page then ends early if its bodies become too large. */
  withBody: boolean;
  streamId?: string | undefined;
  /** Lowercase. */
  transactionHash?: string | undefined;
  chains?: readonly string[] | undefined;
  blockNumbers?: readonly number[] | undefined;
  /** Times in Unix milliseconds, both ends included. */
  from?: number | undefined;
  to?: number | undefined;
}

export interface AttemptedDelivery extends DeliverySummary {
  /** URL of the last attempt. */
  webhookUrl: string;
  /** Body of the last attempt; undefined if it was not requested. */
  body: string | undefined;
}

export interface DeliveryListing extends DeliveryFilter, DeliveryOrder, DeliverySearch {
  limit: number;
  /** The last id of the previous page. */
  after?: string | undefined;
}

export interface CountReads {
  /** Counts deliveries. Reads at most 25,000 rows in each of at most three queries. */
  countByField(filter: DeliveryFilter): Promise<DeliveryCounts>;
}

export interface HistoryReads {
  /** Lists deliveries, newest first. Time bounds apply to the creation of the delivery. */
  listAttempted(
    filter: AttemptedFilter,
  ): Promise<{ rows: AttemptedDelivery[]; next: string | undefined }>;
  /** Returns the total number of rows for this filter, up to a million. */
  countAttempted(filter: Omit<AttemptedFilter, 'limit' | 'after' | 'withBody'>): Promise<number>;
}

export interface DeliveryReads {
  /** Lists deliveries, by default newest first. */
  listDeliveries(filter: DeliveryListing): Promise<{
    rows: DeliverySummary[];
    next: string | undefined;
    /** The last checked delivery of a search that is not complete. */
    searchedTo?: string | undefined;
  }>;
  readDelivery(id: string): Promise<KeptDelivery | undefined>;
  /** Returns the exact body of the last attempt, or of the first attempt if there is none yet. */
  readDeliveryBody(id: string): Promise<string | undefined>;
  /**
   * Returns the creation time of the oldest delivery, in Unix milliseconds; null if there is none.
   */
  readOldestDelivery(): Promise<number | null>;
  /** Returns whether `claimSuspect` would find a delivery. */
  hasDueSuspect(): Promise<boolean>;
  /**
   * Returns the time since which the oldest delivery of an active stream has been due or waiting
   * for enrichment; null if there is none.
   */
  readOldestDue(): Promise<number | null>;
}

export interface DeliveryWrites {
  /**
   * Leases due deliveries for `leaseMs`: at most `limit` in total, per stream at most `perStream`
   * minus `taken`, and one probe every ten minutes for a stream in `error`. The limits and order of
   * a stream apply across all processes.
   */
  claimDeliveries(claim: {
    limit: number;
    /**
     * Limit for the total size of all bodies. At least one delivery is claimed, regardless of its
     * size.
     */
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
   * Records that the isolated process has received the suspect, so that losing its lease no longer
   * counts against it.
   */
  recordIsolated(suspect: Pick<ClaimedDelivery, 'id' | 'leaseToken'>): Promise<void>;
  /**
   * Extends the leases that are still held by `leaseMs` from now; returns the ids of their
   * deliveries.
   */
  extendLeases(
    leases: readonly Pick<ClaimedDelivery, 'id' | 'leaseToken'>[],
    leaseMs: number,
  ): Promise<string[]>;
  /** Records attempts if their leases are still held; returns the deliveries that changed. */
  completeDeliveries(outcomes: readonly AttemptOutcome[]): Promise<DeliverySummary[]>;
  /**
   * Returns deliveries with an expired lease, or all leased ones with `all`, to the queue, and
   * quarantines those that lost ten leases in a row. Returns their numbers, and the number of new
   * suspects.
   */
  releaseLeases(
    scope: 'expired' | 'all',
  ): Promise<{ released: number; suspects: number; quarantined: DeliverySummary[] }>;
}

export interface HistoryWrites {
  /**
   * Makes a delivery due at once and ends a back-off of its receiver; a delivery that is in
   * progress or was canceled does not change. Returns its state before and after; undefined if the
   * stream has no such delivery or is deleted.
   */
  replayDelivery(
    streamId: string,
    id: string,
  ): Promise<{ before: DeliverySummary; after: DeliverySummary } | undefined>;
  /**
   * Stops a pending delivery, which then counts as failed. Returns undefined if it is not pending.
   */
  stopDelivery(id: string): Promise<DeliverySummary | undefined>;
}
