/** Estimates how fast a chain produces blocks, from the timestamps of recent ones. Pure. */
import type { ChainBlock } from '@sluice/kit/sluice';
import type { WatchedChain } from './timeline.ts';

/**
 * Returns the average milliseconds between blocks.
 * @param blocks newest first.
 * @returns null for fewer than two blocks, or if all have the same timestamp.
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

/** A chain overdue by more blocks than this is assumed to produce them on demand. */
const REGULAR_BLOCKS = 5;

/**
 * Estimates the next block.
 * @param blocks newest first.
 * @returns null before the first block; `inMs` is null without a pace and negative if overdue.
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

/** Returns the milliseconds since the newest block was observed; null before the first block. */
export const headAgeMs = (
  { headAgeMs: ageMs, reportedAt }: Pick<WatchedChain, 'headAgeMs' | 'reportedAt'>,
  now: number,
): number | null => (ageMs === null ? null : ageMs + Math.max(0, now - reportedAt));

/** Development nodes (Anvil, Hardhat and Ganache), which create a block per transaction. */
const ON_DEMAND: ReadonlySet<string> = new Set(['0x7a69', '0x539']);
/** Minimum number of blocks for an estimate. */
const MIN_BLOCKS = 5;
/** A chain produces blocks on demand if its longest gap exceeds the average by this factor. */
const IRREGULAR = 10;
/** One or two missed slots are not an outage. */
const MAX_GAPS = 3;
const MIN_OVERDUE_MS = 8_000;

/** Returns the age of the newest block at which the chain is overdue; null without a pace. */
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

/** A block is late after this multiple of the average gap. */
const LATE_GAPS = 2;
const MIN_LATE_MS = 5_000;

/** Returns whether the newest block is older than usual; it may not be overdue yet. */
export function isLate(chain: WatchedChain, now: number): boolean {
  const ageMs = headAgeMs(chain, now);
  const pace = overdueAfterMs(chain) === null ? null : meanBlockMs(chain.blocks);
  return ageMs !== null && pace !== null && ageMs > Math.max(MIN_LATE_MS, LATE_GAPS * pace);
}

/** Returns whether the next block is overdue by the clock of this page. */
export function mayBeOverdue(chain: WatchedChain, now: number): boolean {
  const afterMs = overdueAfterMs(chain);
  const ageMs = headAgeMs(chain, now);
  return afterMs !== null && ageMs !== null && ageMs > afterMs;
}

/**
 * Returns whether the service itself reported this. If the service is unreachable, the state is
 * unknown.
 */
export const isOverdue = (chain: WatchedChain): boolean => mayBeOverdue(chain, chain.reportedAt);
