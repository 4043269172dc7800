/** Builds the lane of a chain's newest blocks. */
import type { ChainBlock, ChainGap, RecentBlock, Reorg } from '@sluice/kit/sluice';
import { heightOf, isFinal, type WatchedChain } from '../../chains/timeline.ts';
import { type Branch, type Cell, type Hatch, type Lane, NO_COUNTS } from './lane.ts';

/** A range of blocks that a stream missed. */
export interface MissedBlocks {
  from: number;
  to: number;
  why: string;
}

export interface BlockSources {
  /** The service's list, newest first; it may be a few seconds old. */
  blocks: readonly RecentBlock[];
  reorgs: readonly Reorg[];
  gaps: readonly ChainGap[];
  missed: readonly MissedBlocks[];
  /** Whether only the matches of one stream are shown, which live blocks do not report. */
  isOfStream: boolean;
}

/** Number of rows below a lane in which branches are drawn. */
export const BRANCH_ROWS = 2;

/** Returns the lane of the newest `capacity` blocks. Live blocks are newer than the list. */
export function toBlockLane(
  chain: WatchedChain,
  { blocks, reorgs, gaps, missed, isOfStream }: BlockSources,
  capacity: number,
): Lane {
  const listed = new Map(blocks.map((block) => [block.hash, block]));
  const live = new Map(chain.blocks.map((block) => [block.number, block]));
  const oldestLive = chain.blocks.at(-1)?.number ?? Infinity;
  const newest = chain.checkpoint ?? chain.blocks[0]?.number ?? -1;
  /** A reorg may have removed a listed block since the list was read. */
  const isKept = ({ number, hash, removed }: RecentBlock): boolean =>
    !removed && number <= newest && (number < oldestLive || live.get(number)?.hash === hash);
  const toCell = (block: RecentBlock | ChainBlock, isRemoved: boolean): Cell => {
    const known = 'records' in block ? block : undefined;
    const counts = known ?? NO_COUNTS;
    const matches = known === undefined && isOfStream ? 0 : block.matches;
    return {
      ...pickCounts(counts),
      at: block.number,
      until: block.number,
      timeMs: block.timestamp,
      fill:
        matches === 0
          ? 'empty'
          : known === undefined
            ? 'unknown'
            : !isRemoved && isFinal(chain, block.number)
              ? 'confirmed'
              : 'open',
      height: heightOf(matches === 0 ? 0 : Math.max(counts.records, matches)),
      codes: known?.unverified ?? [],
      reorgs: [],
    };
  };
  const byNumber = new Map(
    [...chain.blocks.map((block) => listed.get(block.hash) ?? block), ...blocks.filter(isKept)].map(
      (block) => [block.number, toCell(block, false)],
    ),
  );
  const cells = [...byNumber.values()].sort((a, b) => a.at - b.at).slice(-capacity);
  const first = cells[0]?.at ?? 0;
  const left = new Map(
    [...chain.removed, ...blocks.filter((block) => !isKept(block))].map((block) => [
      block.hash,
      toCell(listed.get(block.hash) ?? block, true),
    ]),
  );
  const removed = [...left.values()].filter(({ at }) => at >= first);
  const { safe, finalized } = chain;
  return {
    unit: 'block',
    cells,
    capacity,
    step: 1,
    branches: toBranches(
      removed,
      reorgs.filter(({ blockNumber, depth }) => blockNumber + depth >= first),
    ),
    lines: (
      [
        // Chains without reorgs report the same block for both.
        ['safe', safe === finalized ? null : safe],
        ['final', finalized],
      ] as const
    ).flatMap(([label, at]) => (at !== null && at >= first && at < newest ? [{ label, at }] : [])),
    hatches: [...gaps.flatMap(toHatch), ...missed.map((range) => ({ ...range, isMissed: true }))],
  };
}

const toHatch = ({ kind, from, to, reason }: ChainGap): Hatch[] =>
  kind === 'halted' || to === null
    ? []
    : [{ from, to, why: reason, isMissed: kind !== 'passed-over' }];

const pickCounts = ({
  records,
  delivered,
  waiting,
  retrying,
  failed,
  cancelled,
  undone,
  slowestMs,
}: typeof NO_COUNTS): typeof NO_COUNTS => ({
  records,
  delivered,
  waiting,
  retrying,
  failed,
  cancelled,
  undone,
  slowestMs,
});

/**
 * Assigns each removed block to the first reorg after it. Blocks of a reorg that is not recorded
 * yet form branches by consecutive heights. Branches that overlap are in different rows.
 */
function toBranches(removed: readonly Cell[], reorgs: readonly Reorg[]): Branch[] {
  const oldestFirst = reorgs.toSorted((a, b) => a.at - b.at);
  const found = new Map<Reorg | undefined, Cell[]>(oldestFirst.map((reorg) => [reorg, []]));
  for (const cell of removed) {
    const reorg = oldestFirst.find(
      ({ blockNumber, depth, at }) =>
        cell.at > blockNumber && cell.at <= blockNumber + depth && cell.timeMs <= at,
    );
    found.set(reorg, [...(found.get(reorg) ?? []), cell]);
  }
  const branches: Omit<Branch, 'row'>[] = [];
  for (const [reorg, cells] of found) {
    const inOrder = cells.toSorted((a, b) => a.at - b.at);
    if (reorg !== undefined) {
      branches.push({ ancestor: reorg.blockNumber, depth: reorg.depth, cells: inOrder });
      continue;
    }
    let run: Cell[] = [];
    for (const [index, cell] of inOrder.entries()) {
      run.push(cell);
      const next = inOrder[index + 1];
      if (next !== undefined && next.at <= cell.at + 1) continue;
      const ancestor = run[0]!.at - 1;
      branches.push({ ancestor, depth: cell.at - ancestor, cells: run });
      run = [];
    }
  }
  const ends: number[] = [];
  return branches
    .toSorted((a, b) => a.ancestor - b.ancestor)
    .map((branch) => {
      const free = ends.findIndex((end) => end < branch.ancestor);
      const row = free >= 0 ? free : Math.min(ends.length, BRANCH_ROWS - 1);
      ends[row] = Math.max(ends[row] ?? 0, branch.ancestor + branch.depth);
      return { ...branch, row: row + 1 };
    });
}
