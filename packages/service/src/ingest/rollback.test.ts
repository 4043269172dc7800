import { expect, test } from 'vitest';
import type { BlockHeader } from '../store/blocks/contract.ts';
import { createRollbackWatch } from './rollback.ts';

const header = (number: number): BlockHeader => ({
  number,
  hash: `a${number}`,
  parentHash: `a${number - 1}`,
  timestamp: number,
});

const source = {
  readHead: () => Promise.resolve(header(1)),
  readHeader: () => Promise.resolve(undefined),
};

test('a watch becomes more patient each time that a removed block returns', async () => {
  let pausedMs = 0;
  const watch = createRollbackWatch(source, new AbortController().signal, async (ms) => {
    pausedMs += ms;
  });
  /** Returns the milliseconds until it is certain that the chain went back to block 1. */
  const timeWatch = async (): Promise<number> => {
    pausedMs = 0;
    expect(await watch.isCertain(header(1), header(3))).toBe(true);
    return pausedMs;
  };
  const times: number[] = [];
  for (let n = 0; n < 8; n++) {
    times.push(await timeWatch());
    watch.remember([header(3), header(2)]);
    watch.onBlock(header(2));
    watch.onBlock(header(3));
  }
  expect(times).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  const other = createRollbackWatch(source, new AbortController().signal, async (ms) => {
    pausedMs += ms;
  });
  other.remember([header(3)]);
  other.onBlock({ ...header(3), hash: 'b3' });
  pausedMs = 0;
  await other.isCertain(header(1), header(3));
  expect(pausedMs).toBe(1_000);
});

test('a watch that ends early is not certain', async () => {
  const stopping = new AbortController();
  const watch = createRollbackWatch(source, stopping.signal);
  const certain = watch.isCertain(header(1), header(3));
  stopping.abort();
  expect(await certain).toBe(false);
});

test.each([
  ['the head moves', { readHead: () => Promise.resolve(header(2)) }],
  ['a node has the tip', { readHeader: () => Promise.resolve(header(3)) }],
])('a rollback is not certain if %s while it is checked', async (_, after) => {
  let looks = 0;
  const later = <Key extends keyof typeof source>(key: Key): (typeof source)[Key] =>
    (() => (looks > 1 ? { ...source, ...after } : source)[key]()) as (typeof source)[Key];
  const changing = { readHead: later('readHead'), readHeader: later('readHeader') };
  const watch = createRollbackWatch(changing, new AbortController().signal, async () => {
    looks++;
  });
  expect(await watch.isCertain(header(1), header(3))).toBe(false);
});
