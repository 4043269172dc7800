/** Tests additional destinations of streams: their deliveries, limits and state are separate. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClaimedDelivery } from '../../src/store/deliveries/contract.ts';
import { movedBy } from '../../src/store/live/movedBy.test-only.ts';
import { toLaneId } from '../../src/store/rows/laneIds.ts';
import {
  DEFAULT_LIMITS,
  type DestinationDraft,
  type EvmStreamDraft,
} from '../../src/store/streams/contract.ts';
import { newMatch } from './newMatch.ts';
import { plain } from './plain.ts';
import { KEY_ID, type StoreTools, draft } from './storeTools.ts';

const OTHER_URL = 'http://127.0.0.1:2/other';

export function testDestinations(tools: StoreTools): void {
  const { startChain, outcomeOf, deliveriesOf } = tools;

  /** Claimed deliveries that no test has taken yet, by lane. */
  const claimed = new Map<string, ClaimedDelivery[]>();
  /**
   * Claims what is due, except in the lanes of `except`, and returns the deliveries of this lane.
   */
  const claimOf = async (
    lane: string,
    except: readonly string[] = [],
  ): Promise<ClaimedDelivery[]> => {
    const some = await tools.store.claimDeliveries({
      limit: 1000,
      maxBytes: 1e9,
      perStream: 1000,
      taken: Object.fromEntries(except.map((each) => [each, 1000])),
      leaseMs: 40_000,
    });
    // Suspects are claimed one by one. Those of other tests may come first.
    let suspect: ClaimedDelivery | undefined;
    do {
      suspect = await tools.store.claimSuspect({ leaseMs: 40_000, notStreams: [...except] });
      if (suspect !== undefined) some.push(suspect);
    } while (suspect !== undefined && suspect.streamId !== lane);
    for (const each of some) {
      claimed.set(each.streamId, [...(claimed.get(each.streamId) ?? []), each]);
    }
    const its = claimed.get(lane) ?? [];
    claimed.delete(lane);
    return its;
  };

  const destinationDraft = (changes: Partial<DestinationDraft> = {}) =>
    plain<DestinationDraft>({
      description: 'another',
      webhookUrl: OTHER_URL,
      headers: {},
      oauth2: null,
      limits: DEFAULT_LIMITS,
      ...changes,
    });
  const add = async (streamId: string, changes: Partial<DestinationDraft> = {}) => {
    const added = await tools.store.addDestination(streamId, destinationDraft(changes), {
      keyId: KEY_ID,
    });
    if (added.outcome !== 'added') throw new Error(added.outcome);
    return { ...added.destination, lane: toLaneId(streamId, added.destination.destination) };
  };
  const start = async (changes: Partial<EvmStreamDraft> = {}) => {
    const chain = await startChain();
    const stream = await tools.store.createStream(draft([chain.chain], changes), {
      sealedSecret: 'sealed',
    });
    const destination = await add(stream.id);
    return { chain, id: stream.id, lane: destination.lane, destination: destination.destination };
  };
  /** Returns the phases and states of the deliveries of a destination, oldest first. */
  const statesOf = async (streamId: string, destination = 0): Promise<string[]> => {
    const { rows } = await tools.store.listDeliveries({
      limit: 100,
      streamId,
      destination,
      order: 'oldest',
    });
    return rows.map((each) => `${each.phase} ${each.state}`);
  };
  const deliverAll = async (lane: string, except?: readonly string[]): Promise<string[]> => {
    const its = await claimOf(lane, except);
    await tools.store.completeDeliveries(its.map((each) => outcomeOf(each)));
    return its.map(({ phase }) => phase);
  };

  describe('additional destinations', () => {
    test('get each phase of each match in deliveries of their own', async () => {
      const { chain, id, lane, destination } = await start({ notifyRemoved: true });
      const ancestor = chain.tip();
      await chain.commit(chain.next(), [newMatch(id)]);
      const rows = await deliveriesOf(id);
      expect(new Set(rows.map((each) => each.streamId))).toEqual(new Set([id]));
      expect(new Set(rows.map((each) => each.destination))).toEqual(
        new Set([undefined, destination]),
      );
      expect(new Set(rows.map((each) => each.id)).size).toBe(2);
      const [own] = await claimOf(id);
      const [other] = await claimOf(lane);
      expect(own).toMatchObject({ webhookUrl: 'http://127.0.0.1:1/hook', streamId: id });
      expect(other).toMatchObject({ webhookUrl: OTHER_URL, streamId: lane });
      expect(Buffer.from(other!.body).toString()).toBe(Buffer.from(own!.body).toString());
      expect(other!.secrets).toEqual(own!.secrets);
      // The receiver of the stream fails; the other one is not affected.
      await tools.store.completeDeliveries([
        outcomeOf(own!, { status: 500, error: 'HTTP 500', result: 'failed' }),
        outcomeOf(other!),
      ]);
      expect(await statesOf(id)).toEqual(['unconfirmed failed']);
      expect(await statesOf(id, destination)).toEqual(['unconfirmed succeeded']);
      await chain.rewind(ancestor);
      expect(await statesOf(id)).toEqual(['unconfirmed failed', 'removed pending']);
      expect(await statesOf(id, destination)).toEqual(['unconfirmed succeeded', 'removed pending']);
      await deliverAll(id);
      await deliverAll(lane);
      await chain.commit(chain.next(), [newMatch(id)], 0);
      await chain.commit(chain.next(), [], 0);
      expect((await statesOf(id)).slice(2)).toEqual(['unconfirmed pending', 'confirmed pending']);
      expect((await statesOf(id, destination)).slice(2)).toEqual([
        'unconfirmed pending',
        'confirmed pending',
      ]);
    });

    test('get a removal webhook only if they may have got the match', async () => {
      const { chain, id, lane, destination } = await start({ notifyRemoved: true });
      const ancestor = chain.tip();
      const block = chain.next();
      await chain.commit(block, [newMatch(id)]);
      await deliverAll(lane, [id]);
      await chain.rewind(ancestor);
      expect(await statesOf(id)).toEqual(['unconfirmed cancelled']);
      expect(await statesOf(id, destination)).toEqual(['unconfirmed succeeded', 'removed pending']);
      await deliverAll(lane);
      // When the block returns, the stream continues with its first delivery, and the other
      // destination gets a new one.
      await chain.commit(block, [newMatch(id)]);
      expect(await statesOf(id)).toEqual(['unconfirmed pending']);
      expect((await statesOf(id, destination)).slice(2)).toEqual(['unconfirmed pending']);
    });

    test('that are tables get removal webhooks, whatever their stream gets', async () => {
      const { chain, id } = await start({ notifyRemoved: false });
      const { lane, destination } = await add(id, {
        webhookUrl: 'postgres://sealed:x@host/db?schema=s',
      });
      const ancestor = chain.tip();
      await chain.commit(chain.next(), [newMatch(id)]);
      await deliverAll(id);
      await deliverAll(lane);
      await chain.rewind(ancestor);
      expect(await statesOf(id)).toEqual(['unconfirmed succeeded']);
      expect(await statesOf(id, destination)).toEqual(['unconfirmed succeeded', 'removed pending']);
    });

    test('start with the next block, and end with their removal', async () => {
      const chain = await startChain();
      const { id } = await tools.store.createStream(draft([chain.chain]));
      await chain.commit(chain.next(), [newMatch(id)]);
      const { lane, destination } = await add(id);
      await chain.commit(chain.next(), [newMatch(id)], 1_000);
      expect(await statesOf(id, destination)).toEqual(['unconfirmed pending']);
      expect(await tools.store.removeDestination(id, destination, { keyId: KEY_ID })).toBe(true);
      expect(await tools.store.removeDestination(id, destination, { keyId: KEY_ID })).toBe(false);
      expect(await tools.store.listDestinations(id)).toEqual([]);
      expect(await claimOf(lane)).toEqual([]);
      await chain.commit(chain.next(), [newMatch(id)], 0);
      expect(await statesOf(id, destination)).toEqual(['unconfirmed cancelled']);
      expect((await add(id)).destination).toBe(destination + 1);
    });

    test('are at most five with the URL of the stream', async () => {
      const { id } = await start();
      for (let n = 2; n <= 4; n++) await add(id);
      const another = () => tools.store.addDestination(id, destinationDraft(), { keyId: KEY_ID });
      expect(await another()).toEqual({ outcome: 'too-many' });
      await tools.store.removeDestination(id, 2, { keyId: KEY_ID });
      expect(await another()).toMatchObject({ outcome: 'added' });
      expect(await another()).toEqual({ outcome: 'too-many' });
      const unknown = await tools.store.addDestination(crypto.randomUUID(), destinationDraft(), {
        keyId: KEY_ID,
      });
      expect(unknown).toEqual({ outcome: 'unknown-stream' });
    });

    test('are paused, resumed and deleted with their stream', async () => {
      const { chain, id, lane } = await start();
      await chain.commit(chain.next(), [newMatch(id)], 1_000);
      await tools.store.setStreamStatus(id, 'paused', 'by hand');
      expect(await tools.store.listDestinations(id)).toMatchObject([{ status: 'paused' }]);
      expect(await claimOf(lane)).toEqual([]);
      await tools.store.setStreamStatus(id, 'active', 'again');
      expect(await claimOf(lane)).toHaveLength(1);
      await tools.store.releaseLeases('all');
      await tools.store.deleteStream(id);
      expect(await tools.store.listDestinations(id)).toEqual([]);
      expect(await claimOf(lane)).toEqual([]);
      expect(new Set((await deliveriesOf(id)).map(({ state }) => state))).toEqual(
        new Set(['cancelled']),
      );
    });

    test('fail and are terminated alone, and keep their stream from being terminated', async () => {
      const { chain, id, lane, destination } = await start();
      await tools.store.failStream(lane, 'HTTP 500');
      expect((await tools.store.readStream(id))?.status).toBe('active');
      expect(await tools.store.listDestinations(id)).toMatchObject([{ status: 'error' }]);
      await tools.store.failStream(id, 'HTTP 500');
      const terminate = async () =>
        (await tools.store.terminateStreams(0)).map((each) => each.id).filter(isOurs);
      const isOurs = (each: string): boolean => each.startsWith(id);
      expect(await terminate()).toEqual([lane]);
      await tools.store.recoverStream(id);
      await chain.commit(chain.next(), [newMatch(id)]);
      expect(await statesOf(id)).toEqual(['unconfirmed pending']);
      expect(await statesOf(id, destination)).toEqual([]);
      // A stream is terminated only once none of its destinations gets deliveries.
      await tools.store.setStreamStatus(lane, 'active', 'Stream is active');
      await tools.store.failStream(id, 'HTTP 500');
      expect(await terminate()).toEqual([]);
      await tools.store.failStream(lane, 'HTTP 500');
      expect(await terminate()).toEqual([lane]);
      expect(await terminate()).toEqual([id]);
    });

    test('follow the settings of their stream, but have their own limits', async () => {
      const { chain, id, lane, destination } = await start();
      await tools.store.updateStream(id, { deliver: 'confirmed', notifyRemoved: true, tag: 'new' });
      await tools.store.updateStream(lane, {
        limits: { ...DEFAULT_LIMITS, maxInFlight: 1, strictOrder: true },
      });
      expect((await tools.store.readStream(id))?.limits).toEqual(DEFAULT_LIMITS);
      for (let n = 0; n < 2; n++) {
        await chain.commit(chain.next(), [newMatch(id, { deliver: 'confirmed' })], 0);
      }
      await chain.commit(chain.next(), [], 0);
      expect(await claimOf(id)).toHaveLength(2);
      expect(await claimOf(lane)).toHaveLength(1);
      expect(await statesOf(id, destination)).toEqual(['confirmed leased', 'confirmed pending']);
      await tools.store.replaceStreamSecrets(id, (await tools.store.readStreamSecrets(id))!, [
        { sealed: 'rotated', createdAt: 1, endsAt: null },
      ]);
      await tools.store.releaseLeases('all');
      expect((await claimOf(lane))[0]?.secrets[0]?.sealed).toBe('rotated');
    });

    test('are counted with the URLs of their streams, by kind and status', async () => {
      const names = ['http active', 'http paused', 'feed active', 'feed paused', 'nats active'];
      const readCounts = async () => {
        const counts = await tools.store.countDestinations();
        const countOf = new Map(counts.map((each) => [`${each.kind} ${each.status}`, each.count]));
        return [...names, 'postgres active', 'inbox active'].map((name) => countOf.get(name) ?? 0);
      };
      const before = await readCounts();
      const added = async () => (await readCounts()).map((count, n) => count - before[n]!);
      const { id } = await start();
      for (const webhookUrl of ['sluice://feed', 'postgres://db/app?schema=a', 'nats://b/a']) {
        await add(id, { webhookUrl });
      }
      expect(await added()).toEqual([2, 0, 1, 0, 1, 1, 0]);
      await tools.store.removeDestination(id, 3, { keyId: KEY_ID });
      await add(id, { webhookUrl: 'sluice://inbox/a' });
      expect(await added()).toEqual([2, 0, 1, 0, 1, 0, 1]);
      await tools.store.setStreamStatus(id, 'paused', '');
      expect(await added()).toEqual([0, 2, 0, 1, 0, 0, 0]);
      const { id: other } = await start();
      for (const webhookUrl of ['TLS://b/a', 'amqps://b/a', 'kafka+ssl://b/a']) {
        await add(other, { webhookUrl });
      }
      const kinds = (await tools.store.countDestinations()).map(({ kind }) => kind);
      expect(kinds).toEqual(expect.arrayContaining(['nats', 'rabbitmq', 'kafka']));
      expect(kinds).not.toContain('other');
    });

    test('are not streams: lists, totals, history and rules of streams leave them out', async () => {
      const { chain, id, lane, destination } = await start();
      await chain.commit(chain.next(), [newMatch(id)]);
      await deliverAll(lane);
      const { rows } = await tools.store.listStreams({ limit: 100 });
      expect(rows.filter((each) => each.id === lane)).toEqual([]);
      expect(await tools.store.readStream(lane)).toBeUndefined();
      const { changed } = await tools.store.readRules(-1, 'evm');
      expect(changed.filter((each) => each.id === lane)).toEqual([]);
      expect((await tools.store.readTotals()).filter((each) => each.streamId === lane)).toEqual([]);
      expect(await tools.store.readTotals(id)).toMatchObject([{ webhooksDelivered: 0 }]);
      const attempted = { limit: 100, results: ['delivered'], withBody: false } as const;
      const history = await tools.store.listAttempted({ ...attempted, chains: [chain.chain] });
      expect(history.rows).toEqual([]);
      expect(
        (await tools.store.listStreamSecrets()).rows.map((each) => each.streamId),
      ).not.toContain(lane);
      const counts = await tools.store.countByField({ chainId: chain.chain });
      expect(counts.streamId).toEqual([{ value: id, count: 2 }]);
      expect(counts.destination).toEqual([]);
      const byDestination = [
        { value: '0', count: 1 },
        { value: String(destination), count: 1 },
      ];
      for (const of of [{}, { destination: 0 }, { destination }]) {
        const ofStream = await tools.store.countByField({ streamId: id, ...of });
        expect(ofStream.destination).toEqual(byDestination);
        expect(ofStream.total).toBe('destination' in of ? 1 : 2);
      }
      while (await tools.store.rollUpStats());
      const matchedOf = async (streamId: string) =>
        (await tools.store.readBreakdown({ streamId, stepMinutes: 5, points: 2 })).records.length;
      expect([await matchedOf(id), await matchedOf(lane)]).toEqual([1, 0]);
    });

    test('get the matches of a backfill, alone if it names them', async () => {
      const { chain, id, destination } = await start();
      const another = await add(id);
      for (const [only, expected] of [
        [undefined, [1, 1, 1]],
        [destination, [1, 2, 1]],
        [0, [2, 2, 1]],
      ] as const) {
        const block = { ...chain.next(), number: 5 };
        const job = await tools.store.createJob({
          streamId: id,
          destination: only,
          chain: chain.chain,
          blockFrom: 5,
          blockTo: 5,
        });
        expect(job?.destination).toBe(only);
        await tools.store.commitJob({
          id: job!.id,
          ...chain.held,
          from: 5,
          to: 5,
          blocks: [{ block, matches: [newMatch(id)] }],
        });
        const counts = [0, destination, another.destination].map(async (each) =>
          (await statesOf(id, each)).filter((state) => state === 'confirmed pending'),
        );
        expect((await Promise.all(counts)).map((each) => each.length)).toEqual(expected);
      }
      const unknown = {
        streamId: id,
        destination: 9,
        chain: chain.chain,
        blockFrom: 5,
        blockTo: 5,
      };
      expect(await tools.store.createJob(unknown)).toBeUndefined();
    });

    test('have a feed of their own', async () => {
      const { chain, id, lane } = await start();
      await chain.commit(chain.next(), [newMatch(id)]);
      const its = await claimOf(lane);
      await tools.store.completeDeliveries(
        its.map((each) => outcomeOf(each, { status: null, entersFeed: true })),
      );
      const page = { limit: 10, maxBytes: 1e9 };
      expect((await tools.store.readFeedAfter(lane, { after: 0 }, page)).placed).toHaveLength(1);
      expect((await tools.store.readFeedAfter(id, { after: 0 }, page)).head).toBe(0);
    });

    test('are replayed with their stream, or alone', async () => {
      const { chain, id, lane, destination } = await start();
      await chain.commit(chain.next(), [newMatch(id)], 1_000);
      await deliverAll(id);
      await deliverAll(lane);
      const estimate = async (of?: number) =>
        (await tools.store.estimateReplay({ streamId: id, destination: of })).deliveries;
      expect(await estimate()).toBe(2);
      expect(await estimate(destination)).toBe(1);
      expect(await estimate(0)).toBe(1);
      const [sent] = (await deliveriesOf(id)).filter((each) => each.destination !== undefined);
      expect((await tools.store.replayDelivery(id, sent!.id))?.after.state).toBe('retrying');
      expect(await statesOf(id)).toEqual(['unconfirmed succeeded']);
    });

    test('lose the records that a later reading of an uncertain block does not find', async () => {
      const { chain, id, lane, destination } = await start({ notifyRemoved: true });
      const block = chain.next();
      await chain.commit(block, [newMatch(id)], 1_000, [], 1, {
        codes: ['bloom'],
        witnesses: 1,
        isUncertain: true,
        reading: { records: 'x', needs: {}, dueInMs: 0 },
      });
      await deliverAll(id);
      await deliverAll(lane);
      const uncertain = await tools.store.nextUncertain(chain.chain);
      const existing = await tools.store.listUncertainMatches(uncertain!);
      expect(existing.map((each) => each.streamId)).toEqual([id]);
      await movedBy(tools.store, () =>
        tools.store.commitReading({
          block: uncertain!,
          epoch: chain.held.epoch,
          matches: [newMatch(id)],
          removed: existing.map((each) => each.id),
          heights: undefined,
          unverified: undefined,
          next: undefined,
        }),
      );
      const expected = ['unconfirmed succeeded', 'removed pending', 'unconfirmed pending'];
      expect(await statesOf(id)).toEqual(expected);
      expect(await statesOf(id, destination)).toEqual(expected);
    });

    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('block' as const) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('rewind' as const),
          depth: fc.integer({ min: 1, max: 3 }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('return' as const) }) },
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('attempt' as const),
          lane: fc.integer({ min: 0, max: 2 }),
          result: fc.constantFrom('succeeded' as const, 'retry' as const, 'lost' as const),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constantFrom('fail' as const, 'recover' as const),
          lane: fc.integer({ min: 0, max: 2 }),
        }),
      },
    );

    test('property: each destination gets what it would get alone, in order if it is strict', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 5, maxLength: 25 }),
          fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
          async (steps, strict) => {
            const chain = await startChain();
            const limitsOf = (n: number) => ({ ...DEFAULT_LIMITS, strictOrder: strict[n]! });
            const { id } = await tools.store.createStream(
              draft([chain.chain], { notifyRemoved: true, limits: limitsOf(0) }),
            );
            const lanes = [
              id,
              (await add(id, { limits: limitsOf(1) })).lane,
              (await add(id, { limits: limitsOf(2) })).lane,
            ];
            /** Each delivery that was received, by lane, as `phase body`. */
            const received = lanes.map((): { id: string; what: string }[] => []);
            let canonical = [chain.tip()];
            let left: ReturnType<typeof chain.next>[] = [];
            const hashes = new Set<string>();
            const everLeft = new Set<string>();
            const commit = async (block: ReturnType<typeof chain.next>): Promise<void> => {
              const name = `,"block":"${block.hash}","retries":`;
              hashes.add(block.hash);
              await chain.commit(block, [newMatch(id, { bodyHead: name })], 2);
              canonical.push(block);
            };
            const attempt = async (
              lane: number,
              result: 'succeeded' | 'retry' | 'lost',
            ): Promise<number> => {
              const others = lanes.filter((_, n) => n !== lane);
              const its = await claimOf(lanes[lane]!, others);
              if (strict[lane]) expect(its.length).toBeLessThan(2);
              for (const each of its) {
                if (result === 'succeeded') {
                  const { block } = JSON.parse(Buffer.from(each.body).toString()) as {
                    block: string;
                  };
                  received[lane]!.push({ id: each.id, what: `${each.phase} ${block}` });
                }
              }
              if (its.length === 0) return 0;
              if (result === 'lost') await tools.store.releaseLeases(its);
              else {
                await tools.store.completeDeliveries(
                  its.map((each) =>
                    outcomeOf(
                      each,
                      result === 'retry'
                        ? { result, status: 500, error: 'HTTP 500', retryInMs: 0 }
                        : {},
                    ),
                  ),
                );
              }
              return its.length;
            };
            for (const each of steps) {
              if (each.do === 'block') {
                left = [];
                await commit(chain.next());
              } else if (each.do === 'rewind') {
                const keep = Math.max(1, canonical.length - each.depth);
                left = canonical.slice(keep);
                canonical = canonical.slice(0, keep);
                for (const block of left) everLeft.add(block.hash);
                if (left.length > 0) await chain.rewind(canonical.at(-1)!);
              } else if (each.do === 'return') {
                const again = left;
                left = [];
                for (const block of again) await commit(block);
              } else if (each.do === 'attempt') await attempt(each.lane, each.result);
              else if (each.do === 'fail')
                await tools.store.failStream(lanes[each.lane]!, 'HTTP 500');
              else await tools.store.recoverStream(lanes[each.lane]!);
            }
            for (const lane of lanes) await tools.store.recoverStream(lane);
            for (let n = 0; n < 3; n++) await chain.commit(chain.next(), [], 2);
            for (const [n] of lanes.entries()) while ((await attempt(n, 'succeeded')) > 0);
            for (const [n, theirs] of received.entries()) {
              expect(new Set(theirs.map((each) => each.id)).size).toBe(theirs.length);
              const kept = new Set(canonical.map((block) => block.hash));
              for (const hash of hashes) {
                const phases = theirs.flatMap(({ what }) => {
                  const [phase, block] = what.split(' ');
                  return block === hash ? [phase] : [];
                });
                const last = strict[n] ? phases.slice(-1) : phases;
                if (!everLeft.has(hash)) {
                  expect(phases).toHaveLength(2);
                  expect(new Set(phases)).toEqual(new Set(['confirmed', 'unconfirmed']));
                }
                if (kept.has(hash)) expect(last).toContain('confirmed');
                else if (phases.length > 0) expect(last).toContain('removed');
              }
            }
          },
        ),
        { numRuns: 10 },
      );
    });
  });
}
