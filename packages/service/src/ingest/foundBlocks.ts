/** Reads blocks that a search by logs found, and decides when the next search is worthwhile. */
import type { BlockHeader, BlockNeeds, BlockRef } from '../store/blocks/contract.ts';
import { type ChainSource, type FoundBlocks, SourceError } from './source.ts';

/** Maximum number of blocks that are read concurrently. */
export const BATCH_BLOCKS = 16;
/**
 * Number of blocks that are read one by one after a search that was not worthwhile: it found more
 * than half of the blocks, the nodes do not support it, or reading each block costs less.
 */
const DENSE_BLOCKS = 2_048;

/**
 * Returns the height up to which blocks are read one by one after a search from `from` on; undefined
 * if the search was worthwhile.
 */
export function denseAfter(from: number, found: FoundBlocks | undefined): number | undefined {
  if (found === undefined) return from + DENSE_BLOCKS;
  const { end, hits } = found;
  return hits.length * 2 > end.number - from + 1 ? end.number + DENSE_BLOCKS : undefined;
}

/**
 * Reads blocks that a search found. Nodes return even removed blocks by hash, so the end of the range
 * is checked again.
 *
 * @throws SourceError `disagreement` if the end of the range is another block now
 */
export async function readHits<Block extends BlockHeader>(
  source: Pick<ChainSource<Block>, 'readBlock' | 'readHeader'>,
  hits: readonly BlockRef[],
  { end }: Pick<FoundBlocks, 'end'>,
  needs: BlockNeeds,
): Promise<Block[]> {
  if (hits.length === 0) return [];
  const blocks = await Promise.all(hits.map((hit) => source.readBlock(hit, needs)));
  if ((await source.readHeader(end.number))?.hash !== end.hash) {
    throw new SourceError(
      'disagreement',
      `block ${end.number} changed since blocks below it were found`,
    );
  }
  return blocks;
}
