/** The interface between matching and enrichment, which all chain families share. */
import type { BlockRef } from '../store/blocks/contract.ts';
import type { EnrichPool } from './enrichPool.ts';

/** `Options` are the stream's options; `Tail` is the part of a body that is completed. */
export interface Enrich<Options, Tail> extends EnrichPool {
  /**
   * Completes a body from memory if possible and returns null; otherwise leaves it unchanged and
   * returns the plan to commit with it.
   */
  plan(options: Options, tail: Tail): string | null;
  /**
   * Maximum growth of a body through completion. Trigger results share the space up to the size
   * limit.
   */
  mostGrowth(options: Options, tail: Tail): number;
  /**
   * Completes a body at once, for display only; data that the nodes refuse stays unknown.
   * @throws RetryableError when no node could be queried
   */
  complete(block: BlockRef, options: Options, tail: Tail): Promise<void>;
}
