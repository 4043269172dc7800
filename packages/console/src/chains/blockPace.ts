/** How fast a chain makes blocks, by the times of those at hand. Pure. */
import type { ChainBlock } from '@sluice/kit/sluice';
import type { WatchedChain } from './tape.ts';

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

/** Milliseconds since the chain's newest block was first seen; null before the first. */
export const headAgeMs = (
  { headAgeMs: ageMs, reportedAt }: Pick<WatchedChain, 'headAgeMs' | 'reportedAt'>,
  now: number,
): number | null => (ageMs === null ? null : ageMs + Math.max(0, now - reportedAt));

/** Nodes for development make a block when there is a transaction: Anvil, Hardhat and Ganache. */
const ON_DEMAND: ReadonlySet<string> = new Set(['0x7a69', '0x539']);
/** Fewer blocks tell no pace. */
const LEAST_BLOCKS = 5;
/** A chain whose longest gap is this many times the usual one makes blocks on demand. */
const IRREGULAR = 10;
/** A missed slot, or two, is no outage. */
const LONGEST_GAPS = 3;
const LEAST_OVERDUE_MS = 8_000;

/** The age of the newest block from which on the chain is overdue; null where it keeps no pace. */
function overdueAfterMs({ id, blocks }: Pick<WatchedChain, 'id' | 'blocks'>): number | null {
  const blockMs = meanBlockMs(blocks);
  if (ON_DEMAND.has(id) || blockMs === null || blocks.length < LEAST_BLOCKS) return null;
  const gaps = blocks.slice(1).map(({ number, timestamp }, index) => {
    const later = blocks[index] ?? { number, timestamp };
    return (later.timestamp - timestamp) / Math.max(1, later.number - number);
  });
  const longestMs = Math.max(...gaps);
  // Times in whole seconds are longer gaps than those of a chain with several blocks in each.
  if (longestMs > IRREGULAR * Math.max(blockMs, 1_000)) return null;
  return Math.max(LEAST_OVERDUE_MS, LONGEST_GAPS * longestMs);
}

/** So many times the usual gap is worth a look. */
const LATE_GAPS = 2;
const LEAST_LATE_MS = 5_000;

/** Whether the newest block is older than usual, if not yet overdue. */
export function isLate(chain: WatchedChain, now: number): boolean {
  const ageMs = headAgeMs(chain, now);
  const pace = overdueAfterMs(chain) === null ? null : meanBlockMs(chain.blocks);
  return ageMs !== null && pace !== null && ageMs > Math.max(LEAST_LATE_MS, LATE_GAPS * pace);
}

/** Whether the newest block is older than the pace allows, by the clock of this page. */
export function mayBeOverdue(chain: WatchedChain, now: number): boolean {
  const afterMs = overdueAfterMs(chain);
  const ageMs = headAgeMs(chain, now);
  return afterMs !== null && ageMs !== null && ageMs > afterMs;
}

/** Whether the service itself has reported so: where it is silent, nothing is known of the chain. */
export const isOverdue = (chain: WatchedChain): boolean => mayBeOverdue(chain, chain.reportedAt);
