/** What every engine of the store must do. Run by `sqlite.test.ts` and `postgres.test.ts`. */
import { randomBytes } from 'node:crypto';
import type { StreamLimits } from '@sluice/kit/contract';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_INBOX_ANSWER } from '@sluice/kit/contract';
import { refreshRules } from '../match/refresh.ts';
import { createStreamIndex } from '../match/streamIndex.ts';
import { createAddressChanges } from './addressChanges.ts';
import { splitFinalBody } from './body.ts';
import { packAddresses, unpackAddresses } from './packedAddresses.ts';
import { newMatch } from './newMatch.test-only.ts';
import { takeChain } from './takeChain.test-only.ts';
import {
  DEFAULT_APTOS_OPTIONS,
  DEFAULT_LIMITS,
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type AddressPart,
  type AttemptOutcome,
  type BlockHeader,
  type ClaimedDelivery,
  type NewMatch,
  type Store,
  type Token,
  type EvmStreamDraft,
} from './store.ts';

const hashOf = (): string => `0x${randomBytes(32).toString('hex')}`;
let lastChain = 0x10_000;
const newChain = (): string => `0x${(++lastChain).toString(16)}`;

const draft = (chainIds: string[], changes: Partial<EvmStreamDraft> = {}): EvmStreamDraft => ({
  tag: 'tag',
  description: 'a stream',
  webhookUrl: 'http://127.0.0.1:1/hook',
  chainIds,
  options: { ...DEFAULT_OPTIONS, includeContractLogs: true },
  family: 'evm',
  ...DEFAULT_DELIVERY,
  ...changes,
});

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;

export function testStore(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());

  const packed = (numbers: readonly number[]) => packAddresses(numbers.map(address));
  const labelsOf = (labels: Record<number, string>) =>
    Object.entries(labels).map(([n, label]) => [address(Number(n)), label] as const);
  const addition = (
    numbers: readonly number[],
    labels: Record<number, string> = {},
  ): AddressPart => ({
    kind: 'add',
    addresses: packed(numbers),
    labels: Object.fromEntries(labelsOf(labels)),
    clearLabels: false,
  });
  const add = (id: string, numbers: readonly number[], labels: Record<number, string> = {}) =>
    createAddressChanges(store).add(id, packed(numbers), new Map(labelsOf(labels)));
  const remove = (id: string, numbers: readonly number[]) =>
    createAddressChanges(store).remove(id, packed(numbers));
  const replace = (id: string, numbers: readonly number[], labels: Record<number, string> = {}) =>
    createAddressChanges(store).replace(id, packed(numbers), new Map(labelsOf(labels)));
  const listed = async (id: string): Promise<number[]> =>
    (await store.listAddresses(id, { limit: 100 })).addresses.map((row) => Number(row.address));
  /** All the housekeeping that there is. */
  const cleanUp = async (ages: { keepMs?: number; staleMs?: number }): Promise<void> => {
    while (await store.cleanUpAddresses({ keepMs: 3_600_000, staleMs: 60_000, ...ages }));
  };

  /** A chain with a first checkpoint, and a way to extend it. */
  const startChain = async () => {
    const chain = newChain();
    let tip: BlockHeader = {
      number: 100,
      hash: hashOf(),
      parentHash: hashOf(),
      timestamp: 1_700_000_000,
    };
    const epoch = await takeChain(store, chain);
    await store.startChain({ chain, epoch, block: tip, genesisHash: hashOf() });
    return {
      chain,
      /** What writes that move the chain begin with. */
      held: { chain, epoch },
      tip: () => tip,
      next: (parent = tip): BlockHeader => ({
        number: parent.number + 1,
        hash: hashOf(),
        parentHash: parent.hash,
        timestamp: parent.timestamp + 12,
      }),
      async commit(block: BlockHeader, matches: NewMatch[], confirmations = 2) {
        const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER);
        const result = await store.commitBlock({
          chain,
          epoch,
          block,
          ruleRevision: revision,
          confirmUpTo: block.number - confirmations,
          windowBlocks: 256,
          matches,
        });
        if (result.outcome === 'committed') tip = block;
        return result;
      },
      async rewind(to: BlockHeader) {
        const changed = await store.rewindChain({ chain, epoch, ancestor: to });
        tip = to;
        return changed!;
      },
    };
  };

  const matchOf = newMatch;

  const deliveriesOf = async (streamId: string) =>
    (await store.listDeliveries({ limit: 100, streamId })).rows;

  const claimOf = async (streamId: string, leaseMs = 40_000) => {
    const claimed = await store.claimDeliveries({
      limit: 1000,
      maxBytes: 1e9,
      perStream: 1000,
      taken: {},
      leaseMs,
    });
    return claimed.filter((each) => each.streamId === streamId);
  };

  const outcomeOf = (
    claimed: { id: string; leaseToken: string },
    changes: Partial<AttemptOutcome> = {},
  ): AttemptOutcome => ({
    id: claimed.id,
    leaseToken: claimed.leaseToken,
    webhookUrl: 'http://127.0.0.1:1/hook',
    startedAt: Date.now(),
    durationMs: 5,
    status: 200,
    error: null,
    responseBody: 'ok',
    result: 'succeeded',
    retryInMs: 0,
    isFastRetry: false,
    ...changes,
  });

  describe('streams', () => {
    test('are created, read, changed, paused and deleted', async () => {
      const created = await store.createStream(draft(['0x1', '0x89']));
      expect(created.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
      expect(created).toMatchObject({
        status: 'active',
        statusMessage: 'Stream is active',
        addressCount: 0,
      });
      expect(await store.readStream(created.id)).toEqual(created);

      const renamed = await store.updateStream(created.id, { description: 'renamed' });
      expect(renamed).toMatchObject({
        description: 'renamed',
        tag: 'tag',
        chainIds: ['0x1', '0x89'],
      });
      const paused = await store.setStreamStatus(
        created.id,
        'paused',
        'Stream was paused by the user',
      );
      expect(paused?.status).toBe('paused');

      expect((await store.deleteStream(created.id))?.id).toBe(created.id);
      expect(await store.readStream(created.id)).toBeUndefined();
      expect(await store.updateStream(created.id, { tag: 'x' })).toBeUndefined();
      expect(await store.deleteStream(created.id)).toBeUndefined();
      expect(await add(created.id, [1])).toEqual({ outcome: 'unknown-stream' });
    });

    test('list newest first, each exactly once while new ones arrive', async () => {
      const mine: string[] = [];
      for (let n = 0; n < 7; n++) mine.push((await store.createStream(draft(['0x1']))).id);
      const seen: string[] = [];
      let after: { at: number; id: string } | undefined;
      let total: number | undefined;
      do {
        const page = await store.listStreams({ limit: 3, after });
        total ??= page.total;
        seen.push(...page.rows.map((row) => row.id));
        after = page.next;
        await store.createStream(draft(['0x1'], { tag: 'late' }));
      } while (after !== undefined);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBe(total);
      expect(seen.filter((id) => mine.includes(id)).toSorted()).toEqual(mine.toSorted());
    });
  });

  describe('addresses', () => {
    test('are added once, listed in order and removed all or nothing', async () => {
      const { chain, tip } = await startChain();
      const changed = { outcome: 'changed', effectiveFrom: { [chain]: tip().number + 1 } };
      const { id } = await store.createStream(draft([chain, '0xffffff']));
      expect(await add(id, [3, 1, 2])).toEqual(changed);
      await add(id, [2, 4]);
      expect((await store.readStream(id))?.addressCount).toBe(4);
      const first = await store.listAddresses(id, { limit: 3 });
      expect(first).toEqual({
        addresses: [1, 2, 3].map((n) => ({ address: address(n), label: null })),
        total: 4,
        next: address(3),
      });
      expect(await store.listAddresses(id, { limit: 3, after: first.next })).toEqual({
        addresses: [{ address: address(4), label: null }],
        total: 4,
        next: undefined,
      });
      expect(await remove(id, [1, 9])).toEqual({ outcome: 'missing', address: address(9) });
      expect((await store.readStream(id))?.addressCount).toBe(4);
      expect(await remove(id, [1, 3, 1])).toEqual(changed);
      expect(await listed(id)).toEqual([2, 4]);
      expect(await add(id, [1])).toEqual(changed);
      expect(await listed(id)).toEqual([1, 2, 4]);
    });

    test('carry labels, which go with them and change with the next that is given', async () => {
      const { id } = await store.createStream(draft(['0x1']));
      const labels = async () =>
        (await store.listAddresses(id, { limit: 100 })).addresses.map((row) => row.label);
      await add(id, [1, 2, 3], { 1: 'one', 2: "two's, \u2192 2" });
      expect(await labels()).toEqual(['one', "two's, \u2192 2", null]);
      await add(id, [1, 2, 3], { 2: 'zwei', 3: 'drei' });
      expect(await labels()).toEqual(['one', 'zwei', 'drei']);
      await remove(id, [1]);
      await add(id, [1]);
      expect(await labels()).toEqual([null, 'zwei', 'drei']);
      await replace(id, [2, 3, 4], { 3: 'three', 4: 'four' });
      expect(await listed(id)).toEqual([2, 3, 4]);
      expect(await labels()).toEqual([null, 'three', 'four']);
      expect((await store.readStream(id))?.addressCount).toBe(3);
    });

    test('a hundred thousand go in, are replaced and go out with one call', async () => {
      const { id } = await store.createStream(draft(['0x1']));
      const count = async () => (await store.readStream(id))?.addressCount;
      const many = Array.from({ length: 100_000 }, (_, n) => n + 1);
      await add(id, many);
      expect(await count()).toBe(100_000);
      await add(id, [...many.slice(0, 6_000), 100_001]);
      expect(await count()).toBe(100_001);
      const others = Array.from({ length: 50_000 }, (_, n) => 75_001 + n);
      await replace(id, others);
      expect(await count()).toBe(50_000);
      expect(await store.listAddresses(id, { limit: 1 })).toEqual({
        addresses: [{ address: address(75_001), label: null }],
        total: 50_000,
        next: address(75_001),
      });
      expect(await remove(id, [...others, 7])).toEqual({ outcome: 'missing', address: address(7) });
      expect(await count()).toBe(50_000);
      expect((await remove(id, others)).outcome).toBe('changed');
      expect([await count(), await listed(id)]).toEqual([0, []]);
    }, 60_000);

    describe('while a change is staged', () => {
      const staged = async () => {
        const { id } = await store.createStream(draft(['0x1']));
        await add(id, [1, 2, 3], { 1: 'one' });
        const begun = await store.beginAddressChange(id);
        if (begun.outcome !== 'begun') throw new Error(begun.outcome);
        const { change } = begun;
        await store.stageAddresses(change, addition([1, 10, 11], { 1: 'ONE' }));
        await store.stageAddresses(change, { kind: 'remove', addresses: packed([3]) });
        return { id, change };
      };
      const before = [
        { address: address(1), label: 'one' },
        { address: address(2), label: null },
        { address: address(3), label: null },
      ];
      const page = async (id: string) => store.listAddresses(id, { limit: 9 });

      test('nobody sees any of it, and other changes of the stream wait', async () => {
        const { id, change } = await staged();
        const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER);
        expect(await page(id)).toEqual({ addresses: before, total: 3, next: undefined });
        expect((await store.readAddresses(id)).addresses.bytes).toHaveLength(60);
        expect(await store.readRules(revision)).toMatchObject({ revision, changed: [] });
        const another = await store.createStream(draft(['0x1']));
        expect((await add(another.id, [10])).outcome).toBe('changed');
        expect(await add(id, [12])).toEqual({ outcome: 'busy' });
        expect(await store.beginAddressChange(id)).toEqual({ outcome: 'busy' });

        expect((await store.activateAddressChange(change)).outcome).toBe('changed');
        expect(await page(id)).toEqual({
          addresses: [
            { address: address(1), label: 'ONE' },
            { address: address(2), label: null },
            { address: address(10), label: null },
            { address: address(11), label: null },
          ],
          total: 4,
          next: undefined,
        });
        expect((await add(id, [12])).outcome).toBe('changed');
      });

      test('a change that is given up leaves nothing behind', async () => {
        const { id, change } = await staged();
        while (await store.undoAddressChange(change));
        expect(await page(id)).toEqual({ addresses: before, total: 3, next: undefined });
        expect(await store.activateAddressChange(change)).toEqual({ outcome: 'lost' });
        expect((await add(id, [10])).outcome).toBe('changed');
      });

      test('one that nobody goes on with is undone by the housekeeping', async () => {
        const { id, change } = await staged();
        await cleanUp({ staleMs: 60_000 });
        expect(await add(id, [12])).toEqual({ outcome: 'busy' });
        await cleanUp({ staleMs: -1 });
        expect(await store.stageAddresses(change, addition([5]))).toEqual({ outcome: 'lost' });
        expect(await page(id)).toEqual({ addresses: before, total: 3, next: undefined });
        expect((await add(id, [12])).outcome).toBe('changed');
      });

      test('a stream that is deleted takes it along', async () => {
        const { id, change } = await staged();
        await store.deleteStream(id);
        expect(await store.activateAddressChange(change)).toEqual({ outcome: 'lost' });
        await cleanUp({ staleMs: -1 });
        expect((await store.readAddresses(id)).addresses.bytes).toHaveLength(0);
        expect(await store.beginAddressChange(id)).toEqual({ outcome: 'unknown-stream' });
      });
    });

    test('law: the list, its count and an index that follows equal a set', async () => {
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
          const { id } = await store.createStream(draft(['0x1']));
          const index = createStreamIndex();
          let expected = new Set<number>();
          for (const { kind, numbers } of steps) {
            if (kind === 'follow') await refreshRules(index, store);
            else if (kind === 'clean up') await cleanUp({ keepMs: -1, staleMs: 60_000 });
            else if (kind === 'pause') {
              await store.setStreamStatus(id, 'paused', '');
              if (numbers.length % 2 === 0) await refreshRules(index, store);
              await store.setStreamStatus(id, 'active', '');
            } else if (kind === 'add') {
              await add(id, numbers);
              for (const n of numbers) expected.add(n);
            } else if (kind === 'replace') {
              await replace(id, numbers);
              expected = new Set(numbers);
            } else {
              const isWhole = numbers.every((n) => expected.has(n));
              expect((await remove(id, numbers)).outcome).toBe(isWhole ? 'changed' : 'missing');
              if (isWhole) for (const n of numbers) expected.delete(n);
            }
          }
          await refreshRules(index, store);
          const sorted = [...expected].toSorted((a, b) => a - b);
          expect(await listed(id)).toEqual(sorted);
          expect((await store.readStream(id))?.addressCount).toBe(sorted.length);
          const followed = Array.from({ length: 31 }, (_, n) => n).filter((n) => {
            let isWatched = false;
            index.watching('0x1', address(n), 2, (stream) => {
              isWatched ||= stream.record.id === id;
            });
            return isWatched;
          });
          expect(followed).toEqual(sorted);
          await store.deleteStream(id);
        }),
        { numRuns: 40 },
      );
    }, 120_000);
  });

  describe('rules', () => {
    test('come whole at first, then only what changed since', async () => {
      const active = await store.createStream(draft(['0x1']));
      const paused = await store.createStream(draft(['0x1']));
      await add(active.id, [7]);
      await store.setStreamStatus(paused.id, 'paused', '');
      const all = await store.readRules(-1);
      expect(all.whole).toBe(true);
      expect(all.changed.map(({ id }) => id)).toContain(active.id);
      expect(all.gone).toContain(paused.id);
      const nothing = { revision: all.revision, whole: false, changed: [], gone: [] };
      expect(await store.readRules(all.revision)).toEqual(nothing);

      // Of a list only what changed is read again, and not its stream.
      await add(active.id, [8]);
      await remove(active.id, [7]);
      const added = await store.readRules(all.revision);
      expect(added).toEqual({ ...nothing, revision: all.revision + 2 });
      const from = { revision: all.revision, part: Number.MAX_SAFE_INTEGER };
      const changes = await store.readAddressChanges(from, added.revision);
      expect(
        changes?.changes.map(({ kind, addresses }) => [kind, unpackAddresses(addresses)]),
      ).toEqual([
        ['add', [address(8)]],
        ['remove', [address(7)]],
      ]);

      await store.deleteStream(active.id);
      const later = await store.readRules(added.revision);
      expect(later.revision).toBeGreaterThan(added.revision);
      expect(later.gone).toEqual([active.id]);
    });

    test('come whole again once it is no longer kept how lists changed', async () => {
      const { id } = await store.createStream(draft(['0x1']));
      const { revision } = await store.readRules(-1);
      await add(id, [1]);
      await cleanUp({ keepMs: 3_600_000 });
      expect((await store.readRules(revision)).whole).toBe(false);
      await cleanUp({ keepMs: -1 });
      expect((await store.readRules(revision)).whole).toBe(true);
      const from = { revision, part: 0 };
      expect(await store.readAddressChanges(from, revision + 1)).toBeUndefined();
      const now = await store.readRules(-1);
      expect((await store.readRules(now.revision)).whole).toBe(false);
    });

    test('are of one family, and of Aptos effective from a version', async () => {
      const chain = newChain();
      const own = `0x${'b0b'.padStart(64, '0')}`;
      const aptos = await store.createStream({
        family: 'aptos' as const,
        tag: 'tag',
        description: '',
        webhookUrl: 'https://example.com',
        chainIds: [chain],
        headers: {},
        limits: DEFAULT_LIMITS,
        options: DEFAULT_APTOS_OPTIONS,
      });
      const evm = await store.createStream(draft([chain]));
      const ids = async (family?: 'evm' | 'aptos') =>
        (await store.readRules(-1, family)).changed.map(({ id }) => id);
      expect(await ids('aptos')).toContain(aptos.id);
      expect(await ids('aptos')).not.toContain(evm.id);
      expect(await ids()).toContain(evm.id);
      expect(await ids()).not.toContain(aptos.id);

      const first = { number: 5, hash: hashOf(), parentHash: hashOf(), timestamp: 1_700_000_000 };
      const epoch = await takeChain(store, chain);
      await store.startChain({
        chain,
        epoch,
        block: { ...first, lastVersion: 90 },
        genesisHash: '2',
      });
      const change = () =>
        createAddressChanges(store).add(aptos.id, packAddresses([own], 32), new Map());
      expect(await change()).toMatchObject({ effectiveFrom: { [chain]: 91 } });
      const { revision } = await store.readRules(-1);
      const { outcome } = await store.commitBlock({
        chain,
        epoch,
        block: { ...first, number: 6, hash: hashOf(), parentHash: first.hash, lastVersion: 104 },
        ruleRevision: revision,
        confirmUpTo: 6,
        windowBlocks: 256,
        matches: [],
      });
      expect(outcome).toBe('committed');
      expect(await change()).toMatchObject({ effectiveFrom: { [chain]: 105 } });
    });

    test('a match of a final chain is confirmed with its block, and its body says nothing of it', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const body = splitFinalBody({ streamId: id, tag: 'tag' }, { transactions: [] });
      const match = { ...matchOf(id), deliver: 'confirmed' as const, ...body };
      await chain.commit(chain.next(), [match], 0);
      const [delivery, ...others] = await deliveriesOf(id);
      expect(others).toEqual([]);
      expect(delivery).toMatchObject({ phase: 'confirmed', state: 'pending' });
      expect((await store.readDelivery(delivery!.id))?.body).toBe(
        `{"streamId":"${id}","tag":"tag","retries":0,"transactions":[]}`,
      );
    });

    test('a block matched with older rules is refused', async () => {
      const chain = await startChain();
      const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER);
      await store.createStream(draft([chain.chain]));
      const block = chain.next();
      expect(
        await store.commitBlock({
          ...chain.held,
          block,
          ruleRevision: revision,
          confirmUpTo: 99,
          windowBlocks: 256,
          matches: [],
        }),
      ).toEqual({ outcome: 'stale-rules' });
      expect((await store.readCheckpoint(chain.chain))?.number).toBe(100);
    });
  });

  describe('leases of deliveries', () => {
    test('are extended while they hold, and no longer', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)], 1000);
      const [held] = await claimOf(id);
      await store.extendLeases([held!], 0);
      expect(await store.extendLeases([held!], 60_000)).toEqual([held!.id]);
      expect(await store.extendLeases([{ ...held!, leaseToken: 'another' }], 0)).toEqual([]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await store.releaseLeases('expired');
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['leased']);

      await store.extendLeases([held!], 0);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await store.releaseLeases('expired');
      expect(await store.extendLeases([held!], 60_000)).toEqual([]);
      expect(await store.completeDeliveries([outcomeOf(held!)])).toEqual([]);
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['pending']);
      const [again] = await claimOf(id);
      expect(await store.completeDeliveries([outcomeOf(again!)])).toHaveLength(1);
    });
  });

  describe('leases', () => {
    const take = (name: string, forMs: number, force?: boolean) =>
      store.takeLease({ name, holder: 'one', forMs, force });
    const renew = (name: string, epoch: number) =>
      store.renewLease({ name, epoch, forMs: 60_000, report: null });
    const isFree = async (name: string) =>
      (await store.listLeases()).find((lease) => lease.name === name)!.freeForMs > 0;

    test('are held by one until they run out or are given up, and each time with a higher epoch', async () => {
      const name = newChain();
      const takes = await Promise.all(Array.from({ length: 8 }, () => take(name, 60_000)));
      expect(takes.filter((epoch) => epoch !== undefined)).toEqual([1]);
      expect(await isFree(name)).toBe(false);
      await store.giveUpLease({ name, epoch: 1 });
      expect(await take(name, 30)).toBe(2);
      // One that was taken since is nothing to give up.
      await store.giveUpLease({ name, epoch: 1 });
      expect(await take(name, 30)).toBeUndefined();
      await new Promise((resolve) => setTimeout(resolve, 40));
      expect(await isFree(name)).toBe(true);
      expect(await take(name, 60_000)).toBe(3);
      expect(await renew(name, 2)).toBe(false);
      expect(await renew(name, 3)).toBe(true);
      expect(await take(name, 60_000, true)).toBe(4);
      expect(await renew(name, 3)).toBe(false);
    });

    test('one that ran out is renewed as long as nobody took it', async () => {
      const name = newChain();
      await take(name, 0);
      expect(await renew(name, 1)).toBe(true);
      expect(await take(name, 60_000)).toBeUndefined();
    });

    test('are ended all at once where whoever held them is gone', async () => {
      const names = [newChain(), newChain()];
      for (const name of names) await take(name, 60_000);
      await store.endLeases();
      for (const name of names) expect(await take(name, 60_000)).toBe(2);
    });

    test('of a chain: what an earlier holder writes changes nothing', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const waiting = newMatch(id, { enrichment: '{}' });
      const block = chain.next();
      await chain.commit(block, [waiting]);
      const job = await store.createJob({
        streamId: id,
        chain: chain.chain,
        blockFrom: 5,
        blockTo: 9,
      });
      await take(chain.chain, 60_000, true);

      const before = JSON.stringify([await deliveriesOf(id), await store.readJob(job!.id)]);
      expect(await chain.commit(chain.next(), [matchOf(id)])).toEqual({ outcome: 'lost-lease' });
      expect(await chain.rewind(chain.next())).toBeUndefined();
      const other = { ...block, hash: hashOf() };
      expect(
        await store.startChain({ ...chain.held, block: other, genesisHash: hashOf() }),
      ).toBeUndefined();
      const past = { ...block, number: 5 };
      expect(
        await store.commitJob({
          ...chain.held,
          id: job!.id,
          blocks: [{ block: past, matches: [matchOf(id)] }],
        }),
      ).toBeUndefined();
      const [match] = await store.listEnriching({
        chain: chain.chain,
        limit: 1,
        perStream: 1,
        notStreams: [],
        notMatches: [],
      });
      expect(
        await store.completeEnrichments({
          ...chain.held,
          bodies: [{ matchId: match!.id, bodyTail: ',"logs":[]}' }],
        }),
      ).toBeUndefined();
      expect(JSON.stringify([await deliveriesOf(id), await store.readJob(job!.id)])).toBe(before);
      expect(await store.readCheckpoint(chain.chain)).toMatchObject({
        number: block.number,
        hash: block.hash,
      });
    });
  });

  describe('blocks', () => {
    test('commit checkpoint, match and delivery together, and only onto their parent', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const block = chain.next();
      const result = await chain.commit(block, [matchOf(id)]);
      expect(result).toMatchObject({
        outcome: 'committed',
        deliveries: [{ streamId: id, phase: 'unconfirmed', state: 'pending', blockNumber: 101 }],
      });
      expect(await store.readCheckpoint(chain.chain)).toMatchObject({
        number: 101,
        hash: block.hash,
      });
      expect((await store.readWindow(chain.chain, 1))[0]).toMatchObject({
        hash: block.hash,
        matches: 1,
      });

      const stranger = { ...chain.next(), parentHash: hashOf() };
      expect(await chain.commit(stranger, [matchOf(id)])).toEqual({ outcome: 'not-next' });
      expect(await chain.commit(block, [matchOf(id)])).toEqual({ outcome: 'not-next' });
      expect(await deliveriesOf(id)).toHaveLength(1);
    });

    test('are passed over in one step, from the checkpoint they follow and with no newer rules', async () => {
      const chain = await startChain();
      const start = chain.tip();
      const block = { ...chain.next(), number: 140, parentHash: hashOf() };
      const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER);
      const commit = {
        ...chain.held,
        block,
        after: { number: start.number, hash: start.hash },
        ruleRevision: revision,
        confirmUpTo: block.number,
        windowBlocks: 256,
        matches: [],
        head: block.number,
      };
      const { id } = await store.createStream(draft([chain.chain]));
      expect(await store.commitBlock(commit)).toEqual({ outcome: 'stale-rules' });
      const { revision: now } = await store.readRules(Number.MAX_SAFE_INTEGER);
      const after = { number: start.number, hash: hashOf() };
      expect(await store.commitBlock({ ...commit, ruleRevision: now, after })).toEqual({
        outcome: 'not-next',
      });
      expect(await store.commitBlock({ ...commit, ruleRevision: now })).toEqual({
        outcome: 'committed',
        deliveries: [],
      });
      // The window has no gap in it.
      expect((await store.readWindow(chain.chain, 256)).map(({ number }) => number)).toEqual([140]);
      const next = chain.next(block);
      expect(await chain.commit(next, [matchOf(id)])).toMatchObject({ outcome: 'committed' });
      expect(await store.readCoverage(id)).toMatchObject([{ from: 101, to: 141, holes: [] }]);
    });

    test('confirm a match once its blocks have followed, with the same body', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)]);
      await chain.commit(chain.next(), []);
      expect(await deliveriesOf(id)).toHaveLength(1);
      const result = await chain.commit(chain.next(), []);
      expect(result).toMatchObject({
        deliveries: [{ streamId: id, phase: 'confirmed', blockNumber: 101 }],
      });
      const [one, two] = await deliveriesOf(id);
      expect(one?.matchId).toBe(two?.matchId);
      expect(one?.id).not.toBe(two?.id);
      const bodies = await Promise.all([one, two].map((each) => store.readDelivery(each!.id)));
      expect(bodies.map((each) => each!.body).toSorted()).toEqual([
        '{"confirmed":false,"chainId":"0x1","retries":0,"logs":[]}',
        '{"confirmed":true,"chainId":"0x1","retries":0,"logs":[]}',
      ]);
    });

    test('of a deleted stream are not confirmed', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const kept = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id), matchOf(kept.id)]);
      await store.deleteStream(id);
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect((await deliveriesOf(id)).map((each) => each.phase)).toEqual(['unconfirmed']);
      expect((await deliveriesOf(kept.id)).map((each) => each.phase).toSorted()).toEqual([
        'confirmed',
        'unconfirmed',
      ]);
    });

    test('with no confirmations asked for, both deliveries come at once', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const result = await chain.commit(chain.next(), [matchOf(id)], 0);
      expect(result.outcome === 'committed' && result.deliveries.map((each) => each.phase)).toEqual(
        ['unconfirmed', 'confirmed'],
      );
    });

    test('leave the chain in a reorg: unsent deliveries are cancelled, sent ones stay, none is confirmed', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const ancestor = chain.tip();
      await chain.commit(chain.next(), [matchOf(id)]);
      for (const claimed of await claimOf(id)) await store.completeDeliveries([outcomeOf(claimed)]);
      await chain.commit(chain.next(), [matchOf(id)]);
      const cancelled = await chain.rewind(ancestor);
      expect(cancelled).toMatchObject([{ blockNumber: 102, state: 'cancelled' }]);
      for (let n = 0; n < 5; n++) await chain.commit(chain.next(), []);
      expect(
        (await deliveriesOf(id))
          .map((each) => `${each.blockNumber} ${each.phase} ${each.state}`)
          .toSorted(),
      ).toEqual(['101 unconfirmed succeeded', '102 unconfirmed cancelled']);
    });

    test('of a chain that is started over are neither confirmed nor sent for the first time', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)]);
      const [sent] = await claimOf(id);
      await store.completeDeliveries([outcomeOf(sent!)]);
      await chain.commit(chain.next(), [matchOf(id)]);
      const fresh: BlockHeader = { number: 50, hash: hashOf(), parentHash: hashOf(), timestamp: 1 };
      expect(
        await store.startChain({ ...chain.held, block: fresh, genesisHash: hashOf() }),
      ).toMatchObject([{ blockNumber: 102, state: 'cancelled' }]);
      let block = fresh;
      for (let n = 0; n < 60; n++) {
        block = chain.next(block);
        await chain.commit(block, []);
      }
      expect((await store.readCheckpoint(chain.chain))?.number).toBe(110);
      expect(
        (await deliveriesOf(id)).map((each) => `${each.phase} ${each.state}`).toSorted(),
      ).toEqual(['unconfirmed cancelled', 'unconfirmed succeeded']);
    });

    test('come back (A, B, A): the cancelled delivery is due again, nothing is announced twice', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const ancestor = chain.tip();
      const a = chain.next();
      await chain.commit(a, [matchOf(id)]);
      const [first] = await deliveriesOf(id);
      await chain.rewind(ancestor);
      const b = chain.next();
      await chain.commit(b, [matchOf(id)]);
      await chain.rewind(ancestor);
      const back = await chain.commit(a, [matchOf(id)]);
      expect(back).toMatchObject({ deliveries: [{ id: first?.id, state: 'pending' }] });
      await chain.commit(chain.next(), []);
      await chain.commit(chain.next(), []);
      const all = await deliveriesOf(id);
      expect(all.map((each) => `${each.phase} ${each.state}`).toSorted()).toEqual([
        'confirmed pending',
        'unconfirmed cancelled',
        'unconfirmed pending',
      ]);
    });
  });

  describe('a match that was made', () => {
    const oneMatch = async () => {
      const chain = await startChain();
      const stream = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(stream.id, { tag: 'before' })]);
      return { chain, id: stream.id };
    };
    const bodiesOf = async (id: string): Promise<string[]> => {
      const details = await Promise.all(
        (await deliveriesOf(id)).map((each) => store.readDelivery(each.id)),
      );
      return details.map((each) => each!.body.replace(/"confirmed":(true|false)/, ''));
    };

    test('stays as it is whatever becomes of its stream, but goes to the URL the stream has then', async () => {
      const { chain, id } = await oneMatch();
      const [body] = await bodiesOf(id);
      await store.updateStream(id, {
        tag: 'after',
        webhookUrl: 'http://127.0.0.1:2/new',
        headers: { 'x-new': '1' },
        options: { ...DEFAULT_OPTIONS, abi: [{ type: 'event', name: 'New', inputs: [] }] },
      });
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      expect(await bodiesOf(id)).toEqual([body, body]);
      expect((await deliveriesOf(id)).map((each) => each.tag)).toEqual(['before', 'before']);
      const claimed = await claimOf(id);
      expect(claimed.map((each) => [each.webhookUrl, each.headers])).toEqual(
        claimed.map(() => ['http://127.0.0.1:2/new', { 'x-new': '1' }]),
      );
      expect(claimed).toHaveLength(2);
    });

    test('waits while its stream is paused, confirmed or not, and goes on with it', async () => {
      const { chain, id } = await oneMatch();
      await store.setStreamStatus(id, 'paused', '');
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      expect(await claimOf(id)).toEqual([]);
      expect((await deliveriesOf(id)).map((each) => each.state)).toEqual(['pending', 'pending']);
      await store.setStreamStatus(id, 'active', '');
      expect(await claimOf(id)).toHaveLength(2);
    });

    test('is history once its stream is deleted: nothing is sent, everything can be read', async () => {
      const { chain, id } = await oneMatch();
      const [sent] = await claimOf(id);
      await store.completeDeliveries([outcomeOf(sent!)]);
      await chain.commit(chain.next(), [matchOf(id)]);
      await store.deleteStream(id);
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect(await claimOf(id)).toEqual([]);
      expect((await deliveriesOf(id)).map((each) => each.state).toSorted()).toEqual([
        'cancelled',
        'succeeded',
      ]);
      expect((await store.readDelivery(sent!.id))?.attemptList).toHaveLength(1);
    });
  });

  describe('what charts are made of', () => {
    test('attempts over time: how they ended, how long they took, in steps without gaps', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      for (let n = 0; n < 6; n++) await chain.commit(chain.next(), [matchOf(id)], 1000);
      const [one, two, three, four, five] = await claimOf(id);
      await store.completeDeliveries([
        outcomeOf(one!, { durationMs: 12 }),
        outcomeOf(two!, { durationMs: 14 }),
        outcomeOf(three!, { durationMs: 900 }),
        outcomeOf(four!, { result: 'failed', status: 404, error: 'HTTP 404' }),
        outcomeOf(five!, { result: 'retry', status: null, error: 'refused', retryInMs: 0 }),
      ]);
      const again = (await claimOf(id)).filter((each) => each.id === five!.id);
      await store.completeDeliveries(again.map((each) => outcomeOf(each, { durationMs: 13 })));
      await store.rollUpStats();

      for (const stepMinutes of [1, 5, 60] as const) {
        const points = await store.readActivity({ streamId: id, stepMinutes, points: 10 });
        expect(points).toHaveLength(10);
        for (const [n, { at }] of points.entries()) {
          expect(at % (stepMinutes * 60_000)).toBe(0);
          if (n > 0) expect(at - points[n - 1]!.at).toBe(stepMinutes * 60_000);
        }
        // The clock may have passed into the next step meanwhile.
        const sum = (read: (point: (typeof points)[number]) => number): number =>
          points.reduce((total, point) => total + read(point), 0);
        expect(sum(({ delivered }) => delivered)).toBe(4);
        expect(sum(({ failed }) => failed)).toBe(1);
        expect(sum(({ failedAttempts }) => failedAttempts)).toBe(2);
        expect(sum(({ retries }) => retries)).toBe(1);
        expect(sum(({ failures }) => failures['4xx'])).toBe(1);
        expect(sum(({ failures }) => failures.none)).toBe(1);
        const { p50Ms, p95Ms } = points.find(({ delivered }) => delivered > 0)!;
        expect(p50Ms).toBeGreaterThanOrEqual(10);
        expect(p50Ms).toBeLessThanOrEqual(15);
        expect(p95Ms).toBeLessThanOrEqual(1_000);
      }
      const all = await store.readActivity({ stepMinutes: 60, points: 2 });
      expect(all.reduce((total, point) => total + point.delivered, 0)).toBeGreaterThanOrEqual(4);
      const stats = (await store.readStreamStats()).find(({ streamId }) => streamId === id)!;
      expect(stats).toMatchObject({ delivered24h: 4, failedAttempts24h: 2 });
      expect(stats.hourlyDelivered).toHaveLength(24);
      expect(stats.hourlyDelivered.reduce((sum, n) => sum + n, 0)).toBe(4);
      expect(stats.p95Ms).toBeGreaterThan(500);
    });

    test('blocks with what became of them, those that left among them, and the reorg', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const other = await store.createStream(draft([chain.chain]));
      const sent = chain.next();
      await chain.commit(sent, [matchOf(id)], 1);
      const [delivery] = await claimOf(id);
      await store.completeDeliveries([outcomeOf(delivery!)]);
      const gone = chain.next();
      await chain.commit(gone, [matchOf(id), matchOf(other.id)], 1);
      await chain.rewind(sent);
      const instead = chain.next();
      await chain.commit(instead, [matchOf(other.id)], 1000);

      const tape = await store.readTape({ chain: chain.chain, streamId: id, limit: 10 });
      const short = tape.map((each) => [
        each.number,
        each.removed ? 'removed' : each.confirmed ? 'confirmed' : 'unconfirmed',
        each.matches,
        each.delivered,
        each.waiting,
        each.cancelled,
      ]);
      expect(short).toEqual([
        [instead.number, 'unconfirmed', 0, 0, 0, 0],
        [gone.number, 'removed', 1, 0, 0, 1],
        [sent.number, 'confirmed', 1, 1, 1, 0],
        [sent.number - 1, 'unconfirmed', 0, 0, 0, 0],
      ]);
      const ofAll = await store.readTape({ chain: chain.chain, limit: 10 });
      expect(ofAll.map(({ matches }) => matches)).toEqual([1, 2, 1, 0]);
      expect(await store.listReorgs({ chain: chain.chain, limit: 10 })).toEqual([
        { chainId: chain.chain, blockNumber: sent.number, depth: 1, at: expect.any(Number) },
      ]);
    });
  });

  describe('inboxes', () => {
    const receive = (inbox: string, body = '{}') =>
      store.receiveInInbox({ inbox, webhookId: 'id', headers: { a: 'b' }, body, verified: true });

    test('answer as they are told: the first fail, and every third', async () => {
      await store.setInbox('told', {
        ...DEFAULT_INBOX_ANSWER,
        failFirst: 1,
        failEvery: 3,
        failStatus: 418,
      });
      const statuses = [];
      for (let n = 0; n < 7; n++) statuses.push((await receive('told')).request.status);
      expect(statuses).toEqual([418, 200, 418, 200, 200, 418, 200]);
    });

    test('keep the newest 500, and of large ones 64 MiB', async () => {
      for (let n = 0; n < 505; n++) await receive('many', String(n));
      const { rows } = await store.listInboxRequests({ inbox: 'many', limit: 600 });
      expect(rows).toHaveLength(500);
      expect((await store.readInboxRequest('many', rows[0]!.id))?.body).toBe('504');
      expect((await store.readInboxRequest('many', rows.at(-1)!.id))?.body).toBe('5');

      const large = 'x'.repeat(30 * 1024 * 1024);
      for (let n = 0; n < 3; n++) await receive('large', large);
      expect((await store.listInboxRequests({ inbox: 'large', limit: 10 })).rows).toHaveLength(2);
      expect(await store.listInboxes()).toContainEqual(
        expect.objectContaining({ name: 'large', received: 3, kept: 2 }),
      );
      await store.deleteInbox('large');
      expect((await store.listInboxRequests({ inbox: 'large', limit: 10 })).rows).toEqual([]);
    });
  });

  describe('what explains a block or an address', () => {
    test('a block by hash and height, a transaction, what was matched of it, and what came of that', async () => {
      const chain = await startChain();
      const stream = await store.createStream(draft([chain.chain]));
      const other = await store.createStream(draft([chain.chain]));
      const before = chain.tip();
      const block = chain.next();
      const hash = hashOf();
      await chain.commit(block, [
        matchOf(stream.id, { transactionHashes: [hash] }),
        matchOf(other.id, { enrichment: '{}' }),
      ]);
      const place = { chain: chain.chain, block: { number: block.number, hash: block.hash } };
      expect(await store.findTransaction(hash)).toEqual(place);
      expect(await store.findTransaction(hashOf())).toBeUndefined();
      expect(await store.findBlock(block.hash)).toEqual(place);
      expect(await store.findBlock(hashOf())).toBeUndefined();
      expect(await store.readBlockAt(chain.chain, block.number)).toEqual(place.block);
      expect(await store.readBlockAt(chain.chain, block.number + 1)).toBeUndefined();
      const all = await store.listMatchesOf(chain.chain, block.hash);
      expect(all.map(({ streamId, state, isEnriching }) => [streamId, state, isEnriching])).toEqual(
        [
          [other.id, 'frozen', true],
          [stream.id, 'frozen', false],
        ],
      );
      const [one, ...more] = await store.listMatchesOf(chain.chain, block.hash, hash);
      expect(more).toEqual([]);
      expect(one).toMatchObject({
        streamId: stream.id,
        deliveries: [{ phase: 'unconfirmed', state: 'pending', blockNumber: block.number }],
      });

      await chain.rewind(before);
      expect(await store.readBlockAt(chain.chain, block.number)).toBeUndefined();
      expect(await store.findBlock(block.hash)).toEqual(place);
      expect((await store.listMatchesOf(chain.chain, block.hash, hash))[0]?.state).toBe('orphaned');
      // Where the transaction came again counts for more than where it was.
      const again = chain.next();
      await chain.commit(again, [matchOf(stream.id, { transactionHashes: [hash] })]);
      expect((await store.findTransaction(hash))?.block.hash).toBe(again.hash);
    });

    test('who watches an address: lists as they are active, not as they are being changed', async () => {
      const stream = await store.createStream(draft([newChain()]));
      const watched = address(0xabcdef01);
      const watchers = async () =>
        (await store.listWatchers(watched)).filter(({ streamId }) => streamId === stream.id);
      expect(await watchers()).toEqual([]);
      await add(stream.id, [0xabcdef01], { 0xabcdef01: 'Treasury' });
      expect(await watchers()).toEqual([{ streamId: stream.id, label: 'Treasury' }]);

      const begun = await store.beginAddressChange(stream.id);
      const { change } = begun as { change: number };
      await store.stageAddresses(change, { kind: 'remove', addresses: packed([0xabcdef01]) });
      expect(await watchers()).toHaveLength(1);
      await store.activateAddressChange(change);
      expect(await watchers()).toEqual([]);
    });
  });

  describe('removal notices', () => {
    /** A sent and an unsent match above an ancestor, of a stream that asks for notices. */
    const twoMatches = async (changes: Partial<EvmStreamDraft> = {}) => {
      const chain = await startChain();
      const stream = await store.createStream(
        draft([chain.chain], { notifyRemoved: true, ...changes }),
      );
      const ancestor = chain.tip();
      const sent = chain.next();
      await chain.commit(sent, [matchOf(stream.id)]);
      for (const claimed of await claimOf(stream.id))
        await store.completeDeliveries([outcomeOf(claimed)]);
      const unsent = chain.next();
      await chain.commit(unsent, [matchOf(stream.id)]);
      return { chain, id: stream.id, ancestor, sent, unsent };
    };

    const told = async (id: string): Promise<string[]> =>
      (await deliveriesOf(id))
        .map((each) => `${each.blockNumber} ${each.phase} ${each.state}`)
        .toSorted();

    test('are made for what was sent, and say so in the body', async () => {
      const { chain, id, ancestor } = await twoMatches();
      const changed = await chain.rewind(ancestor);
      expect(changed.map((each) => `${each.blockNumber} ${each.phase} ${each.state}`)).toEqual([
        '102 unconfirmed cancelled',
        '101 removed pending',
      ]);
      const notice = changed[1]!;
      const original = (await deliveriesOf(id)).find((each) => each.state === 'succeeded')!;
      expect(notice.matchId).toBe(original.matchId);
      expect(notice.id).not.toBe(original.id);
      expect((await store.readDelivery(notice.id))!.body).toBe(
        '{"confirmed":false,"removed":true,"chainId":"0x1","retries":0,"logs":[]}',
      );
    });

    test('are not made for streams that do not ask, or were deleted', async () => {
      const silent = await twoMatches({ notifyRemoved: false });
      expect((await silent.chain.rewind(silent.ancestor)).map((each) => each.phase)).toEqual([
        'unconfirmed',
      ]);
      const deleted = await twoMatches();
      await store.deleteStream(deleted.id);
      expect(await deleted.chain.rewind(deleted.ancestor)).toEqual([]);
    });

    test('are one for a match, though both of its deliveries were sent', async () => {
      const { chain, id, ancestor } = await twoMatches();
      await chain.commit(chain.next(), []);
      for (const claimed of await claimOf(id)) await store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      expect(await told(id)).toEqual([
        '101 confirmed succeeded',
        '101 removed pending',
        '101 unconfirmed succeeded',
        '102 removed pending',
        '102 unconfirmed succeeded',
      ]);
    });

    test('are followed, when the block comes back, by a new announcement with ids of its own', async () => {
      const { chain, id, ancestor, sent, unsent } = await twoMatches();
      await chain.rewind(ancestor);
      await chain.commit(sent, [matchOf(id)]);
      await chain.commit(unsent, [matchOf(id)]);
      expect(await told(id)).toEqual([
        '101 removed cancelled',
        '101 unconfirmed pending',
        '101 unconfirmed succeeded',
        '102 unconfirmed pending',
      ]);
      // And once more round: the newest announcement is the one that is taken back and made anew.
      for (const claimed of await claimOf(id)) await store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      await chain.commit(sent, [matchOf(id)]);
      const all = await deliveriesOf(id);
      expect(all.filter((each) => each.blockNumber === 101).map((each) => each.phase)).toEqual([
        'unconfirmed',
        'removed',
        'unconfirmed',
        'removed',
        'unconfirmed',
      ]);
      expect(
        new Set(all.filter((each) => each.blockNumber === 101).map((each) => each.matchId)).size,
      ).toBe(3);
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect((await told(id)).filter((each) => each === '101 confirmed pending')).toHaveLength(1);
    });
  });

  describe('a retry that nobody wants any more is cancelled', () => {
    const failing = { result: 'retry', status: 500, error: 'HTTP 500', retryInMs: 1 } as const;

    test('of a stream that was deleted while it was under way', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)]);
      const [claimed] = await claimOf(id);
      await store.deleteStream(id);
      const [changed] = await store.completeDeliveries([outcomeOf(claimed!, failing)]);
      expect(changed).toMatchObject({ state: 'cancelled', attempts: 1 });
      expect((await deliveriesOf(id))[0]?.state).toBe('cancelled');
    });

    test('of a notice whose block came back while it was under way', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain], { notifyRemoved: true }));
      const ancestor = chain.tip();
      const block = chain.next();
      await chain.commit(block, [matchOf(id)]);
      for (const claimed of await claimOf(id)) await store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      const [notice] = await claimOf(id);
      expect(notice?.phase).toBe('removed');
      await chain.commit(block, [matchOf(id)]);
      const [changed] = await store.completeDeliveries([outcomeOf(notice!, failing)]);
      expect(changed).toMatchObject({ phase: 'removed', state: 'cancelled' });
    });
  });

  describe('a delivery whose leases are lost', () => {
    const loseLeases = async (): Promise<Awaited<ReturnType<Store['releaseLeases']>>> =>
      store.releaseLeases('all');

    /** Streams of other tests have suspects too: they are taken out of the way. */
    const claimSuspectOf = async (id: string) => {
      for (;;) {
        const suspect = await store.claimSuspect({ leaseMs: 40_000, notStreams: [] });
        if (suspect === undefined || suspect.streamId === id) return suspect;
      }
    };

    /** Loses all leases; the deliveries of the stream that are quarantined for it. */
    const condemnedOf = async (streamId: string): Promise<string[]> => {
      const { quarantined } = await loseLeases();
      return quarantined.filter((each) => each.streamId === streamId).map(({ id }) => id);
    };

    /** A stream with one delivery that is suspect. */
    const makeSuspect = async (): Promise<string> => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)]);
      for (let n = 0; n < 2; n++) {
        expect(await claimOf(id)).toHaveLength(1);
        await loseLeases();
      }
      return id;
    };

    test('is a suspect after two losses, and claimed as such alone', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)]);
      await claimOf(id);
      expect(await loseLeases()).toMatchObject({ suspects: 0, quarantined: [] });
      expect(await claimOf(id)).toHaveLength(1);
      expect((await loseLeases()).suspects).toBeGreaterThanOrEqual(1);
      // With the others it is claimed no more.
      expect(await claimOf(id)).toEqual([]);
      expect(await claimSuspectOf(id)).toMatchObject({ streamId: id });
      expect(await claimSuspectOf(id)).toBeUndefined();
    });

    test('waits where its stream gets nothing for now', async () => {
      const id = await makeSuspect();
      for (;;) {
        const suspect = await store.claimSuspect({ leaseMs: 40_000, notStreams: [id] });
        if (suspect === undefined) break;
        expect(suspect.streamId).not.toBe(id);
      }
      expect(await claimSuspectOf(id)).toMatchObject({ streamId: id });
    });

    test('is not condemned by what happens while it is isolated', async () => {
      const id = await makeSuspect();
      for (let n = 0; n < 20; n++) {
        const suspect = await claimSuspectOf(id);
        await store.noteIsolated(suspect!);
        expect(await condemnedOf(id)).toEqual([]);
        expect(await claimOf(id)).toEqual([]);
      }
    });

    test('is set aside when the service dies ten times on end as it takes it up', async () => {
      const id = await makeSuspect();
      for (let lost = 3; lost <= 9; lost++) {
        expect(await claimSuspectOf(id)).toBeDefined();
        expect(await condemnedOf(id)).toEqual([]);
      }
      const suspect = await claimSuspectOf(id);
      expect(await condemnedOf(id)).toEqual([suspect!.id]);
      const [delivery] = await deliveriesOf(id);
      expect(delivery).toMatchObject({ state: 'quarantined', attempts: 0 });
      expect(delivery?.error).toMatch(/died 10 times on end/);
      expect(await claimOf(id)).toEqual([]);
      expect(await claimSuspectOf(id)).toBeUndefined();

      await store.replayDelivery(id, suspect!.id);
      expect(await claimOf(id)).toHaveLength(1);
    });

    test('is set aside with its attempt when its own process died of it', async () => {
      const id = await makeSuspect();
      const suspect = await claimSuspectOf(id);
      const death = { result: 'quarantined', status: null, error: 'ended by SIGABRT' } as const;
      const [changed] = await store.completeDeliveries([outcomeOf(suspect!, death)]);
      expect(changed).toMatchObject({ state: 'quarantined', attempts: 1, error: death.error });
      expect(await claimOf(id)).toEqual([]);
      expect(await claimSuspectOf(id)).toBeUndefined();
    });

    test('is like any other again once an attempt of it ended', async () => {
      const id = await makeSuspect();
      const suspect = await claimSuspectOf(id);
      const failure = { result: 'retry', status: 500, error: 'HTTP 500', retryInMs: 0 } as const;
      await store.completeDeliveries([outcomeOf(suspect!, failure)]);
      expect(await claimOf(id)).toHaveLength(1);
    });
  });

  test('claims are bounded by bytes, and one delivery is claimed however large', async () => {
    const chain = await startChain();
    const { id } = await store.createStream(draft([chain.chain]));
    const bodyTail = `,"logs":["${'x'.repeat(10_000)}"]}`;
    for (let n = 0; n < 5; n++) await chain.commit(chain.next(), [matchOf(id, { bodyTail })], 1000);
    const claimUpTo = async (maxBytes: number): Promise<number> => {
      const claimed = await store.claimDeliveries({
        limit: 1000,
        maxBytes,
        perStream: 1000,
        taken: {},
        leaseMs: 40_000,
      });
      return claimed.filter((each) => each.streamId === id).length;
    };
    expect(await claimUpTo(25_000)).toBe(2);
    expect(await claimUpTo(10)).toBe(1);
    expect(await claimUpTo(1e9)).toBe(2);
  });

  describe('the limits of a stream', () => {
    /** A stream with `count` deliveries due, in the order of their blocks. */
    const limited = async (limits: Partial<StreamLimits>, count = 5, blocks: object[] = []) => {
      const chain = await startChain();
      const { id } = await store.createStream(
        draft([chain.chain], { limits: { ...DEFAULT_LIMITS, ...limits } }),
      );
      const more = async (changes = {}): Promise<void> => {
        await chain.commit(chain.next(), [matchOf(id, changes)], 1000);
      };
      for (let n = 0; n < count; n++) await more(blocks[n]);
      const ids = (await deliveriesOf(id)).map((each) => each.id).toReversed();
      return { id, ids, more, held: chain.held };
    };
    const again = { result: 'retry', status: 500, error: 'HTTP 500' } as const;
    const idsOf = (claimed: { id: string }[]): string[] => claimed.map((each) => each.id);

    test('bound what is under way, whoever sends it', async () => {
      const { id } = await limited({ maxInFlight: 2 });
      const [first, second, ...more] = await claimOf(id);
      expect(more).toEqual([]);
      expect(await claimOf(id)).toEqual([]);
      await store.completeDeliveries([outcomeOf(first!)]);
      expect(await claimOf(id)).toHaveLength(1);
      await store.completeDeliveries([outcomeOf(second!)]);
      expect(await claimOf(id)).toHaveLength(1);
    });

    test('give turns at even distances, a moment ahead', async () => {
      const { id } = await limited({ maxPerSecond: 10 }, 8);
      const waits = async (): Promise<number[]> => (await claimOf(id)).map((each) => each.waitMs);
      const first = await waits();
      expect(first.map((each) => Math.round(each / 100))).toEqual([0, 1, 2]);
      expect(await waits()).toEqual([]);
      await expect.poll(async () => (await waits()).length).toBeGreaterThan(0);
      const slow = await limited({ maxPerSecond: 0.1 });
      expect(await claimOf(slow.id)).toHaveLength(1);
      expect(await claimOf(slow.id)).toEqual([]);
    });

    test('keep a strict order: one at a time, and what fails holds up the rest until it is over', async () => {
      const { id, ids } = await limited({ strictOrder: true }, 3);
      const [first, ...none] = await claimOf(id);
      expect(first?.id).toBe(ids[0]);
      expect(none).toEqual([]);
      expect(await claimOf(id)).toEqual([]);
      await store.completeDeliveries([outcomeOf(first!, { ...again, retryInMs: 60_000 })]);
      expect(await claimOf(id)).toEqual([]);
      await store.replayDelivery(id, ids[0]!);
      const [retried] = await claimOf(id);
      expect(retried?.id).toBe(ids[0]);
      await store.completeDeliveries([
        outcomeOf(retried!, { result: 'failed', status: 500, error: 'HTTP 500' }),
      ]);
      const [second] = await claimOf(id);
      expect(second?.id).toBe(ids[1]);
      // What is sent again goes before what comes later, and not beside what is under way.
      await store.replayDelivery(id, ids[0]!);
      expect(await claimOf(id)).toEqual([]);
      await store.completeDeliveries([outcomeOf(second!)]);
      expect(idsOf(await claimOf(id))).toEqual([ids[0]]);
    });

    test('keep the order while a body is completed, and while a suspect is tried', async () => {
      const { id, ids, held } = await limited({ strictOrder: true }, 2, [{ enrichment: '{}' }]);
      expect(await claimOf(id)).toEqual([]);
      const { matchId } = (await store.readDelivery(ids[0]!))!;
      await store.completeEnrichments({ ...held, bodies: [{ matchId, bodyTail: '}' }] });
      for (let n = 0; n < 2; n++) {
        expect(idsOf(await claimOf(id))).toEqual([ids[0]]);
        await store.releaseLeases('all');
      }
      expect(await claimOf(id)).toEqual([]);
      let suspect: ClaimedDelivery | undefined;
      do suspect = await store.claimSuspect({ leaseMs: 40_000, notStreams: [] });
      while (suspect !== undefined && suspect.streamId !== id);
      expect(suspect?.id).toBe(ids[0]);
      expect(await claimOf(id)).toEqual([]);
      await store.completeDeliveries([outcomeOf(suspect!)]);
      expect(idsOf(await claimOf(id))).toEqual([ids[1]]);
    });

    test('change with their stream, for what waits already', async () => {
      const { id, ids, more } = await limited({}, 3);
      const strict = { ...DEFAULT_LIMITS, strictOrder: true };
      expect((await store.updateStream(id, { limits: strict }))?.limits).toEqual(strict);
      await more();
      const [first, ...none] = await claimOf(id);
      expect(first?.id).toBe(ids[0]);
      expect(none).toEqual([]);
      await store.updateStream(id, { limits: DEFAULT_LIMITS });
      expect(await claimOf(id)).toHaveLength(3);
    });
  });

  describe('streams that want confirmed deliveries alone', () => {
    test('get no unconfirmed one', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain], { deliver: 'confirmed' }));
      const match = { ...matchOf(id), deliver: 'confirmed' as const };
      expect(await chain.commit(chain.next(), [match])).toMatchObject({ deliveries: [] });
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect((await deliveriesOf(id)).map((each) => each.phase)).toEqual(['confirmed']);
    });
  });

  describe('coverage', () => {
    const coverageOf = async (id: string) => (await store.readCoverage(id))[0];

    test('begins with the next block, and leaves out what passed while the stream was paused', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      expect(await coverageOf(id)).toMatchObject({ chainId: chain.chain, from: null, holes: [] });
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect(await coverageOf(id)).toMatchObject({ from: 101, to: 103, holes: [] });

      await store.setStreamStatus(id, 'paused', '');
      await store.setStreamStatus(id, 'paused', '');
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      const growing = [{ from: 104, to: 105, reason: 'paused' }];
      expect(await coverageOf(id)).toMatchObject({ from: 101, to: 105, holes: growing });
      await store.setStreamStatus(id, 'active', '');
      await chain.commit(chain.next(), []);
      expect(await coverageOf(id)).toMatchObject({ from: 101, to: 106, holes: growing });

      // Paused and resumed between two blocks: nothing was missed.
      await store.setStreamStatus(id, 'paused', '');
      await store.setStreamStatus(id, 'active', '');
      expect((await coverageOf(id))?.holes).toEqual(growing);
    });

    test('takes in the blocks that replaced others while the stream was paused', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const ancestor = chain.tip();
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      await store.setStreamStatus(id, 'paused', '');
      await chain.rewind(ancestor);
      for (let n = 0; n < 4; n++) await chain.commit(chain.next(), []);
      await store.setStreamStatus(id, 'active', '');
      await chain.commit(chain.next(), []);
      expect(await coverageOf(id)).toMatchObject({
        from: 105,
        to: 105,
        holes: [],
      });
    });

    test('names what a chain that was resumed later left out, and begins anew with another chain', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), []);
      const later: BlockHeader = { ...chain.next(), number: 150 };
      await store.startChain({
        ...chain.held,
        block: later,
        genesisHash: hashOf(),
        holeFrom: 102,
      });
      expect(await coverageOf(id)).toMatchObject({
        from: 101,
        to: 150,
        holes: [{ from: 102, to: 150, reason: 'resumed' }],
      });
      const other: BlockHeader = { ...chain.next(), number: 7 };
      await store.startChain({ ...chain.held, block: other, genesisHash: hashOf() });
      expect(await coverageOf(id)).toMatchObject({ from: null, to: null, holes: [] });
    });

    test('follows the chains of its stream', async () => {
      const one = await startChain();
      const two = await startChain();
      const { id } = await store.createStream(draft([one.chain]));
      await one.commit(one.next(), []);
      await store.setStreamStatus(id, 'paused', '');
      await store.updateStream(id, { chainIds: [two.chain] });
      await two.commit(two.next(), []);
      expect(await store.readCoverage(id)).toEqual([
        { chainId: two.chain, from: null, to: null, holes: [] },
      ]);
      await store.setStreamStatus(id, 'active', '');
      await two.commit(two.next(), []);
      expect(await store.readCoverage(id)).toEqual([
        { chainId: two.chain, from: 102, to: 102, holes: [] },
      ]);
    });
  });

  describe('backfills', () => {
    const block = (number: number): BlockHeader => ({
      number,
      hash: hashOf(),
      parentHash: hashOf(),
      timestamp: 1_600_000_000 + number,
    });
    const newJob = async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const job = await store.createJob({
        streamId: id,
        chain: chain.chain,
        blockFrom: 10,
        blockTo: 13,
      });
      return { chain, streamId: id, job: job! };
    };

    test('move on with what they matched, and deliver it as confirmed', async () => {
      const { chain, streamId, job } = await newJob();
      expect(await store.listRunningJobs(chain.chain)).toEqual([job]);
      const first = await store.commitJob({
        ...chain.held,
        id: job.id,
        blocks: [
          { block: block(10), matches: [matchOf(streamId)] },
          { block: block(11), matches: [] },
        ],
      });
      expect(first).toMatchObject({
        job: { nextBlock: 12, matches: 1, state: 'running' },
        deliveries: [{ phase: 'confirmed', blockNumber: 10, state: 'pending' }],
      });
      const again = {
        ...chain.held,
        id: job.id,
        blocks: [{ block: block(10), matches: [matchOf(streamId)] }],
      };
      expect(await store.commitJob(again)).toBeUndefined();
      const last = await store.commitJob({
        ...chain.held,
        id: job.id,
        blocks: [12, 13].map((number) => ({ block: block(number), matches: [] })),
      });
      expect(last).toMatchObject({ job: { nextBlock: 14, state: 'done' }, deliveries: [] });
      expect(await store.listRunningJobs(chain.chain)).toEqual([]);
      expect(await deliveriesOf(streamId)).toHaveLength(1);
      expect((await store.readCoverage(streamId))[0]).toMatchObject({ from: 10, to: 13 });
    });

    test('announce again what was delivered before, since they were asked to', async () => {
      const { chain, streamId } = await newJob();
      const seen = chain.next();
      await chain.commit(seen, [matchOf(streamId)], 0);
      expect(await deliveriesOf(streamId)).toHaveLength(2);
      for (let n = 0; n < 2; n++) {
        const job = await store.createJob({
          streamId,
          chain: chain.chain,
          blockFrom: seen.number,
          blockTo: seen.number,
        });
        await store.commitJob({
          ...chain.held,
          id: job!.id,
          blocks: [{ block: seen, matches: [matchOf(streamId)] }],
        });
      }
      await store.commitManual({
        chain: chain.chain,
        block: seen,
        requestId: 'r1',
        isConfirmed: true,
        matches: [matchOf(streamId)],
      });
      expect(await deliveriesOf(streamId)).toHaveLength(5);
    });

    test('are paused, resumed and cancelled, and nothing is committed meanwhile', async () => {
      const { chain, streamId, job } = await newJob();
      expect(await store.setJobState(job.id, 'paused', '')).toMatchObject({ state: 'paused' });
      const commit = {
        ...chain.held,
        id: job.id,
        blocks: [{ block: block(10), matches: [matchOf(streamId)] }],
      };
      expect(await store.commitJob(commit)).toBeUndefined();
      expect(await deliveriesOf(streamId)).toEqual([]);
      expect(await store.setJobState(job.id, 'running', '')).toMatchObject({ state: 'running' });
      expect(await store.commitJob(commit)).toMatchObject({ job: { nextBlock: 11 } });
      expect(await store.setJobState(job.id, 'cancelled', '')).toMatchObject({
        state: 'cancelled',
      });
      expect(await store.setJobState(job.id, 'running', '')).toBeUndefined();
      expect(await store.listJobs({ streamId, limit: 10 })).toHaveLength(1);
    });

    test('of an unknown or deleted stream are not begun', async () => {
      const { chain, streamId } = await newJob();
      await store.deleteStream(streamId);
      const range = { streamId, chain: chain.chain, blockFrom: 1, blockTo: 2 };
      expect(await store.createJob(range)).toBeUndefined();
    });
  });

  describe('what is forgotten', () => {
    const DAY = 86_400_000;
    const expire = async (rule: { deliveredMs: number; undeliveredMs: number }) => {
      const sum = { deliveries: 0, undelivered: 0 };
      let after: string | undefined = '';
      while (after !== undefined) {
        const done = await store.deleteExpired({ ...rule, limit: 2, after });
        sum.deliveries += done.deliveries;
        sum.undelivered += done.undelivered;
        after = done.next;
      }
      return sum;
    };

    test('is what was delivered first, what was not later, and never what may be confirmed', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), [matchOf(id)], 1000);
      const [first, second] = await claimOf(id);
      await store.completeDeliveries([
        outcomeOf(first!),
        outcomeOf(second!, { result: 'failed', status: 500, error: 'HTTP 500' }),
      ]);
      await store.releaseLeases('all');
      expect(await expire({ deliveredMs: DAY, undeliveredMs: DAY })).toEqual({
        deliveries: 0,
        undelivered: 0,
      });

      // As if a day had passed: everything was made before tomorrow.
      await expire({ deliveredMs: -DAY, undeliveredMs: DAY });
      expect((await deliveriesOf(id)).map((each) => each.state).toSorted()).toEqual([
        'failed',
        'pending',
      ]);
      expect(await store.readDelivery(first!.id)).toBeUndefined();
      const gone = await expire({ deliveredMs: -DAY, undeliveredMs: -DAY });
      expect(gone.undelivered).toBeGreaterThanOrEqual(1);
      expect(await deliveriesOf(id)).toEqual([]);

      // The matches themselves were kept: their blocks are yet to be confirmed.
      const confirmed = await chain.commit(chain.next(), [], 0);
      expect(confirmed.outcome === 'committed' && confirmed.deliveries).toHaveLength(3);
    });
  });

  describe('the state of a stream', () => {
    test('is error until it recovers, and terminated where that takes too long', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      expect(await store.recoverStream(id)).toBeUndefined();
      const failed = await store.failStream(id, 'it is down');
      expect(failed).toMatchObject({ status: 'error', statusMessage: 'it is down' });
      expect(failed!.errorSince).toBeGreaterThan(Date.now() - 60_000);
      expect(await store.failStream(id, 'it is still down')).toBeUndefined();
      // It is matched all the same.
      expect((await rulesOf(id))?.status).toBe('error');
      expect(await store.recoverStream(id)).toMatchObject({ status: 'active', errorSince: null });

      await store.failStream(id, 'it is down again');
      expect(await store.terminateStreams(3_600_000)).toEqual([]);
      expect(await store.terminateStreams(0)).toMatchObject([{ id, status: 'terminated' }]);
      expect(await rulesOf(id)).toBeUndefined();
      expect(await store.setStreamStatus(id, 'active', 'Stream is active')).toMatchObject({
        errorSince: null,
      });
      expect(await rulesOf(id)).toBeDefined();
    });

    test('in error it collects, is sent nothing until a probe is due, and everything once it recovers', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      for (let n = 0; n < 5; n++) await chain.commit(chain.next(), [matchOf(id)], 100);
      // However many wait, that alone is no error.
      expect((await store.readStream(id))?.status).toBe('active');
      await store.failStream(id, 'HTTP 410');
      await chain.commit(chain.next(), [matchOf(id)], 100);
      const claimed = async () => (await claimOf(id)).map(({ isProbe }) => isProbe);
      expect(await claimed()).toEqual([]);
      const { rows } = await store.listDeliveries({ limit: 10, streamId: id });
      expect(rows.map(({ state }) => state)).toEqual(Array(6).fill('pending'));
      await store.recoverStream(id);
      expect(await claimed()).toEqual(Array(6).fill(false));
    });

    const rulesOf = async (id: string) =>
      (await store.readRules(-1)).changed.find((stream) => stream.id === id);
  });

  describe('enrichment', () => {
    const waiting = (streamId: string): NewMatch => ({
      ...matchOf(streamId),
      enrichment: '{"plan":1}',
      bodyTail: ',"logs":["unfinished"]}',
    });
    const whole = ',"logs":["whole"]}';

    const listAll = async (chain: string, more: Partial<Parameters<Store['listEnriching']>[0]>) =>
      store.listEnriching({
        chain,
        limit: 100,
        perStream: 10,
        notStreams: [],
        notMatches: [],
        ...more,
      });

    test('keeps deliveries back until their body is whole, and then only once', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const block = chain.next();
      const committed = await chain.commit(block, [waiting(id)]);
      expect(committed).toMatchObject({ deliveries: [{ state: 'enriching', streamId: id }] });
      expect(await claimOf(id)).toEqual([]);
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      // Confirmed meanwhile: that delivery waits too, and the queue counts both.
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual([
        'enriching',
        'enriching',
      ]);
      const stats = await store.readStreamStats();
      expect(stats.find(({ streamId }) => streamId === id)?.queue).toBe(2);

      const [match] = await listAll(chain.chain, {});
      expect(match).toMatchObject({
        streamId: id,
        block: { number: block.number, hash: block.hash },
        bodyTail: ',"logs":["unfinished"]}',
        enrichment: '{"plan":1}',
      });
      const due = await store.completeEnrichments({
        ...chain.held,
        bodies: [{ matchId: match!.id, bodyTail: whole }],
      });
      expect(due!.map(({ phase, state }) => `${phase} ${state}`).toSorted()).toEqual([
        'confirmed pending',
        'unconfirmed pending',
      ]);
      expect(await listAll(chain.chain, {})).toEqual([]);
      // A second process that did the same work changes nothing.
      const again = {
        ...chain.held,
        bodies: [{ matchId: match!.id, bodyTail: ',"logs":["other"]}' }],
      };
      expect(await store.completeEnrichments(again)).toEqual([]);
      expect((await claimOf(id)).map(({ bodyTail }) => bodyTail)).toEqual([whole, whole]);
    });

    test('is listed oldest first, fairly, and without those that are named', async () => {
      const chain = await startChain();
      const other = await startChain();
      const busy = await store.createStream(draft([chain.chain]));
      const quiet = await store.createStream(draft([chain.chain, other.chain]));
      for (let n = 0; n < 5; n++) await chain.commit(chain.next(), [waiting(busy.id)], 1000);
      await chain.commit(chain.next(), [waiting(quiet.id), waiting(busy.id)], 1000);
      await other.commit(other.next(), [waiting(quiet.id)], 1000);
      const all = await listAll(chain.chain, {});
      expect(all).toHaveLength(7);
      expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted());
      const fair = await listAll(chain.chain, { perStream: 2 });
      expect(fair.map(({ streamId }) => streamId)).toEqual([busy.id, busy.id, quiet.id]);
      expect(fair[0]!.block.number).toBe(101);
      expect(await listAll(chain.chain, { limit: 1 })).toEqual([all[0]]);
      const others = await listAll(chain.chain, { notStreams: [busy.id] });
      expect(others.map(({ streamId }) => streamId)).toEqual([quiet.id]);
      const later = await listAll(chain.chain, {
        perStream: 1,
        notMatches: [all[0]!.id, all[1]!.id],
      });
      expect(later.map(({ id }) => id)).toContain(all[2]!.id);
      expect(later).toHaveLength(2);
    });

    test('ends with a block that left the chain, and goes on when it comes back', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain], { notifyRemoved: true }));
      const before = chain.tip();
      const block = chain.next();
      await chain.commit(block, [waiting(id)]);
      const [match] = await listAll(chain.chain, {});
      // Nothing was sent, so there is nothing to take back.
      expect((await chain.rewind(before)).map(({ state }) => state)).toEqual(['cancelled']);
      expect(await listAll(chain.chain, {})).toEqual([]);
      const late = { ...chain.held, bodies: [{ matchId: match!.id, bodyTail: whole }] };
      expect(await store.completeEnrichments(late)).toEqual([]);
      await chain.commit(block, []);
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['enriching']);
      expect(await listAll(chain.chain, {})).toHaveLength(1);
      expect(await store.completeEnrichments(late)).toMatchObject([{ state: 'pending' }]);
    });

    test('ends with its stream', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [waiting(id)]);
      await store.deleteStream(id);
      expect(await listAll(chain.chain, {})).toEqual([]);
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['cancelled']);
    });

    test('remembers tokens by chain, each as it was last read', async () => {
      const token: Token = {
        address: address(0xc0),
        name: 'Robert\'); drop table "é" 🚀',
        symbol: '',
        decimals: 255,
        standard: 'ERC1155',
        blockNumber: 7,
      };
      const nameless: Token = { ...token, address: address(0xc1), name: '', decimals: null };
      const chain = newChain();
      const before = Date.now();
      await store.saveTokens(chain, [{ ...token, name: 'Old' }, nameless]);
      await store.saveTokens(chain, [token]);
      await store.saveTokens(chain, []);
      const read = await store.readTokens(chain, [token.address, nameless.address, address(0xc2)]);
      expect(read.map((each) => each.token)).toHaveLength(2);
      expect(read.map((each) => each.token)).toEqual(expect.arrayContaining([token, nameless]));
      for (const { readAt } of read) expect(Math.abs(readAt - before)).toBeLessThan(60_000);
      expect(await store.readTokens(newChain(), [token.address])).toEqual([]);
      expect(await store.readTokens(chain, [])).toEqual([]);
    });
  });

  describe('deliveries', () => {
    const oneDue = async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [matchOf(id)]);
      return { chain, id };
    };

    test('are leased to one claimer, and completed under that lease alone', async () => {
      const { id } = await oneDue();
      const [claimed] = await claimOf(id);
      expect(claimed).toMatchObject({
        phase: 'unconfirmed',
        attempts: 0,
        webhookUrl: 'http://127.0.0.1:1/hook',
      });
      expect(await claimOf(id)).toEqual([]);
      expect(
        await store.completeDeliveries([outcomeOf(claimed!, { leaseToken: 'stale' })]),
      ).toEqual([]);
      expect(await store.completeDeliveries([outcomeOf(claimed!)])).toMatchObject([
        { state: 'succeeded', attempts: 1, status: 200 },
      ]);
      expect(await store.completeDeliveries([outcomeOf(claimed!)])).toEqual([]);
      const detail = await store.readDelivery(claimed!.id);
      expect(detail?.attemptList).toMatchObject([{ number: 1, status: 200, responseBody: 'ok' }]);
    });

    test('that fail are due again after their wait, and each attempt is recorded', async () => {
      const { id } = await oneDue();
      const [first] = await claimOf(id);
      const failure = { status: 500, error: 'HTTP 500', result: 'retry', retryInMs: 0 } as const;
      expect(await store.completeDeliveries([outcomeOf(first!, failure)])).toMatchObject([
        { state: 'pending', attempts: 1, status: 500, error: 'HTTP 500' },
      ]);
      const [second] = await claimOf(id);
      expect(second).toMatchObject({ id: first!.id, attempts: 1 });
      await store.completeDeliveries([outcomeOf(second!, { ...failure, retryInMs: 3_600_000 })]);
      expect(await claimOf(id)).toEqual([]);
      const detail = await store.readDelivery(first!.id);
      expect(detail?.attemptList.map((attempt) => attempt.number)).toEqual([1, 2]);
      expect(detail?.nextAttemptAt).toBeGreaterThan(Date.now() + 3_500_000);
      expect(detail?.body).toContain('"retries":1');
    });

    test('whose lease ran out go back to the queue; its late owner changes nothing', async () => {
      const { id } = await oneDue();
      const [lost] = await claimOf(id, -1);
      await store.releaseLeases('expired');
      const [again] = await claimOf(id);
      expect(again?.id).toBe(lost?.id);
      expect(await store.completeDeliveries([outcomeOf(lost!)])).toEqual([]);
      expect(await store.completeDeliveries([outcomeOf(again!)])).toHaveLength(1);
    });

    test('of a paused stream wait for its return, those of a deleted one are cancelled', async () => {
      const { id } = await oneDue();
      await store.setStreamStatus(id, 'paused', '');
      expect(await claimOf(id)).toEqual([]);
      await store.setStreamStatus(id, 'active', '');
      const [claimed] = await claimOf(id);
      await store.completeDeliveries([
        outcomeOf(claimed!, { result: 'retry', retryInMs: 0, status: null, error: 'x' }),
      ]);
      await store.deleteStream(id);
      expect(await claimOf(id)).toEqual([]);
      expect((await deliveriesOf(id))[0]?.state).toBe('cancelled');
    });

    test('are claimed fairly: a long queue leaves room for a short one', async () => {
      const chain = await startChain();
      const busy = await store.createStream(draft([chain.chain]));
      const quiet = await store.createStream(draft([chain.chain]));
      for (let n = 0; n < 30; n++) await chain.commit(chain.next(), [matchOf(busy.id)], 1000);
      await chain.commit(chain.next(), [matchOf(quiet.id)], 1000);
      const claimed = await store.claimDeliveries({
        limit: 1000,
        maxBytes: 1e9,
        perStream: 8,
        taken: { [busy.id]: 3 },
        leaseMs: 40_000,
      });
      expect(claimed.filter((each) => each.streamId === busy.id)).toHaveLength(5);
      expect(claimed.filter((each) => each.streamId === quiet.id)).toHaveLength(1);
    });

    test('are counted once each, and only when they were ours to complete', async () => {
      const { id, chain } = await oneDue();
      await chain.commit(chain.next(), [matchOf(id)]);
      const [one, two] = await claimOf(id);
      await store.completeDeliveries([outcomeOf(one!), outcomeOf(two!, { leaseToken: 'stale' })]);
      await store.completeDeliveries([
        outcomeOf(two!, { result: 'failed', status: 500, error: 'HTTP 500' }),
      ]);
      await store.rollUpStats();
      await store.rollUpStats();
      const stats = (await store.readStreamStats()).find((each) => each.streamId === id);
      expect(stats).toMatchObject({ delivered24h: 1, failedAttempts24h: 1, queue: 0 });
      expect(stats?.deliveredSeries.at(-1)).toBe(1);
    });

    test('are counted once each, though counts are added up while others are made', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      for (let n = 0; n < 40; n++) await chain.commit(chain.next(), [matchOf(id)], 1000);
      const claimed = await claimOf(id);
      await Promise.all([
        ...claimed.map((each) => store.completeDeliveries([outcomeOf(each)])),
        ...Array.from({ length: 10 }, () => store.rollUpStats()),
      ]);
      const counted = async () => [
        (await store.readTotals(id))[0]?.webhooksDelivered,
        (await store.readStreamStats()).find((each) => each.streamId === id)?.delivered24h,
      ];
      expect((await counted())[0]).toBe(40);
      await store.rollUpStats();
      expect(await counted()).toEqual([40, 40]);
    });

    test('of a match in parts have each their part, and are confirmed with the same', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      const parts = [0, 1, 2].map((part) =>
        matchOf(id, { part, parts: 3, bodyTail: `,"logs":[${part}]}` }),
      );
      await chain.commit(chain.next(), parts);
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      const claimed = await claimOf(id);
      const told = (phase: string) =>
        claimed
          .filter((each) => each.phase === phase)
          .map(({ part, parts: of, bodyTail }) => `${part}/${of} ${bodyTail}`)
          .toSorted();
      expect(told('unconfirmed')).toEqual([0, 1, 2].map((n) => `${n}/3 ,"logs":[${n}]}`));
      expect(told('confirmed')).toEqual(told('unconfirmed'));
      expect(new Set(claimed.map((each) => each.id)).size).toBe(6);
    });

    test('page through newest first, filtered, each exactly once', async () => {
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      for (let n = 0; n < 9; n++) await chain.commit(chain.next(), [matchOf(id)], 1000);
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.listDeliveries({
          limit: 4,
          after,
          streamId: id,
          state: 'pending',
        });
        seen.push(...page.rows.map((row) => row.id));
        after = page.next;
        await chain.commit(chain.next(), [matchOf(id)], 1000);
      } while (after !== undefined);
      expect(seen.length).toBe(new Set(seen).size);
      expect(seen.length).toBeGreaterThanOrEqual(9);
      expect(
        (await store.listDeliveries({ limit: 4, streamId: id, state: 'failed' })).rows,
      ).toEqual([]);
    });
  });

  test('settings keep their last value', async () => {
    expect(await store.readSetting('colour')).toBeUndefined();
    await store.saveSetting('colour', 'green');
    await store.saveSetting('colour', 'blue');
    expect(await store.readSetting('colour')).toBe('blue');
  });
}
