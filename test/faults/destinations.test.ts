/** Tests a stream with three destinations, of which one always fails, while the service is killed. */
import { setTimeout as wait } from 'node:timers/promises';
import { FEED_URL, type FeedPage } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { type Watch, STORES, startWorld } from './world.ts';

const KILLS = 4;
const BLOCKS_PER_KILL = 3;
const LEASE_MS = 1_000;
/** Maximum time until deliveries in flight are resent; see `processes.test.ts`. */
const TAKEN_OVER_MS = 60_000;

/** Returns the block and the phase of a webhook, which its destination gets under one ID. */
function describeBody(body: string): string {
  const { block, confirmed } = JSON.parse(body) as {
    block: { number: string };
    confirmed: boolean;
  };
  return `${block.number} ${confirmed}`;
}

/** Returns the IDs of each block and phase. */
function idsByBlock(
  deliveries: readonly { id: string; body: string }[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = Map.groupBy(deliveries, ({ body }) => describeBody(body));
  return new Map([...groups].map(([key, of]) => [key, new Set(of.map(({ id }) => id))]));
}

test.concurrent.each(STORES)(
  `on %s, fault 1: ${KILLS} kill -9 while a stream is sent to two receivers, of which one fails, and a feed`,
  async (store) => {
    const world = await startWorld(store);
    onTestFinished(() => world.stop());
    const sluice = () =>
      createSluiceClient({ apiKey: API_KEY, baseUrl: world.service.url, maxRetries: 0 });
    const watch = await world.watch('first');
    const { streamId } = watch;
    const add = async (webhookUrl: string): Promise<number> =>
      (await sluice().addDestination(streamId, { webhookUrl })).destination;
    const feed = await add(FEED_URL);
    const path = '/failing';
    world.receiver.respond(path, 500);
    const third = await add(world.receiver.url + path);
    // In the ledger, the stream of the deliveries of an additional destination has its number.
    const failing: Watch = { ...watch, streamId: `${streamId}.${third}`, path };

    const read: FeedPage['deliveries'] = [];
    const reading = new AbortController();
    const follow = async (): Promise<void> => {
      const place = { consumer: 'billing', destination: feed };
      while (!reading.signal.aborted) {
        const page = await sluice()
          .readFeed(streamId, { ...place, limit: 5, waitMs: 500, leaseMs: LEASE_MS })
          .catch(() => wait(20));
        if (page === undefined || page.deliveries.length === 0) continue;
        read.push(...page.deliveries);
        const positions = page.deliveries.map(({ position }) => position);
        await sluice()
          .acknowledgeFeed(streamId, { ...place, positions })
          .catch(() => undefined);
      }
    };
    const following = follow();

    for (let kill = 0; kill < KILLS; kill++) {
      const before = world.receiver.requestsOf(watch).length;
      world.receiver.respond(watch.path, { delayMs: 500 });
      world.mine([watch], BLOCKS_PER_KILL);
      await until('a POST is in flight', () => world.receiver.requestsOf(watch).length > before);
      await world.kill();
      world.receiver.respond(watch.path, 200);
      await world.start();
    }
    world.mine([], 2);
    expect(world.lostLeases.total).toBeGreaterThan(0);
    const expected = world.chain
      .canonical()
      .filter(({ transactions }) => transactions.some(({ to }) => to === watch.address))
      .flatMap(({ number }) => [`${number} false`, `${number} true`])
      .toSorted();
    expect(expected).toHaveLength(KILLS * BLOCKS_PER_KILL * 2);

    const countSucceeded = (lane: string): Promise<number> =>
      world.ledger.value(
        `select count(*) from delivery where stream_id = '${lane}' and state = 'succeeded'`,
      );
    const hasAll = async (lane: string): Promise<boolean> =>
      (await countSucceeded(lane)) === expected.length;
    // The others get everything although the third still fails.
    await until('the receiver has all', () => hasAll(streamId), TAKEN_OVER_MS);
    const isRead = async (): Promise<boolean> => {
      const [consumer] = await sluice().listFeedConsumers(streamId, { destination: feed });
      return consumer?.position === expected.length;
    };
    await until('the feed is read', isRead, TAKEN_OVER_MS);
    reading.abort();
    await following;
    expect(await countSucceeded(failing.streamId)).toBe(0);

    world.receiver.respond(path, 200);
    // Otherwise, the deliveries that failed often would wait for their next attempt.
    const waiting = { streamId, destination: third, state: ['pending', 'retrying'] as const };
    await sluice().createReplay({ name: 'works again', filter: waiting, perSecond: 100 });
    await until('the third has all', () => hasAll(failing.streamId), TAKEN_OVER_MS);
    await world.holds([watch, failing]);
    const received = [watch, failing].map((each) => world.receiver.requestsOf(each));
    const all = [...received, read].map(idsByBlock);
    for (const ids of all) {
      expect([...ids.keys()].toSorted()).toEqual(expected);
      for (const [block, { size }] of ids) expect(size, block).toBe(1);
    }
    // No destination has the ID of another.
    const ids = all.flatMap((each) => [...each.values()].flatMap((of) => [...of]));
    expect(new Set(ids).size).toBe(3 * expected.length);
  },
);
