/** Tracks how far a node is behind the best node, and for how long. */
import type { BlockRef } from '../../store/blocks/contract.ts';

export interface Lag {
  /** Returns the number of the node's newest block; null if unknown. */
  head(): number | null;
  recordHead(head: BlockRef, nowMs: number): void;
  /** Records the node's distance to the best node, whose head was read at the same time. */
  compare(behind: HeadLag, nowMs: number): void;
  /** Returns the lag behind the best node, as a share of the tolerated lag. */
  share(): number;
  /**
   * Returns whether the node has been behind, without a new head, for more than {@link STALLED_MS}.
   */
  isStalled(nowMs: number): boolean;
}

/** The distance from a node's head to the head of the best node, by number and timestamp. */
export interface HeadLag {
  blocks: number;
  seconds: number;
}

/** Tolerated lag. Both numbers must be exceeded, because a fast chain has many blocks a second. */
const LAG_BLOCKS = 3;
const LAG_SECONDS = 5;
const STALLED_MS = 60_000;

export function createLag(): Lag {
  let head: BlockRef | undefined;
  let movedAt = performance.now();
  let share = 0;
  let behindSince: number | undefined;
  return {
    head: () => head?.number ?? null,
    recordHead(latest, nowMs) {
      if (latest.hash !== head?.hash) movedAt = nowMs;
      head = latest;
    },
    compare({ blocks, seconds }, nowMs) {
      share = Math.max(0, Math.min(blocks / LAG_BLOCKS, seconds / LAG_SECONDS));
      behindSince = blocks <= 0 ? undefined : (behindSince ?? nowMs);
    },
    share: () => share,
    isStalled: (nowMs) =>
      behindSince !== undefined && nowMs - Math.max(behindSince, movedAt) > STALLED_MS,
  };
}
