/** Tests feeds whose service and consumers are killed at any moment. */
import { setTimeout as wait } from 'node:timers/promises';
import { FEED_URL, type FeedPage } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { type FaultWorld, STORES, type Watch, startWorld } from './world.ts';

const KILLS = 8;
/** Maximum wait before a kill. */
const RUN_MS = 1_500;
/** Readers of the consumer, each of which is killed in one of five pages. */
const READERS = 3;
const LEASE_MS = 1_000;

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await startWorld(store);
  });
  afterAll(() => world?.stop());

  const sluice = () =>
    createSluiceClient({ apiKey: API_KEY, baseUrl: world.service.url, maxRetries: 0 });

  /** The deliveries that the chain leads to, as block and phase. */
  const expectedOf = (watch: Watch): string[] =>
    world.chain
      .canonical()
      .filter(({ number, transactions }) => {
        return number >= watch.from && transactions.some(({ to }) => to === watch.address);
      })
      .flatMap(({ number }) => [`${number} false`, `${number} true`])
      .toSorted();
  const describeBody = (body: string): string => {
    const { block, confirmed } = JSON.parse(body) as {
      block: { number: string };
      confirmed: boolean;
    };
    return `${block.number} ${confirmed}`;
  };

  test(`fault 1: ${KILLS} kill -9 at any moment while consumers read and acknowledge`, async () => {
    const watch = await world.watch('feed', { url: FEED_URL });
    /** The processed deliveries in order, each as often as it was processed. */
    const processed: FeedPage['deliveries'] = [];
    /** Deliveries that a reader had when it or the service was killed. */
    const interrupted = new Map<string, number>();
    /** The deliveries of a reader that keeps its own position. */
    const followed: FeedPage['deliveries'] = [];
    const stopping = new AbortController();
    let pages = 0;

    const share = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        const page = await sluice()
          .readFeed(watch.streamId, { consumer: 'a', limit: 5, waitMs: 500, leaseMs: LEASE_MS })
          .catch(() => wait(20));
        const deliveries = page?.deliveries ?? [];
        if (deliveries.length === 0) continue;
        processed.push(...deliveries);
        const positions = deliveries.map(({ position }) => position);
        const isKilled = pages++ % 5 === 4;
        const isAcknowledged =
          !isKilled &&
          (await sluice()
            .acknowledgeFeed(watch.streamId, { consumer: 'a', positions })
            .then(
              () => true,
              () => false,
            ));
        if (isAcknowledged) continue;
        for (const { id } of deliveries) interrupted.set(id, (interrupted.get(id) ?? 0) + 1);
      }
    };
    const follow = async (): Promise<void> => {
      let after = 0;
      while (!stopping.signal.aborted) {
        const page = await sluice()
          .readFeed(watch.streamId, { mode: 'each', after, limit: 5, waitMs: 500 })
          .catch(() => wait(20));
        if (page === undefined) continue;
        followed.push(...page.deliveries);
        after = page.nextPosition;
      }
    };
    const running = Promise.all([...Array.from({ length: READERS }, share), follow()]);

    for (let kill = 0; kill < KILLS; kill++) {
      world.mine([watch], 6);
      await wait(Math.random() * RUN_MS);
      await world.kill();
      await world.start();
    }
    world.mine([watch]);
    world.mine([], 3);
    const expected = expectedOf(watch);
    const isDone = async (): Promise<boolean> => {
      const [consumer] = await sluice().listFeedConsumers(watch.streamId);
      return followed.length >= expected.length && consumer?.position === expected.length;
    };
    await until('all deliveries are acknowledged', isDone, 120_000).catch(() => undefined);
    stopping.abort();
    await running;

    // The reader with its own position gets each delivery once, in an order without gaps.
    expect(followed.map(({ body }) => describeBody(body)).toSorted()).toEqual(expected);
    expect(followed.map(({ position }) => position)).toEqual(expected.map((_, n) => n + 1));
    // Those that share the deliveries miss none, and repeat only those that were in flight.
    const idOf = new Map(followed.map(({ position, id }) => [position, id]));
    const times = new Map<string, number>();
    for (const { id, position } of processed) {
      expect(id).toBe(idOf.get(position));
      times.set(id, (times.get(id) ?? 0) + 1);
    }
    expect([...times.keys()].toSorted()).toEqual([...idOf.values()].toSorted());
    for (const [id, n] of times) expect(n - 1).toBeLessThanOrEqual(interrupted.get(id) ?? 0);
    expect(await sluice().listFeedConsumers(watch.streamId)).toMatchObject([
      { name: 'a', position: expected.length, unread: 0, leased: 0 },
    ]);
    await until(
      'the integrity checks of the service find nothing',
      async () =>
        (await world.metrics(/^sluice_integrity_violations/)).every((count) => count === 0),
      90_000,
    );
  });
});
