/** Counts of matches and deliveries. */
import type {
  ActivityBreakdown,
  ActivityPoint,
  ActivityStep,
  StreamChange,
  StreamTimeline,
  ChainGap,
  Reorg,
} from '@sluice/kit/contract';

export interface StreamStats {
  streamId: string;
  queue: number;
  delivered24h: number;
  redelivered24h: number;
  failedAttempts24h: number;
  /** Attempts per 5 minutes for the last 2 hours, oldest first. */
  deliveredSeries: number[];
  /** Attempts in 23 clock hours, oldest first, and in the last 60 minutes. */
  hourlyDelivered: number[];
  /** Failed attempts, in the same form. */
  hourlyFailed: number[];
  /**
   * 95th percentile of the attempts of the last 24 hours that got a 2xx, accurate to 20 %; null if
   * there are none.
   */
  p95Ms: number | null;
  lastDeliveryAt: number | null;
  /** First minute with a failed attempt after the last minute with a 2xx; null if there is none. */
  failingSince: number | null;
}

/** Totals since the creation of the stream, including deliveries that retention deleted. */
export interface StreamTotals {
  streamId: string;
  /** Number of deliveries in state `succeeded`. */
  webhooksDelivered: number;
  /** Number of deliveries in state `failed`. */
  webhooksFailed: number;
  /** Number of records of confirmed deliveries in either state. */
  logs: number;
  transactions: number;
  internalTransactions: number;
  streamCreatedAt: number;
  isDeleted: boolean;
}

export interface ActivityRange {
  /** The stream; undefined for all streams together. */
  streamId?: string | undefined;
  stepMinutes: ActivityStep;
  points: number;
  /** Time within the last step, in Unix milliseconds; undefined for now. */
  until?: number | undefined;
}

/** An {@link ActivityBreakdown} without the names of events, which the ledger does not know. */
export type ActivityCounts = Omit<ActivityBreakdown, 'records'> & {
  /** Records by type (`NewMatch.records`), highest first. */
  records: { what: string; matched: number }[];
};

export interface TotalReads {
  /** Reads totals of one stream or of all streams, including deleted ones. */
  readTotals(streamId?: string): Promise<StreamTotals[]>;
}

export interface ActivityReads {
  /** Returns steps, oldest first, without gaps, as of the last roll-up. */
  readActivity(asked: ActivityRange): Promise<{
    points: ActivityPoint[];
    /** Whether the last step is in progress. */ isPartial: boolean;
  }>;
  /** Returns the attempts and matches in the same steps by type, as of the last roll-up. */
  readBreakdown(asked: ActivityRange): Promise<ActivityCounts>;
  /** Reads the activity of all streams that are not deleted. */
  readStreamStats(): Promise<StreamStats[]>;
  /**
   * Returns the newest blocks of these streams' chains with matches, including removed blocks, in
   * the order of `streamIds`.
   */
  listTimelines(asked: { streamIds: readonly string[]; limit: number }): Promise<StreamTimeline[]>;
  /** Returns the last pause of each paused stream, like a {@link StreamChange}. */
  listPauses(): Promise<{ streamId: string; at: number; by: string }[]>;
  /** Lists changes of a stream, newest first; at most 100 are kept per stream. */
  listStreamChanges(streamId: string): Promise<StreamChange[]>;
  /** Lists reorgs of a chain, newest first; at most 100 are kept per chain. */
  listReorgs(asked: { chain?: string | undefined; limit: number }): Promise<Reorg[]>;
  /** Lists gaps of a chain, newest first; at most 100 are kept per chain. */
  listGaps(asked: { chain?: string | undefined; limit: number }): Promise<ChainGap[]>;
}

export interface StatWrites {
  /**
   * Rolls up some of the new counts, and deletes some of the old ones. Returns true if there may be
   * more of either.
   */
  rollUpStats(): Promise<boolean>;
}
