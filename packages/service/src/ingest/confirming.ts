/** Decides when matches are confirmed: by depth, or by the safe or finalized block of the chain. */
import type { BlockHeader, BlockRef, ConfirmedHeights } from '../store/blocks/contract.ts';
import type { Finality } from './finality.ts';
import { blockAt } from './reconcile.ts';
import { flagOf } from '../config/settings.ts';

export interface ConfirmationRule {
  /**
   * Returns the numbers of the newest blocks whose matches are confirmed once `tip` is committed.
   *
   * @param window the local blocks, newest first, without holes
   */
  heights(tip: BlockRef, window: readonly BlockRef[]): ConfirmedHeights;
  /** Returns the number of newest blocks that a reorg is most likely to remove, up to a limit. */
  openBlocks(tip: number): number;
  /**
   * Returns the size of the window once `tip` is committed on top of `below`: the open blocks, and
   * the blocks of the last {@link WINDOW_SECONDS}, up to a limit.
   *
   * @param below blocks of the window so far, newest first
   */
  windowBlocks(tip: BlockHeader, below: readonly BlockHeader[]): number;
  /** Describes a problem for the operator; empty if there is none. */
  note(): string;
}

/** Minimum number of open blocks. */
const MIN_OPEN_BLOCKS = 256;
/** Time that the window covers: 256 blocks of 12 s. */
const WINDOW_SECONDS = 256 * 12;
/** Maximum number of hashes in the window. */
export const MAX_WINDOW_BLOCKS = 16_384;

const NOT_KNOWN = `no node of this chain reports a finalized block, so nothing is confirmed. Set ${flagOf('chains')} …,confirmations=N, or use a node that reports one`;

/**
 * @param confirmations those of the chain; streams can have others
 * @param isFinal whether the chain has no forks; its window then has only the open blocks
 */
export function createConfirmationRule(
  confirmations: number | 'finalized',
  finality: Pick<Finality, 'block' | 'lacks'>,
  isFinal = false,
): ConfirmationRule {
  const openBlocks = (tip: number): number => {
    const finalized = finality.block('finalized')?.number ?? -Infinity;
    const open = confirmations === 'finalized' ? tip - finalized + 64 : 2 * confirmations;
    return Math.min(MAX_WINDOW_BLOCKS, Math.max(MIN_OPEN_BLOCKS, open));
  };

  return {
    heights(tip, window) {
      const safe = confirmedBy(finality.block('safe'), tip, window);
      const finalized = confirmedBy(finality.block('finalized'), tip, window);
      return {
        chain: confirmations === 'finalized' ? finalized : tip.number - confirmations,
        latest: tip.number,
        depth: tip.number,
        safe,
        finalized,
      };
    },
    openBlocks,
    windowBlocks(tip, below) {
      const least = openBlocks(tip.number);
      if (isFinal) return least;
      const before = tip.timestamp - WINDOW_SECONDS;
      let size = Math.min(MAX_WINDOW_BLOCKS, below.length + 1);
      while (size > least && below[size - 2]!.timestamp <= before) size--;
      return Math.max(least, size);
    },
    note: () => (confirmations === 'finalized' && finality.lacks('finalized') ? NOT_KNOWN : ''),
  };
}

/** Returns the number of the newest local block that this block of the nodes confirms, or -1. */
function confirmedBy(
  block: BlockRef | undefined,
  tip: BlockRef,
  window: readonly BlockRef[],
): number {
  if (block === undefined) return -1;
  if (block.number > tip.number) return tip.number;
  const ours = block.number === tip.number ? tip : blockAt(window, block.number);
  // The nodes have another block at that height, so the local one will soon be removed.
  if (ours !== undefined && ours.hash !== block.hash) return -1;
  return block.number;
}
