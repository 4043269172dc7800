import type { DeliverySummary, Job, LiveEvent } from '@sluice/kit/sluice';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findRow,
  heldRows,
  rowsOf,
  watchChains,
  withChainEvent,
  withDeliveries,
  withLatest,
  withNewest,
  type DeliveryPages,
  type ListFilter,
} from './liveCache.ts';
import type { WatchedChain } from '../../chains/timeline.ts';

const delivery = (id: string, createdAt: number, changes: Partial<DeliverySummary> = {}) =>
  ({
    id,
    streamId: 's',
    matchId: `m-${id}`,
    tag: '',
    chainId: '0x1',
    blockNumber: 1,
    phase: 'unconfirmed',
    state: 'succeeded',
    records: 1,
    about: '',
    attempts: 1,
    status: 200,
    error: null,
    durationMs: 5,
    createdAt,
    updatedAt: createdAt,
    nextAttemptAt: null,
    ...changes,
  }) satisfies DeliverySummary;

const pages = (...lists: DeliverySummary[][]): DeliveryPages => ({
  pages: lists.map((result, index) =>
    index === lists.length - 1 ? { result } : { result, cursor: `after ${index}` },
  ),
  pageParams: [],
});

const ids = (data: DeliveryPages) => rowsOf(data).map(({ id }) => id);

test('a new delivery is inserted first', () => {
  const data = withDeliveries(pages([delivery('b', 2), delivery('a', 1)]), [delivery('c', 3)], {});
  expect(ids(data)).toEqual(['c', 'b', 'a']);
});

test('a late delivery is inserted by time', () => {
  const data = withDeliveries(
    pages([delivery('d', 4)], [delivery('a', 1)]),
    [delivery('c', 3)],
    {},
  );
  expect(ids(data)).toEqual(['d', 'c', 'a']);
});

test('a changed delivery stays in place, on any page', () => {
  const before = pages([delivery('b', 2)], [delivery('a', 1, { state: 'pending' })]);
  const after = withDeliveries(before, [delivery('a', 1, { updatedAt: 9 })], {});
  expect(ids(after)).toEqual(['b', 'a']);
  expect(rowsOf(after)[1]?.state).toBe('succeeded');
  expect(after.pages[0]).toBe(before.pages[0]);
});

test('an event older than the cached row changes nothing', () => {
  const before = pages([delivery('a', 1, { updatedAt: 9 })]);
  const after = withDeliveries(before, [delivery('a', 1, { updatedAt: 4, state: 'pending' })], {});
  expect(rowsOf(after)[0]?.state).toBe('succeeded');
});

test('only the latest of several events of a delivery is applied', () => {
  const events = [
    delivery('a', 1, { updatedAt: 5, state: 'succeeded' }),
    delivery('a', 1, { updatedAt: 3, state: 'leased' }),
  ];
  expect(rowsOf(withDeliveries(pages([]), events, {}))[0]?.state).toBe('succeeded');
});

test('a filter excludes rows that do not pass, and removes rows that no longer do', () => {
  const filter = { state: 'pending' } as const;
  const before = pages([delivery('a', 1, { state: 'pending' })]);
  const events = [delivery('a', 1, { updatedAt: 2 }), delivery('b', 2)];
  expect(ids(withDeliveries(before, events, filter))).toEqual([]);
  expect(ids(withDeliveries(pages([]), [delivery('c', 1)], { streamId: 'other' }))).toEqual([]);
});

test('a filter by destination 0 selects the deliveries to the webhook URL', () => {
  const [own, other] = [delivery('a1', 1), delivery('a2', 2, { destination: 1 })];
  const listOf = (destination: number) =>
    rowsOf(withDeliveries(pages([]), [own, other], { streamId: 's', destination }));
  expect([listOf(0), listOf(1), listOf(2)]).toEqual([[own], [other], []]);
});

test('rows beyond the loaded pages are not inserted', () => {
  const data = { pages: [{ result: [delivery('b', 2)], cursor: 'more' }], pageParams: [] };
  expect(ids(withDeliveries(data, [delivery('a', 1)], {}))).toEqual(['b']);
});

test('a row on two pages appears once', () => {
  expect(ids(pages([delivery('b', 2)], [delivery('b', 2), delivery('a', 1)]))).toEqual(['b', 'a']);
});

test('a frozen list counts the rows newer than its anchor', () => {
  const rows = [delivery('d', 4), delivery('c', 3), delivery('b', 2), delivery('a', 1)];
  const held = heldRows(rows, { id: 'b' });
  expect(held.newer).toBe(2);
  expect(held.shown.map(({ id }) => id)).toEqual(['b', 'a']);
});

test('a frozen list stays still even if its anchor has left it', () => {
  const rows = [delivery('d', 4), delivery('a', 1)];
  expect(heldRows(rows, { id: 'b' }).shown.map(({ id }) => id)).toEqual(['a']);
  expect(heldRows(rows, null)).toEqual({ shown: rows, newer: 0 });
});

test('a row is found by its id', () => {
  const rows = [delivery('d', 4), delivery('b', 2)];
  expect(findRow(rows, 'b')).toBe(rows[1]);
  expect(findRow(rows, 'c')).toBeUndefined();
  expect(findRow(rows, undefined)).toBeUndefined();
});

test('a change without effect returns the same list', () => {
  const before = pages([delivery('b', 2)], [delivery('a', 1)]);
  expect(withDeliveries(before, [delivery('c', 3)], { state: 'failed' }).pages[1]).toBe(
    before.pages[1],
  );
  expect(withDeliveries(before, [delivery('c', 3)], { streamId: 'other' })).toBe(before);
});

test('whatever the batches, a list has the latest version of each row, newest first', () => {
  const changes = fc.array(
    fc
      .record({
        id: fc.constantFrom(...'abcdefghij'.split('')),
        updatedAt: fc.nat(20),
        state: fc.constantFrom('pending', 'succeeded', 'failed'),
      })
      .map(({ id, ...rest }) => delivery(id, 0, rest)),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 6 }), (parts) => {
      let data: DeliveryPages = pages([]);
      const latest = new Map<string, DeliverySummary>();
      for (const part of parts) {
        data = withDeliveries(data, part, {});
        for (const row of part) {
          if (row.updatedAt >= (latest.get(row.id)?.updatedAt ?? 0)) latest.set(row.id, row);
        }
      }
      const expected = [...latest.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
      expect(rowsOf(data)).toEqual(expected);
    }),
  );
});

test('a list over its limit keeps its newest rows, and no cursor after them', () => {
  const data = {
    ...pages([delivery('d', 4), delivery('c', 3)], [delivery('b', 2), delivery('a', 1)]),
    pageParams: [undefined, 'after 0'],
  };
  expect(withNewest(data, 4)).toBe(data);
  expect(withNewest(data, 3)).toEqual({
    pages: [data.pages[0], { result: [delivery('b', 2)] }],
    pageParams: data.pageParams,
  });
  // If only complete pages are removed, the last remaining page keeps its cursor.
  expect(withNewest(data, 2)).toEqual({ pages: [data.pages[0]], pageParams: [undefined] });
  expect(withNewest(data, 1).pages[0]).not.toHaveProperty('cursor');
});

const block = (number: number, hash = `0x${number}`) => ({
  number,
  hash,
  timestamp: number,
  matches: 0,
});

const chain: WatchedChain = {
  id: '0x1',
  name: 'Ethereum',
  code: 'ETH',
  state: 'live',
  message: '',
  head: 3,
  checkpoint: 3,
  confirmations: 2,
  confirmedUpTo: 1,
  safe: null,
  finalized: null,
  proof: null,
  trust: null,
  agreement: null,
  providers: [],
  progress: null,
  unverified: null,
  blocks: [block(3), block(2), block(1)],
  removed: [],
  headAgeMs: 4_000,
  reportedAt: 1_000,
};

const NOW = 9_000;

const apply = (...events: LiveEvent[]) =>
  events.reduce((chains, event) => withChainEvent(chains, event, NOW), [chain])[0];

test('a block updates the head, the checkpoint and the timeline', () => {
  const after = apply({ type: 'block', chainId: '0x1', block: block(4), head: 9 });
  expect(after).toMatchObject({ head: 9, checkpoint: 4 });
  expect(after?.blocks.map(({ number }) => number)).toEqual([4, 3, 2, 1]);
});

test('a reorg removes blocks but keeps them for display', () => {
  const after = apply(
    { type: 'reorg', chainId: '0x1', blockNumber: 1 },
    { type: 'block', chainId: '0x1', block: block(2, '0xother'), head: 2 },
  );
  expect(after?.blocks.map(({ hash }) => hash)).toEqual(['0xother', '0x1']);
  expect(after?.removed.map(({ hash }) => hash)).toEqual(['0x3', '0x2']);
});

test('the timeline keeps sixty blocks, and removed ones in the same range', () => {
  const events = Array.from({ length: 80 }, (_, index): LiveEvent => ({
    type: 'block',
    chainId: '0x1',
    block: block(index + 2),
    head: index + 2,
  }));
  const after = apply({ type: 'reorg', chainId: '0x1', blockNumber: 1 }, ...events);
  expect(after?.blocks).toHaveLength(60);
  expect(after?.removed).toEqual([]);
});

test('the state of one chain does not affect the others', () => {
  const { blocks: _, removed: __, ...health } = chain;
  const event: LiveEvent = {
    type: 'chain',
    chain: { ...health, state: 'down', message: 'refused' },
  };
  const chains = withChainEvent([chain, { ...chain, id: '0x2' }], event, NOW);
  expect(chains.map(({ state }) => state)).toEqual(['down', 'live']);
  expect(chains[0]?.blocks).toHaveLength(3);
});

test('the age of the newest block restarts with each block and report', () => {
  const age = (...events: LiveEvent[]) => {
    const { headAgeMs, reportedAt } = apply(...events)!;
    return { headAgeMs, reportedAt };
  };
  const before = { headAgeMs: 4_000, reportedAt: 1_000 };
  expect(age()).toEqual(before);
  expect(age({ type: 'block', chainId: '0x1', block: block(4), head: 4 })).toEqual({
    headAgeMs: 0,
    reportedAt: NOW,
  });
  // A block arrives, but the head stays the same.
  expect(age({ type: 'block', chainId: '0x1', block: block(3), head: 3 })).toEqual(before);
  const { blocks: _, removed: __, ...health } = chain;
  expect(age({ type: 'chain', chain: { ...health, headAgeMs: 7_000 } })).toEqual({
    headAgeMs: 7_000,
    reportedAt: NOW,
  });
});

test('a refetch keeps the removed blocks', () => {
  const { removed: _, ...health } = chain;
  expect(watchChains([health], [{ ...chain, removed: [block(9)] }], NOW)[0]?.removed).toHaveLength(
    1,
  );
  expect(watchChains([health], undefined, NOW)[0]?.removed).toEqual([]);
});

test('a job stays in place, and a new one is first', () => {
  const job = (id: string, nextBlock: number) => ({ id, nextBlock }) as Job;
  expect(withLatest([job('a', 1), job('b', 1)], job('b', 2))).toEqual([job('a', 1), job('b', 2)]);
  expect(withLatest([job('a', 1)], job('c', 1)).map(({ id }) => id)).toEqual(['c', 'a']);
});

test('counted confirmations follow the blocks, those of the chain do not', () => {
  const event: LiveEvent = { type: 'block', chainId: '0x1', block: block(20), head: 20 };
  const [counted] = withChainEvent([{ ...chain, confirmations: 2, confirmedUpTo: 1 }], event, NOW);
  expect(counted?.confirmedUpTo).toBe(18);
  const own = { ...chain, confirmations: 'finalized' as const, confirmedUpTo: 1 };
  expect(withChainEvent([own], event, NOW)[0]?.confirmedUpTo).toBe(1);
});

test('rows are checked against every field of the filter', () => {
  const row = delivery('a', 1, { status: 503, phase: 'confirmed', chainId: '0x89' });
  const kept = (filter: ListFilter) =>
    rowsOf(withDeliveries({ pages: [{ result: [] }], pageParams: [] }, [row], filter)).length;
  expect(kept({ status: '5xx', phase: 'confirmed', chainId: '0x89' })).toBe(1);
  expect(kept({ status: '4xx' })).toBe(0);
  expect(kept({ status: 'none' })).toBe(0);
  expect(kept({ phase: 'removed' })).toBe(0);
  expect(kept({ chainId: '0x1' })).toBe(0);
  // Only the service knows which replay sent a row.
  expect(kept({ replayId: 'r' })).toBe(0);
});
