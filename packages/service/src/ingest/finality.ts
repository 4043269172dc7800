/**
 * Reads the safe and finalized blocks of a chain, at a limited rate. A tag that matches wait for is
 * read from all nodes, because confirming too early can't be undone; otherwise, one node is enough
 * to display its height.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { ChainHealth } from '@sluice/kit/contract';
import { type BlockRef, FINALITY_TAGS, type FinalityTag } from '../store/blocks/contract.ts';
import { type ChainSource, SourceError } from './source.ts';

export interface Finality {
  /**
   * Reads the tagged blocks if the last read is old enough. A slow node delays the caller only
   * briefly. Returns whether a block that matches wait for is newer now.
   */
  refresh(head: number): Promise<boolean>;
  /**
   * Returns the lowest block with this tag that the nodes reported; undefined if there is none, or
   * if no match waits for it.
   */
  block(tag: FinalityTag): BlockRef | undefined;
  /** Returns whether the nodes do not report a block with this tag. */
  lacks(tag: FinalityTag): boolean;
  /** Returns the newest reported heights, for display. */
  heights(): Pick<ChainHealth, FinalityTag>;
  /** Forgets blocks above this height, because they left the chain. */
  rewind(to: number): void;
}

/** Minimum time between reads of tags that matches wait for. */
const AWAITED_MS = 2_000;
/** Minimum time between reads for display only. */
const DISPLAY_MS = 15_000;
/** Time after which unsupported tags are requested again, because nodes may have been replaced. */
const UNKNOWN_AGAIN_MS = 60_000;
/** Time for which a read may delay the next block. */
const PATIENCE_MS = 200;

interface Reported {
  /** Undefined if no node has reported a block. */
  block: BlockRef | undefined;
  /** Whether all nodes were queried. */
  isOfAll: boolean;
  /** Whether the last read found no block. */
  isLacking: boolean;
}

/** @param listAwaited returns the tags that matches wait for */
export function createFinality(
  source: Pick<ChainSource<unknown>, 'readTagged'>,
  listAwaited: () => Promise<readonly FinalityTag[]>,
): Finality {
  const reported = new Map<FinalityTag, Reported>();
  let awaited: readonly FinalityTag[] = [];
  let readAt: number | undefined;
  let nextAt = 0;
  let rewinds = 0;

  /** Records what the nodes reported. Returns whether an awaited block is newer. */
  const record = (tag: FinalityTag, block: BlockRef | undefined, isOfAll: boolean): boolean => {
    const before = reported.get(tag);
    // The report of one node must not count as the report of all.
    const last = before?.isOfAll === true && isOfAll ? before.block : undefined;
    // A lagging node reports an older block, or none.
    const isNewer = block !== undefined && block.number > (last?.number ?? -1);
    reported.set(tag, {
      block: isNewer ? block : last,
      isOfAll,
      isLacking: block === undefined,
    });
    return isOfAll && isNewer;
  };

  const readTag = async (tag: FinalityTag, began: number): Promise<boolean> => {
    const isOfAll = awaited.includes(tag);
    try {
      const block = await source.readTagged(tag, isOfAll ? 'all' : 'any');
      return began === rewinds && record(tag, block, isOfAll);
    } catch (error) {
      // Node failures are reported elsewhere, and safe or finalized blocks stay so.
      if (error instanceof SourceError) return false;
      throw error;
    }
  };

  const read = async (): Promise<boolean> => {
    const began = rewinds;
    awaited = await listAwaited();
    const newer = await Promise.all(FINALITY_TAGS.map((tag) => readTag(tag, began)));
    const isUnsupported = FINALITY_TAGS.every((tag) => reported.get(tag)?.isLacking === true);
    const pauseMs = awaited.length > 0 ? AWAITED_MS : isUnsupported ? UNKNOWN_AGAIN_MS : DISPLAY_MS;
    nextAt = performance.now() + pauseMs;
    return newer.includes(true);
  };

  return {
    async refresh(head) {
      if (performance.now() < nextAt || (head === readAt && awaited.length === 0)) return false;
      readAt = head;
      // The next read starts after this one has ended.
      nextAt = Infinity;
      const reading = read().catch((error: unknown) => {
        nextAt = performance.now() + AWAITED_MS;
        throw error;
      });
      const isNewer = await Promise.race([reading, wait(PATIENCE_MS, undefined, { ref: false })]);
      reading.catch(() => {});
      return isNewer ?? false;
    },
    block(tag) {
      const { block, isOfAll = false } = reported.get(tag) ?? {};
      return isOfAll ? block : undefined;
    },
    lacks: (tag) => reported.get(tag)?.isLacking === true,
    heights: () => ({
      safe: reported.get('safe')?.block?.number ?? null,
      finalized: reported.get('finalized')?.block?.number ?? null,
    }),
    rewind(to) {
      rewinds++;
      for (const [tag, { block }] of reported) {
        if (block !== undefined && block.number > to) reported.delete(tag);
      }
      if (nextAt !== Infinity) nextAt = 0;
    },
  };
}
