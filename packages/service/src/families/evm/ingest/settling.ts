/**
 * Tracks how long the nodes have returned the same content for blocks that a single witness vouches
 * for. Later blocks are read ahead meanwhile, so that blocks settle in parallel.
 */
import { createHash } from 'node:crypto';
import type { BlockRef } from '../../../store/blocks/contract.ts';

export interface Settling {
  /**
   * Returns the milliseconds until the content will have been the same for `waitMs`; 0 if it has.
   * Other content starts the time again.
   *
   * @param content text of what was read of the block
   */
  remainingMs(block: BlockRef, content: string, waitMs: number): number;
  /** Reads the blocks up to the head ahead, if an older block is settling. */
  followHead(head: number): void;
  stop(): void;
}

/** Maximum distance of a block that is read ahead from the block that is settling. */
const AHEAD_BLOCKS = 4_096;
/** Number of blocks that are read ahead when a block starts to settle. */
const FIRST_AHEAD_BLOCKS = 1_024;
const READS_AT_ONCE = 4;
/** Time after which a block that is no longer requested counts as settled or gone. */
const FORGET_MS = 60_000;
const REMEMBERED = 2 * AHEAD_BLOCKS;

interface Entry {
  content: string;
  sinceMs: number;
}

/**
 * @param observe reads the block at a height, so that it is recorded here if it must settle
 * @param now monotonic clock in milliseconds; tests pass their own
 */
export function createSettling(
  observe: (number: number) => Promise<unknown>,
  now: () => number = () => performance.now(),
): Settling {
  /** By hash, oldest first. */
  const entries = new Map<string, Entry>();
  /** Heights that were or will be read ahead, oldest first. */
  const planned = new Set<number>();
  const queue: number[] = [];
  /** Heights that are being read ahead. */
  const observing = new Set<number>();
  let isStopped = false;
  /** The newest known head, and the block that was last found to be settling. */
  let headNumber = 0;
  let waiting = { number: 0, atMs: -Infinity };

  const forgetOldest = (keyed: Map<unknown, unknown> | Set<unknown>): void => {
    if (keyed.size > REMEMBERED) keyed.delete(keyed.keys().next().value);
  };

  const readAhead = async (): Promise<void> => {
    if (observing.size >= READS_AT_ONCE) return;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      observing.add(next);
      // The block is read again when it is its turn, and a failure is reported then.
      await observe(next).catch(() => {});
      observing.delete(next);
    }
  };

  const plan = (from: number, to: number): void => {
    for (let next = from; next <= Math.min(to, headNumber); next++) {
      if (planned.has(next) || isStopped) continue;
      planned.add(next);
      forgetOldest(planned);
      queue.push(next);
      void readAhead();
    }
  };

  return {
    remainingMs({ number, hash }, read, waitMs) {
      if (waitMs === 0) return 0;
      // Blocks can be large, so only a digest is kept.
      const content = createHash('sha256').update(read).digest('base64');
      const known = entries.get(hash);
      const entry = known?.content === content ? known : { content, sinceMs: now() };
      entries.delete(hash);
      entries.set(hash, entry);
      forgetOldest(entries);
      const remainingMs = Math.max(0, entry.sinceMs + waitMs - now());
      planned.add(number);
      if (remainingMs > 0 && !observing.has(number)) {
        if (number >= waiting.number || now() - waiting.atMs > FORGET_MS) {
          waiting = { number, atMs: now() };
        }
        plan(number + 1, number + FIRST_AHEAD_BLOCKS);
      }
      return remainingMs;
    },
    followHead(head) {
      const from = Math.max(headNumber + 1, head - FIRST_AHEAD_BLOCKS);
      headNumber = head;
      if (now() - waiting.atMs > FORGET_MS) return;
      plan(from, Math.min(head, waiting.number + AHEAD_BLOCKS));
    },
    stop() {
      isStopped = true;
      queue.length = 0;
    },
  };
}
