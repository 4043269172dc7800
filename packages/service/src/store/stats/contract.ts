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
  failedAttempts24h: number;
  /** Per 5 minutes for the last 2 hours, oldest first. */
  deliveredSeries: number[];
  /** For 23 clock hours, oldest first, and for the last 60 minutes. */
  hourlyDelivered: number[];
  /** Failed attempts, in the same form. */
  hourlyFailed: number[];
  /**
   * 95th percentile of the attempts of the last 24 hours that got a 2xx, accurate to a fifth; null
   * if there are none.
   */
  p95Ms: number | null;
  lastDeliveryAt: number | null;
  /**
   * The first minute with a failed attempt after the last one with a 2xx; null if there is none.
   */
  failingSince: number | null;
}

/** Counted since the stream was created, including what retention deleted. */
export interface StreamTotals {
  streamId: string;
  /** Deliveries in state `succeeded`. */
  webhooksDelivered: number;
  /** Deliveries in state `failed`. */
  webhooksFailed: number;
  /** Records of confirmed deliveries in either state. */
  logs: number;
  transactions: number;
  internalTransactions: number;
  streamCreatedAt: number;
  isDeleted: boolean;
}

export interface ActivityRange {
  /** Undefined for all streams together. */
  streamId?: string | undefined;
  stepMinutes: ActivityStep;
  points: number;
}

/** An {@link ActivityBreakdown} without the names of events, which the ledger does not know. */
export type ActivityCounts = Omit<ActivityBreakdown, 'records'> & {
  /** By type (`NewMatch.records`), highest first. */
  records: { what: string; matched: number }[];
};

export interface TotalReads {
  /** For one stream or for all, including deleted ones. */
  readTotals(streamId?: string): Promise<StreamTotals[]>;
}

export interface ActivityReads {
  /** The last steps, oldest first, without gaps, as of the last roll-up. */
  readActivity(asked: ActivityRange): Promise<ActivityPoint[]>;
  /** The attempts and matches in the same steps by type, as of the last roll-up. */
  readBreakdown(asked: ActivityRange): Promise<ActivityCounts>;
  /** For every stream that is not deleted. */
  readStreamStats(): Promise<StreamStats[]>;
  /**
   * The newest blocks of these streams' chains with matches, including removed blocks; in the order
   * of `streamIds`.
   */
  listTimelines(asked: { streamIds: readonly string[]; limit: number }): Promise<StreamTimeline[]>;
  /** When each paused stream was paused, and by whom, as in a {@link StreamChange}. */
  listPauses(): Promise<{ streamId: string; at: number; by: string }[]>;
  /** Newest first; at most 100 are kept per stream. */
  listStreamChanges(streamId: string): Promise<StreamChange[]>;
  /** Newest first; at most 100 are kept per chain. */
  listReorgs(asked: { chain?: string | undefined; limit: number }): Promise<Reorg[]>;
  /** Newest first; at most 100 are kept per chain. */
  listGaps(asked: { chain?: string | undefined; limit: number }): Promise<ChainGap[]>;
}

export interface StatWrites {
  /**
   * Rolls up some of the new counts, and deletes some of the old ones. True if there may be more of
   * either.
   */
  rollUpStats(): Promise<boolean>;
}
