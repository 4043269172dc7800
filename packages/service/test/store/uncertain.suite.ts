/** Tests uncertain blocks, and the commits of their later readings. */
import { movedBy } from '../../src/store/live/movedBy.test-only.ts';
import { describe, expect, test } from 'vitest';
import { newMatch } from './newMatch.ts';
import type { BlockHeader, NewMatch, Unverified } from '../../src/store/blocks/contract.ts';
import type { LaterReading, UncertainBlock } from '../../src/store/uncertain/contract.ts';
import type { EvmStreamDraft } from '../../src/store/streams/contract.ts';
import { type StoreTools, draft } from './storeTools.ts';

const NEEDS = { logs: true, transactions: false, traces: false };
const uncertain = (dueInMs = 0, records = 'a b'): Unverified => ({
  codes: ['receipts'],
  witnesses: 1,
  isUncertain: true,
  reading: { needs: NEEDS, records, dueInMs },
});
/** Everything is confirmed. */
const CONFIRMED = { chain: 1e9, latest: 1e9, depth: 1e9, safe: 1e9, finalized: 1e9 };
const AGAIN = { records: 'a b c', dueInMs: 0 };

export function testUncertain(tools: StoreTools): void {
  const { deliveriesOf, claimOf, outcomeOf } = tools;

  const start = async (changes: Partial<EvmStreamDraft> = {}) => {
    const chain = await tools.startChain();
    const { id } = await tools.store.createStream(draft([chain.chain], changes));
    const { store } = tools;
    return {
      chain,
      id,
      /** Commits a block; an uncertain one by default. */
      async commit(
        matches: NewMatch[],
        unverified: Unverified | undefined = uncertain(),
        block: BlockHeader = chain.next(),
      ) {
        await chain.commit(block, matches, 2, [], 1, unverified);
        return block;
      },
      due: () => store.nextUncertain(chain.chain),
      dueNow: async () => (await store.nextUncertain(chain.chain))!,
      reread: (block: UncertainBlock, result: Partial<LaterReading> = {}) =>
        store.commitReading({
          block,
          epoch: chain.held.epoch,
          matches: [],
          removed: [],
          heights: undefined,
          unverified: uncertain(),
          next: AGAIN,
          ...result,
        }),
      marks: async () =>
        (await store.readCoverage(id))[0]!.unverified.map(({ from, to }) => [from, to]),
      count: async () => (await store.countUncertain())[chain.chain] ?? 0,
    };
  };
  const listed = async (id: string): Promise<string[]> =>
    (await deliveriesOf(id)).map(({ phase, state }) => `${phase} ${state}`).toSorted();
  const send = async (id: string): Promise<void> => {
    const claimed = await claimOf(id);
    await tools.store.completeDeliveries(claimed.map((each) => outcomeOf(each)));
  };

  describe('an uncertain block', () => {
    test('is due by the schedule that it was committed with', async () => {
      const { chain, commit, due, count } = await start();
      await commit([], uncertain(3_600_000));
      expect(await due()).toBeUndefined();
      expect(await count()).toBe(1);
      const block = await commit([], uncertain(0));
      expect(await due()).toMatchObject({
        chain: chain.chain,
        jobId: null,
        streamId: null,
        step: 0,
        codes: 'receipts',
        needs: NEEDS,
        records: 'a b',
        header: block,
      });
    });

    test('is not read again if no check failed', async () => {
      const { commit, count } = await start();
      await commit([], { codes: ['bloom'], witnesses: 1, isUncertain: false });
      expect(await count()).toBe(0);
    });

    test('is read again step by step, each of which commits once', async () => {
      const { id, commit, dueNow, due, reread, count } = await start();
      await commit([]);
      const first = await dueNow();
      expect(await reread(first, { matches: [newMatch(id)] })).toEqual({ children: [] });
      expect(await reread(first, { matches: [newMatch(id)] })).toBeUndefined();
      const second = await dueNow();
      expect(second).toMatchObject({ step: 1, records: 'a b c' });
      expect(await reread(second, { matches: [newMatch(id)], next: undefined })).toEqual({
        children: [],
      });
      expect(await due()).toBeUndefined();
      expect(await count()).toBe(0);
      expect(await listed(id)).toEqual(['unconfirmed pending', 'unconfirmed pending']);
    });

    test('keeps its step if the reading is postponed', async () => {
      const { commit, dueNow, due } = await start();
      await commit([]);
      await tools.store.postponeReading(await dueNow(), 3_600_000);
      expect(await due()).toBeUndefined();
      await commit([]);
      const other = await dueNow();
      await tools.store.postponeReading(other, -1);
      expect(await dueNow()).toMatchObject({ step: 0, header: other.header });
    });

    test('is not changed by a process without the lease', async () => {
      const { commit, dueNow, reread } = await start();
      await commit([]);
      expect(await reread(await dueNow(), { epoch: -1 })).toBeUndefined();
      expect(await dueNow()).toMatchObject({ step: 0 });
    });

    test('loses its mark alone once a reading passes, and keeps it otherwise', async () => {
      const { commit, dueNow, reread, marks } = await start();
      await commit([]);
      await commit([]);
      await commit([]);
      const first = await dueNow();
      expect(await marks()).toEqual([[101, 103]]);
      await reread(first, { next: undefined });
      expect(await marks()).toEqual([
        [101, 101],
        [102, 103],
      ]);
      const { header, ...rest } = await dueNow();
      expect(header.number).toBe(102);
      await reread({ header, ...rest }, { unverified: undefined, next: undefined });
      expect(await marks()).toEqual([
        [101, 101],
        [103, 103],
      ]);
    });

    test('that is confirmed gets only confirmed deliveries', async () => {
      const { id, commit, dueNow, reread } = await start();
      await commit([]);
      await reread(await dueNow(), { matches: [newMatch(id)], heights: CONFIRMED });
      expect(await listed(id)).toEqual(['confirmed pending']);
    });

    test('that is confirmed later gets both', async () => {
      const { id, chain, commit, dueNow, reread } = await start();
      await commit([]);
      await reread(await dueNow(), { matches: [newMatch(id)] });
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      expect(await listed(id)).toEqual(['confirmed pending', 'unconfirmed pending']);
    });
  });

  test.each([
    ['a second witness confirms it', { ...uncertain(), witnesses: 2 }, 'pending'],
    ['it passes its checks', undefined, 'pending'],
    ['it stays uncertain', uncertain(), 'held'],
  ])('held deliveries of an uncertain block after a reading: %s', async (_, unverified, state) => {
    const { id, commit, dueNow, reread } = await start({ unverified: 'hold' });
    await commit([newMatch(id)]);
    expect(await listed(id)).toEqual(['unconfirmed held']);
    await reread(await dueNow(), { unverified });
    expect(await listed(id)).toEqual([`unconfirmed ${state}`]);
  });

  describe('matches whose records vanished', () => {
    test('are removed and replaced, and stay removed if the block returns', async () => {
      const { id, chain, commit, dueNow, reread } = await start({ notifyRemoved: true });
      const block = await commit([newMatch(id)]);
      await send(id);
      const found = await dueNow();
      const matches = await tools.store.listUncertainMatches(found);
      expect(matches).toMatchObject([{ streamId: id, notifyRemoved: true }]);
      const removed = matches.map((match) => match.id);
      const { moved } = await movedBy(tools.store, () =>
        reread(found, { removed, matches: [newMatch(id)] }),
      );
      expect(moved.map(({ phase }) => phase)).toEqual(['removed', 'unconfirmed']);
      expect(await tools.store.listUncertainMatches(await dueNow())).toHaveLength(1);
      await send(id);
      await chain.rewind({ ...block, number: 100, hash: block.parentHash });
      await send(id);
      await chain.commit(block, [newMatch(id)], 2, [], 1, uncertain());
      await send(id);
      expect(await listed(id)).toEqual([
        'removed succeeded',
        'removed succeeded',
        'unconfirmed succeeded',
        'unconfirmed succeeded',
        'unconfirmed succeeded',
      ]);
    });

    test('are listed without those of deleted streams and backfills', async () => {
      const { id, chain, commit, dueNow } = await start();
      const block = await commit([newMatch(id)]);
      const at = { chain: chain.chain, block, isConfirmed: false, matches: [newMatch(id)] };
      await tools.store.commitManual({ ...at, requestId: 'r' });
      expect(await tools.store.listUncertainMatches(await dueNow())).toHaveLength(1);
      await tools.store.deleteStream(id);
      expect(await tools.store.listUncertainMatches(await dueNow())).toEqual([]);
    });
  });

  describe('a block that leaves the chain', () => {
    test('is not read again, and a reading in progress is dropped', async () => {
      const { id, chain, commit, dueNow, due, reread, count } = await start();
      const block = await commit([]);
      const found = await dueNow();
      await chain.rewind({ ...block, number: 100, hash: block.parentHash });
      expect(await reread(found, { matches: [newMatch(id)] })).toBeUndefined();
      expect(await due()).toBeUndefined();
      expect(await count()).toBe(0);
      expect(await listed(id)).toEqual([]);
    });

    test.each([
      ['uncertain', uncertain()],
      ['certain', undefined],
    ])('and returns is read again at once if it is %s, with its records', async (_, unverified) => {
      const { id, chain, commit, dueNow, reread } = await start();
      const block = await commit([]);
      const next = { ...AGAIN, dueInMs: 3_600_000 };
      await reread(await dueNow(), { matches: [newMatch(id)], next });
      await chain.rewind({ ...block, number: 100, hash: block.parentHash });
      expect(await listed(id)).toEqual(['unconfirmed cancelled']);
      await chain.commit(block, [newMatch(id)], 2, [], 1, unverified);
      expect(await listed(id)).toEqual(['unconfirmed pending']);
      expect(await dueNow()).toMatchObject({ step: 1, records: 'a b c' });
    });

    test('with a restart of the chain is forgotten', async () => {
      const { chain, commit, count } = await start();
      const block = await commit([]);
      await tools.store.startChain({ ...chain.held, block, genesisHash: block.hash });
      expect(await count()).toBe(0);
    });
  });

  describe('the streams of an uncertain block', () => {
    test('are those that were matched against it, also paused ones', async () => {
      const { id, chain, commit, dueNow } = await start();
      const { store } = tools;
      const paused = await store.createStream(draft([chain.chain]));
      const hole = await store.createStream(draft([chain.chain]));
      const deleted = await store.createStream(draft([chain.chain]));
      await store.setStreamStatus(hole.id, 'paused', '');
      await commit([]);
      await store.createStream(draft([chain.chain]));
      await store.setStreamStatus(paused.id, 'paused', '');
      await store.deleteStream(deleted.id);
      const streams = await store.listUncertainStreams(await dueNow());
      expect(streams.toSorted((a, b) => Number(b.isLive) - Number(a.isLive))).toEqual([
        { streamId: id, isLive: true },
        { streamId: paused.id, isLive: false },
      ]);
    });

    test('of a backfill are its stream alone, and its readings are separate', async () => {
      const { id, chain } = await start();
      const block = { ...chain.next(), number: 50 };
      const { store } = tools;
      const job = await store.createJob({
        streamId: id,
        chain: chain.chain,
        blockFrom: 50,
        blockTo: 50,
      });
      await store.commitJob({
        ...chain.held,
        id: job!.id,
        from: 50,
        to: 50,
        blocks: [{ block, matches: [newMatch(id)], unverified: uncertain() }],
      });
      const found = (await store.nextUncertain(chain.chain))!;
      expect(found).toMatchObject({ jobId: job!.id, streamId: id });
      expect(await store.listUncertainStreams(found)).toEqual([{ streamId: id, isLive: false }]);
      await store.commitReading({
        block: found,
        epoch: chain.held.epoch,
        removed: [],
        heights: CONFIRMED,
        matches: [newMatch(id)],
        unverified: uncertain(),
        next: AGAIN,
      });
      const again = (await store.nextUncertain(chain.chain))!;
      expect(await store.listUncertainMatches(again)).toHaveLength(2);
      expect(await listed(id)).toEqual(['confirmed pending', 'confirmed pending']);
    });
  });
}
