import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { PlacedDelivery } from '../store/feeds/contract.ts';
import { createSignals } from '../store/live/signals.ts';
import { type WaitingReads, createWaitingReads } from './waitingReads.ts';

let waitingReads: WaitingReads | undefined;
afterEach(() => waitingReads?.close());

/** Starts a feed in memory. Each read takes at most `limit` deliveries from it, as of a consumer. */
const start = ({ isShared = false } = {}) => {
  const signals = createSignals();
  const heads: Record<string, number> = {};
  let taken = 0;
  const readFeedHeads = vi.fn(() => Promise.resolve({ ...heads }));
  const reads = createWaitingReads({ signals, isShared, readFeedHeads });
  waitingReads = reads;
  const take = vi.fn((limit: number) => {
    const head = heads['s'] ?? 0;
    const placed = Array.from({ length: Math.min(limit, head - taken) }, (_, n) => {
      return { position: taken + n + 1 } as PlacedDelivery;
    });
    taken += placed.length;
    return Promise.resolve({ placed, head, leaseEndsInMs: undefined as number | undefined });
  });
  return {
    reads,
    signals,
    heads,
    take,
    readFeedHeads,
    /** Adds deliveries to the feed. */
    grow(count = 1) {
      heads['s'] = (heads['s'] ?? 0) + count;
      signals.send(['feeds']);
    },
    read: ({
      read = () => take(1),
      isShared: sharesConsumer = true,
      consumer = 'a',
      keyId = 'key',
      waitMs = 600_000,
      ended = new AbortController().signal,
    } = {}) => {
      const ofConsumer = sharesConsumer ? consumer : undefined;
      return reads.repeat(read, { streamId: 's', consumer: ofConsumer, keyId, waitMs, ended });
    },
  };
};

const positionsOf = ({ placed }: { placed: PlacedDelivery[] }): number[] =>
  placed.map(({ position }) => position);

test('a read with deliveries does not wait, and one without a wait returns at once', async () => {
  const { read, grow, reads } = start();
  expect(positionsOf(await read({ waitMs: 0 }))).toEqual([]);
  grow();
  expect(positionsOf(await read())).toEqual([1]);
  expect(reads.count()).toBe(0);
});

test('a signal wakes one reader of a consumer per delivery, and causes no other reads', async () => {
  const { read, grow, take, reads } = start();
  const readers = [read(), read(), read()];
  await vi.waitFor(() => expect(reads.count()).toBe(3));
  expect(take).toHaveBeenCalledTimes(3);
  grow();
  expect(positionsOf(await Promise.race(readers))).toEqual([1]);
  expect(take).toHaveBeenCalledTimes(4);
  // The first of the others finds the next one, and wakes the last.
  grow(2);
  expect(new Set((await Promise.all(readers)).flatMap(positionsOf))).toEqual(new Set([1, 2, 3]));
  expect(take).toHaveBeenCalledTimes(6);
});

test('a signal about another feed causes one query, and no read', async () => {
  const { read, grow, take, reads, signals, heads, readFeedHeads } = start();
  grow();
  await read();
  // Nobody waited, so that the signal caused no query.
  expect(readFeedHeads).not.toHaveBeenCalled();
  void read();
  await vi.waitFor(() => expect(reads.count()).toBe(1));
  heads['another'] = 5;
  signals.send(['feeds']);
  await vi.waitFor(() => expect(readFeedHeads).toHaveBeenCalledOnce());
  await wait(5);
  expect(readFeedHeads).toHaveBeenCalledOnce();
  expect(take).toHaveBeenCalledTimes(2);
});

test('signals during a query cause one more query', async () => {
  const { read, reads, signals, readFeedHeads } = start();
  void read();
  await vi.waitFor(() => expect(reads.count()).toBe(1));
  for (let n = 0; n < 5; n++) signals.send(['feeds']);
  await wait(5);
  expect(readFeedHeads).toHaveBeenCalledTimes(2);
});

test('each reader without a shared consumer gets all deliveries', async () => {
  const { read, grow, heads, reads } = start();
  const all = () =>
    Promise.resolve({
      placed: Array.from({ length: heads['s'] ?? 0 }, (_, n) => ({ position: n + 1 }) as never),
      head: heads['s'] ?? 0,
    });
  const readers = [1, 2].map(() => read({ isShared: false, read: all as never }));
  await vi.waitFor(() => expect(reads.count()).toBe(2));
  grow(2);
  expect((await Promise.all(readers)).map(positionsOf)).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test('a delivery that is added while a read runs wakes its reader', async () => {
  const { read, grow, take, heads } = start();
  let isFirst = true;
  const slow = async () => {
    const found = await take(1);
    if (isFirst) grow();
    isFirst = false;
    return found;
  };
  expect(positionsOf(await read({ read: slow }))).toEqual([1]);
  expect(heads['s']).toBe(1);
});

test('a read is repeated when a lease ends, when its consumer moves, and at the end of its wait', async () => {
  const { read, grow, take, signals, reads } = start();
  const leased = async () => ({ ...(await take(1)), leaseEndsInMs: 10 });
  const first = read({ read: leased });
  await vi.waitFor(() => expect(take.mock.calls.length).toBeGreaterThan(2));
  grow();
  await first;
  take.mockClear();
  const moved = read();
  await vi.waitFor(() => expect(reads.count()).toBe(1));
  signals.send(['consumers']);
  await vi.waitFor(() => expect(take).toHaveBeenCalledTimes(2));
  grow();
  await moved;
  take.mockClear();
  expect(positionsOf(await read({ waitMs: 10 }))).toEqual([]);
  expect(take).toHaveBeenCalledTimes(2);
});

test('a shared ledger is checked every second, because a signal may be lost', async () => {
  vi.useFakeTimers();
  try {
    const { read, heads, reads } = start({ isShared: true });
    const found = read();
    await vi.waitFor(() => expect(reads.count()).toBe(1));
    heads['s'] = 1;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(positionsOf(await found)).toEqual([1]);
  } finally {
    vi.useRealTimers();
  }
});

test('a ledger of one process is not checked while reads wait', async () => {
  vi.useFakeTimers();
  try {
    const { read, reads, readFeedHeads } = start();
    void read();
    await vi.waitFor(() => expect(reads.count()).toBe(1));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(readFeedHeads).not.toHaveBeenCalled();
  } finally {
    vi.useRealTimers();
  }
});

test('a client that leaves ends its read, and its delivery goes to the next reader', async () => {
  const { read, grow, reads } = start();
  const leaving = new AbortController();
  const left = read({ ended: leaving.signal });
  await vi.waitFor(() => expect(reads.count()).toBe(1));
  const stays = read();
  await vi.waitFor(() => expect(reads.count()).toBe(2));
  // It is woken first, and has left before it can read.
  grow();
  leaving.abort();
  expect(positionsOf(await stays)).toEqual([1]);
  expect(positionsOf(await left)).toEqual([]);
  expect(reads.count()).toBe(0);
});

test('a process that stops ends all reads, and accepts none that would wait', async () => {
  const { read, reads } = start();
  const readers = [read(), read({ consumer: 'b' })];
  await vi.waitFor(() => expect(reads.count()).toBe(2));
  reads.close();
  expect((await Promise.all(readers)).map(positionsOf)).toEqual([[], []]);
  await expect(read()).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 });
});

test('the reads of a key, and all reads, are limited', async () => {
  const { read, reads } = start();
  for (let key = 0; key < 5; key++) {
    for (let n = 0; n < 1_000; n++) void read({ keyId: `key ${key}`, consumer: `${n}` });
    await vi.waitFor(() => expect(reads.count()).toBe((key + 1) * 1_000));
    if (key > 0) continue;
    await expect(read({ keyId: 'key 0' })).rejects.toMatchObject({ status: 503 });
  }
  await expect(read({ keyId: 'another' })).rejects.toMatchObject({
    status: 503,
    retryAfterSeconds: 5,
  });
  expect(positionsOf(await read({ keyId: 'another', waitMs: 0 }))).toEqual([]);
});
