/**
 * Reads the safe and finalized heights of the nodes in the background, for display only. {@link
 * createConfirming} decides when a match is confirmed.
 */
import type { ChainHealth } from '@sluice/kit/contract';
import type { ChainSource } from '../source.ts';

export interface Finality {
  /**
   * Records the head. Reads the finality tags if the head has moved and the last read is old
   * enough.
   */
  look(head: number): void;
  heights(): Pick<ChainHealth, 'safe' | 'finalized'>;
}

const RECHECK_MS = 15_000;
/** Time after which unsupported tags are requested again, because nodes may have been replaced. */
const UNKNOWN_AGAIN_MS = 60_000;

export function createFinality(source: Pick<ChainSource<unknown>, 'readTagged'>): Finality {
  let heights: Pick<ChainHealth, 'safe' | 'finalized'> = { safe: null, finalized: null };
  let lookedAt: number | undefined;
  let lookAgainAt = 0;

  const read = async (): Promise<void> => {
    const safe = await source.readTagged('safe');
    const finalized = await source.readTagged('finalized');
    heights = { safe: safe?.number ?? null, finalized: finalized?.number ?? null };
    if (safe === undefined && finalized === undefined) {
      lookAgainAt = performance.now() + UNKNOWN_AGAIN_MS;
    }
  };

  return {
    look(head) {
      if (head === lookedAt || performance.now() < lookAgainAt) return;
      lookedAt = head;
      lookAgainAt = performance.now() + RECHECK_MS;
      // Node failures are reported elsewhere, and the earlier heights are kept.
      read().catch(() => {});
    },
    heights: () => heights,
  };
}
