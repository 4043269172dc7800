/** Estimates how fast a chain produces blocks, from the timestamps of recent ones. */
import type { ChainBlock } from '@sluice/kit/sluice';
import type { WatchedChain } from './timeline.ts';

/**
 * Returns the average number of milliseconds between blocks.
 * @param blocks newest first.
 * @returns null for fewer than two blocks, or if the first and the last have the same timestamp.
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

/**
 * Maximum number of block times, and minimum time, that the next block can be late. After that, the
 * chain is assumed to create blocks on demand.
 */
const REGULAR_BLOCKS = 5;
const REGULAR_MS = 3_000;

/**
 * Estimates the next block.
 * @param blocks newest first.
 * @returns null before the first block. `inMs` is negative after the estimated time, and null if
 * the time cannot be estimated.
 */
export function estimateNextBlock(
  blocks: readonly Pick<ChainBlock, 'number' | 'timestamp'>[],
  now: number,
): { number: number; inMs: number | null } | null {
  const newest = blocks[0];
  if (newest === undefined) return null;
  const blockMs = meanBlockMs(blocks);
  const inMs = blockMs === null ? null : newest.timestamp + blockMs - now;
  const isRegular =
    blockMs !== null && inMs !== null && -inMs < Math.max(REGULAR_MS, REGULAR_BLOCKS * blockMs);
  return { number: newest.number + 1, inMs: isRegular ? inMs : null };
}

/** Returns the milliseconds since the newest block was observed; null before the first block. */
export const headAgeMs = (
  { headAgeMs: ageMs, reportedAt }: Pick<WatchedChain, 'headAgeMs' | 'reportedAt'>,
  now: number,
): number | null => (ageMs === null ? null : ageMs + Math.max(0, now - reportedAt));

/**
 * Chain ids of development nodes, which create a block per transaction: `0x7a69` for Anvil and
 * Hardhat, `0x539` for Ganache.
 */
const ON_DEMAND: ReadonlySet<string> = new Set(['0x7a69', '0x539']);
/** Minimum number of recent blocks. A chain with fewer is never overdue. */
const MIN_BLOCKS = 5;
/**
 * Maximum ratio of the longest gap to the average gap. Above it, a chain is assumed to produce
 * blocks on demand.
 */
const IRREGULAR = 10;
/**
 * Multiple of the longest gap after which the next block is overdue. One or two missed slots are
 * not an outage.
 */
const MAX_GAPS = 3;
const MIN_OVERDUE_MS = 8_000;

/**
 * Returns the age of the newest block after which the next one is overdue; null if there is no
 * estimate, for example because blocks are produced on demand.
 */
function overdueAfterMs({ id, blocks }: Pick<WatchedChain, 'id' | 'blocks'>): number | null {
  const blockMs = meanBlockMs(blocks);
  if (ON_DEMAND.has(id) || blockMs === null || blocks.length < MIN_BLOCKS) return null;
  const gaps = blocks.slice(1).map(({ number, timestamp }, index) => {
    const later = blocks[index] ?? { number, timestamp };
    return (later.timestamp - timestamp) / Math.max(1, later.number - number);
  });
  const longestMs = Math.max(...gaps);
  // Timestamps in whole seconds exaggerate the gaps of chains with several blocks per second.
  if (longestMs > IRREGULAR * Math.max(blockMs, 1_000)) return null;
  return Math.max(MIN_OVERDUE_MS, MAX_GAPS * longestMs);
}

/**
 * Age of the newest block, as a multiple of the average gap between blocks, above which a chain is
 * late.
 */
const LATE_GAPS = 2;
const MIN_LATE_MS = 5_000;

/** Returns whether the newest block is older than usual. The next block may not be overdue yet. */
export function isLate(chain: WatchedChain, now: number): boolean {
  const ageMs = headAgeMs(chain, now);
  const pace = overdueAfterMs(chain) === null ? null : meanBlockMs(chain.blocks);
  return ageMs !== null && pace !== null && ageMs > Math.max(MIN_LATE_MS, LATE_GAPS * pace);
}

/** Returns whether the next block is overdue according to the clock of this page. */
export function mayBeOverdue(chain: WatchedChain, now: number): boolean {
  const afterMs = overdueAfterMs(chain);
  const ageMs = headAgeMs(chain, now);
  return afterMs !== null && ageMs !== null && ageMs > afterMs;
}

/**
 * Returns whether the next block was overdue at the service's last report. While the service is
 * unreachable, the current state is unknown.
 */
export const isOverdue = (chain: WatchedChain): boolean => mayBeOverdue(chain, chain.reportedAt);
