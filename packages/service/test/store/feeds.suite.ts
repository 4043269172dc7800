/** Tests the feeds of streams and their consumers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newMatch } from './newMatch.ts';
import { type StoreTools, draft } from './storeTools.ts';

const LIMITS = { limit: 100, maxBytes: 1e9 };
const LEASE = { ...LIMITS, leaseMs: 60_000 };

export function testFeeds(tools: StoreTools): void {
  const { startChain, claimOf, outcomeOf } = tools;

  /** Starts a stream with a feed. `add` commits a block with as many deliveries, and places them. */
  const start = async (count = 0) => {
    const chain = await startChain();
    const { id } = await tools.store.createStream(draft([chain.chain]));
    const place = async (): Promise<string[]> => {
      const ids: string[] = [];
      // A claim takes only a share of its limit from each stream of the suites.
      for (;;) {
        const claimed = await claimOf(id);
        if (claimed.length === 0) return ids.toSorted();
        await tools.store.completeDeliveries(
          claimed.map((each) => outcomeOf(each, { status: null, entersFeed: true })),
        );
        ids.push(...claimed.map((each) => each.id));
      }
    };
    const add = async (n: number): Promise<string[]> => {
      const parts = Array.from({ length: n }, (_, part) => newMatch(id, { part, parts: n }));
      await chain.commit(chain.next(), parts, 1_000);
      return place();
    };
    const ids = count === 0 ? [] : await add(count);
    const lease = async (consumer = 'a', limits: Partial<typeof LEASE> = {}) =>
      (await tools.store.leaseFeed(id, consumer, { ...LEASE, ...limits }))!;
    const idsOf = async (consumer?: string, limits?: Partial<typeof LEASE>) =>
      (await lease(consumer, limits)).placed.map((each) => each.id);
    const stateOf = async (name = 'a') =>
      (await tools.store.listFeedConsumers(id)).find((each) => each.name === name);
    return { chain, id, ids, add, place, lease, idsOf, stateOf };
  };

  describe('feeds', () => {
    test('positions start at 1 and have no gaps, in the order of creation', async () => {
      const { id, ids, add } = await start(3);
      const more = await add(2);
      const page = await tools.store.readFeedAfter(id, { after: 0 }, LIMITS);
      expect(page.head).toBe(5);
      expect(page.placed.map((each) => [each.position, each.id])).toEqual(
        [...ids, ...more].map((each, n) => [n + 1, each]),
      );
      const rest = await tools.store.readFeedAfter(id, { after: 3 }, LIMITS);
      expect(rest.placed.map((each) => each.id)).toEqual(more);
      expect(await tools.store.readFeedHeads([id, crypto.randomUUID()])).toEqual({ [id]: 5 });
    });

    test('a body is the one of the delivery', async () => {
      const { id, ids } = await start(1);
      const { placed } = await tools.store.readFeedAfter(id, { after: 0 }, LIMITS);
      const [read] = await tools.store.readFeedBodies(placed);
      expect(Buffer.from(read!.body).toString()).toBe(await tools.store.readDeliveryBody(ids[0]!));
      expect(read).toMatchObject({ phase: 'unconfirmed', part: 0, parts: 1, origin: 'live' });
    });

    test('an outcome whose lease was lost assigns no position', async () => {
      const { chain, id } = await start();
      await chain.commit(chain.next(), [newMatch(id)], 1_000);
      const [claimed] = await claimOf(id);
      const outcome = outcomeOf(claimed!, { entersFeed: true });
      await tools.store.completeDeliveries([{ ...outcome, leaseToken: 'another' }]);
      expect(await tools.store.readFeedHeads([id])).toEqual({});
      await Promise.all([1, 2].map(() => tools.store.completeDeliveries([outcome])));
      expect(await tools.store.readFeedHeads([id])).toEqual({ [id]: 1 });
    });

    test('a delivery that was sent gets no position', async () => {
      const { chain, id } = await start();
      await chain.commit(chain.next(), [newMatch(id)], 1_000);
      const [claimed] = await claimOf(id);
      await tools.store.completeDeliveries([outcomeOf(claimed!)]);
      expect(await tools.store.readFeedHeads([id])).toEqual({});
    });

    test('concurrent writes assign each position once', async () => {
      const worlds = await Promise.all([start(), start()]);
      const outcomes: ReturnType<typeof outcomeOf>[][] = [];
      for (let n = 0; n < 5; n++) {
        for (const { chain, id } of worlds) {
          await chain.commit(chain.next(), [newMatch(id)], 1_000);
          outcomes[n] ??= [];
          const claimed = await claimOf(id);
          outcomes[n]!.push(...claimed.map((each) => outcomeOf(each, { entersFeed: true })));
        }
        if (n % 2 === 0) outcomes[n]!.reverse();
      }
      await Promise.all(outcomes.map((each) => tools.store.completeDeliveries(each)));
      for (const { id } of worlds) {
        const { placed } = await tools.store.readFeedAfter(id, { after: 0 }, LIMITS);
        expect(placed.map((each) => each.position)).toEqual([1, 2, 3, 4, 5]);
      }
    });

    test('a consumer gets each delivery once while its lease lasts, and another gets all', async () => {
      const { ids, idsOf } = await start(5);
      expect(await idsOf('a', { limit: 2 })).toEqual(ids.slice(0, 2));
      expect(await idsOf('a')).toEqual(ids.slice(2));
      expect(await idsOf('a')).toEqual([]);
      expect(await idsOf('b')).toEqual(ids);
    });

    test('processes that share a consumer never get the same delivery', async () => {
      const { ids, idsOf } = await start(20);
      const pages = await Promise.all(Array.from({ length: 8 }, () => idsOf('a', { limit: 3 })));
      expect(pages.flat().toSorted()).toEqual(ids);
    });

    test('what is not acknowledged in time is returned again, before newer deliveries', async () => {
      const { id, ids, add, lease, idsOf } = await start(3);
      expect(await idsOf('a', { leaseMs: 0 })).toEqual(ids);
      await tools.store.acknowledgeFeed(id, 'a', { ids: [ids[1]!] });
      const newer = await add(1);
      expect(await idsOf('a', { limit: 2 })).toEqual([ids[0], ids[2]]);
      const { placed, leaseEndsInMs } = await lease('a');
      expect(placed.map((each) => each.id)).toEqual(newer);
      expect(leaseEndsInMs).toBeGreaterThan(0);
      expect(leaseEndsInMs).toBeLessThanOrEqual(60_000);
    });

    test('released deliveries are returned by the next read, unless another reader has them', async () => {
      const { id, ids, lease, idsOf, stateOf } = await start(3);
      const first = await lease('a', { leaseMs: 60_000 });
      const release = (positions: number[], leaseEndsAt = first.now + 60_000) =>
        tools.store.releaseFeed(id, 'a', { positions, leaseEndsAt });
      expect(await release([1, 3], first.now + 60_001)).toBe(0);
      expect(await release([1, 3, 99])).toBe(2);
      expect(await release([1, 3])).toBe(0);
      expect(await stateOf()).toMatchObject({ unread: 2, leased: 1 });
      expect(await idsOf('a', { leaseMs: 90_000 })).toEqual([ids[0], ids[2]]);
      // The first reader's lease of these is over.
      expect(await release([1, 2, 3])).toBe(1);
      expect(await idsOf('a')).toEqual([ids[1]]);
      expect(await tools.store.releaseFeed(id, 'unknown', { positions: [1], leaseEndsAt: 0 })).toBe(
        undefined,
      );
    });

    test('the position of a consumer is before its first unacknowledged delivery', async () => {
      const { id, ids, idsOf, stateOf } = await start(5);
      await idsOf('a');
      const ack = (some: string[]) => tools.store.acknowledgeFeed(id, 'a', { ids: some });
      expect(await ack([ids[1]!, ids[3]!])).toEqual({ acknowledged: 2, position: 0 });
      expect(await stateOf()).toMatchObject({ unread: 0, leased: 3 });
      expect(await ack([ids[0]!])).toEqual({ acknowledged: 1, position: 2 });
      expect(await ack([ids[0]!, crypto.randomUUID()])).toEqual({ acknowledged: 1, position: 2 });
      expect(await ack([ids[2]!, ids[4]!])).toEqual({ acknowledged: 2, position: 5 });
      expect(await stateOf()).toMatchObject({ unread: 0, leased: 0, oldestAt: null });
      expect(await tools.store.acknowledgeFeed(id, 'unknown', { ids })).toBeUndefined();
    });

    test('positions, and all positions up to one, can be acknowledged instead of IDs', async () => {
      const { id, ids, idsOf } = await start(5);
      await idsOf('a');
      const ack = (given: Parameters<typeof tools.store.acknowledgeFeed>[2]) =>
        tools.store.acknowledgeFeed(id, 'a', given);
      expect(await ack({ positions: [2, 0, 99] })).toEqual({ acknowledged: 1, position: 0 });
      expect(await ack({ upTo: 3 })).toEqual({ acknowledged: 3, position: 3 });
      expect(await ack({ upTo: 2 })).toEqual({ acknowledged: 0, position: 3 });
      expect(await ack({ upTo: 99 })).toEqual({ acknowledged: 2, position: 5 });
      expect(await ack({ upTo: 99 })).toEqual({ acknowledged: 0, position: 5 });
      await tools.store.resetFeedConsumer(id, 'a', { position: 3 });
      expect(await idsOf('a')).toEqual(ids.slice(3));
    });

    test('property: readers of a consumer get each delivery until one acknowledges it', async () => {
      const step = fc.record({
        consumer: fc.constantFrom('a', 'b'),
        limit: fc.integer({ min: 1, max: 4 }),
        // A reader that dies lets its lease end. Others acknowledge some of what they got.
        dies: fc.boolean(),
        acknowledges: fc.array(fc.nat(3), { maxLength: 3 }),
        adds: fc.integer({ min: 0, max: 2 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const { id, ids: first, add, lease } = await start(3);
          const ids = [...first];
          const held = { a: new Set<string>(), b: new Set<string>() };
          const acked = { a: new Set<string>(), b: new Set<string>() };
          for (const { consumer: name, limit, dies, acknowledges, adds } of steps) {
            if (adds > 0) ids.push(...(await add(adds)));
            const { placed } = await lease(name, { limit, ...(dies && { leaseMs: 0 }) });
            const got = placed.map((each) => each.id);
            expect(got.filter((each) => held[name].has(each) || acked[name].has(each))).toEqual([]);
            expect(got.length).toBe(
              Math.min(limit, ids.length - held[name].size - acked[name].size),
            );
            if (dies) continue;
            for (const each of got) held[name].add(each);
            const done = acknowledges.flatMap((n) => placed[n] ?? []);
            if (done.length === 0) continue;
            const positions = done.map(({ position }) => position);
            await tools.store.acknowledgeFeed(id, name, { positions });
            for (const each of done) {
              held[name].delete(each.id);
              acked[name].add(each.id);
            }
          }
          for (const name of ['a', 'b'] as const) {
            const rest = (await lease(name)).placed.map((each) => each.id);
            expect([...held[name], ...acked[name], ...rest].toSorted()).toEqual(ids.toSorted());
          }
        }),
        { numRuns: 20 },
      );
    });

    test('a page ends at its byte limit, and has at least one delivery', async () => {
      const { id, ids, idsOf } = await start(3);
      expect(await idsOf('a', { maxBytes: 1 })).toEqual(ids.slice(0, 1));
      expect(await idsOf('a', { maxBytes: 1 })).toEqual(ids.slice(1, 2));
      const page = await tools.store.readFeedAfter(id, { after: 0 }, { limit: 10, maxBytes: 1 });
      expect(page.placed.map((each) => each.id)).toEqual(ids.slice(0, 1));
    });

    test('a replay returns a delivery to all consumers under its id, and leaves no hole', async () => {
      const { id, ids, place, idsOf, stateOf } = await start(3);
      await idsOf('a');
      await tools.store.acknowledgeFeed(id, 'a', { ids });
      await tools.store.replayDelivery(id, ids[1]!);
      await place();
      expect(await idsOf('a')).toEqual([ids[1]]);
      expect(await idsOf('b')).toEqual([ids[0], ids[2], ids[1]]);
      for (const name of ['a', 'b']) await tools.store.acknowledgeFeed(id, name, { ids });
      expect(await stateOf('a')).toMatchObject({ position: 4, unread: 0 });
      expect(await stateOf('b')).toMatchObject({ position: 4, unread: 0 });
    });

    test('a consumer continues at a position, a time, a block, the start or the end', async () => {
      const { chain, id, ids, add, idsOf } = await start(1);
      const later = [...(await add(1)), ...(await add(1))];
      const { createdAt } = (await tools.store.readDelivery(later[0]!))!;
      const reset = (to: Parameters<typeof tools.store.resetFeedConsumer>[2]) =>
        tools.store.resetFeedConsumer(id, 'a', to);
      await reset('end');
      expect(await idsOf('a')).toEqual([]);
      await reset('start');
      expect(await idsOf('a')).toEqual([...ids, ...later]);
      await reset({ chainId: chain.chain, block: chain.tip().number });
      expect(await idsOf('a')).toEqual(later.slice(1));
      await reset({ position: 1 });
      expect(await idsOf('a')).toEqual(later);
      await reset({ time: createdAt });
      expect(await idsOf('a')).toContain(later[0]);
      await reset({ time: Date.now() + 60_000 });
      expect(await idsOf('a')).toEqual([]);
      expect(await tools.store.deleteFeedConsumer(id, 'a')).toBe(true);
      expect(await tools.store.deleteFeedConsumer(id, 'a')).toBe(false);
      expect(await idsOf('a')).toEqual([...ids, ...later]);
    });

    test('a reader with its own position starts at that of its consumer, or at the end', async () => {
      const { id, ids } = await start(5);
      for (const [name, position] of [
        ['a', 4],
        ['b', 1],
        ['c', 3],
      ] as const) {
        await tools.store.resetFeedConsumer(id, name, { position });
      }
      const idsAfter = async (consumer?: string) => {
        const page = await tools.store.readFeedAfter(id, { consumer }, LIMITS);
        return page.placed.map((each) => each.id);
      };
      expect(await idsAfter('a')).toEqual(ids.slice(4));
      expect(await idsAfter('b')).toEqual(ids.slice(1));
      expect(await idsAfter('c')).toEqual(ids.slice(3));
      expect(await idsAfter('d')).toEqual([]);
      expect(await idsAfter()).toEqual([]);
    });

    test('a feed has at most 100 consumers', async () => {
      const { id, lease } = await start(1);
      for (let n = 0; n < 100; n++) await lease(`c${n}`);
      expect(await tools.store.leaseFeed(id, 'one-more', LEASE)).toBeUndefined();
      expect(await tools.store.resetFeedConsumer(id, 'two-more', 'end')).toBeUndefined();
      expect((await lease('c5')).head).toBe(1);
    });

    test('expired deliveries are counted as missed, except acknowledged ones', async () => {
      const { id, ids, idsOf, stateOf } = await start(3);
      await idsOf('a', { limit: 2 });
      await tools.store.acknowledgeFeed(id, 'a', { ids: [ids[1]!] });
      expect(await tools.store.skipExpiring({ deliveredMs: 60_000 })).toEqual([]);
      const skipped = await tools.store.skipExpiring({ deliveredMs: -60_000 });
      expect(skipped.filter((each) => each.streamId === id)).toEqual([
        { streamId: id, consumer: 'a', missed: 2 },
      ]);
      expect(await stateOf()).toMatchObject({ position: 3, missed: 2 });
    });

    test('the blocks of missed deliveries are a hole, which grows until the consumer is active', async () => {
      const { chain, id, add, idsOf } = await start();
      const tip = () => chain.tip().number;
      const before = tip();
      const miss = async (): Promise<number> => {
        await add(1);
        await tools.store.skipExpiring({ deliveredMs: -60_000 });
        return tip();
      };
      const holes = async () =>
        (await tools.store.readCoverage(id)).flatMap(({ holes: found }) =>
          found.filter(({ reason }) => reason === 'unread'),
        );
      const readOne = async (): Promise<void> => {
        const ids = await add(1);
        expect(await idsOf('a')).toEqual(ids);
        await tools.store.acknowledgeFeed(id, 'a', { ids });
        // The next hole must be younger than the acknowledgement.
        await new Promise((resolve) => setTimeout(resolve, 2));
      };
      await readOne();
      const first = await miss();
      expect(first).toBe(before + 2);
      const second = await miss();
      expect(await holes()).toEqual([{ from: first, to: second, reason: 'unread' }]);
      await readOne();
      const third = await miss();
      expect(await holes()).toEqual([
        { from: first, to: second, reason: 'unread' },
        { from: third, to: third, reason: 'unread' },
      ]);
    });

    test('the missed deliveries of several blocks are one hole per chain, in any order', async () => {
      const chains = [await startChain(), await startChain()] as const;
      const { id } = await tools.store.createStream(draft(chains.map(({ chain }) => chain)));
      await tools.store.leaseFeed(id, 'a', LEASE);
      await chains[1].commit(chains[1].next(), []);
      const claimed: Awaited<ReturnType<typeof claimOf>> = [];
      const expected: Record<string, object[]> = {};
      for (const chain of chains) {
        const from = chain.tip().number + 1;
        for (let n = 0; n < 3; n++) {
          await chain.commit(chain.next(), [newMatch(id)], 1_000);
          claimed.push(...(await claimOf(id)));
        }
        expected[chain.chain] = [{ from, to: from + 2, reason: 'unread' }];
      }
      expect(claimed).toHaveLength(6);
      // The newest block of each chain is neither the first nor the last in the feed.
      for (const n of [1, 2, 0, 4, 5, 3]) {
        const outcome = outcomeOf(claimed[n]!, { status: null, entersFeed: true });
        await tools.store.completeDeliveries([outcome]);
      }
      await tools.store.skipExpiring({ deliveredMs: -60_000 });
      const holes = (await tools.store.readCoverage(id)).map((each) => [each.chainId, each.holes]);
      expect(Object.fromEntries(holes)).toEqual(expected);
    });

    test('any number of deliveries are missed at once', async () => {
      const { id, idsOf, stateOf } = await start(2_100);
      await idsOf('a', { limit: 1 });
      await tools.store.acknowledgeFeed(id, 'a', { positions: [2] });
      await tools.store.skipExpiring({ deliveredMs: -60_000 });
      expect(await stateOf()).toMatchObject({ position: 2_100, missed: 2_099 });
    });

    test('a consumer with old deliveries is behind, and how far each is behind is known', async () => {
      const { id, ids, idsOf, stateOf } = await start(3);
      await idsOf('a', { limit: 1 });
      await tools.store.resetFeedConsumer(id, 'b', 'end');
      const behind = async (createdBefore: number) =>
        (await tools.store.listFeedsBehind(createdBefore)).filter((each) => each.streamId === id);
      expect(await behind(0)).toEqual([]);
      const { createdAt: oldestAt } = (await tools.store.readDelivery(ids[0]!))!;
      expect(await behind(Date.now() + 60_000)).toEqual([
        { streamId: id, tag: 'tag', consumer: 'a', oldestAt },
      ]);
      expect(await stateOf('a')).toMatchObject({ oldestAt });
      const lags = (await tools.store.listFeedLags()).filter((each) => each.streamId === id);
      expect(lags).toEqual([
        { streamId: id, name: 'a', unread: 2, leased: 1, missed: 0 },
        { streamId: id, name: 'b', unread: 0, leased: 0, missed: 0 },
      ]);
    });

    test('the feed of a deleted stream is deleted with its consumers', async () => {
      const { id, idsOf, stateOf } = await start(1);
      await idsOf('a');
      await tools.store.deleteFeeds();
      expect(await stateOf()).toBeDefined();
      await tools.store.deleteStream(id);
      await tools.store.deleteFeeds();
      expect(await stateOf()).toBeUndefined();
      expect(await tools.store.readFeedHeads([id])).toEqual({});
    });
  });
}
