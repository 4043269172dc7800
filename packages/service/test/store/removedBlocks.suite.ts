/** Tests that no delivery of a removed block is sent after its removal webhook. */
import { describe, expect, test } from 'vitest';
import { newMatch } from './newMatch.ts';
import type { ClaimedDelivery } from '../../src/store/deliveries/contract.ts';
import { type StoreTools, draft, hashOf } from './storeTools.ts';

export function testRemovedBlocks(tools: StoreTools): void {
  const { startChain, deliveriesOf, claimOf, outcomeOf } = tools;
  const failing = { status: 500, error: 'HTTP 500', retryInMs: 0 } as const;

  const fail = (claimed: ClaimedDelivery, result: 'retry' | 'failed' = 'retry') =>
    tools.store.completeDeliveries([outcomeOf(claimed, { ...failing, result })]);
  const loseLease = () => tools.store.releaseLeases('all');
  const nothing = async (): Promise<void> => {};

  /** Commits a block with one match, and claims its unconfirmed delivery. */
  const claimOne = async (notifyRemoved: boolean) => {
    const chain = await startChain();
    const { id } = await tools.store.createStream(draft([chain.chain], { notifyRemoved }));
    const ancestor = chain.tip();
    const block = chain.next();
    await chain.commit(block, [newMatch(id)]);
    const [claimed] = await claimOf(id);
    return { chain, id, ancestor, block, claimed: claimed! };
  };
  const statesOf = async (id: string): Promise<string[]> =>
    (await deliveriesOf(id)).map((each) => `${each.phase} ${each.state}`).toSorted();

  describe('a delivery of a removed block', () => {
    test.each([
      ['that failed once', fail, nothing],
      ['that lost a lease', loseLease, nothing],
      ['whose attempt fails after the removal', nothing, fail],
      ['that loses its lease after the removal', nothing, loseLease],
    ])('%s is not sent again', async (_, before, after) => {
      for (const notifyRemoved of [true, false]) {
        const { chain, id, ancestor, claimed } = await claimOne(notifyRemoved);
        await before(claimed);
        await chain.rewind(ancestor);
        await after(claimed);
        const removals = notifyRemoved ? ['removed pending'] : [];
        expect(await statesOf(id)).toEqual([...removals, 'unconfirmed cancelled']);
        expect((await claimOf(id)).map(({ phase }) => phase)).toEqual(
          removals.map(() => 'removed'),
        );
      }
    });

    test('keeps its result if it is finished', async () => {
      for (const result of ['succeeded', 'failed'] as const) {
        const { chain, id, ancestor, claimed } = await claimOne(true);
        if (result === 'failed') await fail(claimed, result);
        else await tools.store.completeDeliveries([outcomeOf(claimed)]);
        await chain.rewind(ancestor);
        expect(await statesOf(id)).toEqual(['removed pending', `unconfirmed ${result}`]);
      }
    });

    test('was never sent if it was stopped before its first attempt, so nothing is removed', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain], { notifyRemoved: true }));
      const ancestor = chain.tip();
      await chain.commit(chain.next(), [newMatch(id)]);
      const [waiting] = await deliveriesOf(id);
      await tools.store.stopDelivery(waiting!.id);
      await chain.rewind(ancestor);
      expect(await statesOf(id)).toEqual(['unconfirmed failed']);
    });

    test('continues with its attempts when the block returns', async () => {
      const { chain, id, ancestor, block, claimed } = await claimOne(false);
      await fail(claimed);
      await chain.rewind(ancestor);
      const back = await chain.commit(block, [newMatch(id)]);
      expect(back).toMatchObject({
        deliveries: [{ id: claimed.id, state: 'retrying', attempts: 1 }],
      });
      const [again] = await claimOf(id);
      await tools.store.completeDeliveries([outcomeOf(again!)]);
      expect(await statesOf(id)).toEqual(['unconfirmed succeeded']);
    });

    test('is sent under a new ID when the block returns after its removal webhook', async () => {
      const { chain, id, ancestor, block, claimed } = await claimOne(true);
      await fail(claimed);
      await chain.rewind(ancestor);
      const [removal] = await claimOf(id);
      await tools.store.completeDeliveries([outcomeOf(removal!)]);
      await chain.commit(block, [newMatch(id)]);
      const again = await claimOf(id);
      expect(again).toMatchObject([{ phase: 'unconfirmed', attempts: 0 }]);
      expect(again[0]!.id).not.toBe(claimed.id);
      expect(await statesOf(id)).toEqual([
        'removed succeeded',
        'unconfirmed cancelled',
        'unconfirmed leased',
      ]);
    });

    test('is revoked if its removal webhook was canceled when the block returned', async () => {
      const { chain, id, ancestor, block, claimed } = await claimOne(true);
      await tools.store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      await chain.commit(block, [newMatch(id)]);
      await chain.rewind(ancestor);
      const waiting = await claimOf(id);
      expect(waiting.map(({ phase }) => phase)).toEqual(['removed']);
      await tools.store.completeDeliveries(waiting.map((each) => outcomeOf(each)));
      await chain.commit(block, [newMatch(id)]);
      expect((await claimOf(id)).map(({ phase }) => phase)).toEqual(['unconfirmed']);
    });

    test('is not sent again if it was confirmed after a return, and the chain then restarts', async () => {
      const { chain, id, ancestor, block, claimed } = await claimOne(true);
      const sendAll = async (): Promise<string[]> => {
        const waiting = await claimOf(id);
        await tools.store.completeDeliveries(waiting.map((each) => outcomeOf(each)));
        return waiting.map(({ phase }) => phase).toSorted();
      };
      await tools.store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      expect(await sendAll()).toEqual(['removed']);
      await chain.commit(block, [newMatch(id)], 0);
      expect(await sendAll()).toEqual(['confirmed', 'unconfirmed']);
      const restart = { ...chain.held, block: ancestor, genesisHash: hashOf() };
      expect(await tools.store.startChain({ ...restart, holeFrom: block.number })).toBe(true);
      const again = await chain.commit(block, [newMatch(id)], 0);
      expect(again).toMatchObject({ outcome: 'committed', deliveries: [] });
      expect(await sendAll()).toEqual([]);
    });

    test('is always revoked in tables, whatever notifyRemoved says', async () => {
      const chain = await startChain();
      const webhookUrl = 'postgres://sealed:x@host/db?schema=s';
      const { id } = await tools.store.createStream(
        draft([chain.chain], { webhookUrl, notifyRemoved: false }),
      );
      const ancestor = chain.tip();
      await chain.commit(chain.next(), [newMatch(id)]);
      const [claimed] = await claimOf(id);
      await tools.store.completeDeliveries([outcomeOf(claimed!)]);
      await chain.rewind(ancestor);
      expect(await statesOf(id)).toEqual(['removed pending', 'unconfirmed succeeded']);
    });

    test('is sent under a later ID than the removals of the other branch, if it was never sent', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain], { notifyRemoved: true }));
      const [ancestor, block] = [chain.tip(), chain.next()];
      await chain.commit(block, [newMatch(id)]);
      await chain.rewind(ancestor);
      await chain.commit(chain.next(), [newMatch(id)]);
      const [other] = await claimOf(id);
      await tools.store.completeDeliveries([outcomeOf(other!)]);
      await chain.rewind(ancestor);
      await chain.commit(block, [newMatch(id)]);
      const waiting = await claimOf(id);
      const ids = waiting.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(ids.map(({ phase }) => phase)).toEqual(['removed', 'unconfirmed']);
    });

    test('is found by its transactions, also under its new ID', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain], { notifyRemoved: true }));
      const [ancestor, block, transactionHash] = [chain.tip(), chain.next(), hashOf()];
      await chain.commit(block, [newMatch(id, { transactionHashes: [transactionHash] })]);
      const send = async (): Promise<void> => {
        const claimed = await claimOf(id);
        await tools.store.completeDeliveries(claimed.map((each) => outcomeOf(each)));
      };
      await send();
      await chain.rewind(ancestor);
      await send();
      await chain.commit(block, [newMatch(id, { transactionHashes: [transactionHash] })]);
      await send();
      const filter = { results: ['delivered'], transactionHash, withBody: false } as const;
      const { rows } = await tools.store.listAttempted({ ...filter, limit: 9 });
      expect(rows.map(({ phase }) => phase)).toEqual(['unconfirmed', 'removed', 'unconfirmed']);
    });

    test('is replayed once, without retries', async () => {
      const { chain, id, ancestor, claimed } = await claimOne(false);
      await tools.store.completeDeliveries([outcomeOf(claimed)]);
      await chain.rewind(ancestor);
      await tools.store.replayDelivery(id, claimed.id);
      const [replayed] = await claimOf(id);
      expect(replayed?.id).toBe(claimed.id);
      await fail(replayed!);
      expect(await statesOf(id)).toEqual(['unconfirmed cancelled']);
    });
  });
}
