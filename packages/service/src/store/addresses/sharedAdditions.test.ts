import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAddressChanges } from './addressChanges.ts';
import { packAddresses, unpackAddresses } from './packedAddresses.ts';
import { openSqliteStore } from '../engine/sqlite/sqlite.ts';
import type { Store } from '../store.ts';
import { DEFAULT_APTOS_OPTIONS } from '../streams/contract.ts';
import { plain } from '../../../test/store/plain.ts';
import { KEY_ID, address, draft } from '../../../test/store/storeTools.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-additions-'));
let store: Store;
beforeAll(async () => {
  store = await openSqliteStore(folder);
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const createStream = async () => (await store.createStream(draft(['0x1']))).id;
const toAdded = (n: number, label?: string, keyId = KEY_ID) => ({
  addresses: packAddresses([address(n)]),
  labels: new Map(label === undefined ? [] : [[address(n), label]]),
  keyId,
});
const rowsOf = async (id: string) =>
  (await store.listAddresses(id, { limit: 100 })).addresses.map((row) => ({
    ...row,
    addedAt: 0,
  }));

/** Wraps the store, and passes the addresses of each `changeAddresses` call to `onCall`. */
const watching = (onCall: (addresses: string[]) => void): Store => ({
  ...store,
  async changeAddresses(changes) {
    onCall(
      changes.flatMap(({ parts }) => parts.flatMap((part) => unpackAddresses(part.addresses))),
    );
    return store.changeAddresses(changes);
  },
});

test('waiting additions to any streams share a transaction', async () => {
  const streams = await Promise.all(Array.from({ length: 4 }, createStream));
  let calls = 0;
  const changes = createAddressChanges(watching(() => calls++));
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, (_, n) => changes.add(streams[n % 4]!, toAdded(n + 1))),
  );
  expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['changed']));
  expect(calls).toBeLessThanOrEqual(3);
  for (const id of streams) expect(await rowsOf(id)).toHaveLength(16);
});

test('addresses of Aptos share a transaction, too', async () => {
  const { id } = await store.createStream(
    plain({
      ...draft(['aptos:mainnet']),
      family: 'aptos' as const,
      options: DEFAULT_APTOS_OPTIONS,
    }),
  );
  const changes = createAddressChanges(store);
  const addresses = Array.from({ length: 3 }, (_, n) => `0x${String(n + 1).padStart(64, '0')}`);
  await Promise.all(
    addresses.map((each) =>
      changes.add(id, { addresses: packAddresses([each], 32), labels: new Map(), keyId: KEY_ID }),
    ),
  );
  expect((await rowsOf(id)).map((row) => row.address)).toEqual(addresses);
});

test('other writers run between shared transactions', async () => {
  const id = await createStream();
  const begun: number[] = [];
  const changes = createAddressChanges(watching(() => begun.push(performance.now())));
  const first = changes.add(id, toAdded(1));
  const many = Array.from({ length: 80 }, (_, n) => changes.add(id, toAdded(n + 2)));
  await Promise.all([first, ...many]);
  const ended = performance.now();
  await changes.add(id, toAdded(100));
  // The pause after a transaction is 0.25 ms per addition, so it is about 20 ms here.
  expect(begun.at(-1)! - ended).toBeGreaterThan(15);
});

test('additions wait for earlier changes of their stream', async () => {
  const id = await createStream();
  const changes = createAddressChanges(store);
  await changes.add(id, toAdded(1, 'one'));
  const replaced = changes.replace(id, toAdded(2));
  const added = changes.add(id, toAdded(1));
  expect((await Promise.all([replaced, added])).map(({ outcome }) => outcome)).toEqual([
    'changed',
    'changed',
  ]);
  expect((await rowsOf(id)).map(({ address: each, label }) => [each, label])).toEqual([
    [address(1), null],
    [address(2), null],
  ]);
});

test('a failed or rejected addition does not affect the others', async () => {
  const id = await createStream();
  const changes = createAddressChanges(
    watching((addresses) => {
      if (addresses.includes(address(13))) throw new Error('thirteen');
    }),
  );
  const settled = await Promise.allSettled([
    ...Array.from({ length: 20 }, (_, n) => changes.add(id, toAdded(n + 1))),
    changes.add('unknown', toAdded(1)),
  ]);
  expect(settled.flatMap((each, n) => (each.status === 'rejected' ? [n + 1] : []))).toEqual([13]);
  expect(settled[20]).toMatchObject({ value: { outcome: 'unknown-stream' } });
  expect(await rowsOf(id)).toHaveLength(19);
});

test('property: concurrent additions have the same effect as sequential ones, even if some fail', async () => {
  const addition = fc.record({
    n: fc.integer({ min: 1, max: 6 }),
    label: fc.option(fc.constantFrom('one', 'two', ''), { nil: undefined }),
    keyId: fc.constantFrom(KEY_ID, 'other'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(addition, { minLength: 1, maxLength: 12 }), async (additions) => {
      const [atOnce, inTurn] = [await createStream(), await createStream()];
      const changes = createAddressChanges(
        watching((addresses) => {
          if (addresses.includes(address(6))) throw new Error('six');
        }),
      );
      const settled = await Promise.allSettled(
        additions.map(({ n, label, keyId }) => changes.add(atOnce, toAdded(n, label, keyId))),
      );
      expect(settled.map(({ status }) => status === 'rejected')).toEqual(
        additions.map(({ n }) => n === 6),
      );
      for (const { n, label, keyId } of additions) {
        if (n !== 6) await changes.add(inTurn, toAdded(n, label, keyId));
      }
      expect(await rowsOf(atOnce)).toEqual(await rowsOf(inTurn));
      expect((await store.readStream(atOnce))?.addressCount).toBe(
        (await store.readStream(inTurn))?.addressCount,
      );
    }),
    { numRuns: 40 },
  );
});
