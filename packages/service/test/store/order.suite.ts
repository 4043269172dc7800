/** Tests the order of a stream with `strictOrder`, through reorgs and clocks. */
import { describe, expect, test } from 'vitest';
import { newMatch } from './newMatch.ts';
import { DEFAULT_LIMITS } from '../../src/store/streams/contract.ts';
import type { Store } from '../../src/store/store.ts';
import { draft, useStore } from './storeTools.ts';

export function testOrder(
  open: () => Promise<{ store: Store; execute(statement: string): Promise<void> }>,
): void {
  describe('a strict order', () => {
    let execute: (statement: string) => Promise<void>;
    const tools = useStore(async () => {
      const opened = await open();
      execute = (statement) => opened.execute(statement);
      return opened.store;
    });
    const { startChain, claimOf, outcomeOf } = tools;

    const start = async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(
        draft([chain.chain], {
          notifyRemoved: true,
          limits: { ...DEFAULT_LIMITS, strictOrder: true },
        }),
      );
      return { chain, id };
    };
    /** Sends the waiting deliveries one by one, and returns their phases and bodies in order. */
    const sendAll = async (streamId: string, most = Infinity): Promise<string[]> => {
      const sent: string[] = [];
      while (sent.length < most) {
        const [claimed, ...more] = await claimOf(streamId);
        expect(more).toEqual([]);
        if (claimed === undefined) break;
        const { matchId } = (await tools.store.readDelivery(claimed.id))!;
        sent.push(`${claimed.phase} ${nameOf.get(matchId) ?? matchId}`);
        await tools.store.completeDeliveries([outcomeOf(claimed)]);
      }
      return sent;
    };
    const nameOf = new Map<string, string>();
    const commit = async (
      { chain, id }: Awaited<ReturnType<typeof start>>,
      block: ReturnType<typeof chain.next>,
      name: string,
    ): Promise<void> => {
      await chain.commit(block, [newMatch(id)], 1_000);
      const { rows } = await tools.store.listDeliveries({ limit: 100, streamId: id });
      for (const { matchId } of rows) if (!nameOf.has(matchId)) nameOf.set(matchId, name);
    };

    test('follows a chain that goes A, B, A, also for blocks that were not sent before', async () => {
      const world = await start();
      const { chain, id } = world;
      const ancestor = chain.tip();
      const [a1, b1] = [chain.next(), chain.next()];
      await commit(world, a1, 'A1');
      const a2 = chain.next();
      await commit(world, a2, 'A2');
      // Only A1 is sent before the reorg.
      expect(await sendAll(id, 1)).toEqual(['unconfirmed A1']);
      await chain.rewind(ancestor);
      await commit(world, b1, 'B1');
      expect(await sendAll(id)).toEqual(['removed A1', 'unconfirmed B1']);
      await chain.rewind(ancestor);
      await commit(world, a1, "A1'");
      await commit(world, a2, 'A2');
      expect(await sendAll(id)).toEqual(['removed B1', "unconfirmed A1'", 'unconfirmed A2']);
    });

    test('sends no suspect before an earlier delivery that is unfinished', async () => {
      const { chain, id } = await start();
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), [newMatch(id)], 1_000);
      const [later, earlier] = await tools.deliveriesOf(id);
      await tools.store.stopDelivery(earlier!.id);
      for (let n = 0; n < 2; n++) {
        expect(await claimOf(id)).toMatchObject([{ id: later!.id }]);
        await tools.store.releaseLeases('all');
      }
      await execute(`update match set enrichment = '{}' where id = '${earlier!.matchId}'`);
      await tools.store.replayDelivery(id, earlier!.id);
      expect((await tools.deliveriesOf(id)).at(-1)?.state).toBe('enriching');
      const claimSuspects = async (): Promise<string[]> => {
        const suspect = await tools.store.claimSuspect({ leaseMs: 40_000, notStreams: [] });
        return suspect === undefined ? [] : [suspect.id, ...(await claimSuspects())];
      };
      expect(await claimSuspects()).not.toContain(later!.id);
      for (const state of ['held', 'pending', 'leased']) {
        await execute(`update delivery set state = '${state}' where id = '${earlier!.id}'`);
        expect(await claimSuspects()).not.toContain(later!.id);
      }
      await execute(`update delivery set state = 'failed' where id = '${earlier!.id}'`);
      expect(await claimSuspects()).toContain(later!.id);
    });

    test('continues after deliveries of a process whose clock was ahead', async () => {
      const world = await start();
      const { chain, id } = world;
      await commit(world, chain.next(), 'first');
      // The ID of another process, whose clock is ahead.
      const ahead = Date.now() + 2_000;
      const prefix = ahead.toString(16).padStart(12, '0');
      const future = `${prefix.slice(0, 8)}-${prefix.slice(8)}-7fff-8000-000000000000`;
      await execute(`update delivery set id = '${future}' where stream_id = '${id}'`);
      const epoch = await tools.store.takeLease({
        name: chain.chain,
        holder: 'another',
        forMs: 60_000,
        force: true,
      });
      const block = chain.next();
      const { revision } = await tools.store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
      await tools.store.commitBlock({
        chain: chain.chain,
        epoch: epoch!,
        block,
        ruleRevision: revision,
        confirmUpTo: 0,
        windowBlocks: 256,
        matches: [newMatch(id)],
      });
      const { rows } = await tools.store.listDeliveries({ limit: 100, streamId: id });
      for (const { matchId } of rows) if (!nameOf.has(matchId)) nameOf.set(matchId, 'second');
      expect(await sendAll(id)).toEqual(['unconfirmed first', 'unconfirmed second']);
    });
  });
}
