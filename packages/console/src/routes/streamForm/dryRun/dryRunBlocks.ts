/** Selects the blocks of a dry run, newest first. */
import type { ChainBlock } from '@sluice/kit/sluice';

/** Number of blocks in the first run; more would take too long. */
export const FIRST_BLOCKS = 24;
/** Maximum number of blocks in a run: an hour on Ethereum. */
const MAX_BLOCKS = 300;

export interface DryRunBlock {
  number: number;
  /** Time in Unix milliseconds; null while unknown. */
  timestamp: number | null;
  /** Number of records that matched; null if the block has not run yet. */
  records: number | null;
  /** Size of the webhook body; 0 if nothing matched or the block has not run yet. */
  bodyBytes: number;
}

type Known = readonly Pick<ChainBlock, 'number' | 'timestamp'>[];

/**
 * Returns the newest blocks, even if they are not in `known`: a service knows few blocks after its
 * start, and on chains without streams.
 *
 * @param known newest first; if it is empty, the result is empty.
 */
export function firstBlocks(known: Known): DryRunBlock[] {
  const [newest] = known;
  return newest === undefined ? [] : blocksDown(newest.number, FIRST_BLOCKS, known);
}

/** Adds earlier blocks, up to {@link MAX_BLOCKS} in total and down to block 0. */
export function withOlderBlocks(blocks: readonly DryRunBlock[], known: Known): DryRunBlock[] {
  const oldest = blocks.at(-1)?.number ?? 0;
  return [...blocks, ...blocksDown(oldest - 1, olderBlocks(blocks), known)];
}

/** Returns the number of blocks that {@link withOlderBlocks} adds. */
export const olderBlocks = (blocks: readonly DryRunBlock[]): number =>
  Math.max(0, Math.min(MAX_BLOCKS - blocks.length, blocks.at(-1)?.number ?? 0));

/** Returns up to `count` blocks in descending order, starting with `newest`. */
function blocksDown(newest: number, count: number, known: Known): DryRunBlock[] {
  const times = new Map(known.map(({ number, timestamp }) => [number, timestamp]));
  return Array.from({ length: Math.min(count, newest + 1) }, (_, n) => ({
    number: newest - n,
    timestamp: times.get(newest - n) ?? null,
    records: null,
    bodyBytes: 0,
  }));
}
