import type {
  ChainBlock,
  ChainHealth,
  DeliverySummary,
  InboxRequestSummary,
  Job,
  Replay,
} from './shapes.generated.ts';

/**
 * What `/sluice/events` sends, whichever process of the service it came from. Each event has an `id`; a
 * client that reconnects with `Last-Event-ID`, to any process, gets what it missed, or `reset` where that
 * is no longer held: refetch then.
 */
export type LiveEvent =
  | { type: 'delivery'; delivery: DeliverySummary }
  | { type: 'block'; chainId: string; block: ChainBlock; head: number }
  /** Blocks above `blockNumber` left the chain. */
  | { type: 'reorg'; chainId: string; blockNumber: number }
  | { type: 'chain'; chain: Omit<ChainHealth, 'blocks' | 'unverified'> }
  /** A stream was created, changed or deleted. */
  | { type: 'stream'; streamId: string }
  /** A backfill moved on, or changed its state. */
  | { type: 'job'; job: Job }
  /** A webhook came into an inbox. */
  | { type: 'inbox'; request: InboxRequestSummary }
  /** A replay was made, moved on or ended. */
  | { type: 'replay'; replay: Replay }
  | { type: 'reset' };
