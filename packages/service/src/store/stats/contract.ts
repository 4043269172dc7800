/** Counts of matches, deliveries and attempts. */
import type {
  ActivityBreakdown,
  ActivityPoint,
  ActivityStep,
  ChainActivity,
  ResponseTimes,
} from '@sluice/kit/contract';

export interface StreamActivity {
  streamId: string;
  queue: number;
  delivered24h: number;
  redelivered24h: number;
  failedAttempts24h: number;
  /**
   * Number of deliveries that got their first 2xx, per 5 minutes for the last 2 hours, oldest
   * first.
   */
  deliveredSeries: number[];
  /**
   * Number of deliveries that got their first 2xx, per clock hour for 23 hours, oldest first,
   * followed by the number for the last 60 minutes.
   */
  hourlyDelivered: number[];
  /** Number of failed attempts, for the same hours as `hourlyDelivered`. */
  hourlyFailed: number[];
  /**
   * 95th percentile of the duration of attempts that got a 2xx in the last 24 hours, estimated from
   * counts by duration (`latency.ts`); null if there are none.
   */
  p95Ms: number | null;
  lastDeliveryAt: number | null;
  /**
   * Start of the first minute with a failed attempt after the last minute with a 2xx, in Unix
   * milliseconds; null if there is none.
   */
  failingSince: number | null;
}

/** Totals since the creation of the stream, including deliveries that retention deleted. */
export interface StreamTotals {
  streamId: string;
  /** Number of deliveries in state `succeeded`. */
  webhooksDelivered: number;
  /** Number of deliveries in state `failed`. */
  webhooksFailed: number;
  /**
   * Number of records, by type, in the confirmed deliveries that `webhooksDelivered` and
   * `webhooksFailed` count.
   */
  logs: number;
  transactions: number;
  internalTransactions: number;
  streamCreatedAt: number;
  isDeleted: boolean;
}

export interface ActivityRange {
  /** Default: all streams together. */
  streamId?: string | undefined;
  stepMinutes: ActivityStep;
  points: number;
  /** A time within the last step, in Unix milliseconds. Default: now. */
  until?: number | undefined;
}

/** Steps of the attempts in some lanes. */
export interface LaneRange extends Omit<ActivityRange, 'streamId'> {
  /** A lane, or the host or inbox whose current lanes are summed up. */
  of: { lane: string } | { receiver: string };
}

/** An {@link ActivityBreakdown} without the names of events, which the ledger does not store. */
export type ActivityCounts = Omit<ActivityBreakdown, 'records'> & {
  /** Records by type (`NewMatch.records`), highest count first. */
  records: { what: string; matched: number }[];
};

export interface TotalReads {
  /** Reads the totals of one stream or of all streams, including deleted ones. */
  readTotals(streamId?: string): Promise<StreamTotals[]>;
}

export interface ActivityReads {
  /**
   * Returns the counts of each step, oldest first, including empty steps, as of the last roll-up.
   */
  readActivity(asked: ActivityRange): Promise<{
    points: ActivityPoint[];
    /** Whether the last step is in progress. */
    isPartial: boolean;
  }>;
  /**
   * Sums the counts of all steps of the range by response status, chain and record type, as of the
   * last roll-up.
   */
  readBreakdown(asked: ActivityRange): Promise<ActivityCounts>;
  /** Returns the counts of each chain and step, as of the last roll-up. */
  readChainActivity(asked: ActivityRange): Promise<Omit<ChainActivity, 'stepMinutes'>>;
  /**
   * Returns the attempts of each step by result and duration, as of the last roll-up; undefined for
   * an unknown receiver. A receiver with more than 20 lanes has steps of an hour.
   */
  readResponseTimes(asked: LaneRange): Promise<ResponseTimes | undefined>;
  /** Reads the activity of all streams that are not deleted. */
  readStreamStats(): Promise<StreamActivity[]>;
}

export interface StatWrites {
  /**
   * Rolls up some of the new counts and deletes some of the old ones. Returns true if there may be
   * more to do.
   */
  rollUpStats(): Promise<boolean>;
}
