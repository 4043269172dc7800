/**
 * What the nodes call safe and finalized, for people to see: asked beside the blocks, never waited for.
 * What confirms a match is {@link createConfirming}'s.
 */
import type { ChainHealth } from '@sluice/kit/contract';
import type { ChainSource } from '../source.ts';

export interface Finality {
  /** The head is at this block: asks the nodes, where it moved and the last time is long enough ago. */
  look(head: number): void;
  heights(): Pick<ChainHealth, 'safe' | 'finalized'>;
}

const LOOK_AGAIN_MS = 5_000;
/** Nodes that do not know the tags may be replaced by others. */
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
      lookAgainAt = performance.now() + LOOK_AGAIN_MS;
      // A node that fails to answer shows in everything else; what it said before stays.
      read().catch(() => {});
    },
    heights: () => heights,
  };
}
