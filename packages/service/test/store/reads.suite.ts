/** Tests the reads that charts and explanations need. */
import { describe, expect, test } from 'vitest';
import type { BlockRef } from '../../src/store/blocks/contract.ts';
import { newMatch } from './newMatch.ts';
import { type StoreTools, hashOf, newChain, draft, address } from './storeTools.ts';

export function testReads(tools: StoreTools): void {
  const { packed, add, startChain, claimOf, outcomeOf } = tools;

  describe('the data of charts includes', () => {
    test('the results and durations of attempts over time, in steps without gaps', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      for (let n = 0; n < 6; n++) await chain.commit(chain.next(), [newMatch(id)], 1000);
      const [one, two, three, four, five] = await claimOf(id);
      await tools.store.completeDeliveries([
        outcomeOf(one!, { durationMs: 12 }),
        outcomeOf(two!, { durationMs: 14 }),
        outcomeOf(three!, { durationMs: 900 }),
        outcomeOf(four!, { result: 'failed', status: 404, error: 'HTTP 404' }),
        outcomeOf(five!, { result: 'retry', status: null, error: 'refused', retryInMs: 0 }),
      ]);
      const again = (await claimOf(id)).filter((each) => each.id === five!.id);
      await tools.store.completeDeliveries(
        again.map((each) => outcomeOf(each, { durationMs: 13 })),
      );
      await tools.store.rollUpStats();

      for (const stepMinutes of [1, 5, 60] as const) {
        const { points } = await tools.store.readActivity({
          streamId: id,
          stepMinutes,
          points: 10,
        });
        expect(points).toHaveLength(10);
        for (const [n, { at }] of points.entries()) {
          expect(at % (stepMinutes * 60_000)).toBe(0);
          if (n > 0) expect(at - points[n - 1]!.at).toBe(stepMinutes * 60_000);
        }
        // Sums all steps, because the clock may reach the next step during the test.
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
      const { points: all } = await tools.store.readActivity({ stepMinutes: 60, points: 2 });
      expect(all.reduce((total, point) => total + point.delivered, 0)).toBeGreaterThanOrEqual(4);
      const stats = (await tools.store.readStreamStats()).find(({ streamId }) => streamId === id)!;
      expect(stats).toMatchObject({ delivered24h: 4, failedAttempts24h: 2 });
      expect(stats.hourlyDelivered).toHaveLength(24);
      expect(stats.hourlyDelivered.reduce((sum, n) => sum + n, 0)).toBe(4);
      expect(stats.p95Ms).toBeGreaterThan(500);
    });

    test('the start of a failure: the first failed attempt after the last 2xx', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)]);
      const readSince = async (): Promise<number | null | undefined> => {
        await tools.store.rollUpStats();
        const stats = await tools.store.readStreamStats();
        return stats.find(({ streamId }) => streamId === id)?.failingSince;
      };
      expect(await readSince()).toBeNull();
      const before = await tools.store.readLedgerTime();
      const [delivery] = await claimOf(id);
      await tools.store.completeDeliveries([
        outcomeOf(delivery!, { result: 'retry', status: 500, error: 'HTTP 500', retryInMs: 0 }),
      ]);
      const since = await readSince();
      expect(since).toBeGreaterThan(before - 60_000);
      expect(since! % 60_000).toBe(0);
      const [again] = await claimOf(id);
      await tools.store.completeDeliveries([outcomeOf(again!)]);
      expect(await readSince()).toBeNull();
    });

    test('blocks with the state of their deliveries, removed blocks, and reorgs', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const other = await tools.store.createStream(draft([chain.chain]));
      const sent = chain.next();
      await chain.commit(sent, [newMatch(id)], 1);
      const [delivery] = await claimOf(id);
      await tools.store.completeDeliveries([outcomeOf(delivery!)]);
      const gone = chain.next();
      await chain.commit(gone, [newMatch(id), newMatch(other.id)], 1);
      await chain.rewind(sent);
      const instead = chain.next();
      await chain.commit(instead, [newMatch(other.id)], 1000);

      const listed = { streamIds: [other.id, hashOf(), id], limit: 10 };
      const [ofOther, ofOne, ...more] = await tools.store.listTimelines(listed);
      expect(more).toEqual([]);
      const one = ({ number, hash }: BlockRef) => ({
        number,
        hash,
        matches: 1,
        confirmed: false,
        removed: false,
        delivered: 0,
        waiting: 0,
        failed: 0,
        cancelled: 0,
      });
      const hasLeft = { ...one(gone), cancelled: 1, removed: true };
      const place = { chainId: chain.chain, from: sent.number - 1 };
      expect(ofOther).toEqual({
        streamId: other.id,
        chains: [{ ...place, blocks: [{ ...one(instead), waiting: 1 }, hasLeft] }],
      });
      expect(ofOne).toEqual({
        streamId: id,
        chains: [
          {
            ...place,
            blocks: [hasLeft, { ...one(sent), delivered: 1, waiting: 1, confirmed: true }],
          },
        ],
      });
      const none = {
        matches: 0,
        records: 0,
        delivered: 0,
        waiting: 0,
        retrying: 0,
        failed: 0,
        cancelled: 0,
        undone: 0,
        slowestMs: null,
        removed: false,
        unverified: [],
      };
      const blocks = async (streamId?: string, limit = 10) => {
        const [read, ...others] = await tools.store.listBlocks({
          chain: chain.chain,
          streamId,
          limit,
        });
        expect(others).toEqual([]);
        expect(read?.chainId).toBe(chain.chain);
        return read!.blocks.map(({ timestamp, ...block }) => {
          expect(timestamp).toBeGreaterThan(0);
          return block;
        });
      };
      const [ofInstead, ofGone, ofSent, ofStart] = [
        { ...none, number: instead.number, hash: instead.hash },
        { ...none, number: gone.number, hash: gone.hash, removed: true },
        { ...none, number: sent.number, hash: sent.hash },
        { ...none, number: sent.number - 1, hash: sent.parentHash },
      ];
      const sentOnce = { matches: 1, records: 1, delivered: 1, waiting: 1, slowestMs: 5 };
      expect(await blocks()).toEqual([
        { ...ofInstead, matches: 1, records: 1, waiting: 1 },
        { ...ofGone, matches: 2, records: 2, cancelled: 2 },
        { ...ofSent, ...sentOnce },
        ofStart,
      ]);
      expect(await blocks(id)).toEqual([
        ofInstead,
        { ...ofGone, matches: 1, records: 1, cancelled: 1 },
        { ...ofSent, ...sentOnce },
        ofStart,
      ]);
      expect(await blocks(undefined, 1)).toHaveLength(2);
      const all = await tools.store.listBlocks({ limit: 1 });
      expect(all.map(({ chainId }) => chainId)).toContain(chain.chain);
      const [newest] = await tools.store.listTimelines({ streamIds: [id], limit: 1 });
      expect(newest?.chains).toEqual([{ ...place, from: instead.number, blocks: [hasLeft] }]);
      expect(await tools.store.listReorgs({ chain: chain.chain, limit: 10 })).toEqual([
        { chainId: chain.chain, blockNumber: sent.number, depth: 1, at: expect.any(Number) },
      ]);
    });

    test('no blocks of an earlier chain that this one replaced', async () => {
      const { store } = tools;
      const chain = await startChain();
      const { id } = await store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)], 1);
      const before = await store.readLedgerTime();
      while ((await store.readLedgerTime()) === before);
      const start = { ...chain.held, block: { ...chain.next(), number: 0 }, genesisHash: hashOf() };
      await store.startChain({ ...start, why: 'another chain' });
      const [timeline] = await store.listTimelines({ streamIds: [id], limit: 10 });
      expect(timeline?.chains).toEqual([{ chainId: chain.chain, from: 0, blocks: [] }]);
    });

    test('gaps of a chain: blocks passed over, halts, skipped blocks, restarts', async () => {
      const { store } = tools;
      const { chain, held, next, tip } = await startChain();
      const first = tip().number + 1;
      const listed = async () =>
        (await store.listGaps({ chain, limit: 10 })).map(({ kind, from, to, reason, endedAt }) => ({
          kind,
          from,
          to,
          reason,
          endedAt,
        }));
      expect(await listed()).toEqual([]);

      const passOver = async (to: number, after: BlockRef) => {
        const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
        const block = { ...next(), number: to, parentHash: hashOf() };
        const commit = { ...held, block, after, ruleRevision: revision, matches: [] };
        const outcome = await store.commitBlock({ ...commit, confirmUpTo: -1, windowBlocks: 256 });
        expect(outcome.outcome).toBe('committed');
        return block;
      };
      const passed = await passOver(first + 5, tip());
      await passOver(first + 9, passed);
      const over = { endedAt: expect.any(Number) as number };
      const passedOver = { kind: 'passed-over', from: first, to: first + 9, ...over };
      expect(await listed()).toEqual([{ ...passedOver, reason: 'no stream watched the chain' }]);

      await store.recordHalt({ ...held, why: 'the disk is full' });
      await store.recordHalt({ ...held, why: 'the disk is fuller' });
      const halt = { kind: 'halted', from: first + 10, to: null, reason: 'the disk is fuller' };
      expect((await listed())[0]).toEqual({ ...halt, endedAt: null });
      // A process that does not hold the chain's lease can neither end nor record a halt.
      const former = { chain, epoch: held.epoch - 1 };
      await store.endHalt(former);
      await store.recordHalt({ ...former, why: 'stale' });
      expect((await listed())[0]).toEqual({ ...halt, endedAt: null });
      await store.endHalt(held);
      await store.recordHalt({ ...held, why: 'another reason' });
      expect((await listed()).slice(0, 2)).toEqual([
        { ...halt, reason: 'another reason', endedAt: null },
        { ...halt, ...over },
      ]);

      const later = { ...next(), number: first + 50 };
      const start = { ...held, block: later, genesisHash: hashOf() };
      await store.startChain({ ...start, holeFrom: first + 10, why: 'by request' });
      await store.startChain({ ...start, block: { ...later, number: 7 }, why: 'another chain' });
      expect((await listed()).slice(0, 3)).toEqual([
        { kind: 'restarted', from: 0, to: 7, reason: 'another chain', ...over },
        { kind: 'skipped', from: first + 10, to: first + 50, reason: 'by request', ...over },
        { ...halt, reason: 'another reason', ...over },
      ]);
    });
  });

  describe('the data of explanations includes', () => {
    test('a block by hash and height, a transaction, its matches and their deliveries', async () => {
      const chain = await startChain();
      const stream = await tools.store.createStream(draft([chain.chain]));
      const other = await tools.store.createStream(draft([chain.chain]));
      const before = chain.tip();
      const block = chain.next();
      const hash = hashOf();
      await chain.commit(block, [
        newMatch(stream.id, { transactionHashes: [hash] }),
        newMatch(other.id, { enrichment: '{}' }),
      ]);
      const place = { chain: chain.chain, block: { number: block.number, hash: block.hash } };
      expect(await tools.store.findTransaction(hash)).toEqual(place);
      expect(await tools.store.findTransaction(hashOf())).toBeUndefined();
      expect(await tools.store.findBlock(block.hash)).toEqual(place);
      expect(await tools.store.findBlock(hashOf())).toBeUndefined();
      const committed = await tools.store.readBlockAt(chain.chain, block.number);
      expect(committed).toEqual({ ...place.block, committedAt: expect.any(Number) as number });
      expect(await tools.store.readBlockAt(chain.chain, block.number + 1)).toBeUndefined();
      const all = await tools.store.listMatchesOf(chain.chain, block.hash);
      expect(all.map(({ streamId, state, isEnriching }) => [streamId, state, isEnriching])).toEqual(
        [
          [other.id, 'frozen', true],
          [stream.id, 'frozen', false],
        ],
      );
      const [one, ...more] = await tools.store.listMatchesOf(chain.chain, block.hash, hash);
      expect(more).toEqual([]);
      expect(one).toMatchObject({
        streamId: stream.id,
        deliveries: [{ phase: 'unconfirmed', state: 'pending', blockNumber: block.number }],
      });
      const [its] = one!.deliveries;
      expect(await tools.store.listTransactionsOf(its!.id)).toEqual([hash]);
      const detail = await tools.store.readDelivery(its!.id);
      expect(detail?.committedAt).toBe(committed?.committedAt);

      await chain.rewind(before);
      expect(await tools.store.readBlockAt(chain.chain, block.number)).toBeUndefined();
      expect(await tools.store.findBlock(block.hash)).toEqual(place);
      expect((await tools.store.listMatchesOf(chain.chain, block.hash, hash))[0]?.state).toBe(
        'orphaned',
      );
      // The current block of a transaction takes precedence over a removed one.
      const again = chain.next();
      await chain.commit(again, [newMatch(stream.id, { transactionHashes: [hash] })]);
      expect((await tools.store.findTransaction(hash))?.block.hash).toBe(again.hash);
    });

    test('the streams that watch an address, without staged changes', async () => {
      const stream = await tools.store.createStream(draft([newChain()]));
      const watched = address(0xabcdef01);
      const watchers = async () =>
        (await tools.store.listWatchers(watched)).filter(({ streamId }) => streamId === stream.id);
      expect(await watchers()).toEqual([]);
      await add(stream.id, [0xabcdef01], { 0xabcdef01: 'Treasury' });
      expect(await watchers()).toEqual([{ streamId: stream.id, label: 'Treasury' }]);
      await add(stream.id, [0xabcdef02]);
      const asked = [watched, address(0xabcdef02), address(0xabcdef03)];
      const labels = async () => tools.store.listLabels(stream.id, asked);
      expect(await labels()).toEqual({ [watched]: 'Treasury' });

      const begun = await tools.store.beginAddressChange(stream.id);
      const { change } = begun as { change: number };
      await tools.store.stageAddresses(change, { kind: 'remove', addresses: packed([0xabcdef01]) });
      expect(await watchers()).toHaveLength(1);
      expect(await labels()).toEqual({ [watched]: 'Treasury' });
      await tools.store.activateAddressChange(change);
      expect(await watchers()).toEqual([]);
      expect(await labels()).toEqual({});
    });
  });
}
