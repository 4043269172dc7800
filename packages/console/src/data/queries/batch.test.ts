import { expect, test } from 'vitest';
import { createBatch } from './batch.ts';

function watchedBatch(most: number) {
  const calls: string[][] = [];
  const read = createBatch(most, async (keys) => {
    calls.push(keys);
    if (keys.includes('broken')) throw new Error('no response');
    return new Map(keys.filter((key) => key !== 'gone').map((key) => [key, key.toUpperCase()]));
  });
  return { calls, read };
}

test('simultaneous requests share one call, with each key once; later ones use another', async () => {
  const { calls, read } = watchedBatch(10);
  expect(await Promise.all(['a', 'b', 'a', 'gone'].map(read))).toEqual(['A', 'B', 'A', null]);
  expect(await read('a')).toBe('A');
  expect(calls).toEqual([['a', 'b', 'gone'], ['a']]);
});

test('more keys than the limit use several calls', async () => {
  const { calls, read } = watchedBatch(2);
  expect(await Promise.all(['a', 'b', 'c'].map(read))).toEqual(['A', 'B', 'C']);
  expect(calls).toEqual([['a', 'b'], ['c']]);
});

test('a failed call only fails its own requests, and the next call is made', async () => {
  const { read } = watchedBatch(10);
  await expect(Promise.all([read('a'), read('broken')])).rejects.toThrow('no response');
  expect(await read('a')).toBe('A');
});
