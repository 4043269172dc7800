/**
 * Facts about a chain that its blocks showed. It saves work and never decides whether a block
 * is accepted. Each fact is forgotten after a day in which no block confirmed it.
 */

import type { ChainProof } from '@sluice/kit/contract';

export interface LearnedFacts {
  /** Records that a fact holds for a block that was just read. */
  confirm(fact: LearnedFact): void;
  /** Forgets a fact that a block contradicts. */
  forget(fact: LearnedFact): void;
  /** Returns whether a block of the last day confirmed the fact. */
  knows(fact: LearnedFact): boolean;
  /**
   * Records whether the roots of a block with transactions proved it.
   *
   * @param reason why they did not; empty if they did
   */
  recordRoots(reason: string): void;
  /**
   * Returns whether it is worth reading complete blocks only to prove them: not for a while after
   * many blocks in a row that the roots did not prove.
   */
  areRootsWorthReading(): boolean;
  /** Returns whether the last complete block was proven; undefined before the first one. */
  proof(): ChainProof | undefined;
}

/**
 * - `headers-prove`: the hash of a block is the hash of its header
 * - `blooms-cover`: the bloom of a header covers the logs of its block
 */
export type LearnedFact = 'headers-prove' | 'blooms-cover';

const DAY_MS = 86_400_000;
/** Number of unproven blocks in a row after which roots are no longer read only to prove blocks. */
const UNPROVEN_BLOCKS = 16;
/** Time after which the roots are tried again. */
const ROOTS_AGAIN_MS = 3_600_000;

/** @param now monotonic clock in milliseconds; tests pass their own */
export function createLearnedFacts(now: () => number = () => performance.now()): LearnedFacts {
  const confirmedAt = new Map<LearnedFact, number>();
  let unproven = 0;
  let unprovenAt = 0;
  let proof: ChainProof | undefined;
  return {
    confirm: (fact) => void confirmedAt.set(fact, now()),
    forget: (fact) => void confirmedAt.delete(fact),
    knows: (fact) => now() - (confirmedAt.get(fact) ?? -Infinity) < DAY_MS,
    recordRoots(reason) {
      proof = { isProven: reason === '', reason };
      unproven = proof.isProven ? 0 : unproven + 1;
      unprovenAt = now();
    },
    areRootsWorthReading() {
      if (unproven < UNPROVEN_BLOCKS) return true;
      if (now() - unprovenAt < ROOTS_AGAIN_MS) return false;
      unproven = 0;
      return true;
    },
    proof: () => proof,
  };
}
