/** Tests that the ledger's children of factories follow the chain. */
import { describe, expect, test } from 'vitest';
import { unpackAddresses } from '../../src/store/addresses/packedAddresses.ts';
import { plain } from './plain.ts';
import { DEFAULT_OPTIONS } from '../../src/store/streams/contract.ts';
import type { Store } from '../../src/store/store.ts';
import { type StoreTools, address, draft, hashOf, useStore } from './storeTools.ts';

export function testChildren(tools: StoreTools): void {
  const { startChain } = tools;

  /** Returns the addresses of a factory's children as numbers. */
  const childrenOf = async (streamId: string, chain: string, factory = 'f'): Promise<number[]> => {
    const found: string[] = [];
    let next: string | undefined;
    do {
      const page = await tools.store.readChildren({ streamId, chain, factory }, next);
      found.push(...unpackAddresses(page.addresses));
      next = page.next;
    } while (next !== undefined);
    return found.map(Number);
  };
  const childOf = (streamId: string, n: number, factory = 'f') => ({
    streamId,
    factory,
    address: address(n),
  });
  /** Returns the counts of a stream, with the position of each chain. */
  const countsOf = async (streamId: string, ...chains: readonly Chain[]): Promise<string[]> =>
    (await tools.store.listChildCounts(streamId))
      .map(({ chain, factory, children }) => {
        const n = chains.findIndex((each) => each.chain === chain) + 1;
        return `${n} ${factory} ${children}`;
      })
      .toSorted();
  type Chain = Awaited<ReturnType<typeof startChain>>;
  const commit = (chain: Chain, children: Parameters<Chain['commit']>[6]) =>
    chain.commit(chain.next(), [], 2, [], 1, undefined, children);

  describe('children of factories', () => {
    test('are committed with their block, and leave with it', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await commit(chain, [childOf(id, 1)]);
      const ancestor = chain.tip();
      await commit(chain, [childOf(id, 2), childOf(id, 1)]);
      expect(await childrenOf(id, chain.chain)).toEqual([1, 2]);
      expect(await tools.store.rewindChain({ ...chain.held, ancestor })).toEqual([childOf(id, 2)]);
      expect(await childrenOf(id, chain.chain)).toEqual([1]);
    });

    test('are not committed with a block that is refused', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const orphan = { ...chain.next(), parentHash: hashOf() };
      const refused = await chain.commit(orphan, [], 2, [], 1, undefined, [childOf(id, 1)]);
      expect(refused.outcome).toBe('not-next');
      expect(await childrenOf(id, chain.chain)).toEqual([]);
    });

    test('belong to one chain and one factory', async () => {
      const [one, other] = [await startChain(), await startChain()];
      const { id } = await tools.store.createStream(draft([one.chain, other.chain]));
      await commit(one, [childOf(id, 1), childOf(id, 1, 'g'), childOf(id, 2, 'g')]);
      await commit(other, [childOf(id, 1)]);
      expect(await childrenOf(id, one.chain)).toEqual([1]);
      expect(await childrenOf(id, one.chain, 'g')).toEqual([1, 2]);
      await tools.store.rewindChain({
        ...other.held,
        ancestor: { number: 100, hash: hashOf() },
      });
      expect(await childrenOf(id, other.chain)).toEqual([]);
      expect(await childrenOf(id, one.chain)).toEqual([1]);
    });

    test('are found by address, as of a block', async () => {
      const chain = await startChain();
      const stream = await tools.store.createStream(draft([chain.chain]));
      const second = await tools.store.createStream(draft([chain.chain]));
      await commit(chain, [childOf(stream.id, 1), childOf(second.id, 1)]);
      await commit(chain, [childOf(stream.id, 2)]);
      const find = (upTo: number, streamId?: string) =>
        tools.store.findChildren(chain.chain, {
          addresses: [address(1), address(2), address(3)],
          upTo,
          streamId,
        });
      expect(await find(100)).toEqual([]);
      expect(await find(101, stream.id)).toEqual([{ ...childOf(stream.id, 1), blockNumber: 101 }]);
      expect(await find(101)).toHaveLength(2);
      expect(await find(102)).toHaveLength(3);
    });

    test('from a hole on, or all of a restarted chain, are forgotten', async () => {
      for (const [holeFrom, number, left] of [
        [102, 110, [1]],
        [103, 101, [1]],
        [undefined, 110, []],
      ] as const) {
        const chain = await startChain();
        const { id } = await tools.store.createStream(draft([chain.chain]));
        await commit(chain, [childOf(id, 1)]);
        await commit(chain, [childOf(id, 2)]);
        const block = { ...chain.next(), number };
        await tools.store.startChain({ ...chain.held, block, genesisHash: hashOf(), holeFrom });
        expect(await childrenOf(id, chain.chain)).toEqual(left);
      }
    });

    test('are read in pages', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const numbers = Array.from({ length: 20_001 }, (_, n) => n + 1);
      await commit(
        chain,
        numbers.map((n) => childOf(id, n)),
      );
      expect(await childrenOf(id, chain.chain)).toEqual(numbers);
    });

    test('are searched before a stream, and in the blocks that a restart leaves out', async () => {
      const chain = await startChain();
      const { store } = tools;
      const factory = { address: address(1), event: 'E(address a)', parameter: 'a' };
      const draftOf = (from?: number) =>
        draft([chain.chain], {
          options: { ...DEFAULT_OPTIONS, factories: [{ ...factory, from }] },
        });
      const { id } = await store.createStream(draftOf(90));
      await store.createStream(draftOf(101));
      const other = await store.createStream(draftOf());
      const jobsOf = async (streamId: string) =>
        (await store.listJobs({ streamId, limit: 9 })).map(
          ({ kind, blockFrom, blockTo }) => `${kind} ${blockFrom} ${blockTo}`,
        );
      expect(await jobsOf(id)).toEqual(['children 90 100']);
      expect(await jobsOf(other.id)).toEqual([]);
      const block = { ...chain.next(), number: 110 };
      const start = { ...chain.held, block, genesisHash: hashOf() };
      await store.startChain({ ...start, holeFrom: 95 });
      await store.startChain({ ...start, holeFrom: 111 });
      // Only the blocks since 101 are missed, and thus wanted without `from`.
      const [missed, rest, first] = ['children 101 110', 'children 95 100', 'children 90 100'];
      expect(await jobsOf(id)).toEqual([missed, rest, first]);
      expect(await jobsOf(other.id)).toEqual([missed]);
    });

    test('are searched in the blocks of a pause, also without `from`', async () => {
      const chain = await startChain();
      const { store } = tools;
      const factory = { address: address(1), event: 'E(address a)', parameter: 'a' };
      const { id } = await store.createStream(
        draft([chain.chain], { options: { ...DEFAULT_OPTIONS, factories: [factory] } }),
      );
      await commit(chain, []);
      await store.setStreamStatus(id, 'paused', '');
      await commit(chain, []);
      await commit(chain, []);
      expect(await store.listRunningJobs(chain.chain)).toEqual([]);
      await store.setStreamStatus(id, 'active', '');
      expect(await store.listRunningJobs(chain.chain)).toMatchObject([
        { streamId: id, blockFrom: 102, blockTo: 103, isForAll: true },
      ]);
    });

    test('that are found late leave a hole in the blocks that were matched without them', async () => {
      const chain = await startChain();
      const { store } = tools;
      const factory = { address: address(1), event: 'E(address a)', parameter: 'a', from: 90 };
      const { id: streamId } = await store.createStream(
        draft([chain.chain], { options: { ...DEFAULT_OPTIONS, factories: [factory] } }),
      );
      const [{ id } = { id: '' }] = await store.listRunningJobs(chain.chain);
      const find = (from: number, to: number, matchedUpTo: number, ...children: number[]) =>
        store.commitSearch({
          ...chain.held,
          id,
          from,
          to,
          children: children.map((n) => ({ ...childOf(streamId, n), blockNumber: from })),
          matchedUpTo,
        });
      const holes = async () => (await store.readCoverage(streamId))[0]!.holes;
      const hole = (from: number, to: number) => [{ from, to, reason: 'children' }];
      await commit(chain, [childOf(streamId, 7)]);
      await commit(chain, []);
      const ancestor = chain.tip();
      await commit(chain, []);
      // Without new children, nothing was missed.
      await find(90, 91, 103);
      expect(await holes()).toEqual([]);
      await find(92, 93, -1, 1);
      expect(await holes()).toEqual(hole(101, 103));
      // Child 7 is known since block 101, and block 104 was matched before the write.
      await commit(chain, []);
      await find(94, 95, 105, 7);
      await commit(chain, []);
      await commit(chain, []);
      expect(await holes()).toEqual(hole(101, 105));
      const backfill = async (blockFrom: number, blockTo: number) => {
        const job = { streamId, chain: chain.chain, blockFrom, blockTo };
        const { id: made } = (await store.createJob(job))!;
        await store.commitJob({
          ...chain.held,
          id: made,
          from: blockFrom,
          to: blockTo,
          blocks: [],
        });
      };
      await backfill(101, 104);
      expect(await holes()).toEqual(hole(105, 105));
      // A child that is found later may have records in blocks that were backfilled before.
      await find(96, 97, -1, 2);
      expect(await holes()).toEqual(hole(101, 106));
      await store.rewindChain({ ...chain.held, ancestor });
      expect(await holes()).toEqual(hole(101, 102));
      await backfill(101, 102);
      expect(await holes()).toEqual([]);
    });

    test('of past blocks are committed once, and not for removed blocks', async () => {
      const chain = await startChain();
      const { store } = tools;
      const factory = { address: address(1), event: 'E(address a)', parameter: 'a', from: 90 };
      const factories = [factory, { ...factory, address: undefined, childrenOf: 0 }];
      const { id: streamId } = await store.createStream(
        draft([chain.chain], { options: { ...DEFAULT_OPTIONS, factories } }),
      );
      const missing = async () => (await store.readCoverage(streamId))[0]!.childrenMissing;
      expect(await missing()).toEqual([{ from: 90, to: 100 }]);
      const [{ id } = { id: '' }] = await store.listRunningJobs(chain.chain);
      const search = (from: number, to: number, ...children: number[]) =>
        store.commitSearch({
          ...chain.held,
          id,
          from,
          to,
          children: children.map((n) => ({ ...childOf(streamId, n), blockNumber: from })),
        });
      expect(await search(90, 101, 1)).toBeUndefined();
      expect(await search(90, 95, 1, 2)).toMatchObject({
        job: { matches: 2, state: 'running' },
      });
      expect(await search(90, 95, 3)).toBeUndefined();
      expect(await childrenOf(streamId, chain.chain)).toEqual([1, 2]);
      expect(await missing()).toEqual([{ from: 96, to: 100 }]);
      expect(await store.readChildrenMissing(streamId, chain.chain)).toBe(96);
      await commit(chain, [childOf(streamId, 4)]);
      expect(await search(96, 100, 4, 5)).toMatchObject({
        job: { state: 'running', nextBlock: 101 },
      });
      const sought = { addresses: [address(4)], upTo: 100 };
      expect(await store.findChildren(chain.chain, sought)).toMatchObject([{ blockNumber: 96 }]);
      // The children may have created others since then.
      await store.extendSearch(id);
      expect(await store.readJob(id)).toMatchObject({ state: 'running', blockTo: 102 });
      await commit(chain, []);
      expect(await search(101, 102)).toMatchObject({ job: { state: 'done' } });
      expect(await missing()).toBeUndefined();
    });

    test('may be missing in unverified blocks of a search, which are recorded', async () => {
      const chain = await startChain();
      const { store } = tools;
      const factories = [{ address: address(1), event: 'E(address a)', parameter: 'a', from: 90 }];
      await store.createStream(
        draft([chain.chain], { options: { ...DEFAULT_OPTIONS, factories } }),
      );
      const [{ id } = { id: '' }] = await store.listRunningJobs(chain.chain);
      const unverified = { codes: ['receipts'], witnesses: 1, isUncertain: true } as const;
      const search = { ...chain.held, id, from: 90, to: 100, children: [] };
      await store.commitSearch({ ...search, unverified: [{ block: 93, unverified }] });
      expect(await store.readUnverified(chain.chain)).toMatchObject({
        blocks: 1,
        latest: 93,
        byCode: { receipts: 1 },
      });
    });

    test('are listed and counted by factory, and part of an address or label', async () => {
      const [one, other] = [await startChain(), await startChain()];
      const { id: streamId } = await tools.store.createStream(draft([one.chain, other.chain]));
      await commit(one, [childOf(streamId, 1), childOf(streamId, 0x2a), childOf(streamId, 3, 'g')]);
      await commit(other, [childOf(streamId, 1)]);
      const { store } = tools;
      const labels = { [address(1)]: 'Pool A', [address(9)]: '' };
      expect(await store.labelChildren(streamId, labels)).toEqual({ missing: address(9) });
      const shown = async (page: Omit<Parameters<typeof store.listChildren>[1], 'limit'> = {}) =>
        (
          await store.listChildren(
            { streamId, chain: one.chain, factory: 'f' },
            { limit: 2, ...page },
          )
        ).map(({ address, label }) => `${Number(address)} ${label}`);
      expect(await shown()).toEqual(['1 null', '42 null']);
      await store.labelChildren(streamId, { [address(1)]: 'Pool A', [address(3)]: 'Pool B' });
      await store.labelChildren(streamId, { [address(3)]: '' });
      expect(await shown()).toEqual(['1 Pool A', '42 null']);
      expect(await shown({ after: address(1) })).toEqual(['42 null']);
      expect(await shown({ find: 'pool' })).toEqual(['1 Pool A']);
      expect(await shown({ find: '0x…2a' })).toEqual(['42 null']);
      const list = { streamId, chain: one.chain, factory: 'f' };
      expect(await store.countChildren(list, 'pool')).toBe(1);
      expect(await countsOf(streamId, one, other)).toEqual(['1 f 2', '1 g 1', '2 f 1']);
      expect((await store.readStream(streamId))?.childCount).toBe(4);
      expect(await store.countChildrenByChain()).toMatchObject({
        [one.chain]: 3,
        [other.chain]: 1,
      });
      expect(
        (await store.listParents(address(3))).filter((of) => of.streamId === streamId),
      ).toEqual([
        { ...childOf(streamId, 3, 'g'), chain: one.chain, blockNumber: 101, label: null },
      ]);
      expect(await store.listLabels(streamId, [address(1), address(3)])).toEqual({
        [address(1)]: 'Pool A',
      });
    });

    test('are counted through reorgs, repeated children and removed factories', async () => {
      const chain = await startChain();
      const { store } = tools;
      const { id } = await store.createStream(draft([chain.chain]));
      await commit(chain, [childOf(id, 1), childOf(id, 2, 'g')]);
      const ancestor = chain.tip();
      await commit(chain, [childOf(id, 1), childOf(id, 3)]);
      expect(await countsOf(id, chain)).toEqual(['1 f 2', '1 g 1']);
      await store.rewindChain({ ...chain.held, ancestor });
      expect(await countsOf(id, chain)).toEqual(['1 f 1', '1 g 1']);
      await store.updateStream(id, plain({}), { leftFactories: ['f'] });
      while (await store.cleanUpChildren());
      expect(await countsOf(id, chain)).toEqual(['1 g 1']);
      const block = { ...chain.tip(), number: 110 };
      await store.startChain({ ...chain.held, block, genesisHash: hashOf() });
      expect((await store.readStream(id))?.childCount).toBe(0);
    });

    test('have the label of the listed address first', async () => {
      const chain = await startChain();
      const { store } = tools;
      const { id } = await store.createStream(draft([chain.chain]));
      await commit(chain, [childOf(id, 1), childOf(id, 2)]);
      await store.labelChildren(id, { [address(1)]: 'child', [address(2)]: 'child' });
      await tools.add(id, [1, 2], { 1: 'own' });
      const labels = { [address(1)]: 'own', [address(2)]: 'child' };
      const labelsIn = (rows: readonly { address: string; label: string | null }[]) =>
        Object.fromEntries(rows.map((row) => [row.address, row.label]));
      expect(await store.listLabels(id, [address(1), address(2)])).toEqual(labels);
      const list = { streamId: id, chain: chain.chain, factory: 'f' };
      expect(labelsIn(await store.listChildren(list, { limit: 9 }))).toEqual(labels);
      expect(await store.countChildren(list, 'own')).toBe(1);
      const parents = await store.listParents(address(1));
      expect(labelsIn(parents.filter(({ streamId }) => streamId === id))).toEqual({
        [address(1)]: 'own',
      });
      await tools.remove(id, [1]);
      expect(await store.listLabels(id, [address(1)])).toEqual({ [address(1)]: 'child' });
    });

    test('lose their labels with their last factory', async () => {
      const chain = await startChain();
      const { store } = tools;
      const { id } = await store.createStream(draft([chain.chain]));
      await commit(chain, [childOf(id, 1), childOf(id, 1, 'g'), childOf(id, 2)]);
      await store.labelChildren(id, { [address(1)]: 'both', [address(2)]: 'f only' });
      const removeFactory = async (factory: string) => {
        await store.updateStream(id, plain({}), { leftFactories: [factory] });
        while (await store.cleanUpChildren());
        return store.listLabels(id, [address(1), address(2)]);
      };
      expect(await removeFactory('f')).toEqual({ [address(1)]: 'both' });
      expect(await removeFactory('g')).toEqual({});
    });

    test('of a removed factory are deleted, and it comes back without them', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const { store } = tools;
      await commit(chain, [childOf(id, 1), childOf(id, 2, 'g'), childOf(id, 3, 'h')]);
      await store.updateStream(id, plain({}), { leftFactories: ['f', 'g'] });
      // `g` comes back before its children are deleted.
      while (await store.deleteChildrenOf(id, ['g']));
      expect(await childrenOf(id, chain.chain, 'g')).toEqual([]);
      await commit(chain, [childOf(id, 4, 'g')]);
      while (await store.cleanUpChildren());
      expect(await childrenOf(id, chain.chain, 'f')).toEqual([]);
      expect(await childrenOf(id, chain.chain, 'g')).toEqual([4]);
      expect(await childrenOf(id, chain.chain, 'h')).toEqual([3]);
    });

    test('keep the first of their blocks', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await commit(chain, [childOf(id, 1)]);
      await commit(chain, [childOf(id, 1)]);
      const sought = { addresses: [address(1)], upTo: 200 };
      const [found] = await tools.store.findChildren(chain.chain, sought);
      expect(found?.blockNumber).toBe(101);
    });

    test('of deleted streams are deleted, and no more are added', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await commit(chain, [childOf(id, 1)]);
      await tools.store.deleteStream(id);
      await commit(chain, [childOf(id, 2)]);
      expect(await childrenOf(id, chain.chain)).toEqual([1]);
      while (await tools.store.cleanUpChildren());
      expect(await childrenOf(id, chain.chain)).toEqual([]);
    });
  });
}

/**
 * Tests that the ledger adds no more children than its maximum.
 *
 * @param open opens the ledger with a maximum of `maxChildren` children per stream
 */
export function testMaximumOfChildren(
  open: (limits: { maxChildren: number }) => Promise<Store>,
): void {
  const tools = useStore(() => open({ maxChildren: 3 }));
  const childOf = (streamId: string, n: number, factory = 'f') => ({
    streamId,
    factory,
    address: address(n),
  });

  /** Starts two chains, and creates a stream of both and another stream of the first. */
  const start = async () => {
    const [one, other] = [await tools.startChain(), await tools.startChain()];
    const [{ id }, second] = [
      await tools.store.createStream(draft([one.chain, other.chain])),
      await tools.store.createStream(draft([one.chain])),
    ];
    const commit = (chain: typeof one, ...numbers: number[]) =>
      chain.commit(
        chain.next(),
        [],
        2,
        [],
        1,
        undefined,
        numbers.map((n) => childOf(id, n)),
      );
    const jobs = async (streamId = id) =>
      (await tools.store.listJobs({ streamId, limit: 9 })).map(
        ({ chainId, state, blockFrom, blockTo }) =>
          `${chainId === one.chain ? 1 : 2} ${state} ${blockFrom} ${blockTo}`,
      );
    return { id, second: second.id, one, other, commit, jobs };
  };

  describe('the maximum of children per stream', () => {
    test('leaves out further ones, whose blocks a failed search keeps', async () => {
      const { id, one, other, commit, jobs } = await start();
      await commit(other, 1, 2);
      expect(await jobs()).toEqual([]);
      const limited = await commit(one, 1, 2, 3);
      expect(limited).toMatchObject({ outcome: 'committed', children: [childOf(id, 1)] });
      expect(await jobs()).toEqual(['1 failed 101 101']);
      // Children that the stream has already are not left out.
      await commit(one, 1);
      expect(await jobs()).toEqual(['1 failed 101 101']);
      await commit(one, 4);
      expect(await jobs()).toEqual(['1 failed 101 103']);
      await commit(other, 3);
      expect(await jobs()).toEqual(['2 failed 102 102', '1 failed 101 103']);
      expect((await tools.store.readStream(id))?.childCount).toBe(3);
      expect((await tools.store.readCoverage(id)).map((of) => of.childrenMissing)).toEqual([
        [{ from: 101, to: 103 }],
        [{ from: 102, to: 102 }],
      ]);
    });

    test('keeps blocks before those of an earlier search, too', async () => {
      const { one, commit, jobs } = await start();
      await commit(one, 1, 2, 3);
      const ancestor = one.tip();
      await commit(one);
      await commit(one, 4);
      await one.rewind(ancestor);
      await commit(one, 5);
      expect(await jobs()).toEqual(['1 failed 102 102', '1 failed 103 103']);
    });

    test('does not apply to other streams, and ends with room for more', async () => {
      const { id, second, one, commit, jobs } = await start();
      await commit(one, 1, 2, 3, 4);
      const added = await one.commit(one.next(), [], 2, [], 1, undefined, [childOf(second, 4)]);
      expect(added).toMatchObject({ children: [childOf(second, 4)] });
      expect(await jobs(second)).toEqual([]);
      await tools.store.updateStream(id, plain({}), { leftFactories: ['f'] });
      while (await tools.store.cleanUpChildren());
      expect(await commit(one, 5)).toMatchObject({ children: [childOf(id, 5)] });
      const [failed] = await tools.store.listJobs({ streamId: id, limit: 9 });
      await tools.store.setJobState(failed!.id, 'running', '');
      expect(await tools.store.listRunningJobs(one.chain)).toMatchObject([
        { id: failed!.id, isForAll: true },
      ]);
    });

    test('leaves out children of a later reading, whose block is kept, too', async () => {
      const { id, one, commit, jobs } = await start();
      const { store } = tools;
      await commit(one, 1, 2, 3);
      const needs = { logs: true, transactions: false, traces: false };
      await one.commit(one.next(), [], 2, [], 1, {
        codes: ['receipts'],
        witnesses: 1,
        isUncertain: true,
        reading: { needs, records: '', dueInMs: 0 },
      });
      const reading = await store.commitReading({
        block: (await store.nextUncertain(one.chain))!,
        epoch: one.held.epoch,
        matches: [],
        children: [childOf(id, 4)],
        removed: [],
        heights: undefined,
        unverified: undefined,
        next: undefined,
      });
      expect(reading).toEqual({ children: [] });
      expect(await jobs()).toEqual(['1 failed 102 102']);
    });

    test('has searches that wait for the children of those that were left out', async () => {
      const { one } = await start();
      const { store } = tools;
      const factory = { address: address(1), event: 'E(address a)', parameter: 'a' };
      const factories = [factory, { ...factory, address: undefined, childrenOf: 0 }];
      const { id: streamId } = await store.createStream(
        draft([one.chain], { options: { ...DEFAULT_OPTIONS, factories } }),
      );
      const children = [1, 2, 3, 4].map((n) => childOf(streamId, n));
      await one.commit(one.next(), [], 2, [], 1, undefined, children);
      const [{ id } = { id: '' }] = await store.listJobs({ streamId, limit: 1 });
      await store.setJobState(id, 'running', '');
      const search = async (block: number) => {
        const range = { from: block, to: block, children: [] };
        return (await store.commitSearch({ ...one.held, id, ...range }))?.job.state;
      };
      expect(await search(101)).toBe('running');
      await store.extendSearch(id);
      await one.commit(one.next(), []);
      expect(await search(102)).toBe('done');
    });

    test('ends a search at the first block with a further child', async () => {
      const { one } = await start();
      const { store } = tools;
      const factory = { address: address(1), event: 'E(address a)', parameter: 'a', from: 90 };
      const { id: streamId } = await store.createStream(
        draft([one.chain], { options: { ...DEFAULT_OPTIONS, factories: [factory] } }),
      );
      const [{ id } = { id: '' }] = await store.listRunningJobs(one.chain);
      const children = [91, 92, 92, 93, 94].map((blockNumber, n) => ({
        ...childOf(streamId, n),
        blockNumber,
      }));
      const found = await store.commitSearch({ ...one.held, id, from: 90, to: 100, children });
      expect(found).toMatchObject({
        job: { state: 'failed', nextBlock: 93, matches: 3 },
        children: children.slice(0, 3),
      });
      expect(found?.job.message).toContain('has 3 children, the maximum');
      expect((await store.readCoverage(streamId))[0]?.childrenMissing).toEqual([
        { from: 93, to: 100 },
      ]);
    });
  });
}
