import { expect, test } from 'vitest';
import { createSettling } from './settling.ts';

const SETTLE_MS = 120_000;
const block = (number: number) => ({ number, hash: `0x${number}` });
const tick = () => new Promise((resolve) => setTimeout(resolve, 0));

test('content that stays the same settles after the wait', () => {
  let nowMs = 0;
  const { remainingMs } = createSettling(
    () => Promise.resolve(),
    () => nowMs,
  );
  expect(remainingMs(block(1), 'a', SETTLE_MS)).toBe(SETTLE_MS);
  nowMs = 50_000;
  expect(remainingMs(block(1), 'a', SETTLE_MS)).toBe(70_000);
  nowMs = SETTLE_MS;
  expect(remainingMs(block(1), 'a', SETTLE_MS)).toBe(0);
});

test('other content starts the wait again', () => {
  let nowMs = 0;
  const { remainingMs } = createSettling(
    () => Promise.resolve(),
    () => nowMs,
  );
  remainingMs(block(1), 'a', SETTLE_MS);
  nowMs = 119_000;
  expect(remainingMs(block(1), 'b', SETTLE_MS)).toBe(SETTLE_MS);
  expect(remainingMs(block(1), 'a', SETTLE_MS)).toBe(SETTLE_MS);
});

test('blocks that follow a settling block are read ahead, so that they settle in parallel', async () => {
  let nowMs = 0;
  const read: number[] = [];
  const settling = createSettling(
    (number) => {
      read.push(number);
      settling.remainingMs(block(number), 'a', SETTLE_MS);
      return Promise.resolve();
    },
    () => nowMs,
  );
  settling.followHead(10);
  settling.remainingMs(block(8), 'a', SETTLE_MS);
  await tick();
  expect(read).toEqual([9, 10]);
  // Each new head is read once, while the older block waits.
  for (let head = 11; head <= 40; head++) {
    nowMs += 2_000;
    settling.followHead(head);
    settling.remainingMs(block(8), 'a', SETTLE_MS);
    await tick();
  }
  expect(read).toEqual(Array.from({ length: 32 }, (_, n) => 9 + n));
  nowMs = SETTLE_MS + 2_000;
  expect(settling.remainingMs(block(11), 'a', SETTLE_MS)).toBe(0);
  expect(settling.remainingMs(block(40), 'a', SETTLE_MS)).toBeGreaterThan(0);
});

test('nothing is read ahead while no block settles, or after the stop', async () => {
  const read: number[] = [];
  const settling = createSettling((number) => Promise.resolve(read.push(number)));
  settling.followHead(10);
  settling.followHead(20);
  expect(settling.remainingMs(block(15), 'a', 0)).toBe(0);
  await tick();
  settling.stop();
  settling.remainingMs(block(15), 'b', SETTLE_MS);
  await tick();
  expect(read).toEqual([]);
});

test('a failure to read ahead is ignored, and the number of blocks read ahead is bounded', async () => {
  let reads = 0;
  const settling = createSettling(() => {
    reads++;
    return Promise.reject(new Error('away'));
  });
  settling.followHead(1_000_000);
  settling.remainingMs(block(1), 'a', SETTLE_MS);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(reads).toBe(1_024);
});

test('heads far above a settling block are not read ahead', async () => {
  const read: number[] = [];
  const settling = createSettling((number) => Promise.resolve(read.push(number)));
  settling.followHead(1);
  settling.remainingMs(block(1), 'a', SETTLE_MS);
  for (const head of [1_000, 4_096, 4_100]) settling.followHead(head);
  await tick();
  expect(Math.max(...read)).toBe(4_097);
});

test('the oldest content is forgotten, so that memory is bounded', () => {
  let nowMs = 0;
  const { remainingMs } = createSettling(
    () => Promise.resolve(),
    () => nowMs,
  );
  remainingMs(block(1), 'a', SETTLE_MS);
  nowMs = SETTLE_MS;
  for (let number = 2; number <= 8_193; number++) remainingMs(block(number), 'a', SETTLE_MS);
  expect(remainingMs(block(1), 'a', SETTLE_MS)).toBe(SETTLE_MS);
});
