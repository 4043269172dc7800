import type {
  ChainBlock,
  ChainHealth,
  DeliverySummary,
  InboxRequestSummary,
  Job,
  Replay,
} from './shapes.generated.ts';

/**
 * An event of `/sluice/events`, from any process of the service. A client that reconnects with the
 * `id` of its last event in `Last-Event-ID` gets the events it missed. If they are no longer
 * stored, it gets `reset` and must refetch all data.
 */
export type LiveEvent =
  | { type: 'delivery'; delivery: DeliverySummary }
  | { type: 'block'; chainId: string; block: ChainBlock; head: number }
  /** Blocks above `blockNumber` left the chain. */
  | { type: 'reorg'; chainId: string; blockNumber: number }
  | { type: 'chain'; chain: Omit<ChainHealth, 'blocks' | 'unverified'> }
  /** A stream was created, changed or deleted. */
  | { type: 'stream'; streamId: string }
  /** A backfill progressed or changed its state. */
  | { type: 'job'; job: Job }
  /** An inbox received a webhook. */
  | { type: 'inbox'; request: InboxRequestSummary }
  /** A replay was created, progressed or ended. */
  | { type: 'replay'; replay: Replay }
  | { type: 'reset' };
