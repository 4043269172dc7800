/** Notices when nodes no longer keep old states, so that these are not requested over and over. */
import type { BlockRef } from '../../store/blocks/contract.ts';
import { type Source, SourceError, isOfKind } from '../source.ts';

export interface GoneStates extends Pick<Source, 'requestAt'> {
  /** Whether the nodes have lacked old states for a while, this one too. */
  isGone(block: BlockRef): boolean;
}

/** Nodes keep the states of at least this many blocks below the head. */
const KEPT_BLOCKS = 128;
/** A load balancer may have nodes with these states; six tries of a match take as long. */
const GONE_AFTER_MS = 15_000;
/** Old states that were missing at different times, without a success between, may be chance. */
const FORGET_MS = 60_000;
/** Less than the wait before a retry: the other reads of one try fail at once. */
const REMEMBERED_MS = 200;

/** @param options.goneAfterMs default 15 seconds */
export function createGoneStates(
  source: Pick<Source, 'requestAt' | 'providers'>,
  { goneAfterMs = GONE_AFTER_MS }: { goneAfterMs?: number | undefined } = {},
): GoneStates {
  /** Errors of blocks whose state was missing a moment ago, by hash, oldest first. */
  const missing = new Map<string, { at: number; error: SourceError }>();
  let missingSince = 0;
  let missedAt = Number.NEGATIVE_INFINITY;

  const isOld = ({ number }: BlockRef): boolean => {
    const head = Math.max(...source.providers().map((each) => each.head ?? 0));
    return number <= head - KEPT_BLOCKS;
  };

  const noteMissing = (block: BlockRef, error: SourceError): void => {
    const now = performance.now();
    missing.delete(block.hash);
    missing.set(block.hash, { at: now, error });
    for (const [hash, { at }] of missing) {
      if (now - at < REMEMBERED_MS) break;
      missing.delete(hash);
    }
    if (!isOld(block)) return;
    if (now - missedAt > FORGET_MS) missingSince = now;
    missedAt = now;
  };

  return {
    async requestAt(block, method, params, maxBytes) {
      const known = missing.get(block.hash);
      if (known !== undefined && performance.now() - known.at < REMEMBERED_MS) throw known.error;
      try {
        const result = await source.requestAt(block, method, params, maxBytes);
        if (missedAt > 0 && isOld(block)) missedAt = Number.NEGATIVE_INFINITY;
        return result;
      } catch (error) {
        if (isOfKind(error, 'missing', 'pruned')) noteMissing(block, error);
        throw error;
      }
    },
    isGone: (block) => isOld(block) && missedAt - missingSince >= goneAfterMs,
  };
}
