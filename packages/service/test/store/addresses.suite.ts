/** Tests the addresses of streams. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { until } from '@sluice/testkit';
import { describe, expect, test } from 'vitest';
import { createAddressChanges } from '../../src/store/addresses/addressChanges.ts';
import { refreshRules } from '../../src/match/ruleIndex.ts';
import { createStreamIndex } from '../../src/families/evm/match/match.ts';
import { type StoreTools, KEY_ID, address, draft, hashOf } from './storeTools.ts';

export function testAddresses(tools: StoreTools): void {
  const { packed, addition, add, remove, replace, listed, labelsIn, cleanUp, startChain } = tools;

  describe('addresses', () => {
    test('are added once, listed in order, and removed all or not at all', async () => {
      const { chain, tip } = await startChain();
      const changed = { outcome: 'changed', effectiveFrom: { [chain]: tip().number + 1 } };
      const { id } = await tools.store.createStream(draft([chain, '0xffffff']));
      expect(await add(id, [3, 1, 2])).toEqual(changed);
      await add(id, [2, 4]);
      expect((await tools.store.readStream(id))?.addressCount).toBe(4);
      const first = await labelsIn(id, { limit: 3 });
      expect(first).toEqual({
        addresses: [1, 2, 3].map((n) => ({ address: address(n), label: null })),
        next: address(3),
      });
      expect(await labelsIn(id, { limit: 3, after: first.next })).toEqual({
        addresses: [{ address: address(4), label: null }],
        next: undefined,
      });
      expect(await remove(id, [1, 9])).toEqual({ outcome: 'missing', address: address(9) });
      expect((await tools.store.readStream(id))?.addressCount).toBe(4);
      expect(await remove(id, [1, 3, 1])).toEqual(changed);
      expect(await listed(id)).toEqual([2, 4]);
      expect(await add(id, [1])).toEqual(changed);
      expect(await listed(id)).toEqual([1, 2, 4]);
    });

    test('are removed once if several parts of a change remove them', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      await add(id, [1, 2, 3, 4]);
      const begun = await tools.store.beginAddressChange(id);
      if (begun.outcome !== 'begun') throw new Error(begun.outcome);
      for (const some of [
        [1, 2],
        [2, 3],
      ]) {
        const part = { kind: 'remove', addresses: packed(some) } as const;
        expect(await tools.store.stageAddresses(begun.change, part)).toEqual({ outcome: 'staged' });
      }
      await tools.store.activateAddressChange(begun.change);
      expect(await listed(id)).toEqual([4]);
      expect((await tools.store.readStream(id))?.addressCount).toBe(1);
    });

    test('have labels, which are removed with them and replaced by new ones', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const labels = async () =>
        (await labelsIn(id, { limit: 100 })).addresses.map((row) => row.label);
      await add(id, [1, 2, 3], { 1: 'one', 2: "two's, \u2192 2" });
      expect(await labels()).toEqual(['one', "two's, \u2192 2", null]);
      await add(id, [1, 2, 3], { 2: 'zwei', 3: 'drei' });
      expect(await labels()).toEqual(['one', 'zwei', 'drei']);
      await add(id, [1, 4], { 1: '', 4: '' });
      expect(await labels()).toEqual([null, 'zwei', 'drei', null]);
      await remove(id, [1, 4]);
      await add(id, [1]);
      expect(await labels()).toEqual([null, 'zwei', 'drei']);
      await replace(id, [2, 3, 4], { 3: 'three', 4: 'four' });
      expect(await listed(id)).toEqual([2, 3, 4]);
      expect(await labels()).toEqual([null, 'three', 'four']);
      expect((await tools.store.readStream(id))?.addressCount).toBe(3);
    });

    test('record when and by which key they were added, even if their label changes', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const { id: other } = await tools.store.createStream(draft(['0x1']));
      const changes = createAddressChanges(tools.store);
      const { id: keyId } = await tools.store.createApiKey({
        id: randomBytes(6).toString('hex'),
        hash: hashOf(),
        name: 'deposits',
        scopes: [],
        cidrs: [],
        expiresAt: null,
      });
      const came = async (of: string) =>
        new Map(
          (await tools.store.listAddresses(of, { limit: 9 })).addresses.map((row) => [
            Number(row.address),
            row,
          ]),
        );
      const start = await tools.store.readLedgerTime();
      await add(id, [1, 2, 3], { 1: 'one' });
      const first = await came(id);
      for (const { addedAt, addedBy } of first.values()) {
        expect(addedBy).toBe(KEY_ID);
        expect(addedAt).toBeGreaterThanOrEqual(start);
        expect(addedAt).toBeLessThanOrEqual(await tools.store.readLedgerTime());
      }
      await until(
        'a later millisecond',
        async () => (await tools.store.readLedgerTime()) > first.get(1)!.addedAt,
      );

      const later = { addresses: packed([1, 2, 4]), labels: new Map([[address(1), 'ONE']]), keyId };
      await changes.add(id, later);
      await changes.replace(id, { ...later, addresses: packed([1, 2, 4, 5]) });
      await remove(id, [2]);
      await changes.add(id, { ...later, addresses: packed([2]), labels: new Map() });
      const now = await came(id);
      expect([...now.keys()]).toEqual([1, 2, 4, 5]);
      expect(now.get(1)).toEqual({ ...first.get(1), label: 'ONE' });
      for (const n of [2, 4, 5]) {
        expect(now.get(n)).toMatchObject({ label: null, addedBy: 'deposits' });
        expect(now.get(n)!.addedAt).toBeGreaterThan(first.get(1)!.addedAt);
      }

      await changes.copy(id, other, keyId);
      const copied = [...(await came(other)).values()];
      expect(copied.map((row) => [Number(row.address), row.label, row.addedBy])).toEqual(
        [1, 2, 4, 5].map((n) => [n, n === 1 ? 'ONE' : null, 'deposits']),
      );
    });

    test('are found by prefix, shortened form, and parts of the address or label', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      await add(id, [0x1f, 0xf1, 0xabc], {
        0x1f: 'Binance 14',
        0xf1: '100 %_\\ hot',
        0xabc: 'Öl, Ägypten',
      });
      const find = async (text: string, limit = 10) => {
        const { addresses, next } = await tools.store.findAddresses(id, { find: text, limit });
        return [addresses.map((row) => Number(row.address).toString(16)), next] as const;
      };
      const found = async (text: string) => (await find(text))[0];
      expect(await found('0x')).toEqual(['1f', 'f1', 'abc']);
      expect(await found(address(0x1f).toUpperCase().replace('X', 'x'))).toEqual(['1f']);
      expect(await found(address(0xabc).slice(0, -1))).toEqual(['abc']);
      expect(await found('0x0000…f1')).toEqual(['f1']);
      expect(await found('0x0000...00f1')).toEqual(['f1']);
      expect(await found('0x1…f1')).toEqual([]);
      expect(await found('f1')).toEqual(['f1']);
      expect(await found('bINANCE')).toEqual(['1f']);
      expect(await found('%_\\')).toEqual(['f1']);
      expect(await found('n_nance')).toEqual([]);
      expect(await found('Öl, Ä')).toEqual(['abc']);
      expect(await found('Ägypt')).toEqual(['abc']);
      expect(await found('nobody')).toEqual([]);
      expect(await find('0', 2)).toEqual([['1f', 'f1'], address(0xf1)]);
      await remove(id, [0x1f]);
      expect(await found('binance')).toEqual([]);
    });

    test('property: a paged search finds the same addresses as a plain scan', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const numbers = Array.from({ length: 60 }, (_, n) => (n * 2_654_435_761) % 2 ** 32);
      const labels = Object.fromEntries(
        numbers.flatMap((n, index) => (index % 3 === 0 ? [[n, `Hot ${n.toString(36)}`]] : [])),
      ) as Record<number, string>;
      await add(id, numbers, labels);
      const all = numbers.map((n) => ({ address: address(n), label: labels[n] ?? null }));
      all.sort((a, b) => (a.address < b.address ? -1 : 1));
      const part = fc
        .tuple(fc.constantFrom(...all), fc.nat(40), fc.integer({ min: 1, max: 42 }))
        .map(([row, from, length]) => row.address.slice(from, from + length));
      const search = fc.oneof(
        part,
        fc.constantFrom(...all).map((row) => (row.label ?? 'HOT').slice(1)),
        fc
          .tuple(
            fc.constantFrom(...all),
            fc.integer({ min: 2, max: 36 }),
            fc.integer({ min: 1, max: 4 }),
          )
          .map(([row, head, tail]) => `${row.address.slice(0, head)}…${row.address.slice(-tail)}`),
      );
      await fc.assert(
        fc.asyncProperty(search, fc.integer({ min: 1, max: 20 }), async (text, limit) => {
          const [head = '', tail] = text.split('…');
          const expected = all.filter((row) =>
            head.startsWith('0x')
              ? row.address.startsWith(head) && row.address.endsWith(tail ?? '')
              : row.address.includes(text) ||
                (row.label ?? '').toLowerCase().includes(text.toLowerCase()),
          );
          const found: string[] = [];
          let after: string | undefined;
          do {
            const page = await tools.store.findAddresses(id, { find: text, limit, after });
            expect(page.addresses.length).toBeLessThanOrEqual(limit);
            found.push(...page.addresses.map((row) => row.address));
            after = page.next;
          } while (after !== undefined);
          expect(found).toEqual(expected.map((row) => row.address));
        }),
        { numRuns: 60 },
      );
    });

    test('of a deleted stream are not staged', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const begun = await tools.store.beginAddressChange(id, 20);
      if (begun.outcome !== 'begun') throw new Error(begun.outcome);
      expect(await tools.store.stageAddresses(begun.change, addition([1]))).toEqual({
        outcome: 'staged',
      });
      await tools.store.deleteStream(id);
      expect(await tools.store.stageAddresses(begun.change, addition([2]))).toEqual({
        outcome: 'lost',
      });
      while (await tools.store.undoAddressChange(begun.change));

      const other = await tools.store.createStream(draft(['0x1']));
      const changes = createAddressChanges({
        ...tools.store,
        async stageAddresses(change, part) {
          await tools.store.deleteStream(other.id);
          return tools.store.stageAddresses(change, part);
        },
      });
      expect(
        await changes.replace(other.id, {
          addresses: packed([1]),
          labels: new Map(),
          keyId: KEY_ID,
        }),
      ).toEqual({ outcome: 'unknown-stream' });
    });

    test('can be added, replaced and removed by the hundred thousand in one call', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const count = async () => (await tools.store.readStream(id))?.addressCount;
      const many = Array.from({ length: 100_000 }, (_, n) => n + 1);
      await add(id, many);
      expect(await count()).toBe(100_000);
      await add(id, [...many.slice(0, 6_000), 100_001]);
      expect(await count()).toBe(100_001);
      const others = Array.from({ length: 50_000 }, (_, n) => 75_001 + n);
      await replace(id, others);
      expect(await count()).toBe(50_000);
      expect(await labelsIn(id, { limit: 1 })).toEqual({
        addresses: [{ address: address(75_001), label: null }],
        next: address(75_001),
      });
      expect(await remove(id, [...others, 7])).toEqual({ outcome: 'missing', address: address(7) });
      expect(await count()).toBe(50_000);
      expect((await remove(id, others)).outcome).toBe('changed');
      expect([await count(), await listed(id)]).toEqual([0, []]);
    }, 60_000);

    describe('while a change is staged', () => {
      const begin = async (id: string): Promise<number> => {
        const begun = await tools.store.beginAddressChange(id);
        if (begun.outcome !== 'begun') throw new Error(begun.outcome);
        return begun.change;
      };
      const staged = async () => {
        const { id } = await tools.store.createStream(draft(['0x1']));
        await add(id, [1, 2, 3], { 1: 'one' });
        const change = await begin(id);
        await tools.store.stageAddresses(change, addition([1, 10, 11], { 1: 'ONE' }));
        await tools.store.stageAddresses(change, { kind: 'remove', addresses: packed([3]) });
        return { id, change };
      };
      const before = [
        { address: address(1), label: 'one' },
        { address: address(2), label: null },
        { address: address(3), label: null },
      ];
      const page = async (id: string) => labelsIn(id, { limit: 9 });

      test('none of it is visible, and other changes of the stream are rejected as busy', async () => {
        const { id, change } = await staged();
        const { revision } = await tools.store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
        expect(await page(id)).toEqual({ addresses: before, next: undefined });
        expect((await tools.store.readAddresses(id)).addresses.bytes).toHaveLength(60);
        expect(await tools.store.readRules(revision, 'evm')).toMatchObject({
          revision,
          changed: [],
        });
        const another = await tools.store.createStream(draft(['0x1']));
        expect((await add(another.id, [10])).outcome).toBe('changed');
        expect(await add(id, [12])).toEqual({ outcome: 'busy' });
        expect(await tools.store.beginAddressChange(id)).toEqual({ outcome: 'busy' });

        expect((await tools.store.activateAddressChange(change)).outcome).toBe('changed');
        expect(await page(id)).toEqual({
          addresses: [
            { address: address(1), label: 'ONE' },
            { address: address(2), label: null },
            { address: address(10), label: null },
            { address: address(11), label: null },
          ],
          next: undefined,
        });
        expect((await add(id, [12])).outcome).toBe('changed');
      });

      test('undo restores the earlier addresses, and the stream is busy until then', async () => {
        const { id, change } = await staged();
        while (await tools.store.undoAddressChange(change)) {
          expect(await add(id, [3])).toEqual({ outcome: 'busy' });
        }
        expect(await page(id)).toEqual({ addresses: before, next: undefined });
        expect(await tools.store.activateAddressChange(change)).toEqual({ outcome: 'lost' });
        expect((await add(id, [10])).outcome).toBe('changed');
      });

      test('housekeeping undoes it once it is stale', async () => {
        const { id, change } = await staged();
        await cleanUp({ staleMs: 60_000 });
        expect(await add(id, [12])).toEqual({ outcome: 'busy' });
        await cleanUp({ staleMs: -1 });
        expect(await tools.store.stageAddresses(change, addition([5]))).toEqual({
          outcome: 'lost',
        });
        expect(await page(id)).toEqual({ addresses: before, next: undefined });
        expect((await add(id, [12])).outcome).toBe('changed');
      });

      test('housekeeping after an earlier change keeps what it removes', async () => {
        const { id, change: earlier } = await staged();
        await tools.store.activateAddressChange(earlier);
        const change = await begin(id);
        await tools.store.stageAddresses(change, { kind: 'remove', addresses: packed([1]) });
        await cleanUp({ staleMs: 60_000 });
        while (await tools.store.undoAddressChange(change));
        expect((await page(id)).addresses[0]).toEqual({ address: address(1), label: 'ONE' });
      });

      test('deleting the stream discards it', async () => {
        const { id, change } = await staged();
        await tools.store.deleteStream(id);
        expect(await tools.store.activateAddressChange(change)).toEqual({ outcome: 'lost' });
        await cleanUp({ staleMs: -1 });
        expect((await tools.store.readAddresses(id)).addresses.bytes).toHaveLength(0);
        expect(await tools.store.beginAddressChange(id)).toEqual({ outcome: 'unknown-stream' });
      });
    });

    test('are read again by an index that missed deleted changes', async () => {
      const { id } = await tools.store.createStream(draft(['0x1']));
      const index = createStreamIndex();
      await add(id, [1]);
      await refreshRules(index, tools.store);
      await add(id, [2]);
      await cleanUp({ keepMs: -1 });
      await refreshRules(index, tools.store);
      let found = 0;
      index.watching('0x1', address(2), 2, ({ record }) => (found += record.id === id ? 1 : 0));
      expect(found).toBe(1);
    });

    test('property: the list, its count and a matching index equal a set', async () => {
      const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), {
        minLength: 1,
        maxLength: 20,
      });
      const step = fc.record({
        kind: fc.constantFrom('add', 'add', 'remove', 'replace', 'pause', 'follow', 'clean up'),
        numbers,
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const { id } = await tools.store.createStream(draft(['0x1']));
          const index = createStreamIndex();
          let expected = new Set<number>();
          for (const { kind, numbers } of steps) {
            if (kind === 'follow') await refreshRules(index, tools.store);
            else if (kind === 'clean up') await cleanUp({ keepMs: -1, staleMs: 60_000 });
            else if (kind === 'pause') {
              await tools.store.setStreamStatus(id, 'paused', '');
              if (numbers.length % 2 === 0) await refreshRules(index, tools.store);
              await tools.store.setStreamStatus(id, 'active', '');
            } else if (kind === 'add') {
              await add(id, numbers);
              for (const n of numbers) expected.add(n);
            } else if (kind === 'replace') {
              await replace(id, numbers);
              expected = new Set(numbers);
            } else {
              const isComplete = numbers.every((n) => expected.has(n));
              expect((await remove(id, numbers)).outcome).toBe(isComplete ? 'changed' : 'missing');
              if (isComplete) for (const n of numbers) expected.delete(n);
            }
          }
          await refreshRules(index, tools.store);
          const sorted = [...expected].toSorted((a, b) => a - b);
          expect(await listed(id)).toEqual(sorted);
          expect((await tools.store.readStream(id))?.addressCount).toBe(sorted.length);
          const followed = Array.from({ length: 31 }, (_, n) => n).filter((n) => {
            let isWatched = false;
            index.watching('0x1', address(n), 2, (stream) => {
              isWatched ||= stream.record.id === id;
            });
            return isWatched;
          });
          expect(followed).toEqual(sorted);
          await tools.store.deleteStream(id);
        }),
        { numRuns: 20 },
      );
    }, 120_000);
  });
}
