/** Replays, which send many past deliveries again. */
import type { DeliveryFilter, Replay, ReplayEstimate, ReplayProgress } from '@sluice/kit/contract';

/** A running replay, with its progress. */
export interface RunningReplay {
  id: string;
  filter: DeliveryFilter;
  perSecond: number;
  /** Id of the last delivery that was processed; empty before the first one. */
  position: string;
  /** Upper bound for the ids of the deliveries to process. */
  lastId: string;
  /** Milliseconds until the next step may start. */
  dueInMs: number;
}

/** Maximum number of running replays, because each one reads and counts deliveries all the time. */
export const MAX_RUNNING_REPLAYS = 20;

export interface ReplayReads {
  estimateReplay(filter: DeliveryFilter): Promise<ReplayEstimate>;
  readReplay(id: string): Promise<Replay | undefined>;
  /** Lists replays, newest first. */
  listReplays(limit: number): Promise<Replay[]>;
  readReplayProgress(
    replay: Pick<Replay, 'id' | 'state' | 'createdAt' | 'updatedAt'>,
  ): Promise<ReplayProgress>;
  countRunningReplays(): Promise<number>;
  /** Lists running replays, oldest first. */
  listRunningReplays(): Promise<RunningReplay[]>;
  /**
   * Returns the ids of up to `limit` replayable deliveries that match the filter, after the id
   * `after` and up to `lastId`, oldest first.
   */
  listReplayable(page: {
    filter: DeliveryFilter;
    after: string;
    lastId: string;
    limit: number;
  }): Promise<string[]>;
}

export interface ReplayWrites {
  /**
   * Creates a replay; returns undefined if `MAX_RUNNING_REPLAYS` are running. `total` is the number
   * of replayable deliveries that match the filter, counted up to a million.
   */
  createReplay(replay: {
    name: string;
    filter: DeliveryFilter;
    perSecond: number;
    total: number;
    keyId: string;
  }): Promise<Replay | undefined>;
  /**
   * Queues these deliveries again if they are replayable, sets the earliest time of the next step,
   * and ends the replay if `isLast` is set. Returns false if the replay is no longer
   * running or its position is no longer `after`.
   */
  advanceReplay(step: {
    id: string;
    after: string;
    ids: readonly string[];
    isLast: boolean;
  }): Promise<boolean>;
  /** Cancels a replay; returns false if it is unknown or has ended. */
  cancelReplay(id: string): Promise<boolean>;
}
