/** From which block on matches still wait: by depth, or by what the chain itself calls final. */
import type { BlockRef } from '../store/blocks/contract.ts';
import { type ChainSource, SourceError } from './source.ts';

export interface Confirming {
  /** Asks the chain, where it decides; no oftener than pays. Answers whether more is final by now. */
  refresh(): Promise<boolean>;
  /**
   * Last block whose matches are confirmed once `tip` is committed; below 0 for none.
   *
   * @param window our blocks, newest first and without holes
   */
  upTo(tip: BlockRef, window: readonly BlockRef[]): number;
  /** Blocks to remember, so that none that can still go is forgotten. */
  windowBlocks(tip: number): number;
  /** What is wrong, for people; empty when nothing is. */
  note(): string;
}

const MIN_WINDOW_BLOCKS = 256;
/** Finality may stop for days; a window of this many hashes is what we hold then. */
const MAX_WINDOW_BLOCKS = 16_384;
const ASK_AGAIN_MS = 2_000;

const NOT_KNOWN =
  'no node of this chain names a finalized block, so nothing is confirmed: give --chain …,confirmations=N instead, or a node that does';

export function createConfirming(
  confirmations: number | 'finalized',
  source: Pick<ChainSource<unknown>, 'readFinalized'>,
): Confirming {
  if (confirmations !== 'finalized') {
    return {
      refresh: async () => false,
      upTo: (tip) => tip.number - confirmations,
      windowBlocks: () => Math.max(MIN_WINDOW_BLOCKS, 2 * confirmations),
      note: () => '',
    };
  }

  let finalized: BlockRef | undefined;
  let isKnown = true;
  let askAt = 0;

  return {
    async refresh() {
      if (performance.now() < askAt) return false;
      askAt = performance.now() + ASK_AGAIN_MS;
      let block: BlockRef | undefined;
      try {
        block = await source.readFinalized();
      } catch (error) {
        // A node that fails to answer shows in everything else; what was final is so still.
        if (error instanceof SourceError) return false;
        throw error;
      }
      isKnown = block !== undefined;
      // A node that lags speaks of an older one.
      if (block === undefined || block.number <= (finalized?.number ?? -1)) return false;
      finalized = block;
      return true;
    },
    upTo(tip, window) {
      if (finalized === undefined) return -1;
      if (finalized.number > tip.number) return tip.number;
      const ours =
        finalized.number === tip.number ? tip : window[(window[0]?.number ?? 0) - finalized.number];
      // Another block is final at that height: ours is about to be undone.
      if (ours !== undefined && ours.hash !== finalized.hash) return -1;
      return finalized.number;
    },
    windowBlocks(tip) {
      const open = finalized === undefined ? MAX_WINDOW_BLOCKS : tip - finalized.number + 64;
      return Math.min(MAX_WINDOW_BLOCKS, Math.max(MIN_WINDOW_BLOCKS, open));
    },
    note: () => (isKnown ? '' : NOT_KNOWN),
  };
}
