/** Replays, which send many earlier deliveries again. */
import type {
  DeliveryFilter,
  DeliverySummary,
  Replay,
  ReplayEstimate,
  ReplayProgress,
} from '@sluice/kit/contract';

/** A replay that is not done, and its progress. */
export interface RunningReplay {
  id: string;
  filter: DeliveryFilter;
  perSecond: number;
  /** Last processed delivery; empty before the first one. */
  position: string;
  /** Last included delivery. */
  lastId: string;
  /** Milliseconds until it may continue. */
  dueInMs: number;
}

export interface ReplayReads {
  estimateReplay(filter: DeliveryFilter): Promise<ReplayEstimate>;
  readReplay(id: string): Promise<Replay | undefined>;
  /** Lists replays, newest first. */
  listReplays(limit: number): Promise<Replay[]>;
  readReplayProgress(
    replay: Pick<Replay, 'id' | 'state' | 'createdAt' | 'updatedAt'>,
  ): Promise<ReplayProgress>;
  /** Lists running replays, oldest first. */
  listRunningReplays(): Promise<RunningReplay[]>;
  /** Returns the ids of replayable deliveries, oldest first. */
  listReplayable(page: {
    filter: DeliveryFilter;
    after: string;
    lastId: string;
    limit: number;
  }): Promise<string[]>;
}

export interface ReplayWrites {
  /** `total` is the number of deliveries that match the filter. */
  createReplay(replay: {
    name: string;
    filter: DeliveryFilter;
    perSecond: number;
    total: number;
    /** Id of the API key that requested it. */
    keyId: string;
  }): Promise<Replay>;
  /**
   * Makes these deliveries due, except those that are now in progress or canceled, and sets the
   * earliest time of the next step. Returns those that were not pending before; undefined if the
   * replay is no longer running or has moved on.
   */
  advanceReplay(step: {
    id: string;
    after: string;
    ids: readonly string[];
    isLast: boolean;
  }): Promise<DeliverySummary[] | undefined>;
  /** Cancels a replay; returns false if it is unknown or has ended. */
  cancelReplay(id: string): Promise<boolean>;
}
