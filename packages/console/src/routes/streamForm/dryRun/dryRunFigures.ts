/** What the blocks of a dry run say of a stream's days. Pure. */
import { meanBlockMs } from '../../../chains/blockPace.ts';
import type { DryRunBlock } from './dryRunBlocks.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface DryRunFigures {
  /** Blocks in which something matched: a webhook each, or two. */
  matched: number;
  averageBytes: number;
  largestBytes: number;
  /** The block with the most records. */
  busiestRecords: number;
  /** From the first of the blocks to the end of the last, by their own times. */
  spanMs: number;
  /** If all days were like this; null where the times of the blocks tell nothing. */
  perDay: { records: number; webhooks: number } | null;
}

/**
 * @param blocks newest first; those not asked yet count for the pace of the chain alone.
 * @param timesSent webhooks for a block that matches.
 * @returns null before anything matched.
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

/** What the blocks take of the chain's time, asked or not; null where their times tell nothing. */
export function spanOf(blocks: readonly DryRunBlock[]): number | null {
  const blockMs = paceOf(blocks);
  return blockMs === null ? null : blocks.length * blockMs;
}

/** By those whose times are known. */
const paceOf = (blocks: readonly DryRunBlock[]): number | null =>
  meanBlockMs(blocks.filter(isTimed));

const isTimed = (block: DryRunBlock): block is DryRunBlock & { timestamp: number } =>
  block.timestamp !== null;
