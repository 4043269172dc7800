/** Tests the leases of deliveries and of chains, and the processes that read chains. */
import { describe, expect, test } from 'vitest';
import { newMatch } from './newMatch.ts';
import { DEFAULT_OPTIONS } from '../../src/store/streams/contract.ts';
import { type StoreTools, address, hashOf, newChain, draft } from './storeTools.ts';

export function testLeases(tools: StoreTools): void {
  const { startChain, deliveriesOf, claimOf, outcomeOf } = tools;

  describe('leases of deliveries', () => {
    test('can be extended only while they are held', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)], 1000);
      const [held] = await claimOf(id);
      await tools.store.extendLeases([held!], 0);
      expect(await tools.store.extendLeases([held!], 60_000)).toEqual([held!.id]);
      expect(await tools.store.extendLeases([{ ...held!, leaseToken: 'another' }], 0)).toEqual([]);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await tools.store.releaseLeases('expired');
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['leased']);

      await tools.store.extendLeases([held!], 0);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await tools.store.releaseLeases('expired');
      expect(await tools.store.extendLeases([held!], 60_000)).toEqual([]);
      expect(await tools.store.completeDeliveries([outcomeOf(held!)])).toEqual([]);
      expect((await deliveriesOf(id)).map(({ state }) => state)).toEqual(['pending']);
      const [again] = await claimOf(id);
      expect(await tools.store.completeDeliveries([outcomeOf(again!)])).toHaveLength(1);
    });
  });

  describe('leases', () => {
    const take = (name: string, forMs: number, force?: boolean) =>
      tools.store.takeLease({ name, holder: 'one', forMs, force });
    const renew = async (name: string, epoch: number) =>
      (await tools.store.renewLeases([{ name, epoch, report: null }], 60_000)).includes(name);
    const join = (id: string, chains: string[], forMs: number) =>
      tools.store.joinReaders({ id, chains, forMs });
    const isFree = async (name: string) =>
      (await tools.store.listLeases()).find((lease) => lease.name === name)!.freeForMs > 0;

    test('are held by one process until they expire or are released, with rising epochs', async () => {
      const name = newChain();
      const takes = await Promise.all(Array.from({ length: 8 }, () => take(name, 60_000)));
      expect(takes.filter((epoch) => epoch !== undefined)).toEqual([1]);
      expect(await isFree(name)).toBe(false);
      await tools.store.giveUpLease({ name, epoch: 1 });
      expect(await take(name, 500)).toBe(2);
      // A former holder cannot release a lease that another process has taken.
      await tools.store.giveUpLease({ name, epoch: 1 });
      expect(await take(name, 500)).toBeUndefined();
      await expect.poll(() => isFree(name), { timeout: 10_000 }).toBe(true);
      expect(await take(name, 60_000)).toBe(3);
      expect(await renew(name, 2)).toBe(false);
      expect(await renew(name, 3)).toBe(true);
      expect(await take(name, 60_000, true)).toBe(4);
      expect(await renew(name, 3)).toBe(false);
    });

    test('can be renewed after they expire, unless they were taken', async () => {
      const name = newChain();
      await take(name, 0);
      expect(await renew(name, 1)).toBe(true);
      expect(await take(name, 60_000)).toBeUndefined();
    });

    test('are renewed together, except those that another process has taken', async () => {
      const names = [newChain(), newChain(), newChain()];
      for (const name of names) await take(name, 0);
      await take(names[1]!, 0, true);
      const renewed = await tools.store.renewLeases(
        names.map((name) => ({ name, epoch: 1, report: null })),
        60_000,
      );
      expect(new Set(renewed)).toEqual(new Set([names[0], names[2]]));
      expect(await Promise.all(names.map(isFree))).toEqual([false, true, false]);
    });

    test('all end at once when their holders are gone, and so do readers', async () => {
      const names = [newChain(), newChain()];
      for (const name of names) await take(name, 60_000);
      await join('gone', names, 60_000);
      await tools.store.endLeases();
      for (const name of names) expect(await take(name, 60_000)).toBe(2);
      expect((await tools.store.readSharing()).readers).toEqual([]);
    });

    test('of readers end when they leave or fall silent', async () => {
      const readReaders = async () =>
        (await tools.store.readSharing()).readers.map(({ id, chains }) => [id, chains]);
      await tools.store.endLeases();
      await join('a', ['0x1'], 60_000);
      await join('b', ['0x1'], 60_000);
      await join('b', ['0x1', '0x2'], 60_000);
      expect(await readReaders()).toEqual([
        ['a', ['0x1']],
        ['b', ['0x1', '0x2']],
      ]);
      await tools.store.leaveReaders('a');
      await join('c', ['0x1'], -1);
      expect(await readReaders()).toEqual([['b', ['0x1', '0x2']]]);
    });

    test('of readers begin again after an interruption', async () => {
      const readAge = async () => (await tools.store.readSharing()).readers[0]!.joinedForMs;
      await tools.store.endLeases();
      await join('a', [], 60_000);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await join('a', [], -1);
      // Expired readers are not listed, and those that expired long ago are deleted.
      await join('gone', [], -120_000);
      expect(await readAge().catch(() => 'none')).toBe('none');
      const since = Date.now();
      await join('a', [], 60_000);
      expect(await readAge()).toBeLessThanOrEqual(Date.now() - since + 1);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await join('a', [], 60_000);
      expect(await readAge()).toBeGreaterThanOrEqual(100);
    });

    test('list the holders of held leases', async () => {
      const [held, free] = [newChain(), newChain()];
      await take(held, 60_000);
      await take(free, -1);
      const { holders } = await tools.store.readSharing();
      expect([holders.get(held), holders.get(free)]).toEqual(['one', undefined]);
    });

    test('of a chain reject writes of an earlier holder', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const waiting = newMatch(id, { enrichment: '{}' });
      const block = chain.next();
      await chain.commit(block, [waiting]);
      const job = await tools.store.createJob({
        streamId: id,
        chain: chain.chain,
        blockFrom: 5,
        blockTo: 9,
      });
      const factory = { address: address(1), event: 'E(address a)', parameter: 'a', from: 90 };
      const parent = await tools.store.createStream(
        draft([chain.chain], { options: { ...DEFAULT_OPTIONS, factories: [factory] } }),
      );
      const [search] = await tools.store.listJobs({ streamId: parent.id, limit: 1 });
      await take(chain.chain, 60_000, true);

      const read = async () =>
        JSON.stringify([
          await deliveriesOf(id),
          await tools.store.readJob(job!.id),
          await tools.store.readJob(search!.id),
        ]);
      const before = await read();
      expect(await chain.commit(chain.next(), [newMatch(id)])).toEqual({ outcome: 'lost-lease' });
      expect(await chain.rewind(chain.next())).toEqual([]);
      const other = { ...block, hash: hashOf() };
      expect(
        await tools.store.startChain({ ...chain.held, block: other, genesisHash: hashOf() }),
      ).toBe(false);
      const past = { ...block, number: 5 };
      expect(
        await tools.store.commitJob({
          ...chain.held,
          id: job!.id,
          from: 5,
          to: 5,
          blocks: [{ block: past, matches: [newMatch(id)] }],
        }),
      ).toBeUndefined();
      expect(
        await tools.store.commitSearch({
          ...chain.held,
          id: search!.id,
          from: 90,
          to: 90,
          children: [],
        }),
      ).toBeUndefined();
      const [match] = await tools.store.listEnriching({
        chain: chain.chain,
        limit: 1,
        perStream: 1,
        notStreams: [],
        notMatches: [],
      });
      await tools.store.completeEnrichments({
        ...chain.held,
        completed: [{ matchId: match!.id, bodyTail: ',"logs":[]}', about: '' }],
      });
      expect(await read()).toBe(before);
      expect(await tools.store.readCheckpoint(chain.chain)).toMatchObject({
        number: block.number,
        hash: block.hash,
      });
    });
  });
}
