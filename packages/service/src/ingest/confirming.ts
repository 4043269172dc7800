/** Decides when matches are confirmed: by depth, or by the finalized block of the chain. */
import type { BlockHeader, BlockRef } from '../store/blocks/contract.ts';
import { blockAt } from './reconcile.ts';
import { type ChainSource, SourceError } from './source.ts';
import { flagOf } from '../config/settings.ts';

export interface Confirming {
  /**
   * Reads the finalized block at a limited rate, if confirmations depend on it. Returns whether
   * more blocks are final now.
   */
  refresh(): Promise<boolean>;
  /**
   * Returns the number of the last block whose matches are confirmed once `tip` is committed;
   * negative if there is none.
   *
   * @param window the local blocks, newest first, without holes
   */
  upTo(tip: BlockRef, window: readonly BlockRef[]): number;
  /** Returns the number of newest blocks that a reorg is most likely to remove, up to a limit. */
  openBlocks(tip: number): number;
  /**
   * Returns the size of the window once `tip` is committed on top of `below`: the open blocks, and
   * the blocks of the last {@link WINDOW_SECONDS}, up to a limit.
   *
   * @param below blocks of the window so far, newest first
   */
  windowBlocks(tip: BlockHeader, below: readonly BlockHeader[]): number;
  /** Forgets finalized blocks above this height, because they left the chain. */
  rewind(to: number): void;
  /** Describes a problem for the operator; empty if there is none. */
  note(): string;
}

/** Minimum number of open blocks. */
const MIN_OPEN_BLOCKS = 256;
/** Time that the window covers: 256 blocks of 12 s. */
const WINDOW_SECONDS = 256 * 12;
/** Maximum number of hashes in the window. */
export const MAX_WINDOW_BLOCKS = 16_384;
const RETRY_QUERY_MS = 2_000;

const NOT_KNOWN = `no node of this chain reports a finalized block, so nothing is confirmed. Set ${flagOf('chains')} …,confirmations=N, or use a node that reports one`;

/** @param isFinal whether the chain has no forks; its window then has only the open blocks */
export function createConfirming(
  confirmations: number | 'finalized',
  source: Pick<ChainSource<unknown>, 'readFinalized'>,
  isFinal = false,
): Confirming {
  const sizeWindow =
    (openBlocks: Confirming['openBlocks']): Confirming['windowBlocks'] =>
    (tip, below) => {
      const least = openBlocks(tip.number);
      if (isFinal) return least;
      const before = tip.timestamp - WINDOW_SECONDS;
      let size = Math.min(MAX_WINDOW_BLOCKS, below.length + 1);
      while (size > least && below[size - 2]!.timestamp <= before) size--;
      return Math.max(least, size);
    };

  if (confirmations !== 'finalized') {
    const openBlocks = (): number =>
      Math.min(MAX_WINDOW_BLOCKS, Math.max(MIN_OPEN_BLOCKS, 2 * confirmations));
    return {
      refresh: async () => false,
      upTo: (tip) => tip.number - confirmations,
      openBlocks,
      windowBlocks: sizeWindow(openBlocks),
      rewind: () => {},
      note: () => '',
    };
  }

  let finalized: BlockRef | undefined;
  let isKnown = true;
  let callAt = 0;
  const openBlocks = (tip: number): number => {
    const open = finalized === undefined ? MAX_WINDOW_BLOCKS : tip - finalized.number + 64;
    return Math.min(MAX_WINDOW_BLOCKS, Math.max(MIN_OPEN_BLOCKS, open));
  };

  return {
    async refresh() {
      if (performance.now() < callAt) return false;
      callAt = performance.now() + RETRY_QUERY_MS;
      let block: BlockRef | undefined;
      try {
        block = await source.readFinalized();
      } catch (error) {
        // Node failures are reported elsewhere, and finalized blocks stay finalized.
        if (error instanceof SourceError) return false;
        throw error;
      }
      isKnown = block !== undefined;
      // A lagging node reports an older block.
      if (block === undefined || block.number <= (finalized?.number ?? -1)) return false;
      finalized = block;
      return true;
    },
    upTo(tip, window) {
      if (finalized === undefined) return -1;
      if (finalized.number > tip.number) return tip.number;
      const ours = finalized.number === tip.number ? tip : blockAt(window, finalized.number);
      // Another block is finalized at that height, so the local one will soon be removed.
      if (ours !== undefined && ours.hash !== finalized.hash) return -1;
      return finalized.number;
    },
    openBlocks,
    windowBlocks: sizeWindow(openBlocks),
    rewind(to) {
      if (finalized === undefined || finalized.number <= to) return;
      finalized = undefined;
      callAt = 0;
    },
    note: () => (isKnown ? '' : NOT_KNOWN),
  };
}
