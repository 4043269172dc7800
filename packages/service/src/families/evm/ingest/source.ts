import type { EvmBlock } from '../match/block.ts';
import type { BlockRef } from '../../../store/blocks/contract.ts';
import type { ChainSource } from '../../../ingest/source.ts';

/** A source of an EVM chain, which also reads contract state. */
export interface EvmSource extends ChainSource<EvmBlock> {
  /**
   * Returns the result of one request, from a provider that has this block. Throws a {@link
   * SourceError} if none has it, or if the request fails.
   *
   * @param maxBytes maximum response size; a larger response is `too-large`
   */
  requestAt(
    block: BlockRef,
    method: string,
    params: readonly unknown[],
    maxBytes?: number,
  ): Promise<unknown>;
}
