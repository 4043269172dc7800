/** Detects that the nodes no longer keep old states, so that enrichment stops waiting for them. */
import type { BlockRef } from '../../../store/blocks/contract.ts';
import { SourceError, isOfKind } from '../../../ingest/source.ts';
import type { EvmSource } from './source.ts';

export interface PrunedStates extends Pick<EvmSource, 'requestAt'> {
  /** Returns whether the block is old and the nodes have lacked old states for a while. */
  isGone(block: BlockRef): boolean;
}

/**
 * Depth below the head at which a state counts as old, because nodes keep at least the states of
 * this many blocks.
 */
const KEPT_BLOCKS = 128;
/**
 * Time for which old states must be missing before they count as gone: the duration of six tries of
 * a match, each of which may reach another node behind a load balancer.
 */
const GONE_AFTER_MS = 15_000;
/** Time without a missing state after which earlier missing states are forgotten. */
const FORGET_MS = 60_000;
/**
 * Time after a missing state for which other reads of the block fail immediately; shorter than the
 * wait for a retry.
 */
const REMEMBERED_MS = 200;

/**
 * @param options.goneAfterMs time for which old states must be missing before they count as gone;
 * default 15 seconds
 */
export function createPrunedStates(
  source: Pick<EvmSource, 'requestAt' | 'providers'>,
  { goneAfterMs = GONE_AFTER_MS }: { goneAfterMs?: number | undefined } = {},
): PrunedStates {
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
    async requestAt(block, method, params, how) {
      const known = missing.get(block.hash);
      if (known !== undefined && performance.now() - known.at < REMEMBERED_MS) throw known.error;
      try {
        const result = await source.requestAt(block, method, params, how);
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
