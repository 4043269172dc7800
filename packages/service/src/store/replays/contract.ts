/** Replays: old deliveries that are sent again, many at a time. */
import type {
  DeliveryFilter,
  DeliverySummary,
  Replay,
  ReplayEstimate,
  ReplayProgress,
} from '@sluice/kit/contract';

/** A replay that is not done, and where it stands. */
export interface RunningReplay {
  id: string;
  filter: DeliveryFilter;
  perSecond: number;
  /** The last delivery that had its turn; empty before the first. */
  position: string;
  /** The last that it is about. */
  lastId: string;
  /** Milliseconds until it may go on. */
  dueInMs: number;
}

export interface ReplayReads {
  estimateReplay(filter: DeliveryFilter): Promise<ReplayEstimate>;
  readReplay(id: string): Promise<Replay | undefined>;
  /** Newest first. */
  listReplays(limit: number): Promise<Replay[]>;
  readReplayProgress(
    replay: Pick<Replay, 'id' | 'state' | 'createdAt' | 'updatedAt'>,
  ): Promise<ReplayProgress>;
  /** Oldest first. */
  listRunningReplays(): Promise<RunningReplay[]>;
  /** Ids of deliveries that can be sent again, oldest first. */
  listReplayable(page: {
    filter: DeliveryFilter;
    after: string;
    lastId: string;
    limit: number;
  }): Promise<string[]>;
}

export interface ReplayWrites {
  /** `total` is how many deliveries fit. */
  createReplay(replay: {
    name: string;
    filter: DeliveryFilter;
    perSecond: number;
    total: number;
    /** Of the API key that asks for it. */
    keyId: string;
  }): Promise<Replay>;
  /**
   * Makes these deliveries due, those that are on their way or cancelled by now excepted, and sets the
   * earliest time of the next step. Answers with those that did not wait before; undefined when the
   * replay is no longer running or stands elsewhere.
   */
  advanceReplay(step: {
    id: string;
    after: string;
    ids: readonly string[];
    isLast: boolean;
  }): Promise<DeliverySummary[] | undefined>;
  /** False when it is unknown or has ended. */
  cancelReplay(id: string): Promise<boolean>;
}
