/**
 * Decides whether a development chain went back to an older block without a new one. A node that
 * lags looks the same for a moment.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { BlockRef } from '../store/blocks/contract.ts';
import type { ChainSource } from './source.ts';

export interface RollbackWatch {
  /**
   * Returns whether the head stays at `latest`, an ancestor of `tip`, and no node has `tip` for as
   * long as the watch is patient.
   */
  isCertain(latest: BlockRef, tip: BlockRef): Promise<boolean>;
  /** Remembers the blocks that a rollback removed. */
  remember(removed: readonly BlockRef[]): void;
  /** Doubles the patience if a removed block returns, because then the node only lagged. */
  onBlock(block: BlockRef): void;
}

const PATIENCE_MS = 1_000;
const MOST_PATIENCE_MS = 60_000;
/** Number of times that the nodes are queried while the watch is patient. */
const LOOKS = 4;

/** @param signal ends the watch, which then is not certain */
export function createRollbackWatch(
  source: Pick<ChainSource<unknown>, 'readHead' | 'readHeader'>,
  signal: AbortSignal,
  pause = (ms: number): Promise<void> => wait(ms, undefined, { signal }).catch(() => {}),
): RollbackWatch {
  let patienceMs = PATIENCE_MS;
  let removed = new Set<string>();

  const isMissing = async ({ number }: BlockRef): Promise<boolean> =>
    (await source.readHeader(number)) === undefined;

  return {
    async isCertain(latest, tip) {
      if (!(await isMissing(tip))) return false;
      for (let look = 0; look < LOOKS; look++) {
        await pause(patienceMs / LOOKS);
        if (signal.aborted) return false;
        if ((await source.readHead()).hash !== latest.hash) return false;
        if (!(await isMissing(tip))) return false;
      }
      return true;
    },
    remember(blocks) {
      removed = new Set(blocks.map(({ hash }) => hash));
    },
    onBlock({ hash }) {
      if (!removed.has(hash)) return;
      removed.clear();
      patienceMs = Math.min(2 * patienceMs, MOST_PATIENCE_MS);
    },
  };
}
