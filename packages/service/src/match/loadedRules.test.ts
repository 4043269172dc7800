/** Tests that streams are found with their current addresses, and that these are loaded once. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { openSqliteStore } from '../store/engine/sqlite/sqlite.ts';
import { address, draft, useStore } from '../../test/store/storeTools.ts';
import type { EvmStreamRecord } from '../store/streams/contract.ts';
import { createStreamIndex } from '../families/evm/match/match.ts';
import { createStreamFinder, followRules } from './loadedRules.ts';
import type { RuleReads, SingleStream } from './ruleIndex.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-rules-'));
const tools = useStore(() => openSqliteStore(folder));
const { add, remove, replace, cleanUp } = tools;
afterAll(() => rmSync(folder, { recursive: true }));

const MOST = 30;

/** Opens a finder, and counts the pages of addresses that it reads by stream. */
function openFinder(maxKeptBytes?: number) {
  const { store } = tools;
  const pages = new Map<string, number>();
  let held: { isOwn: boolean; hasRead(): void; gate: Promise<void> } | undefined;
  let isFailing = false;
  const reads: RuleReads = {
    async readRules(...args) {
      const rules = await store.readRules(...args);
      // The refresh of a stream that is not matched reads the revision alone.
      const isOwn = args[0] === Number.MAX_SAFE_INTEGER;
      if (held?.isOwn !== isOwn) return rules;
      held.hasRead();
      await held.gate;
      return rules;
    },
    readAddressChanges: store.readAddressChanges,
    readAddresses(id: string, after?: string) {
      if (isFailing) return Promise.reject(new Error('the ledger is unreachable'));
      pages.set(id, (pages.get(id) ?? 0) + 1);
      return store.readAddresses(id, after);
    },
  };
  const index = createStreamIndex();
  const refresh = followRules(index, reads);
  const findBy = createStreamFinder({
    index,
    refresh,
    store: reads,
    createIndex: createStreamIndex,
    maxKeptBytes,
  });
  const find = async (id: string) => findBy((await store.readStream(id)) as EvmStreamRecord);
  /**
   * Starts a refresh that has read the rules, and returns a function that lets it continue.
   *
   * @param id a stream that is not matched, to start its own refresh. Default: that of the index
   */
  const startRefresh = async (id?: string): Promise<() => void> => {
    const { promise: gate, resolve } = Promise.withResolvers<void>();
    const reading = new Promise<void>((hasRead) => {
      held = { isOwn: id !== undefined, hasRead, gate };
    });
    void (id === undefined ? refresh() : find(id));
    await reading;
    held = undefined;
    return resolve;
  };
  const failReads = (fails: boolean): void => void (isFailing = fails);
  return { find, findBy, pages, refresh, startRefresh, failReads };
}

function listWatched(stream: SingleStream<'evm', unknown>): number[] {
  const numbers = Array.from({ length: MOST + 1 }, (_, n) => n);
  return numbers.filter((n) => {
    let isWatched = false;
    stream.watching('any chain', address(n), 2, () => (isWatched = true));
    return isWatched;
  });
}

test('property: a stream has its current addresses, whatever its status', async () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: MOST }), { minLength: 1 });
  const step = fc.record({
    kind: fc.constantFrom('add', 'add', 'remove', 'replace', 'pause', 'activate', 'clean up'),
    numbers,
    isFound: fc.boolean(),
  });
  const { find } = openFinder();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const other = (await tools.store.createStream(draft(['0x1']))).id;
      await add(other, [1, 2, 3]);
      let expected = new Set<number>();
      for (const { kind, numbers: some, isFound } of steps) {
        if (kind === 'clean up') await cleanUp({ keepMs: -1 });
        else if (kind === 'pause') await tools.store.setStreamStatus(id, 'paused', '');
        else if (kind === 'activate') await tools.store.setStreamStatus(id, 'active', '');
        else if (kind === 'add') {
          await add(id, some);
          for (const n of some) expected.add(n);
        } else if (kind === 'replace') {
          await replace(id, some);
          expected = new Set(some);
        } else {
          const present = some.filter((n) => expected.has(n));
          if (present.length > 0) await remove(id, present);
          for (const n of present) expected.delete(n);
        }
        if (!isFound) continue;
        const stream = await find(id);
        const sorted = [...expected].toSorted((a, b) => a - b);
        expect([listWatched(stream), stream.addressCount]).toEqual([sorted, sorted.length]);
        expect(stream.matching('0x1')).toHaveLength(sorted.length === 0 ? 0 : 1);
      }
    }),
    { numRuns: 40 },
  );
}, 120_000);

test('the addresses are read once, and changes are added to them', async () => {
  const { find, pages } = openFinder();
  for (const status of ['active', 'paused'] as const) {
    const { id } = await tools.store.createStream(draft(['0x1']));
    await add(id, [1, 2]);
    await tools.store.setStreamStatus(id, status, '');
    const { addressVersion } = await find(id);
    expect((await find(id)).addressVersion).toBe(addressVersion);
    await add(id, [3]);
    const later = await find(id);
    expect([listWatched(later), pages.get(id)]).toEqual([[1, 2, 3], 1]);
    expect(later.addressVersion).not.toBe(addressVersion);
  }
});

test('addresses that failed to load are loaded by the next search', async () => {
  const { find, refresh, failReads } = openFinder();
  const { id } = await tools.store.createStream(draft(['0x1']));
  await add(id, [1, 2]);
  await tools.store.setStreamStatus(id, 'paused', '');
  await refresh();
  await tools.store.setStreamStatus(id, 'active', '');
  failReads(true);
  await expect(find(id)).rejects.toThrow('the ledger is unreachable');
  failReads(false);
  expect(listWatched(await find(id))).toEqual([1, 2]);
});

test('the addresses of streams that are not matched are kept for the ones used last', async () => {
  const { find, pages } = openFinder(80_000);
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) {
    const { id } = await tools.store.createStream(draft(['0x1']));
    await add(id, [1, 2]);
    await tools.store.setStreamStatus(id, 'paused', '');
    ids.push(id);
  }
  for (const n of [0, 1, 0, 2, 0, 3, 2]) await find(ids[n]!);
  expect(ids.map((id) => pages.get(id))).toEqual([1, 1, 2, 1]);
});

test('a change before the call applies, even if a refresh is already running', async () => {
  const { findBy, refresh, startRefresh } = openFinder();
  const { id } = await tools.store.createStream(draft(['0x1']));
  await refresh();
  const proceed = await startRefresh();
  await add(id, [7]);
  const record = (await tools.store.readStream(id)) as EvmStreamRecord;
  const found = findBy(record);
  proceed();
  expect(listWatched(await found)).toEqual([7]);
});

test('a change before the call applies to a stream that is not matched, too', async () => {
  const { find, startRefresh } = openFinder();
  const { id } = await tools.store.createStream(draft(['0x1']));
  await tools.store.setStreamStatus(id, 'paused', '');
  await find(id);
  const proceed = await startRefresh(id);
  await add(id, [7]);
  const found = find(id);
  // By now, the search would share the running refresh, if it could.
  await find((await tools.store.createStream(draft(['0x1']))).id);
  proceed();
  expect(listWatched(await found)).toEqual([7]);
});

test('a stream that is paused after it was found is reported, and never without its addresses', async () => {
  const { find, refresh } = openFinder();
  const { id } = await tools.store.createStream(draft(['0x1']));
  await add(id, [7]);
  const found = await find(id);
  await tools.store.setStreamStatus(id, 'paused', '');
  await refresh('now');
  for (const use of [() => listWatched(found), () => found.matching('0x1')]) {
    expect(use).toThrow('are being reloaded');
  }
  expect(listWatched(await find(id))).toEqual([7]);
  await tools.store.setStreamStatus(id, 'active', '');
  await refresh('now');
  expect(() => found.unscoped('0x1')).toThrow('are being reloaded');
});

test('a stream has the rules of the record on every chain, without the other streams', async () => {
  const { store } = tools;
  const index = createStreamIndex();
  const refresh = followRules(index, store);
  const find = createStreamFinder({ index, refresh, store, createIndex: createStreamIndex });
  const { id } = await store.createStream(draft(['0x1']));
  const other = await store.createStream(draft(['0x1']));
  await add(id, [1]);
  await add(other.id, [1]);
  const record = (await store.readStream(id)) as EvmStreamRecord;
  const options = { ...record.options, includeNativeTxs: true };
  const found = await find({ ...record, options });
  for (const chain of ['0x1', '0x2']) {
    expect(found.matching(chain).map((each) => each.record.options)).toEqual([options]);
  }
  const all = await find({ ...record, options: { ...options, allAddresses: true } });
  expect([all.unscoped('0x1').length, listWatched(all)]).toEqual([1, []]);
});
