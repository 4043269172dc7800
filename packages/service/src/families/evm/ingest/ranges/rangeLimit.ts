/**
 * Finds the largest range that a node accepts, by trial. The node's error messages only suggest
 * which size to try next, because a message may be vague, wrong or about something else.
 */

/** Growth factor of sizes as long as the node has accepted every size. */
export const GROWTH_FACTOR = 4;
/**
 * The search for the limit ends when the next larger size could be larger by at most this share.
 */
const TOLERANCE = 1 / 8;
/**
 * Number of queries of the largest accepted size after which a larger one is tried, because limits
 * change and may depend on the number of logs. Doubled each time that the larger one is refused.
 */
const FIRST_TRIAL = 32;
const LAST_TRIAL = 1_024;
const TRIAL_GROWTH = 1.25;
/** Maximum number of suggestions that are followed without an accepted range between them. */
const MAX_SUGGESTIONS = 3;

export interface RangeLimit {
  /** Number of blocks to query next; infinite until a range was accepted or refused. */
  readonly size: number;
  /** Whether the node is known to accept this many blocks. Other sizes are tried one at a time. */
  isKnown(blocks: number): boolean;
  accept(blocks: number): void;
  /**
   * @param hint.suggested size that should work instead
   * @param hint.limit largest size that the node accepts, according to its message
   */
  refuse(blocks: number, hint?: { suggested?: number; limit?: number }): void;
}

export function createRangeLimit(): RangeLimit {
  /** Largest accepted size below `refused`; 0 if there is none. */
  let accepted = 0;
  /** Smallest refused size. */
  let refused = Number.POSITIVE_INFINITY;
  let suggested = 0;
  let suggestions = 0;
  /** Number of queries since the search for the limit ended, and until a larger size is tried. */
  let queries = 0;
  let trialAfter = FIRST_TRIAL;

  const isFound = (): boolean => refused - accepted <= Math.max(1, accepted * TOLERANCE);

  return {
    get size() {
      if (refused === Number.POSITIVE_INFINITY) {
        return accepted === 0 ? refused : accepted * GROWTH_FACTOR;
      }
      if (accepted < suggested && suggested < refused) return suggested;
      if (!isFound()) return Math.floor((accepted + refused) / 2);
      return queries < trialAfter
        ? Math.max(1, accepted)
        : Math.max(refused, Math.ceil(accepted * TRIAL_GROWTH));
    },
    isKnown: (blocks) => blocks <= accepted,
    accept(blocks) {
      suggestions = 0;
      if (blocks >= refused) {
        refused = Number.POSITIVE_INFINITY;
        trialAfter = FIRST_TRIAL;
      }
      accepted = Math.max(accepted, blocks);
      if (blocks === accepted) queries++;
    },
    refuse(blocks, hint = {}) {
      if (blocks > refused || (blocks === refused && isFound())) {
        trialAfter = Math.min(trialAfter * 2, LAST_TRIAL);
      }
      queries = 0;
      // Fewer blocks were accepted elsewhere, where they have fewer logs, or before a change.
      if (blocks <= accepted) accepted = 0;
      refused = Math.min(refused, blocks);
      if (suggestions++ >= MAX_SUGGESTIONS) return;
      const { limit = 0, suggested: better = limit } = hint;
      if (better >= blocks || better <= accepted) return;
      suggested = better;
      if (better === limit) refused = limit + 1;
    },
  };
}
