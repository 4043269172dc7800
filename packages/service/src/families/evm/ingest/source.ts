import type { EvmBlock } from '../match/block.ts';
import type { BlockRef } from '../../../store/blocks/contract.ts';
import type { RequestOrder } from '../../../ingest/nodes/pace.ts';
import type { ChainSource } from '../../../ingest/source.ts';

/** A source of an EVM chain, which also reads contract state. */
export interface EvmSource extends ChainSource<EvmBlock> {
  /**
   * Returns the result of one request, from a provider that has this block. Throws a {@link
   * SourceError} if none has it, or if the request fails.
   *
   * @param how.maxBytes maximum response size; a larger response is `too-large`
   * @param how.order default: `aside`
   */
  requestAt(
    block: BlockRef,
    method: string,
    params: readonly unknown[],
    how?: { maxBytes?: number; order?: RequestOrder },
  ): Promise<unknown>;
}
