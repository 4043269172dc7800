import type { LiveEvent } from '@sluice/kit/contract';

export interface FeedWrites {
  /** Publishes a live event that does not result from another write. */
  announce(event: Extract<LiveEvent, { type: 'chain' | 'replay' }>): Promise<void>;
  /** Deletes the oldest live events that exceed the limit of 32 MiB. Does nothing on SQLite. */
  trimEvents(): Promise<void>;
}
