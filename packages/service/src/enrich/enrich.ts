/** What matching asks of enrichment, the same for every chain family. */
import type { BlockRef } from '../store/blocks/contract.ts';
import type { EnrichPool } from './enrichPool.ts';

/** `Options` are those of the stream, `Tail` is the part of a body that is completed. */
export interface Enrich<Options, Tail> extends EnrichPool {
  /**
   * Completes a body from memory where that is all it wants, and answers with null; else leaves it as
   * it is, and answers with the plan to commit it with.
   */
  plan(options: Options, tail: Tail): string | null;
  /** The most bytes that completing a body adds to it. Results of triggers share what the limit leaves. */
  mostGrowth(options: Options, tail: Tail): number;
  /**
   * Completes a body at once, for one that is shown and not sent: what the nodes refuse is left as it
   * is where it is not known. Throws a `RetryableError` when nothing could be asked.
   */
  complete(block: BlockRef, options: Options, tail: Tail): Promise<void>;
}
