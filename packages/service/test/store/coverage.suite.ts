/** Tests the coverage of streams, unverified blocks, backfills and retention. */
import { describe, expect, test } from 'vitest';
import type { BlockHeader } from '../../src/store/blocks/contract.ts';
import { newMatch } from './newMatch.ts';
import { type StoreTools, hashOf, draft } from './storeTools.ts';

export function testCoverage(tools: StoreTools): void {
  const { startChain, deliveriesOf, claimOf, outcomeOf } = tools;

  describe('coverage', () => {
    const coverageOf = async (id: string) => (await tools.store.readCoverage(id))[0];

    test('starts with the next block, and excludes blocks committed while the stream was paused', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      expect(await coverageOf(id)).toMatchObject({ chainId: chain.chain, from: null, holes: [] });
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      expect(await coverageOf(id)).toMatchObject({ from: 101, to: 103, holes: [] });

      await tools.store.setStreamStatus(id, 'paused', '');
      await tools.store.setStreamStatus(id, 'paused', '');
      for (let n = 0; n < 2; n++) await chain.commit(chain.next(), []);
      const growing = [{ from: 104, to: 105, reason: 'paused' }];
      expect(await coverageOf(id)).toMatchObject({ from: 101, to: 105, holes: growing });
      await tools.store.setStreamStatus(id, 'active', '');
      await chain.commit(chain.next(), []);
      expect(await coverageOf(id)).toMatchObject({ from: 101, to: 106, holes: growing });

      // If a pause ends before the next block, no block is skipped.
      await tools.store.setStreamStatus(id, 'paused', '');
      await tools.store.setStreamStatus(id, 'active', '');
      expect((await coverageOf(id))?.holes).toEqual(growing);

      await tools.store.setStreamStatus(id, 'paused', '');
      await chain.commit(chain.next(), []);
      await tools.store.setStreamStatus(id, 'active', '');
      await chain.commit(chain.next(), []);
      const second = { from: 107, to: 107, reason: 'paused' };
      expect((await coverageOf(id))?.holes).toEqual([...growing, second]);
    });

    test('excludes blocks that replaced others while the stream was paused', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const ancestor = chain.tip();
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      await tools.store.setStreamStatus(id, 'paused', '');
      await chain.rewind(ancestor);
      for (let n = 0; n < 4; n++) await chain.commit(chain.next(), []);
      await tools.store.setStreamStatus(id, 'active', '');
      await chain.commit(chain.next(), []);
      expect(await coverageOf(id)).toMatchObject({
        from: 105,
        to: 105,
        holes: [],
      });
    });

    test('lists the blocks that a resumed chain skipped, and starts over with a different chain', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), []);
      const later: BlockHeader = { ...chain.next(), number: 150 };
      await tools.store.startChain({
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
      const next: BlockHeader = { ...later, number: 151, hash: hashOf() };
      const restart = { ...chain.held, genesisHash: hashOf() };
      await tools.store.startChain({ ...restart, block: next, holeFrom: 151 });
      await chain.commit(chain.next(next), []);
      expect(await coverageOf(id)).toMatchObject({
        from: 101,
        to: 152,
        holes: [
          { from: 102, to: 150, reason: 'resumed' },
          { from: 151, to: 151, reason: 'resumed' },
        ],
      });
      const other: BlockHeader = { ...chain.next(), number: 7 };
      await tools.store.startChain({ ...chain.held, block: other, genesisHash: hashOf() });
      expect(await coverageOf(id)).toMatchObject({ from: null, to: null, holes: [] });
    });

    test('starts earlier if its chain is resumed from an earlier block', async () => {
      const chain = await startChain();
      const first = chain.next();
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), []);
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), []);
      expect(await coverageOf(id)).toMatchObject({ from: 104, to: 104 });
      const restart = { ...chain.held, genesisHash: hashOf(), holeFrom: 104 };
      await tools.store.startChain({ ...restart, block: first });
      await chain.commit(chain.next(first), []);
      expect(await coverageOf(id)).toMatchObject({ from: 102, to: 102, holes: [] });
    });

    test('starts after the pause on a chain that was added during it', async () => {
      const [one, two] = [await startChain(), await startChain()];
      const { id } = await tools.store.createStream(draft([one.chain]));
      await one.commit(one.next(), []);
      await tools.store.setStreamStatus(id, 'paused', '');
      await tools.store.updateStream(id, { chainIds: [one.chain, two.chain] });
      for (const chain of [one, two]) await chain.commit(chain.next(), []);
      await tools.store.setStreamStatus(id, 'active', '');
      for (const chain of [one, two]) await chain.commit(chain.next(), []);
      const coverage = await tools.store.readCoverage(id);
      expect(coverage.find(({ chainId }) => chainId === one.chain)).toMatchObject({
        from: 101,
        to: 103,
        holes: [{ from: 102, to: 102, reason: 'paused' }],
      });
      expect(coverage.find(({ chainId }) => chainId === two.chain)).toMatchObject({
        from: 102,
        to: 102,
        holes: [],
      });
    });

    test('follows the chains of its stream', async () => {
      const one = await startChain();
      const two = await startChain();
      const { id } = await tools.store.createStream(draft([one.chain]));
      await one.commit(one.next(), []);
      await tools.store.updateStream(id, { chainIds: [one.chain, two.chain] });
      const both = await tools.store.readCoverage(id);
      expect(both.find(({ chainId }) => chainId === one.chain)).toMatchObject({ from: 101 });
      await tools.store.setStreamStatus(id, 'paused', '');
      await tools.store.updateStream(id, { chainIds: [two.chain] });
      await two.commit(two.next(), []);
      expect(await tools.store.readCoverage(id)).toEqual([
        { chainId: two.chain, from: null, to: null, holes: [], unverified: [], byRange: [] },
      ]);
      await tools.store.setStreamStatus(id, 'active', '');
      await two.commit(two.next(), []);
      expect(await tools.store.readCoverage(id)).toEqual([
        { chainId: two.chain, from: 102, to: 102, holes: [], unverified: [], byRange: [] },
      ]);
    });
  });

  describe('unverified blocks', () => {
    const gap = 'log-indices';

    test('are listed for every stream and for the chain, consecutive ones as one range', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      expect(await tools.store.readUnverified(chain.chain)).toBeNull();
      for (const codes of [[gap], [gap], [], [gap], ['receipts', 'bloom']] as const) {
        await chain.commit(chain.next(), [], 2, codes);
      }
      expect((await tools.store.readCoverage(id))[0]).toEqual({
        chainId: chain.chain,
        from: 101,
        to: 105,
        holes: [],
        unverified: [
          { from: 101, to: 102, codes: [gap] },
          { from: 104, to: 104, codes: [gap] },
          { from: 105, to: 105, codes: ['receipts', 'bloom'] },
        ],
        byRange: [],
      });
      expect(await tools.store.readUnverified(chain.chain)).toEqual({
        blocks: 4,
        latest: 105,
        byCode: { bloom: 1, receipts: 1, [gap]: 3 },
      });
      expect(await tools.store.readUnverifiedCodes(chain.chain, 105)).toEqual([
        'receipts',
        'bloom',
      ]);
      expect(await tools.store.readUnverifiedCodes(chain.chain, 103)).toEqual([]);
    });

    test('are removed by reorgs and chain restarts', async () => {
      const chain = await startChain();
      let ancestor = chain.tip();
      for (let n = 0; n < 4; n++) {
        await chain.commit(chain.next(), [], 2, [gap]);
        if (n === 1) ancestor = chain.tip();
      }
      await chain.rewind(ancestor);
      const left = { blocks: 2, latest: ancestor.number, byCode: { [gap]: 2 } };
      expect(await tools.store.readUnverified(chain.chain)).toEqual(left);
      await chain.commit(chain.next(), []);
      expect(await tools.store.readUnverified(chain.chain)).toEqual(left);
      const other: BlockHeader = { ...chain.next(), number: 7 };
      await tools.store.startChain({ ...chain.held, block: other, genesisHash: hashOf() });
      expect(await tools.store.readUnverified(chain.chain)).toBeNull();
    });

    test('are limited to the newest 1,000 ranges', { timeout: 60_000 }, async () => {
      const chain = await startChain();
      for (let n = 0; n < 1_005; n++) {
        await chain.commit(chain.next(), [], 2, [n % 2 === 0 ? gap : 'receipts']);
      }
      expect(await tools.store.readUnverified(chain.chain)).toMatchObject({ blocks: 1_000 });
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
      const { id } = await tools.store.createStream(draft([chain.chain]));
      const job = await tools.store.createJob({
        streamId: id,
        chain: chain.chain,
        blockFrom: 10,
        blockTo: 13,
      });
      return { chain, streamId: id, job: job! };
    };

    test('advance with their matches, and deliver them as confirmed', async () => {
      const { chain, streamId, job } = await newJob();
      expect(await tools.store.listRunningJobs(chain.chain)).toEqual([{ ...job, isForAll: false }]);
      const unverified = { codes: ['receipts'], witnesses: 1, isUncertain: true } as const;
      const first = await tools.store.commitJob({
        ...chain.held,
        id: job.id,
        from: 10,
        to: 12,
        blocks: [
          { block: block(10), matches: [newMatch(streamId)] },
          { block: block(11), matches: [], unverified },
          { block: block(12), matches: [] },
        ],
      });
      expect(first).toMatchObject({ nextBlock: 13, matches: 1, state: 'running' });
      expect(await deliveriesOf(streamId)).toMatchObject([
        { phase: 'confirmed', blockNumber: 10, state: 'pending' },
      ]);
      const again = {
        ...chain.held,
        id: job.id,
        from: 10,
        to: 10,
        blocks: [{ block: block(10), matches: [newMatch(streamId)] }],
      };
      expect(await tools.store.commitJob(again)).toBeUndefined();
      const last = await tools.store.commitJob({
        ...chain.held,
        id: job.id,
        from: 13,
        to: 13,
        blocks: [{ block: block(13), matches: [] }],
      });
      expect(last).toMatchObject({ nextBlock: 14, state: 'done' });
      expect(await tools.store.listRunningJobs(chain.chain)).toEqual([]);
      expect(await deliveriesOf(streamId)).toHaveLength(1);
      expect((await tools.store.readCoverage(streamId))[0]).toMatchObject({
        from: 10,
        to: 13,
        unverified: [{ from: 11, to: 11, codes: ['receipts'] }],
      });
    });

    test('of the past reach up to the first live block of each chain, once', async () => {
      const [one, two] = [await startChain(), await startChain()];
      for (let n = 0; n < 3; n++) await two.commit(two.next(), []);
      const { id } = await tools.store.createStream(draft([one.chain, two.chain]));
      const create = (blockFrom: number) => tools.store.createPastJobs({ streamId: id, blockFrom });
      const { jobs, unread } = (await create(1))!;
      expect(unread).toEqual([]);
      expect(new Set(jobs.map(({ chainId, blockTo }) => `${chainId} ${blockTo}`))).toEqual(
        new Set([`${one.chain} 100`, `${two.chain} 103`]),
      );
      for (const each of [one, two]) await each.commit(each.next(), []);
      expect(
        new Set(
          (await tools.store.readCoverage(id)).map(({ chainId, from }) => `${chainId} ${from}`),
        ),
      ).toEqual(new Set([`${one.chain} 101`, `${two.chain} 104`]));
      expect((await create(1))!.jobs).toEqual(jobs);
      expect((await create(1_000))!.jobs).toEqual([]);
      await tools.store.setJobState(jobs[0]!.id, 'cancelled', '');
      const again = (await create(1))!.jobs.map((job) => job.id);
      expect(again).not.toContain(jobs[0]!.id);
      expect(again).toContain(jobs[1]!.id);
      expect(
        await tools.store.createPastJobs({ streamId: hashOf(), blockFrom: 1 }),
      ).toBeUndefined();
      const other = await tools.store.createStream(draft(['0xfade']));
      const past = await tools.store.createPastJobs({ streamId: other.id, blockFrom: 0 });
      expect(past).toEqual({ jobs: [], unread: ['0xfade'] });
    });

    test('mark the blocks that they search by range, for their stream, until the blocks are read', async () => {
      const { chain, streamId } = await newJob();
      const other = await tools.store.createStream(draft([chain.chain]));
      const run = async (id: string, ranges: { to: number; byRange: boolean }[]) => {
        const job = await tools.store.createJob({
          streamId: id,
          chain: chain.chain,
          blockFrom: 20,
          blockTo: 99,
        });
        let from = 20;
        for (const { to, byRange } of ranges) {
          const part = { id: job!.id, from, to, byRange, blocks: [] };
          await tools.store.commitJob({ ...chain.held, ...part });
          from = to + 1;
        }
      };
      const readByRange = async (id: string) =>
        (await tools.store.readCoverage(id))[0]!.byRange.map(({ from, to }) => [from, to]);

      await run(other.id, [{ to: 99, byRange: false }]);
      await run(streamId, [
        { to: 29, byRange: true },
        { to: 39, byRange: true },
        { to: 49, byRange: false },
        { to: 59, byRange: true },
      ]);
      expect(await readByRange(streamId)).toEqual([
        [20, 39],
        [50, 59],
      ]);
      expect(await readByRange(other.id)).toEqual([]);
      expect(await tools.store.readUnverified(chain.chain)).toBeNull();
      await run(streamId, [
        { to: 24, byRange: true },
        { to: 34, byRange: false },
      ]);
      expect(await readByRange(streamId)).toEqual([
        [20, 24],
        [35, 39],
        [50, 59],
      ]);
    });

    test('send deliveries again if requested', async () => {
      const { chain, streamId } = await newJob();
      const seen = chain.next();
      await chain.commit(seen, [newMatch(streamId)], 0);
      expect(await deliveriesOf(streamId)).toHaveLength(2);
      for (let n = 0; n < 2; n++) {
        const job = await tools.store.createJob({
          streamId,
          chain: chain.chain,
          blockFrom: seen.number,
          blockTo: seen.number,
        });
        await tools.store.commitJob({
          ...chain.held,
          id: job!.id,
          from: seen.number,
          to: seen.number,
          blocks: [{ block: seen, matches: [newMatch(streamId)] }],
        });
      }
      await tools.store.commitManual({
        chain: chain.chain,
        block: seen,
        requestId: 'r1',
        isConfirmed: true,
        matches: [newMatch(streamId)],
      });
      expect(await deliveriesOf(streamId)).toHaveLength(5);
    });

    test('can be paused, resumed and canceled, and commit nothing while paused', async () => {
      const { chain, streamId, job } = await newJob();
      expect(await tools.store.setJobState(job.id, 'paused', '')).toMatchObject({
        state: 'paused',
      });
      const commit = {
        ...chain.held,
        id: job.id,
        from: 10,
        to: 10,
        blocks: [{ block: block(10), matches: [newMatch(streamId)] }],
      };
      expect(await tools.store.commitJob(commit)).toBeUndefined();
      expect(await deliveriesOf(streamId)).toEqual([]);
      expect(await tools.store.setJobState(job.id, 'running', '')).toMatchObject({
        state: 'running',
      });
      expect(await tools.store.commitJob(commit)).toMatchObject({ nextBlock: 11 });
      expect(await tools.store.setJobState(job.id, 'cancelled', '')).toMatchObject({
        state: 'cancelled',
      });
      expect(await tools.store.setJobState(job.id, 'running', '')).toBeUndefined();
      expect(await tools.store.listJobs({ streamId, limit: 10 })).toHaveLength(1);
    });

    test('are not started for a deleted stream', async () => {
      const { chain, streamId } = await newJob();
      await tools.store.deleteStream(streamId);
      const range = { streamId, chain: chain.chain, blockFrom: 1, blockTo: 2 };
      expect(await tools.store.createJob(range)).toBeUndefined();
    });
  });

  describe('retention', () => {
    const DAY = 86_400_000;
    /** Deletes expired deliveries, and expects the number that was counted beforehand. */
    const expire = async (rule: { deliveredMs: number; undeliveredMs: number }) => {
      const atMs = await tools.store.readLedgerTime();
      const counted = await tools.store.countExpiring({ ...rule, atMs });
      const sum = { deliveries: 0, undelivered: 0 };
      let after: string | undefined = '';
      while (after !== undefined) {
        const done = await tools.store.deleteExpired({ ...rule, forMs: 0, after });
        sum.deliveries += done.deliveries;
        sum.undelivered += done.undelivered;
        after = done.next;
      }
      expect(counted).toMatchObject({ deliveries: sum.deliveries, isCapped: false });
      expect(counted.bodyBytes > 0).toBe(sum.deliveries > 0);
      return sum;
    };

    test('deletes delivered webhooks first, undelivered ones later, and no match that may still be confirmed', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      for (let n = 0; n < 3; n++) await chain.commit(chain.next(), [newMatch(id)], 1000);
      const [first, second] = await claimOf(id);
      await tools.store.completeDeliveries([
        outcomeOf(first!),
        outcomeOf(second!, { result: 'failed', status: 500, error: 'HTTP 500' }),
      ]);
      await tools.store.releaseLeases('all');
      expect(await expire({ deliveredMs: DAY, undeliveredMs: DAY })).toEqual({
        deliveries: 0,
        undelivered: 0,
      });

      // With a negative age, every delivery that has succeeded is expired.
      await expire({ deliveredMs: -DAY, undeliveredMs: DAY });
      expect((await deliveriesOf(id)).map((each) => each.state).toSorted()).toEqual([
        'failed',
        'pending',
      ]);
      expect(await tools.store.readDelivery(first!.id)).toBeUndefined();
      const gone = await expire({ deliveredMs: -DAY, undeliveredMs: -DAY });
      expect(gone.undelivered).toBeGreaterThanOrEqual(1);
      expect(await deliveriesOf(id)).toEqual([]);

      // The matches are kept because their blocks are not confirmed yet.
      const confirmed = await chain.commit(chain.next(), [], 0);
      expect(confirmed.outcome === 'committed' && confirmed.deliveries).toHaveLength(3);
    });
  });
}
