/** Builds the lane of a chain's past: sums per step of time. */
import type { ChainActivity, ChainGap, Reorg } from '@sluice/kit/sluice';
import { meanBlockMs } from '../../chains/blockPace.ts';
import type { WatchedChain } from '../../chains/timeline.ts';
import type { MissedBlocks } from './blockLane.ts';
import { type Cell, type CellFill, type Hatch, type Lane, NO_COUNTS } from './lane.ts';

const MINUTE_MS = 60_000;

/** Numbers of steps that one cell may cover. */
const FACTORS = [1, 2, 3, 4, 6, 8, 12, 24];

/** Returns the lane of these steps, of which several form one cell if more than `most` would. */
export function toStepLane(
  chain: WatchedChain,
  activity: ChainActivity,
  {
    reorgs,
    gaps,
    missed,
    now,
  }: {
    reorgs: readonly Reorg[];
    gaps: readonly ChainGap[];
    missed: readonly MissedBlocks[];
    /** Unix milliseconds. */
    now: number;
  },
  most: number,
): Lane {
  const { from, points, stepMinutes } = activity;
  const factor = FACTORS.find((each) => points / each <= most) ?? FACTORS.at(-1)!;
  const stepMs = stepMinutes * MINUTE_MS * factor;
  const its = activity.chains.find(({ chainId }) => chainId === chain.id);
  const sum = (values: readonly number[] | undefined, index: number): number =>
    values?.slice(index * factor, (index + 1) * factor).reduce((all, n) => all + n, 0) ?? 0;
  const sums = Array.from({ length: Math.ceil(points / factor) }, (_, index) => {
    const slowest = its?.slowestMs.slice(index * factor, (index + 1) * factor) ?? [];
    const known = slowest.filter((each) => each !== null);
    return {
      ...NO_COUNTS,
      records: sum(its?.matched, index),
      delivered: sum(its?.delivered, index),
      failed: sum(its?.failedAttempts, index),
      slowestMs: known.length === 0 ? null : Math.max(...known),
    };
  });
  const top = Math.max(1, ...sums.map(({ records, delivered }) => Math.max(records, delivered)));
  const cells = sums.map((counts, index): Cell => {
    const at = from + index * stepMs;
    const until = at + stepMs - 1;
    const { records, delivered, failed } = counts;
    const fill: CellFill = records + delivered + failed > 0 ? 'confirmed' : 'empty';
    return {
      ...counts,
      at,
      until,
      timeMs: at,
      fill,
      height: Math.log2(1 + Math.max(records, delivered)) / Math.log2(1 + top),
      codes: [],
      reorgs: reorgs.filter((reorg) => reorg.at >= at && reorg.at <= until),
    };
  });
  return {
    unit: 'step',
    cells,
    capacity: cells.length,
    step: stepMs,
    branches: [],
    lines: [],
    hatches: [
      ...gaps.map(({ kind, at, endedAt, reason }): Hatch => ({
        from: at,
        to: endedAt ?? now,
        why: reason,
        isMissed: kind !== 'passed-over',
      })),
      ...missed.flatMap((range) => toHatch(chain, range)),
    ],
  };
}

/** Estimates when blocks were created, because only the newest blocks have a known time. */
function toHatch({ blocks }: WatchedChain, { from, to, why }: MissedBlocks): Hatch[] {
  const pace = meanBlockMs(blocks);
  const newest = blocks[0];
  if (pace === null || newest === undefined) return [];
  const timeOf = (number: number): number => newest.timestamp - (newest.number - number) * pace;
  return [{ from: timeOf(from), to: timeOf(to), why, isMissed: true }];
}
