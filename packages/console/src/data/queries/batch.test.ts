import { expect, test } from 'vitest';
import { createBatch } from './batch.ts';

function watchedBatch(most: number) {
  const calls: string[][] = [];
  const read = createBatch(most, async (keys) => {
    calls.push(keys);
    if (keys.includes('broken')) throw new Error('no answer');
    return new Map(keys.filter((key) => key !== 'gone').map((key) => [key, key.toUpperCase()]));
  });
  return { calls, read };
}

test('what is asked for at once is one call, each key once; what comes later another', async () => {
  const { calls, read } = watchedBatch(10);
  expect(await Promise.all(['a', 'b', 'a', 'gone'].map(read))).toEqual(['A', 'B', 'A', null]);
  expect(await read('a')).toBe('A');
  expect(calls).toEqual([['a', 'b', 'gone'], ['a']]);
});

test('more than fit into one call are several', async () => {
  const { calls, read } = watchedBatch(2);
  expect(await Promise.all(['a', 'b', 'c'].map(read))).toEqual(['A', 'B', 'C']);
  expect(calls).toEqual([['a', 'b'], ['c']]);
});

test('a call that fails fails those in it alone, and the next one is made', async () => {
  const { read } = watchedBatch(10);
  await expect(Promise.all([read('a'), read('broken')])).rejects.toThrow('no answer');
  expect(await read('a')).toBe('A');
});
