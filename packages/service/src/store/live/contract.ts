/** What those who watch are told of. */
import type { LiveEvent } from '@sluice/kit/contract';

export interface FeedWrites {
  /** Tells those who watch what no other write does. */
  announce(event: Extract<LiveEvent, { type: 'chain' | 'replay' }>): Promise<void>;
  /** Forgets the oldest events where there are more than are held. */
  trimEvents(): Promise<void>;
}
