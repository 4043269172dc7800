/** Counts of what was matched and delivered. */
import type {
  ActivityBreakdown,
  ActivityPoint,
  ActivityStep,
  StreamChange,
  StreamTape,
  ChainGap,
  Reorg,
} from '@sluice/kit/contract';

export interface StreamStats {
  streamId: string;
  queue: number;
  delivered24h: number;
  failedAttempts24h: number;
  /** Per 5 minutes, oldest first, the last 2 hours. */
  deliveredSeries: number[];
  /** Of 23 hours of the clock, oldest first, and of the last 60 minutes. */
  hourlyDelivered: number[];
  /** Failed attempts, likewise. */
  hourlyFailed: number[];
  /** Of the attempts of the last 24 hours that got a 2xx, to a fifth; null without any. */
  p95Ms: number | null;
  lastDeliveryAt: number | null;
  /** The first minute with a failed attempt after the last one with a 2xx; null without any. */
  failingSince: number | null;
}

/** Counted since the stream was created; what retention deleted stays in. */
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

export interface ActivityAsked {
  /** Undefined for all streams together. */
  streamId?: string | undefined;
  stepMinutes: ActivityStep;
  points: number;
}

/** Of an {@link ActivityBreakdown}, without what the ledger does not know: the names of events. */
export type ActivityCounts = Omit<ActivityBreakdown, 'records'> & {
  /** By what they are (`NewMatch.records`), most first. */
  records: { what: string; matched: number }[];
};

export interface TotalReads {
  /** For every stream there was, or for one. */
  readTotals(streamId?: string): Promise<StreamTotals[]>;
}

export interface ActivityReads {
  /** The last steps, oldest first, without gaps. As of the last roll-up. */
  readActivity(asked: ActivityAsked): Promise<ActivityPoint[]>;
  /** What the attempts and matches of the same steps consisted of. As of the last roll-up. */
  readBreakdown(asked: ActivityAsked): Promise<ActivityCounts>;
  /** For every stream that is not deleted. */
  readStreamStats(): Promise<StreamStats[]>;
  /** What became of the newest blocks of these streams, and of those that left; in their order. */
  listTapes(asked: { streamIds: readonly string[]; limit: number }): Promise<StreamTape[]>;
  /** Of each paused stream when it was paused, and by whom, as in a {@link StreamChange}. */
  listPauses(): Promise<{ streamId: string; at: number; by: string }[]>;
  /** Newest first; of each stream at most 100 are kept. */
  listStreamChanges(streamId: string): Promise<StreamChange[]>;
  /** Newest first; of each chain at most 100 are kept. */
  listReorgs(asked: { chain?: string | undefined; limit: number }): Promise<Reorg[]>;
  /** Newest first; of each chain at most 100 are kept. */
  listGaps(asked: { chain?: string | undefined; limit: number }): Promise<ChainGap[]>;
}

export interface StatWrites {
  /**
   * Adds up some of what was counted since the last time, and forgets some of the activity older than two
   * days. True when there may be more of either.
   */
  rollUpStats(): Promise<boolean>;
}
