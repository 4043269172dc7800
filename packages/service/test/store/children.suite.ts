/** Tests that the ledger's children of factories follow the chain. */
import { describe, expect, test } from 'vitest';
import { unpackAddresses } from '../../src/store/addresses/packedAddresses.ts';
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

    test('of deleted streams are deleted, and no more are added', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await commit(chain, [childOf(id, 1)]);
      await tools.store.deleteStream(id);
      await commit(chain, [childOf(id, 2)]);
      expect(await childrenOf(id, chain.chain)).toEqual([1]);
      while (await tools.store.deleteLeftChildren());
      expect(await childrenOf(id, chain.chain)).toEqual([]);
    });
  });
}
