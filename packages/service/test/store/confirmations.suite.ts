/** Tests when matches are confirmed: by the confirmations of their chain, or of their stream. */
import { movedBy } from '../../src/store/live/movedBy.test-only.ts';
import type { Confirmations, DeliverMode, DeliverySummary } from '@sluice/kit/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newMatch } from './newMatch.ts';
import type { BlockCommit, BlockHeader } from '../../src/store/blocks/contract.ts';
import type { EvmStreamDraft } from '../../src/store/streams/contract.ts';
import { type StoreTools, draft, hashOf } from './storeTools.ts';

type Tagged = NonNullable<BlockCommit['tagged']>;

/** Confirmations of the chain in these tests. */
const OF_CHAIN = 3;

export function testConfirmations(tools: StoreTools): void {
  /** Starts a chain whose blocks match all of its streams. */
  const start = async () => {
    const { store } = tools;
    const { chain, held, tip: first } = await tools.startChain();
    let blocks: BlockHeader[] = [first()];
    const streams: string[] = [];
    const deliverOf = new Map<string, DeliverMode>();
    const commitOf = async (block: BlockHeader, tagged: Tagged, ids: readonly string[]) => {
      const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
      const { result, moved } = await movedBy(store, () =>
        store.commitBlock({
          ...held,
          block,
          ruleRevision: revision,
          confirmUpTo: block.number - OF_CHAIN,
          tagged,
          windowBlocks: 256,
          matches: ids.map((id) => newMatch(id, { deliver: deliverOf.get(id)! })),
        }),
      );
      if (result.outcome !== 'committed') throw new Error(result.outcome);
      blocks = [block, ...blocks];
      return moved;
    };
    return {
      chain,
      held,
      tip: () => blocks[0]!,
      async stream(confirmations: Confirmations | null, changes: Partial<EvmStreamDraft> = {}) {
        const { id } = await store.createStream(draft([chain], { ...changes, confirmations }));
        streams.push(id);
        deliverOf.set(id, changes.deliver ?? 'both');
        return id;
      },
      /** Commits a block, by default the next one, that matches these streams. */
      commit: (
        tagged: Tagged = {},
        ids: readonly string[] = streams,
        block: BlockHeader = {
          number: blocks[0]!.number + 1,
          hash: hashOf(),
          parentHash: blocks[0]!.hash,
          timestamp: blocks[0]!.timestamp + 12,
        },
      ) => commitOf(block, tagged, ids),
      async rewind(depth: number) {
        blocks = blocks.slice(depth);
        return (await store.rewindChain({ ...held, ancestor: blocks[0]! }))!;
      },
      edit: (id: string, confirmations: Confirmations | null) =>
        store.updateStream(id, { confirmations }),
    };
  };
  const confirmedBy = (deliveries: readonly DeliverySummary[]) =>
    deliveries
      .filter(({ phase }) => phase === 'confirmed')
      .map(({ streamId, blockNumber }) => `${streamId} ${blockNumber}`)
      .toSorted();
  const phasesOf = async (id: string) =>
    (await tools.deliveriesOf(id)).map(({ phase, state }) => `${phase} ${state}`).toSorted();

  describe('the confirmations of a stream', () => {
    test('are stored, changed and removed', async () => {
      const { store } = tools;
      const { stream, edit } = await start();
      for (const given of [null, 'latest', 'safe', 'finalized', 0, 8_192] as const) {
        const id = await stream(given);
        expect((await store.readStream(id))?.confirmations).toBe(given);
        expect((await edit(id, 'safe'))?.confirmations).toBe('safe');
        expect((await edit(id, null))?.confirmations).toBeNull();
      }
    });

    test('confirm each match when its blocks have followed, or its tagged block is reached', async () => {
      const { stream, commit, tip } = await start();
      const [ofChain, two, five, safe, final] = [
        await stream(null),
        await stream(2),
        await stream(5),
        await stream('safe'),
        await stream('finalized'),
      ];
      await commit();
      const { number } = tip();
      const at = [];
      for (const tagged of [{}, { safe: number - 1 }, {}, {}, { safe: number }, {}]) {
        at.push(confirmedBy(await commit(tagged, [])));
      }
      at.push(confirmedBy(await commit({ safe: number + 5, finalized: number }, [])));
      const expected = [[], [two], [ofChain], [], [five, safe], [], [final]];
      expect(at).toEqual(expected.map((ids) => ids.map((id) => `${id} ${number}`).toSorted()));
    });

    test('of latest or 0 confirm the match with its own block', async () => {
      const { stream, commit } = await start();
      const [latest, zero, one] = [await stream('latest'), await stream(0), await stream(1)];
      const deliveries = await commit();
      expect(confirmedBy(deliveries)).toHaveLength(2);
      expect(confirmedBy(deliveries).join()).toContain(latest);
      expect(confirmedBy(deliveries).join()).toContain(zero);
      expect(await phasesOf(one)).toEqual(['unconfirmed pending']);
    });

    test('apply to waiting matches when they change', async () => {
      const { stream, commit, edit } = await start();
      const [a, b] = [await stream('finalized'), await stream('finalized')];
      await commit();
      for (let n = 0; n < 4; n++) expect(confirmedBy(await commit({}, []))).toEqual([]);
      await edit(a, 4);
      expect(confirmedBy(await commit({}, []))).toEqual([expect.stringContaining(a)]);
      await edit(b, null);
      expect(confirmedBy(await commit({}, []))).toEqual([expect.stringContaining(b)]);
      await edit(a, 'finalized');
      expect(confirmedBy(await commit({ finalized: 1_000 }, []))).toEqual([]);
    });

    test('of a deleted stream do not keep its matches waiting', async () => {
      const { store } = tools;
      const { chain, stream, commit } = await start();
      const id = await stream('safe');
      await commit();
      expect(await store.listAwaitedTags(chain)).toEqual(['safe']);
      await store.deleteStream(id);
      expect(await store.listAwaitedTags(chain)).toEqual([]);
    });

    test('apply to each match that a later reading adds', async () => {
      const { store } = tools;
      const { held, stream, commit, tip } = await start();
      const [ofChain, one, safe] = [await stream(null), await stream(1), await stream('safe')];
      await commit({}, []);
      const block = { ...tip(), number: tip().number + 1, hash: hashOf(), parentHash: tip().hash };
      const unverified = {
        codes: ['receipts'],
        witnesses: 1,
        isUncertain: true,
        reading: {
          needs: { logs: true, transactions: false, traces: false },
          records: '',
          dueInMs: 0,
        },
      } as const;
      const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
      await store.commitBlock({
        ...held,
        block,
        ruleRevision: revision,
        confirmUpTo: 0,
        windowBlocks: 256,
        matches: [],
        unverified,
      });
      await store.commitReading({
        block: (await store.nextUncertain(held.chain))!,
        epoch: held.epoch,
        matches: [ofChain, one, safe].map((id) => newMatch(id)),
        removed: [],
        heights: {
          chain: block.number - 2,
          latest: block.number + 1,
          depth: block.number + 1,
          safe: block.number - 1,
          finalized: -1,
        },
        unverified: undefined,
        next: undefined,
      });
      expect(await phasesOf(ofChain)).toEqual(['unconfirmed pending']);
      expect(await phasesOf(one)).toEqual(['confirmed pending']);
      expect(await phasesOf(safe)).toEqual(['unconfirmed pending']);
    });
  });

  describe('the tags that a chain waits for', () => {
    test('are those of unconfirmed matches and running backfills', async () => {
      const { store } = tools;
      const { chain, stream, commit, edit, tip, rewind } = await start();
      const other = await start();
      const id = await stream('safe');
      expect(await store.listAwaitedTags(chain)).toEqual([]);
      await commit();
      expect(await store.listAwaitedTags(chain)).toEqual(['safe']);
      expect(await store.listAwaitedTags(other.chain)).toEqual([]);
      await edit(id, 'finalized');
      expect(await store.listAwaitedTags(chain)).toEqual(['finalized']);
      await commit({ finalized: tip().number }, []);
      expect(await store.listAwaitedTags(chain)).toEqual([]);
      await commit();
      await rewind(1);
      expect(await store.listAwaitedTags(chain)).toEqual([]);
      const job = await store.createJob({ streamId: id, chain, blockFrom: 1, blockTo: 2 });
      expect(await store.listAwaitedTags(chain)).toEqual(['finalized']);
      await store.setJobState(job!.id, 'cancelled', '');
      expect(await store.listAwaitedTags(chain)).toEqual([]);
    });
  });

  describe('a confirmed block that leaves the chain', () => {
    const send = async (id: string) => {
      const claimed = await tools.claimOf(id);
      await tools.store.completeDeliveries(claimed.map((each) => tools.outcomeOf(each)));
    };

    test('has one removal webhook, and is confirmed again when it returns', async () => {
      const { stream, commit, rewind, tip } = await start();
      const id = await stream('latest', { deliver: 'confirmed', notifyRemoved: true });
      await commit();
      await send(id);
      const block = tip();
      await rewind(1);
      expect(await phasesOf(id)).toEqual(['confirmed succeeded', 'removed pending']);
      await send(id);
      await commit({}, [], undefined);
      await rewind(1);
      await commit({}, [id], block);
      expect(await phasesOf(id)).toEqual([
        'confirmed pending',
        'confirmed succeeded',
        'removed succeeded',
      ]);
    });

    test('returns with the confirmations that its stream has then', async () => {
      const { stream, commit, rewind, tip, edit } = await start();
      const [kept, announced] = [
        await stream('safe'),
        await stream('safe', { notifyRemoved: true }),
      ];
      await commit();
      await send(announced);
      const block = tip();
      await rewind(1);
      await send(announced);
      for (const id of [kept, announced]) await edit(id, 'latest');
      const returned = await commit({}, [kept, announced], block);
      expect(confirmedBy(returned)).toHaveLength(2);
      expect(await phasesOf(announced)).toEqual([
        'confirmed pending',
        'removed succeeded',
        'unconfirmed succeeded',
      ]);
    });
  });

  test('any stream confirms each match once, when its condition first holds', async () => {
    const wish = fc.oneof(
      fc.constantFrom<Confirmations | null>(null, 'latest', 'safe', 'finalized'),
      fc.integer({ min: 0, max: 6 }),
    );
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          kind: fc.constant('block' as const),
          matching: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
          /** Distances of the tagged blocks from the block; undefined if there are none. */
          safe: fc.option(fc.nat(6), { nil: undefined }),
          finalized: fc.option(fc.nat(10), { nil: undefined }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('reorg' as const),
          depth: fc.integer({ min: 1, max: 4 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('edit' as const),
          stream: fc.integer({ min: 0, max: 3 }),
          wish,
        }),
      },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(wish, wish, wish, wish),
        fc.array(step, { minLength: 5, maxLength: 30 }),
        async (wishes, steps) => {
          const world = await start();
          const base = world.tip().number;
          const ids: string[] = [];
          for (const each of wishes) ids.push(await world.stream(each));
          const wants = new Map(ids.map((id, n) => [id, wishes[n] ?? OF_CHAIN]));
          let waiting: { id: string; number: number }[] = [];
          for (const each of steps) {
            if (each.kind === 'edit') {
              await world.edit(ids[each.stream]!, each.wish);
              wants.set(ids[each.stream]!, each.wish ?? OF_CHAIN);
            } else if (each.kind === 'reorg') {
              const depth = Math.min(each.depth, world.tip().number - base);
              if (depth === 0) continue;
              await world.rewind(depth);
              waiting = waiting.filter(({ number }) => number <= world.tip().number);
            } else {
              const number = world.tip().number + 1;
              const tagged = {
                safe: each.safe === undefined ? -1 : number - each.safe,
                finalized: each.finalized === undefined ? -1 : number - each.finalized,
              };
              const matching = [...new Set(each.matching)].map((n) => ids[n]!);
              waiting.push(...matching.map((id) => ({ id, number })));
              const isDue = (match: (typeof waiting)[number]): boolean => {
                const want = wants.get(match.id)!;
                if (want === 'latest') return true;
                if (typeof want === 'number') return number - match.number >= want;
                return match.number <= tagged[want];
              };
              const due = waiting.filter(isDue);
              waiting = waiting.filter((match) => !isDue(match));
              const deliveries = await world.commit(tagged, matching);
              expect(confirmedBy(deliveries)).toEqual(
                due.map((match) => `${match.id} ${match.number}`).toSorted(),
              );
            }
          }
        },
      ),
      { numRuns: 25 },
    );
  });
}
