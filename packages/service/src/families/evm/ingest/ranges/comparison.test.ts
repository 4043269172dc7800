import { expect, test } from 'vitest';
import { createLog } from '../../../../base/log.ts';
import type { Provider } from '../provider.ts';
import { createComparison } from './comparison.ts';
import { type NodeRanges, type RangeLogs, unknownRanges } from './rangeReading.ts';

const hashOf = (number: number): string => `0x${number}`;

/** The blocks with these numbers, each with one log, among those up to `to`. */
const logsOf = (numbers: readonly number[], to: number, whole: number[] = []): RangeLogs => ({
  logs: new Map(numbers.map((number) => [number, { hash: hashOf(number), logs: [{} as never] }])),
  whole,
  to,
});

/** Compares the logs of a first node with those that a second one returned from `from` on. */
async function compare(first: RangeLogs, second: RangeLogs, from: number, truth: number[]) {
  const nodes = ['first', 'second'].map(
    (name) => ({ name, fault() {} }) as Partial<Provider> as Provider,
  ) as [Provider, Provider];
  const ranges = new Map<Provider, NodeRanges>(nodes.map((node) => [node, unknownRanges()]));
  const isUsable = (node: Provider): boolean => ranges.get(node)!.restsUntil === 0;
  const { check } = createComparison({
    chain: '0x1',
    providers: {
      all: nodes,
      witnesses: () => [],
      readHeaderAt: (number) => Promise.resolve({ number, hash: hashOf(number) } as never),
    },
    readLogsOf: ({ number }) => Promise.resolve(truth.includes(number) ? [{} as never] : []),
    log: createLog(() => {}),
    search: { takes: ({ logs }) => logs.length > 0 },
    readLogs: () => Promise.reject(new Error('unused')),
    rangesOf: (node) => ranges.get(node)!,
    isUsable,
  });
  const failure = await check(nodes[0], first, { node: nodes[1], from, read: second }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { avoided: nodes.filter((node) => !isUsable(node)).map(({ name }) => name), failure };
}

test('a node that hides a block of both ranges is avoided', async () => {
  expect(await compare(logsOf([3, 7], 9), logsOf([7], 9), 1, [3, 7])).toEqual({
    avoided: ['second'],
    failure: undefined,
  });
  const { avoided, failure } = await compare(logsOf([7], 9), logsOf([3, 7], 9), 1, [3, 7]);
  expect(avoided).toEqual(['first']);
  expect(failure).toContain('those of second differ');
});

test('a node that invents a block is avoided', async () => {
  expect(await compare(logsOf([7], 9), logsOf([3, 7], 9), 1, [7])).toMatchObject({
    avoided: ['second'],
  });
  expect(await compare(logsOf([3, 7], 9), logsOf([7], 9), 1, [7])).toMatchObject({
    avoided: ['first'],
  });
});

test('no node is avoided for blocks that only the other one searched', async () => {
  const truth = [3, 7, 9];
  const none = { avoided: [], failure: undefined };
  // The second node searched a later part, or less.
  expect(await compare(logsOf(truth, 9), logsOf([7, 9], 9), 4, truth)).toEqual(none);
  expect(await compare(logsOf(truth, 9), logsOf([3, 7], 8), 1, truth)).toEqual(none);
  // The first node searched less.
  expect(await compare(logsOf([3, 7], 8), logsOf(truth, 9), 1, truth)).toEqual(none);
  // One of both refused to search a block.
  expect(await compare(logsOf(truth, 9), logsOf([3, 9], 9, [7]), 1, truth)).toEqual(none);
  expect(await compare(logsOf([3, 9], 9, [7]), logsOf(truth, 9), 1, truth)).toEqual(none);
});
