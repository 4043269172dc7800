/** The interface between matching and enrichment, shared by all chain families. */
import type { BlockRef } from '../store/blocks/contract.ts';
import type { EnrichPool } from './enrichPool.ts';

/** `Options` are the stream's options; `Tail` is the part of a body that enrichment completes. */
export interface Enrich<Options, Tail> extends EnrichPool {
  /**
   * Completes the body and returns null if it needs only data in memory. Otherwise leaves it
   * unchanged and returns the plan to commit with its match.
   */
  plan(options: Options, tail: Tail): string | null;
  /**
   * Returns the number of bytes to reserve for completing a body. Trigger results that need more
   * than their reserved bytes share the space that remains.
   */
  mostGrowth(options: Options, tail: Tail): number;
  /**
   * Completes a body immediately, for a dry run of a stream, whose `id` is empty if it is not
   * stored. Data that the nodes refuse stays unknown.
   * @throws RetryableError if no node could be queried, or the ledger is unavailable
   */
  complete(block: BlockRef, stream: { id: string; options: Options }, tail: Tail): Promise<void>;
}
