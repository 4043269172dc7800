/**
 * Deliveries and their attempts. A delivery changes state only in these ways:
 *
 *     enriching ──its body is complete──▶ pending, or held if its match is held
 *     held ──its block was confirmed, or an operator released it──▶ pending
 *     enriching ──its body cannot be completed──▶ quarantined ──replay──▶ enriching
 *     pending ──claim──▶ leased ──complete──▶ succeeded | failed
 *        ▲                 │ retry, or the lease expired
 *        └─────────────────┘
 *     leased ──its isolated process died, or it lost ten leases──▶ quarantined
 *     leased ──the ledger rejected its outcome──▶ quarantined
 *     held | pending ──stop──▶ failed
 *     succeeded | failed | quarantined ──replay──▶ pending, or held if its match is held
 *     enriching | held | pending ──its match was orphaned, or its stream was deleted──▶ cancelled
 *     pending ──it is a removal webhook whose block returned──▶ cancelled
 *     leased ──its retry is no longer needed──▶ cancelled
 *     cancelled ──its block returned──▶ enriching | pending
 *
 * A delivery starts as `enriching`, `held` or `pending`, or as `quarantined` if its match cannot be
 * sent. Outside the ledger, a `pending` delivery with attempts is `retrying`. A match is held if its
 * block is unverified, fewer than two witnesses returned it, and its stream holds such blocks.
 */
import type {
  AttemptTimings,
  DeliveryAttempt,
  DeliveryDetail,
  DeliveryCounts,
  DeliveryFilter,
  DeliveryOrder,
  DeliverySearch,
  DeliverySummary,
  OAuth2Credentials,
  SeenCertificate,
  WebhookOrigin,
} from '@sluice/kit/contract';
import type { SealedSecret } from '../tables/streams.ts';

export interface ClaimedDelivery {
  id: string;
  leaseToken: string;
  /** Time of the claim in Unix milliseconds, on the ledger's clock. */
  claimedAt: number;
  streamId: string;
  phase: DeliverySummary['phase'];
  /** Number of attempts before this one. */
  attempts: number;
  /** Whether this attempt or an earlier one is the fast retry before the schedule. */
  fastRetried: boolean;
  /** The request body to sign and send, as UTF-8. */
  body: Uint8Array;
  /** Approximate size of the stored body in bytes. */
  bodyBytes: number;
  webhookUrl: string;
  records: number;
  headers: Record<string, string>;
  /** Client credentials for the access tokens of the receiver; null if it needs none. */
  oauth2: OAuth2Credentials | null;
  /** Time for each attempt; undefined for the service's own. */
  timeoutMs: number | undefined;
  /** The stream's own waits between attempts in milliseconds; undefined for the service's. */
  retryWaitsMs: readonly number[] | undefined;
  /** Newest first. */
  secrets: SealedSecret[];
  /** Index of this part, from 0, and number of parts, as in {@link NewMatch}. */
  part: number;
  parts: number;
  origin: WebhookOrigin;
  /** Codes of the unverified block, separated by `, `; null if the block is verified. */
  unverified: string | null;
  /**
   * Whether the delivery is a probe: its stream is in `error`, and the delivery tests whether the
   * receiver responds again.
   */
  isProbe: boolean;
  /** Milliseconds until the delivery's turn if the stream has a limit per second; 0 otherwise. */
  waitMs: number;
}

/** A delivery as read from the ledger. The API adds the omitted fields. */
export type KeptDelivery = Omit<
  DeliveryDetail,
  'blockTime' | 'bodyBytes' | 'remainingWaitsMs' | 'labels'
> & {
  /** Whether the fast retry before the schedule was used or is the next attempt. */
  fastRetried: boolean;
};

/** Connection data of an attempt: durations of its steps, address and certificate. */
export type AttemptTransport = Pick<DeliveryAttempt, 'address' | 'certificate'> & {
  parts: AttemptTimings;
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
  /** Error message; null on success. */
  error: string | null;
  responseBody: string;
  /** Null if unknown, for a built-in inbox, and for an immediate response on an open connection. */
  transport: AttemptTransport | null;
  /**
   * `retry`: due again after `retryInMs`. `quarantined`: the isolated process that sent the
   * delivery died, or the ledger rejected the outcome.
   */
  result: 'succeeded' | 'retry' | 'failed' | 'quarantined';
  retryInMs: number;
  /** Whether the next attempt is the fast retry before the schedule. */
  isFastRetry: boolean;
  /**
   * Whether success gives the delivery the next position in the feed of its stream. Default: false.
   */
  entersFeed?: true | undefined;
}

/** Outcome of the last attempt of a delivery. */
export type AttemptResult = 'delivered' | 'undelivered';

export interface AttemptedFilter {
  limit: number;
  /** The last id of the previous page. */
  after?: string | undefined;
  /**
   * One or both results. A delivery that was stopped or quarantined without an attempt counts as
   * undelivered.
   */
  results: readonly AttemptResult[];
  /** Whether to include the bodies. If so, a page ends early when its bodies are large. */
  withBody: boolean;
  streamId?: string | undefined;
  /** Lowercase. */
  transactionHash?: string | undefined;
  chains?: readonly string[] | undefined;
  blockNumbers?: readonly number[] | undefined;
  /** Bounds of the creation time in Unix milliseconds, both included. */
  from?: number | undefined;
  to?: number | undefined;
}

export interface AttemptedDelivery extends DeliverySummary {
  /** URL of the last attempt, or of the stream if there was no attempt. */
  webhookUrl: string;
  /** Body of the last attempt; undefined if bodies were not requested. */
  body: string | undefined;
}

export interface DeliveryListing extends DeliveryFilter, DeliveryOrder, DeliverySearch {
  limit: number;
  /** The last id of the previous page. */
  after?: string | undefined;
}

export interface CountReads {
  /**
   * Counts the deliveries that have each value of each filter field. Takes at most three passes,
   * each of which counts at most 25,000 deliveries.
   */
  countByField(filter: DeliveryFilter): Promise<DeliveryCounts>;
}

export interface HistoryReads {
  /** Lists attempted deliveries, newest first. Time bounds apply to their creation. */
  listAttempted(
    filter: AttemptedFilter,
  ): Promise<{ rows: AttemptedDelivery[]; next: string | undefined }>;
  /** Returns the number of attempted deliveries that match the filter, up to a million. */
  countAttempted(filter: Omit<AttemptedFilter, 'limit' | 'after' | 'withBody'>): Promise<number>;
}

export interface DeliveryReads {
  /** Lists deliveries, newest first by default. */
  listDeliveries(filter: DeliveryListing): Promise<{
    rows: DeliverySummary[];
    next: string | undefined;
    /**
     * Id of the delivery up to which the search has advanced; undefined once the search is
     * complete.
     */
    searchedTo?: string | undefined;
  }>;
  readDelivery(id: string): Promise<KeptDelivery | undefined>;
  /**
   * Returns the exact body of the last attempt or, before the first attempt, the body to be sent;
   * undefined if the delivery is unknown.
   */
  readDeliveryBody(id: string): Promise<string | undefined>;
  /**
   * Returns the certificate that a receiver presented last, if the newest deliveries of its lanes
   * contain one; undefined for an unknown receiver.
   */
  readReceiverCertificate(receiver: string): Promise<SeenCertificate | undefined>;
  /**
   * Returns the creation time of the oldest delivery, in Unix milliseconds; null if there is none.
   */
  readOldestDelivery(): Promise<number | null>;
  /** Returns the number of held deliveries of each chain that has some. */
  countHeld(): Promise<Record<string, number>>;
  /** Returns whether `claimSuspect` may find a delivery. */
  hasDueSuspect(): Promise<boolean>;
  /**
   * Returns the time since which the oldest delivery of any active stream has been due or waiting
   * for enrichment, in Unix milliseconds; null if there is none.
   */
  readOldestDue(): Promise<number | null>;
}

export interface ClaimLimits {
  limit: number;
  /** Maximum total size of the bodies. At least one delivery is claimed, regardless of its size. */
  maxBytes: number;
  /** Maximum per stream, including the `taken` deliveries that are already in flight. */
  perStream: number;
  taken: Record<string, number>;
  /**
   * Maximum total size of the bodies of a stream, with the sizes that are taken. A stream with
   * nothing taken gets a delivery of any size. Default: no limit.
   */
  bytes?: { perStream: number; taken: Record<string, number> };
  /**
   * Limits for retries, in addition to the limits above. Default: the same limits, with no retries
   * in flight.
   */
  retries?: { limit: number; maxBytes: number; taken: Record<string, number> };
}

export interface ClaimWrites {
  /**
   * Leases due deliveries for `leaseMs`. For a stream in `error`, leases one probe every ten
   * minutes. The limits and the order of a stream apply across all processes. Retries use at most
   * three quarters of what a stream may have in flight, and get about a quarter of its claims if
   * first attempts are due as well.
   */
  claimDeliveries(
    claim: ClaimLimits & {
      /** Separate limits for all streams except the `quick` ones. Default: none. */
      slow?: ClaimLimits & { quick: ReadonlySet<string> };
      leaseMs: number;
    },
  ): Promise<ClaimedDelivery[]>;
  /**
   * Leases one suspect, which is a delivery that lost at least two leases in a row, so that an
   * isolated process can send it. Ignores deliveries of `notStreams`. Returns undefined if no
   * suspect can be sent now.
   */
  claimSuspect(claim: {
    leaseMs: number;
    notStreams: readonly string[];
  }): Promise<ClaimedDelivery | undefined>;
}

export interface DeliveryWrites {
  /**
   * Records that the isolated process has received the suspect. If the lease is lost after that,
   * the loss does not count against the delivery.
   */
  recordIsolated(suspect: Pick<ClaimedDelivery, 'id' | 'leaseToken'>): Promise<void>;
  /**
   * Extends the leases that are still held, to `leaseMs` from now; returns the ids of their
   * deliveries.
   */
  extendLeases(
    leases: readonly Pick<ClaimedDelivery, 'id' | 'leaseToken'>[],
    leaseMs: number,
  ): Promise<string[]>;
  /** Records attempts if their leases are still held; returns the deliveries that changed. */
  completeDeliveries(outcomes: readonly AttemptOutcome[]): Promise<DeliverySummary[]>;
  /**
   * Requeues leased deliveries: those with an expired lease, those with the given leases, or all.
   * Quarantines deliveries that have now lost ten leases in a row, and cancels those that are no
   * longer needed. Returns the numbers of requeued deliveries and of new suspects among them, and
   * the other deliveries.
   */
  releaseLeases(
    scope: 'expired' | 'all' | readonly Pick<ClaimedDelivery, 'id' | 'leaseToken'>[],
  ): Promise<{
    released: number;
    suspects: number;
    quarantined: DeliverySummary[];
    canceled: DeliverySummary[];
  }>;
}

export interface HistoryWrites {
  /**
   * Replays a delivery, or retries it at once if it is pending, and ends a back-off that was caused
   * by failures. A delivery that is enriching, held, leased or canceled, or that cannot be sent, does not
   * change. Returns the delivery before and after; undefined if the stream is deleted or has no
   * such delivery.
   */
  replayDelivery(
    streamId: string,
    id: string,
  ): Promise<{ before: DeliverySummary; after: DeliverySummary } | undefined>;
  /** Stops a pending, retrying or held delivery and marks it as failed. Returns undefined if it is neither. */
  stopDelivery(id: string): Promise<DeliverySummary | undefined>;
  /**
   * Releases a held delivery, together with all deliveries of its stream in its block, also those
   * that are created later. Returns the released deliveries, oldest first; undefined if the
   * delivery is not held.
   */
  releaseDelivery(id: string): Promise<DeliverySummary[] | undefined>;
}
