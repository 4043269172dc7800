/** How fast a chain makes blocks, by the times of those at hand. Pure. */
import type { ChainBlock } from '@sluice/kit/sluice';

/**
 * Milliseconds from one block to the next, on average.
 * @param blocks newest first.
 * @returns null where their times do not tell: fewer than two, or all of one time.
 */
export function meanBlockMs(
  blocks: readonly Pick<ChainBlock, 'number' | 'timestamp'>[],
): number | null {
  const [newest, oldest] = [blocks[0], blocks.at(-1)];
  if (newest === undefined || oldest === undefined) return null;
  const spanMs = newest.timestamp - oldest.timestamp;
  const steps = newest.number - oldest.number;
  return spanMs > 0 && steps > 0 ? spanMs / steps : null;
}

/** Overdue by more blocks than this, a chain makes them when there is something to do. */
const REGULAR_BLOCKS = 5;

/**
 * The block that comes next.
 * @param blocks newest first.
 * @returns null before the first one; `inMs` null where the chain keeps no pace, negative while it is overdue.
 */
export function nextBlock(
  blocks: readonly Pick<ChainBlock, 'number' | 'timestamp'>[],
  now: number,
): { number: number; inMs: number | null } | null {
  const newest = blocks[0];
  if (newest === undefined) return null;
  const blockMs = meanBlockMs(blocks);
  const inMs = blockMs === null ? null : newest.timestamp + blockMs - now;
  const isRegular = blockMs !== null && inMs !== null && inMs > -REGULAR_BLOCKS * blockMs;
  return { number: newest.number + 1, inMs: isRegular ? inMs : null };
}
