/** Tests service processes that are killed at critical moments, and one that gets SIGTERM. */
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultWorld, STORES, startWorld } from './world.ts';

/** Number of kills. The soak (`npm run soak`) makes more, which would take too long here. */
const KILLS = 8;

/**
 * Maximum time until a delivery is resent: a lease of 40 s, the interval of 3 s between searches
 * for expired leases, and a margin.
 */
const TAKEN_OVER_MS = 45_000;

/** RPC methods that read the parts of a block. */
const PARTS = ['eth_getBlockByHash', 'eth_getLogs', 'eth_getBlockReceipts'];

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await startWorld(store);
  });
  afterAll(() => world?.stop());

  test(`fault 1: ${KILLS} kill -9 between a POST and its recorded outcome; resent within 45 s`, async () => {
    const watch = await world.watch('killed');
    // Deliveries that succeeded before a kill hold no lease, and must not be resent.
    const quiet = await world.watch('quiet');
    const quietOnes = (): Promise<number> =>
      world.ledger.value(`
        select count(*) as n from delivery where stream_id = '${quiet.streamId}'
          and phase = 'unconfirmed' and state = 'succeeded'`);
    let killedAt = 0;
    let underWay: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      world.mine([quiet]);
      await until('one delivery has succeeded', async () => (await quietOnes()) > kill);
      // The next requests get their responses after 500 ms, so that they are in flight when the
      // service is killed.
      const before = world.receiver.requestsOf(watch).length;
      world.receiver.respond(watch.path, { delayMs: 500 });
      world.mine([watch], 3);
      await until('a POST is in flight', () => world.receiver.requestsOf(watch).length > before);
      killedAt = Date.now();
      await world.kill();
      underWay = world.receiver
        .requestsOf(watch)
        .slice(before)
        .map(({ id }) => id);
      world.receiver.respond(watch.path, 200);
      await world.start();
    }
    expect(world.lostLeases.total).toBeGreaterThan(0);
    await world.holds([watch, quiet]);
    // All deliveries that were in flight when the service was last killed are resent in time.
    const again = new Map<string, number>();
    for (const { id, receivedAt } of world.receiver.requestsOf(watch)) {
      if (receivedAt > killedAt + 200 && !again.has(id)) again.set(id, receivedAt - killedAt);
    }
    for (const id of underWay) expect(again.get(id), id).toBeLessThan(TAKEN_OVER_MS);
  });

  test('fault 2: kill -9 between reading and committing a block, and right after the commit', async () => {
    const watch = await world.watch('watcher');
    const reads = (): number =>
      PARTS.reduce((n, method) => n + (world.chain.calls[method] ?? 0), 0);
    for (let kill = 0; kill < 3; kill++) {
      const before = reads();
      world.chain.trouble({ kind: 'hang', methods: PARTS });
      world.mine([watch], 2);
      await until('the block is read', () => reads() > before);
      await world.kill();
      world.chain.heal();
      await world.start();
    }
    for (let kill = 0; kill < 3; kill++) {
      const head = world.mine([watch], 1)[0]!;
      const committed = async (): Promise<boolean> =>
        (await world.ledger.value('select max(number) from checkpoint')) >= Number(head.number);
      await until('the block is committed', committed);
      await world.kill();
      await world.start();
    }
    await world.holds([watch]);
  });

  test('fault 3: SIGTERM with 100 attempts in flight', async () => {
    const watches = [await world.watch('draining'), await world.watch('draining')];
    for (const { path } of watches) world.receiver.respond(path, { delayMs: 5_000 });
    const arrived = (): number =>
      watches.reduce((n, watch) => n + world.receiver.requestsOf(watch).length, 0);
    world.mine(watches, 50);
    await until('100 attempts are in flight', () => arrived() >= 100);
    const asked = performance.now();
    expect(await world.service.stop()).toBe(0);
    expect(performance.now() - asked).toBeLessThan(20_000);
    // No delivery is still leased, so all outcomes were recorded.
    expect(await world.lostLeases.note()).toBe(0);
    for (const { path } of watches) world.receiver.respond(path, 200);
    await world.start();
    await world.holds(watches);
    const ids = watches.flatMap((watch) => world.receiver.requestsOf(watch).map(({ id }) => id));
    expect(ids).toHaveLength(new Set(ids).size);
  });
});
