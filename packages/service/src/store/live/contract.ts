import type { LiveEvent } from '@sluice/kit/contract';

export interface FeedWrites {
  /** Publishes an event that no other write produces. */
  announce(event: Extract<LiveEvent, { type: 'chain' | 'replay' }>): Promise<void>;
  /** Deletes the oldest events beyond the limit. */
  trimEvents(): Promise<void>;
}
