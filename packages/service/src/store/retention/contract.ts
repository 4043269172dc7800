/** Retention: what expires, and its deletion. */
import type { RetentionAges } from '../engine/engine.ts';

/**
 * Setting with the time of the next retention sweep, in Unix milliseconds by the ledger's clock.
 */
export const NEXT_SWEEP = 'nextSweepAt';

export interface RetentionReads {
  /**
   * Counts the deliveries that retention would delete at `atMs` (by the ledger's clock), and the
   * bytes of their bodies. With `isCapped`, only the 100,000 oldest deliveries were examined.
   */
  countExpiring(
    asked: RetentionAges & { atMs: number },
  ): Promise<{ deliveries: number; bodyBytes: number; isCapped: boolean }>;
}

export interface RetentionWrites {
  /**
   * Deletes expired deliveries with their attempts, and old matches without deliveries, for about
   * `forMs`. Starts after the id `after`: `''` on the first call, then the last `next`.
   * `undelivered` is the number of deleted deliveries that had not ended; `next` is undefined if no
   * more have expired.
   */
  deleteExpired(
    rule: RetentionAges & { forMs: number; after: string },
  ): Promise<{ deliveries: number; undelivered: number; next: string | undefined }>;
}
