import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { EnrichingMatch } from '../store/enrichment/contract.ts';
import { createMatchQueue } from './matchQueue.ts';

/**
 * Creates a queue of matches with ids `<stream>-<n>`. The simulated ledger lists the matches that
 * the query does not exclude.
 */
function open(matches: readonly string[]) {
  const streamOf = (id: string): string => id.split('-')[0]!;
  return createMatchQueue('0x1', {
    listEnriching: ({ limit, notMatches, notStreams }) =>
      Promise.resolve(
        matches
          .filter((id) => !notMatches.includes(id) && !notStreams.includes(streamOf(id)))
          .slice(0, limit)
          .map((id) => ({ id, streamId: streamOf(id) }) as EnrichingMatch),
      ),
  });
}

test('property: at most 32 matches are in progress, and at most two of one stream', async () => {
  const ids = fc.uniqueArray(
    fc.nat(400).map((n) => `${n % 40}-${n}`),
    { minLength: 50, maxLength: 120 },
  );
  await fc.assert(
    fc.asyncProperty(ids, fc.nat(5), async (matches, done) => {
      const queue = open(matches);
      const underWay = new Map<string, string>();
      for (let round = 0; round < 4; round++) {
        for (const match of await queue.list(0)) {
          queue.begin(match);
          underWay.set(match.id, match.streamId);
        }
        expect(queue.underWay()).toBe(underWay.size);
        expect(underWay.size).toBeLessThanOrEqual(32);
        const streams = Object.values(Object.groupBy(underWay.values(), (id) => id));
        for (const of of streams) expect(of!.length).toBeLessThanOrEqual(2);
        for (const id of [...underWay.keys()].slice(0, done)) {
          queue.rest(id, 1, Infinity);
          underWay.delete(id);
        }
      }
    }),
  );
});

test('slow streams have at most 16 matches in progress, until they are quick again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const slow = Array.from({ length: 16 }, (_, n) => `s${n}`);
    const ids = slow.flatMap((stream) => Array.from({ length: 12 }, (_, n) => `${stream}-${n}`));
    const queue = open([...ids, 'quick-1', 'quick-2']);
    const underWay = new Set<string>();
    const take = async (): Promise<string[]> => {
      const taken: string[] = [];
      for (let found = await queue.list(0); found.length > 0; found = await queue.list(0)) {
        for (const match of found) {
          queue.begin(match);
          underWay.add(match.id);
          taken.push(match.id);
        }
      }
      return taken;
    };
    const finish = (match: string): void => {
      queue.rest(match, 1, Infinity);
      underWay.delete(match);
    };
    expect(await take()).toHaveLength(32);
    vi.advanceTimersByTime(2_001);
    const [first] = underWay;
    finish(first!);
    // The other 31 are overdue, so that only a quick stream takes the place.
    expect(await take()).toEqual(['quick-1']);
    for (const match of [...underWay].slice(0, 20)) finish(match);
    expect(await take()).toContain('quick-2');
    expect([...underWay].filter((match) => match.startsWith('s'))).toHaveLength(16);
    // The second tries are quick.
    for (let round = 0; round < 2; round++) {
      for (const match of [...underWay]) finish(match);
      await take();
    }
    expect(underWay.size).toBe(32);
  } finally {
    vi.useRealTimers();
  }
});

test('a match waits until its time, and its attempts are counted until it is done', async () => {
  const queue = open(['a-1']);
  expect(queue.begin({ id: 'a-1', streamId: 'a' })).toBe(1);
  queue.rest('a-1', 1, 50);
  expect(await queue.list(49)).toEqual([]);
  expect(queue.nextAt(49)).toBe(50);
  expect(await queue.list(50)).toHaveLength(1);
  expect(queue.begin({ id: 'a-1', streamId: 'a' })).toBe(2);
  queue.forget('a-1');
  expect([queue.tries('a-1'), queue.underWay(), queue.nextAt(0)]).toEqual([0, 0, Infinity]);
});

test('a stream with 16 matches that wait for a retry starts no other match', async () => {
  const queue = open([...Array.from({ length: 40 }, (_, n) => `a-${n}`), 'b-1']);
  const began: string[] = [];
  for (let round = 0; round < 20; round++) {
    for (const match of await queue.list(0)) {
      queue.begin(match);
      queue.rest(match.id, 1, 50);
      began.push(match.streamId);
    }
  }
  expect(began.filter((streamId) => streamId === 'a')).toHaveLength(16);
  expect(began.filter((streamId) => streamId === 'b')).toHaveLength(1);
});
