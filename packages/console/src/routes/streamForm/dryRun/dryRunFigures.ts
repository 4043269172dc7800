/** Estimates a stream's daily volume from the blocks of a dry run. */
import { meanBlockMs } from '../../../chains/blockPace.ts';
import type { DryRunBlock } from './dryRunBlocks.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface DryRunFigures {
  /** Number of blocks with a match. Each one causes one or two webhooks. */
  matched: number;
  averageBytes: number;
  largestBytes: number;
  /** Number of records in the block with the most records. */
  busiestRecords: number;
  /**
   * Time covered by the blocks that have run, based on the mean block time; 0 if the block time is
   * unknown.
   */
  spanMs: number;
  /** Estimated volume per day; null if the block time is unknown. */
  perDay: { records: number; webhooks: number } | null;
}

/**
 * @param blocks newest first; blocks that have not run yet are used only for the block time.
 * @param timesSent webhooks per matching block.
 * @returns null if no block has a match.
 */
export function dryRunFigures(
  blocks: readonly DryRunBlock[],
  timesSent: number,
): DryRunFigures | null {
  const asked = blocks.filter(({ records }) => records !== null);
  const matching = asked.filter(({ records }) => (records ?? 0) > 0);
  if (matching.length === 0) return null;
  const records = matching.reduce((sum, block) => sum + (block.records ?? 0), 0);
  const bytes = matching.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0);
  const blockMs = paceOf(blocks);
  const spanMs = asked.length * (blockMs ?? 0);
  return {
    matched: matching.length,
    averageBytes: bytes / matching.length,
    largestBytes: Math.max(...matching.map(({ bodyBytes }) => bodyBytes)),
    busiestRecords: Math.max(...matching.map((block) => block.records ?? 0)),
    spanMs,
    perDay:
      blockMs === null
        ? null
        : {
            records: (records * DAY_MS) / spanMs,
            webhooks: (matching.length * timesSent * DAY_MS) / spanMs,
          },
  };
}

/**
 * Returns the time covered by all blocks, including those that have not run yet; null if unknown.
 */
export function dryRunSpan(blocks: readonly DryRunBlock[]): number | null {
  const blockMs = paceOf(blocks);
  return blockMs === null ? null : blocks.length * blockMs;
}

/**
 * Returns the mean block time of the blocks with a known timestamp; null if it cannot be computed.
 */
const paceOf = (blocks: readonly DryRunBlock[]): number | null =>
  meanBlockMs(blocks.filter(isTimed));

const isTimed = (block: DryRunBlock): block is DryRunBlock & { timestamp: number } =>
  block.timestamp !== null;
