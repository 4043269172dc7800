import { expect, test } from 'vitest';
import { createStreamLists } from './streamLists.ts';

type Lists = ReturnType<typeof createStreamLists>;

const listOf = (lists: Lists, streams: readonly number[]): number =>
  streams.reduceRight<number | undefined>((list, stream) => lists.push(stream, list), undefined)!;

function read(lists: Lists, list: number): number[] {
  const streams: number[] = [];
  lists.visit(list, (stream) => streams.push(stream));
  return streams;
}

test.each([
  { gone: [], left: [1, 2, 3, 4] },
  { gone: [1], left: [2, 3, 4] },
  { gone: [2, 3], left: [1, 4] },
  { gone: [3, 4], left: [1, 2] },
  { gone: [1, 2, 4], left: [3] },
])('a list without streams $gone', ({ gone, left }) => {
  const lists = createStreamLists();
  const other = listOf(lists, [7, 8]);
  let count = 0;
  const list = lists.filter(
    listOf(lists, [1, 2, 3, 4]),
    (stream) => gone.includes(stream),
    () => count++,
  )!;
  expect(count).toBe(gone.length);
  expect(read(lists, list)).toEqual(left);
  expect(lists.only(list)).toBe(left.length === 1 ? left[0] : undefined);
  expect(lists.has(list, 4)).toBe(left.includes(4));
  expect(read(lists, other)).toEqual([7, 8]);
});

test('nodes of removed streams are reused', () => {
  const lists = createStreamLists();
  const many = Array.from({ length: 8_000 }, (_, n) => n);
  const kept = listOf(lists, [1]);
  const { sizeBytes } = lists;
  for (let round = 0; round < 3; round++) {
    const list = listOf(lists, many);
    expect(read(lists, list)).toEqual(many);
    expect(
      lists.filter(
        list,
        () => true,
        () => {},
      ),
    ).toBeUndefined();
  }
  expect(lists.sizeBytes).toBe(sizeBytes);
  expect(read(lists, kept)).toEqual([1]);
});
