/** Tests that the ledger's children of factories follow the chain. */
import { describe, expect, test } from 'vitest';
import { unpackAddresses } from '../../src/store/addresses/packedAddresses.ts';
import { plain } from './plain.ts';
import { DEFAULT_OPTIONS } from '../../src/store/streams/contract.ts';
import { type StoreTools, address, draft, hashOf } from './storeTools.ts';

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
      expect(await jobsOf(id)).toEqual(['children 95 110', 'children 90 100']);
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
      expect(await search(90, 95, 1, 2)).toMatchObject({ matches: 2, state: 'running' });
      expect(await search(90, 95, 3)).toBeUndefined();
      expect(await childrenOf(streamId, chain.chain)).toEqual([1, 2]);
      expect(await missing()).toEqual([{ from: 96, to: 100 }]);
      expect(await store.readChildrenMissing(streamId, chain.chain)).toBe(96);
      await commit(chain, [childOf(streamId, 4)]);
      expect(await search(96, 100, 4)).toMatchObject({ state: 'running', nextBlock: 101 });
      const sought = { addresses: [address(4)], upTo: 100 };
      expect(await store.findChildren(chain.chain, sought)).toMatchObject([{ blockNumber: 96 }]);
      // The children may have created others since then.
      await store.extendSearch(id);
      expect(await store.readJob(id)).toMatchObject({ state: 'running', blockTo: 102 });
      await commit(chain, []);
      expect(await search(101, 102)).toMatchObject({ state: 'done' });
      expect(await missing()).toBeUndefined();
    });

    test('are listed and counted by factory, chain, and part of an address or label', async () => {
      const [one, other] = [await startChain(), await startChain()];
      const { id } = await tools.store.createStream(draft([one.chain, other.chain]));
      await commit(one, [childOf(id, 1), childOf(id, 0x2a), childOf(id, 3, 'g')]);
      await commit(other, [childOf(id, 1)]);
      const { store } = tools;
      expect(await store.labelChildren(id, { [address(1)]: 'Pool A', [address(9)]: '' })).toEqual({
        missing: address(9),
      });
      const all = { streamId: id, factories: ['f', 'g', 'h'] };
      const shown = async (filter: object, page: Parameters<typeof store.listChildren>[1]) =>
        (await store.listChildren({ ...all, ...filter }, page)).map(
          ({ chain, factory, address, label }) =>
            `${chain === one.chain ? 1 : 2} ${factory} ${Number(address)} ${label}`,
        );
      expect(await shown({}, { limit: 9 })).toEqual([
        '1 f 1 null',
        '1 f 42 null',
        '1 g 3 null',
        '2 f 1 null',
      ]);
      await store.labelChildren(id, { [address(1)]: 'Pool A', [address(3)]: 'Pool B' });
      await store.labelChildren(id, { [address(3)]: '' });
      expect(await shown({}, { limit: 2 })).toEqual(['1 f 1 Pool A', '1 f 42 null']);
      const after = { chain: one.chain, factory: 'f', address: address(0x2a) };
      expect(await shown({}, { limit: 9, after })).toEqual(['1 g 3 null', '2 f 1 Pool A']);
      for (const [filter, expected] of [
        [{}, 4],
        [{ factories: ['g'] }, 1],
        [{ chain: other.chain }, 1],
        [{ find: 'pool' }, 2],
        [{ find: '0x…2a' }, 1],
      ] as const) {
        expect(await shown(filter, { limit: 9 })).toHaveLength(expected);
        expect(await store.countChildren({ ...all, ...filter })).toBe(expected);
      }
      expect(
        (await store.listParents(address(3))).filter(({ streamId }) => streamId === id),
      ).toEqual([{ ...childOf(id, 3, 'g'), chain: one.chain, blockNumber: 101, label: null }]);
      expect(await store.listLabels(id, [address(1), address(3)])).toEqual({
        [address(1)]: 'Pool A',
      });
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
