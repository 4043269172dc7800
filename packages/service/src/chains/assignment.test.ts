import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Reader, Sharing } from '../store/leases/contract.ts';
import { SETTLED_MS, assignChains, findShare } from './assignment.ts';

const chainIds = (count: number): string[] => Array.from({ length: count }, (_, n) => `0x${n + 1}`);
const readerOf = (n: number, chains: readonly string[], joinedForMs = SETTLED_MS): Reader => ({
  id: `reader ${n}`,
  chains,
  joinedForMs,
});
const countOf = (assigned: ReadonlyMap<string, string>, { id }: Reader): number =>
  [...assigned.values()].filter((reader) => reader === id).length;
const countMoves = (assigned: ReadonlyMap<string, string>, { holders }: Sharing): number =>
  [...holders].filter(([chain, holder]) => assigned.get(chain) !== holder).length;

/** Readers that can all read the same chains, and hold some of them. */
const sameChains: fc.Arbitrary<Sharing> = fc
  .record({ readers: fc.integer({ min: 1, max: 6 }), chains: fc.integer({ min: 0, max: 40 }) })
  .chain(({ readers, chains }) =>
    fc
      .array(fc.option(fc.nat(readers - 1), { nil: undefined }), {
        minLength: chains,
        maxLength: chains,
      })
      .map((held) => ({
        readers: Array.from({ length: readers }, (_, n) => readerOf(n, chainIds(chains))),
        holders: new Map(
          held.flatMap((n, chain) => (n === undefined ? [] : [[`0x${chain + 1}`, `reader ${n}`]])),
        ),
      })),
  );

/**
 * Generates readers of different chains; each chain is held by a reader that can read it, or is
 * free.
 */
const otherChains = (most: { readers: number; chains: number }): fc.Arbitrary<Sharing> =>
  fc
    .record({
      sets: fc.array(fc.subarray(chainIds(most.chains)), { minLength: 1, maxLength: most.readers }),
      picks: fc.array(fc.nat(most.readers), { minLength: most.chains, maxLength: most.chains }),
    })
    .map(({ sets, picks }) => {
      const readers = sets.map((chains, n) => readerOf(n, chains));
      const holders = new Map<string, string>();
      for (const [n, chain] of chainIds(most.chains).entries()) {
        const able = readers.filter(({ chains }) => chains.includes(chain));
        const holder = able[picks[n]! % (able.length + 1)];
        if (holder !== undefined) holders.set(chain, holder.id);
      }
      return { readers, holders };
    });

const unevenness = (counts: readonly number[]): number =>
  counts.reduce((sum, count) => sum + count * count, 0);

/** Returns the unevenness of the most even assignment. */
function leastUnevenness(readers: readonly Reader[], chains: readonly string[]): number {
  const counts = readers.map(() => 0);
  const visit = (n: number): number => {
    if (n === chains.length) return unevenness(counts);
    let least = Number.POSITIVE_INFINITY;
    for (const [at, reader] of readers.entries()) {
      if (!reader.chains.includes(chains[n]!)) continue;
      counts[at]!++;
      least = Math.min(least, visit(n + 1));
      counts[at]!--;
    }
    return least;
  };
  return visit(0);
}

describe('an assignment', () => {
  test('of the same chains is even, complete, and moves as few as possible', () => {
    fc.assert(
      fc.property(sameChains, (sharing) => {
        const { readers, holders } = sharing;
        const assigned = assignChains(sharing);
        const chains = readers[0]!.chains;
        expect([...assigned.keys()].toSorted()).toEqual([...chains].toSorted());
        const least = Math.floor(chains.length / readers.length);
        const larger = chains.length % readers.length;
        for (const reader of readers) {
          expect(countOf(assigned, reader)).toBeGreaterThanOrEqual(least);
          expect(countOf(assigned, reader)).toBeLessThanOrEqual(least + (larger > 0 ? 1 : 0));
        }
        const surplus = readers
          .map((reader) => countOf(holders, reader))
          .toSorted((a, b) => b - a)
          .map((held, n) => Math.max(0, held - least - (n < larger ? 1 : 0)));
        expect(countMoves(assigned, sharing)).toBe(surplus.reduce((sum, each) => sum + each, 0));
      }),
    );
  });

  test('of different chains is as even as they allow, and each is read by a reader that can', () => {
    fc.assert(
      fc.property(otherChains({ readers: 3, chains: 6 }), (sharing) => {
        const { readers } = sharing;
        const assigned = assignChains(sharing);
        const readable = new Set(readers.flatMap(({ chains }) => chains));
        expect(new Set(assigned.keys())).toEqual(readable);
        for (const [chain, id] of assigned) {
          expect(readers.find((reader) => reader.id === id)!.chains).toContain(chain);
        }
        expect(unevenness(readers.map((reader) => countOf(assigned, reader)))).toBe(
          leastUnevenness(readers, [...readable]),
        );
      }),
    );
  });

  test('of different chains takes the shortest way to an even one', () => {
    // Passing a chain from reader 0 to reader 2 through readers 1 and 3 would be equally even, but
    // take three moves.
    const shares = [['0x1', '0x4', '0x5'], ['0x2', '0x7', '0x11'], [], ['0x8', '0x9', '0x12']];
    const passedOn = [[], ['0x1'], ['0x9'], ['0x2']];
    const readers = shares.map((chains, n) => readerOf(n, [...chains, ...passedOn[n]!]));
    const holders = new Map(
      shares.flatMap((chains, n) => chains.map((chain) => [chain, `reader ${n}`] as const)),
    );
    const assigned = assignChains({ readers, holders });
    expect(countMoves(assigned, { readers, holders })).toBe(1);
    expect(assigned.get('0x9')).toBe('reader 2');
  });

  test('gives a chain whose holder no longer reads it to a reader that can', () => {
    const readers = [readerOf(0, ['0x1']), readerOf(1, ['0x1', '0x2'])];
    const holders = new Map([['0x2', 'reader 0']]);
    expect(Object.fromEntries(assignChains({ readers, holders }))).toEqual({
      '0x1': 'reader 0',
      '0x2': 'reader 1',
    });
  });

  test('leaves a chain with a holder that is not listed', () => {
    const readers = [readerOf(0, ['0x1', '0x2'])];
    const holders = new Map([['0x1', 'resuming']]);
    expect([...assignChains({ readers, holders })]).toEqual([['0x2', 'reader 0']]);
  });
});

describe('readers that follow their shares', () => {
  /**
   * Runs the readers in this order, and then in turn until none acts. Returns the final holders,
   * the chains handed over, and the maximum number of chains in `holders` that were free at once.
   */
  function settle({ readers, holders }: Sharing, order: readonly number[]) {
    const now = new Map(holders);
    const handedOver: string[] = [];
    let mostFree = 0;
    const act = ({ id }: Reader): boolean => {
      const { own, handOver } = findShare(id, { readers, holders: now });
      const taken = [...own].filter((chain) => !now.has(chain));
      for (const chain of taken) now.set(chain, id);
      if (handOver !== undefined) {
        now.delete(handOver);
        handedOver.push(handOver);
        mostFree = Math.max(mostFree, [...holders.keys()].filter((each) => !now.has(each)).length);
      }
      return taken.length > 0 || handOver !== undefined;
    };
    for (const n of order) act(readers[n % readers.length]!);
    for (let turns = 0; readers.map(act).some(Boolean); turns++) {
      if (turns > 1_000) throw new Error('the readers never settle');
    }
    return { now, handedOver, mostFree };
  }
  const orders = fc.array(fc.nat(5), { maxLength: 40 });

  test('of the same chains end with even shares, and no chain moves twice', () => {
    fc.assert(
      fc.property(sameChains, orders, (sharing, order) => {
        const { readers } = sharing;
        const { now, handedOver, mostFree } = settle(sharing, order);
        const counts = readers.map((reader) => countOf(now, reader));
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        expect(now.size).toBe(readers[0]!.chains.length);
        expect(new Set(handedOver).size).toBe(handedOver.length);
        expect(handedOver.length).toBe(countMoves(assignChains(sharing), sharing));
        expect(mostFree).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('of different chains end as evenly as possible, and no chain moves twice', () => {
    fc.assert(
      fc.property(otherChains({ readers: 4, chains: 12 }), orders, (sharing, order) => {
        const { readers } = sharing;
        const { now, handedOver } = settle(sharing, order);
        const counts = (assigned: ReadonlyMap<string, string>): number[] =>
          readers.map((reader) => countOf(assigned, reader));
        expect(unevenness(counts(now))).toBe(unevenness(counts(assignChains(sharing))));
        expect(new Set(handedOver).size).toBe(handedOver.length);
      }),
    );
  });

  test('leave other leases alone', () => {
    const holders = new Map([['housekeeping', 'reader 0']]);
    const share = findShare('reader 0', { readers: [readerOf(0, ['0x1'])], holders });
    expect(share).toEqual({ own: new Set(['0x1']), handOver: undefined });
  });

  test('hand nothing over to a reader that has just started', () => {
    const chains = chainIds(2);
    const holders = new Map(chains.map((chain) => [chain, 'reader 0']));
    const shareWith = (joinedForMs: number) =>
      findShare('reader 0', {
        readers: [readerOf(0, chains), readerOf(1, chains, joinedForMs)],
        holders,
      });
    expect(shareWith(SETTLED_MS - 1)).toEqual({ own: new Set(chains), handOver: undefined });
    expect(shareWith(SETTLED_MS).handOver).toBeDefined();
  });
});
