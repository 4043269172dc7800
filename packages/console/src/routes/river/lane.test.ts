import type { ChainActivity, RecentBlock } from '@sluice/kit/sluice';
import { describe, expect, it } from 'vitest';
import type { WatchedChain } from '../../chains/timeline.ts';
import { toBlockLane, type BlockSources } from './blockLane.ts';
import { moveCursor, NO_CURSOR, type LaneInput } from './cursor.ts';
import { pointAt, rowY, spanOf, xOf } from './geometry.ts';
import { cellAt, type Lane, NO_COUNTS } from './lane.ts';
import { toStepLane } from './stepLane.ts';
import { describeCell, factsOf } from './words.ts';

const HOUR_MS = 3_600_000;

const block = (number: number, matches = 0, fork = '') => ({
  number,
  hash: `0x${number}${fork}`,
  timestamp: number * 1_000,
  matches,
});

/** A chain with the blocks 1 to 10, of which those up to 8 are confirmed. */
const chain = (changes: Partial<WatchedChain> = {}): WatchedChain => ({
  id: '0x1',
  name: 'Ethereum',
  code: 'ETH',
  state: 'live',
  message: '',
  trust: 'evidence',
  head: 10,
  headAgeMs: 0,
  checkpoint: 10,
  confirmations: 2,
  confirmedUpTo: 8,
  safe: 7,
  finalized: 4,
  agreement: null,
  proof: null,
  providers: [],
  progress: null,
  unverified: null,
  blocks: Array.from({ length: 10 }, (_, index) => block(10 - index)),
  removed: [],
  reportedAt: 0,
  ...changes,
});

const listed = (number: number, changes: Partial<RecentBlock> = {}): RecentBlock => ({
  ...block(number, 1),
  ...NO_COUNTS,
  records: 2,
  delivered: 1,
  removed: false,
  unverified: [],
  ...changes,
});

const sources = (changes: Partial<BlockSources> = {}): BlockSources => ({
  blocks: [],
  reorgs: [],
  gaps: [],
  missed: [],
  isOfStream: false,
  ...changes,
});

const fillAt = (lane: Lane, at: number) => cellAt(lane, { at, row: 0 })?.fill;

describe('a lane of blocks', () => {
  it('ends with the newest block, and has as many as fit', () => {
    const { cells } = toBlockLane(chain(), sources(), 4);
    expect(cells.map(({ at }) => at)).toEqual([7, 8, 9, 10]);
  });

  it('shows the counts of listed blocks, and live blocks until they are listed', () => {
    const live = chain({ blocks: [block(11, 3), ...chain().blocks], head: 11, checkpoint: 11 });
    const lane = toBlockLane(live, sources({ blocks: [listed(10), listed(8)] }), 60);
    expect(fillAt(lane, 11)).toBe('unknown');
    expect(fillAt(lane, 10)).toBe('open');
    expect(fillAt(lane, 9)).toBe('empty');
    expect(fillAt(lane, 8)).toBe('confirmed');
    expect(cellAt(lane, { at: 8, row: 0 })).toMatchObject({ records: 2, delivered: 1 });
    const ofStream = toBlockLane(live, sources({ isOfStream: true }), 60);
    expect(fillAt(ofStream, 11)).toBe('empty');
  });

  it('draws removed blocks as a branch of the reorg that removed them', () => {
    const removed = [9, 10].map((number) =>
      listed(number, { hash: `0x${number}b`, removed: true, cancelled: 1, delivered: 0 }),
    );
    const { branches } = toBlockLane(
      chain(),
      sources({
        blocks: removed,
        reorgs: [
          { chainId: '0x1', blockNumber: 8, depth: 2, at: 20_000 },
          { chainId: '0x1', blockNumber: 7, depth: 3, at: 5_000 },
        ],
      }),
      60,
    );
    expect(branches).toMatchObject([
      { ancestor: 7, depth: 3, row: 1, cells: [] },
      { ancestor: 8, depth: 2, row: 2, cells: [{ at: 9, cancelled: 1 }, { at: 10 }] },
    ]);
  });

  it('moves a listed block to a branch as soon as another block replaces it', () => {
    const replaced = chain({ blocks: [block(10, 0, 'b'), ...chain().blocks.slice(1)] });
    const lane = toBlockLane(replaced, sources({ blocks: [listed(10)] }), 60);
    expect(fillAt(lane, 10)).toBe('empty');
    expect(lane.branches).toMatchObject([
      { ancestor: 9, depth: 1, cells: [{ at: 10, records: 2 }] },
    ]);
    const rewound = chain({ blocks: chain().blocks.slice(1), checkpoint: 9 });
    const shorter = toBlockLane(rewound, sources({ blocks: [listed(10)] }), 60);
    expect(shorter.cells.at(-1)?.at).toBe(9);
    expect(shorter.branches).toHaveLength(1);
  });

  it('has lines after the safe and the final block, and hatched gaps', () => {
    const missed = [{ from: 2, to: 3, why: 'stream paused' }];
    const gap = { chainId: '0x1', reason: 'idle', at: 0, endedAt: 1 } as const;
    const lane = toBlockLane(
      chain(),
      sources({
        missed,
        gaps: [
          { ...gap, kind: 'passed-over', from: 5, to: 5 },
          { ...gap, kind: 'halted', from: 6, to: null },
        ],
      }),
      60,
    );
    expect(lane.lines).toEqual([
      { label: 'safe', at: 7 },
      { label: 'final', at: 4 },
    ]);
    expect(lane.hatches.map(({ from, isMissed }) => [from, isMissed])).toEqual([
      [5, false],
      [2, true],
    ]);
    const two = lane.cells.at(1)!;
    expect(factsOf(lane, two, { row: 0 })).toContainEqual({
      label: 'gap',
      value: 'stream paused',
      tone: 'warn',
    });
    expect(toBlockLane(chain({ safe: 4 }), sources(), 60).lines).toEqual([
      { label: 'final', at: 4 },
    ]);
  });
});

describe('a lane of steps', () => {
  const activity: ChainActivity = {
    stepMinutes: 60,
    from: 0,
    points: 8,
    isPartial: true,
    chains: [
      {
        chainId: '0x1',
        matched: [1, 2, 0, 0, 0, 0, 7, 8],
        delivered: [1, 2, 0, 0, 0, 0, 7, 8],
        failedAttempts: [0, 0, 0, 3, 0, 0, 0, 0],
        slowestMs: [null, 50, null, null, null, null, 20, 30],
      },
    ],
  };
  const past = {
    reorgs: [{ chainId: '0x1', blockNumber: 5, depth: 2, at: 2.5 * HOUR_MS }],
    gaps: [],
    missed: [],
    now: 8 * HOUR_MS,
  };

  it('sums steps into cells that fit, with their reorgs', () => {
    const lane = toStepLane(chain(), activity, past, 4);
    expect(lane.step).toBe(2 * HOUR_MS);
    expect(lane.cells.map(({ records }) => records)).toEqual([3, 0, 0, 15]);
    expect(lane.cells.map(({ failed }) => failed)).toEqual([0, 3, 0, 0]);
    expect(lane.cells.map(({ slowestMs }) => slowestMs)).toEqual([50, null, null, 30]);
    expect(lane.cells.map(({ reorgs }) => reorgs.length)).toEqual([0, 1, 0, 0]);
    expect(lane.cells.map(({ fill }) => fill)).toEqual([
      'confirmed',
      'confirmed',
      'empty',
      'confirmed',
    ]);
    expect(lane.cells.at(-1)).toMatchObject({ until: 8 * HOUR_MS - 1, height: 1 });
  });

  it('is empty for a chain without counts', () => {
    const { cells } = toStepLane(chain({ id: '0x2' }), activity, past, 100);
    expect(cells.map(({ fill }) => fill)).toEqual(Array.from({ length: 8 }, () => 'empty'));
  });
});

describe('places', () => {
  const lane = toBlockLane(
    chain(),
    sources({
      blocks: [listed(10, { hash: '0xb', removed: true })],
      reorgs: [{ chainId: '0x1', blockNumber: 9, depth: 1, at: 20_000 }],
    }),
    20,
  );

  it('are found at the right edge for the newest block, and not left of the oldest', () => {
    expect(pointAt(lane, 199, 30, 200)).toEqual({ at: 10, row: 0 });
    expect(pointAt(lane, 101, 30, 200)).toEqual({ at: 1, row: 0 });
    expect(pointAt(lane, 99, 30, 200)).toBeNull();
    expect(xOf(lane, 0, 200)).toBe(100);
    expect(spanOf(lane, { from: 9, to: 10 }, 200)).toEqual({ x: 180, width: 20 });
  });

  it('are those of removed blocks below the lane', () => {
    expect(pointAt(lane, 199, rowY(1), 200)).toEqual({ at: 10, row: 1 });
    expect(pointAt(lane, 189, rowY(1), 200)).toEqual({ at: 9, row: 0 });
  });

  const run = (...inputs: LaneInput[]) =>
    inputs.reduce((cursor, input) => moveCursor(cursor, input, lane), NO_CURSOR);
  const step = (by: number, isExtended = false): LaneInput => ({
    type: 'step',
    by,
    extends: isExtended,
  });

  it('move with the keyboard from the newest block, and stay within the lane', () => {
    expect(run(step(-1)).point).toEqual({ at: 10, row: 0 });
    expect(run(step(-1), step(-1)).point).toEqual({ at: 9, row: 0 });
    expect(run(step(-100)).point).toEqual({ at: 1, row: 0 });
    expect(run(step(-1), step(5)).point).toEqual({ at: 10, row: 0 });
  });

  it('go to a removed block and back', () => {
    const down = run(step(-1), { type: 'row', by: 1 });
    expect(down.point).toEqual({ at: 10, row: 1 });
    expect(moveCursor(down, { type: 'row', by: -1 }, lane).point).toEqual({ at: 10, row: 0 });
    expect(run(step(-2), { type: 'row', by: 1 }).point).toEqual({ at: 9, row: 0 });
    expect(describeCell(lane, cellAt(lane, down.point!)!, down.point!)).toMatch(
      /^Block 10, left the chain reorg, records 2/,
    );
  });

  it('are selected as a range with Shift or by dragging', () => {
    expect(run(step(-1), step(-1, true), step(-2, true)).range).toEqual({ from: 7, to: 10 });
    expect(run(step(-1), step(-2, true), step(-1)).range).toBeNull();
    const dragged = run(
      { type: 'press', point: { at: 4, row: 0 } },
      { type: 'hover', point: { at: 6, row: 0 } },
      { type: 'release' },
    );
    expect(dragged.range).toEqual({ from: 4, to: 6 });
    const hovered = moveCursor(dragged, { type: 'hover', point: { at: 9, row: 0 } }, lane);
    expect(hovered).toEqual(dragged);
    expect(run({ type: 'press', point: { at: 4, row: 0 } }, { type: 'release' }).range).toBeNull();
  });
});
