import type { DeliverySummary, TimelineBlock } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { heightOf, streamTimeline, type Timeline, type WatchedChain } from './timeline.ts';

const block = (number: number, matches = 0) => ({
  number,
  hash: `0x${number}`,
  timestamp: number * 1000,
  matches,
});

const chain = (changes: Partial<WatchedChain> = {}): WatchedChain => ({
  id: '0x1',
  name: 'Ethereum',
  code: 'ETH',
  state: 'live',
  message: '',
  head: 10,
  checkpoint: 10,
  confirmations: 2,
  confirmedUpTo: 8,
  safe: null,
  finalized: null,
  proof: null,
  trust: null,
  agreement: null,
  providers: [],
  progress: null,
  unverified: null,
  blocks: [block(10, 1), block(9), block(8, 3), block(7)],
  removed: [],
  headAgeMs: 0,
  reportedAt: 0,
  ...changes,
});

const delivery = (changes: Partial<DeliverySummary>): DeliverySummary => ({
  id: 'a',
  streamId: 's',
  matchId: 'm',
  tag: '',
  chainId: '0x1',
  blockNumber: 8,
  phase: 'confirmed',
  state: 'succeeded',
  records: 1,
  about: '',
  attempts: 1,
  status: 200,
  error: null,
  durationMs: 5,
  createdAt: 20_000,
  updatedAt: 0,
  nextAttemptAt: null,
  ...changes,
});

const fills = (timeline: Timeline) => timeline.ticks.map(({ fill }) => fill);

test('the height grows with matches and stays within the timeline', () => {
  const heights = [0, 1, 8, 100_000].map(heightOf);
  expect(heights[0]).toBe(0);
  expect(heights).toEqual(heights.toSorted((x, y) => x - y));
  expect(heights.at(-1)).toBe(1);
});

test('a stream shows the result of its own deliveries', () => {
  const deliveries = [
    delivery({ blockNumber: 10, phase: 'unconfirmed' }),
    delivery({ blockNumber: 9, phase: 'unconfirmed', state: 'pending', attempts: 0 }),
    delivery({ blockNumber: 8, phase: 'confirmed' }),
    delivery({ blockNumber: 8, phase: 'unconfirmed' }),
    delivery({ blockNumber: 7, state: 'retrying', attempts: 3 }),
    delivery({ blockNumber: 7, phase: 'unconfirmed' }),
    delivery({ chainId: '0x2105', blockNumber: 9 }),
  ];
  expect(fills(streamTimeline(chain(), { deliveries, since: 0 }, 60))).toEqual([
    'failed',
    'solid',
    'waiting',
    'hollow',
  ]);
});

test('a removed match shows as removed, unless another block has its height', () => {
  const deliveries = [
    delivery({ blockNumber: 10, phase: 'unconfirmed' }),
    delivery({ blockNumber: 10, phase: 'removed' }),
    delivery({ blockNumber: 9, phase: 'removed', state: 'pending', attempts: 0 }),
    delivery({ blockNumber: 10, phase: 'confirmed' }),
    delivery({ blockNumber: 9, phase: 'unconfirmed' }),
  ];
  expect(fills(streamTimeline(chain(), { deliveries, since: 0 }, 60)).slice(-2)).toEqual([
    'reorged',
    'hollow',
  ]);
});

test('blocks before the oldest loaded delivery are unknown, not empty', () => {
  expect(fills(streamTimeline(chain(), { deliveries: [], since: 9_000 }, 60))).toEqual([
    'unknown',
    'unknown',
    'empty',
    'empty',
  ]);
});

test('blocks without a loaded delivery show what the service reported', () => {
  const reported = (number: number, changes: Partial<TimelineBlock>): TimelineBlock => ({
    number,
    hash: `0x${number}`,
    matches: 1,
    delivered: 0,
    waiting: 0,
    failed: 0,
    cancelled: 0,
    confirmed: true,
    removed: false,
    ...changes,
  });
  const past = {
    chainId: '0x1',
    from: 7,
    blocks: [
      reported(10, { failed: 1 }),
      reported(9, { hash: '0xother', removed: true }),
      reported(8, { delivered: 1 }),
      reported(7, { waiting: 1 }),
    ],
  };
  const blocks = { deliveries: [delivery({ blockNumber: 10 })], since: Infinity, past };
  expect(fills(streamTimeline(chain(), blocks, 60))).toEqual([
    'waiting',
    'solid',
    'reorged',
    'empty',
    'solid',
  ]);
});

test('blocks below the oldest one that the service reported are unknown', () => {
  const past = { chainId: '0x1', from: 9, blocks: [] };
  expect(fills(streamTimeline(chain(), { deliveries: [], since: Infinity, past }, 60))).toEqual([
    'unknown',
    'unknown',
    'empty',
    'empty',
  ]);
});

test('a delivery from before the block belongs to another block of that height', () => {
  const local = chain({ blocks: [block(30), block(29)], confirmedUpTo: 30, head: 32 });
  const shown = (createdAt: number) =>
    fills(
      streamTimeline(
        local,
        { deliveries: [delivery({ blockNumber: 30, createdAt })], since: 0 },
        60,
      ),
    ).at(-1);
  expect(shown(31_000)).toBe('solid');
  // The clock of the chain may be up to 5 s ahead of the service's clock.
  expect(shown(26_000)).toBe('solid');
  expect(shown(20_000)).toBe('empty');
});
