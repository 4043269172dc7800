/** Processes that end at the worst moment, and one that is asked to. */
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultWorld, STORES, startWorld } from './world.ts';

/** 200 times in the soak (`npm run soak`); here as many as time allows. */
const KILLS = 8;

/** A lease is 40 s, and what ran out is looked for every 3 s. */
const TAKEN_OVER_MS = 45_000;

/** What a block is read with. */
const PARTS = ['eth_getBlockByHash', 'eth_getLogs', 'eth_getBlockReceipts'];

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;

  beforeAll(async () => {
    world = await startWorld(store);
  });
  afterAll(() => world?.stop());

  test(`fault 1: kill -9 after the POST, before its outcome is written, ${KILLS} times; taken over within 45 s`, async () => {
    const watch = await world.watch('killed');
    // What has succeeded before a kill must not come again after it, and so has no lease to lose.
    const quiet = await world.watch('quiet');
    const quietOnes = (): Promise<number> =>
      world.ledger.value(`
        select count(*) as n from delivery where stream_id = '${quiet.streamId}'
          and phase = 'unconfirmed' and state = 'succeeded'`);
    let killedAt = 0;
    let underWay: string[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      world.mine([quiet]);
      await until('one has succeeded', async () => (await quietOnes()) > kill);
      // What comes from here on is held, so that it is under way when the process ends.
      const before = world.receiver.requestsOf(watch).length;
      world.receiver.answer(watch.path, { delayMs: 500 });
      world.mine([watch], 3);
      await until('a POST is under way', () => world.receiver.requestsOf(watch).length > before);
      killedAt = Date.now();
      await world.kill();
      underWay = world.receiver
        .requestsOf(watch)
        .slice(before)
        .map(({ id }) => id);
      world.receiver.answer(watch.path, 200);
      await world.start();
    }
    expect(world.lostLeases.total).toBeGreaterThan(0);
    await world.holds([watch, quiet]);
    // Of the last kill: each comes again, the first time soon enough.
    const again = new Map<string, number>();
    for (const { id, receivedAt } of world.receiver.requestsOf(watch)) {
      if (receivedAt > killedAt + 200 && !again.has(id)) again.set(id, receivedAt - killedAt);
    }
    for (const id of underWay) expect(again.get(id), id).toBeLessThan(TAKEN_OVER_MS);
  });

  test('fault 2: kill -9 between reading a block and committing it, and right after the commit', async () => {
    const watch = await world.watch('watcher');
    const reads = (): number =>
      PARTS.reduce((n, method) => n + (world.chain.calls[method] ?? 0), 0);
    for (let kill = 0; kill < 3; kill++) {
      const before = reads();
      world.chain.trouble({ kind: 'hang', methods: PARTS });
      world.mine([watch], 2);
      await until('it reads the block', () => reads() > before);
      await world.kill();
      world.chain.heal();
      await world.start();
    }
    for (let kill = 0; kill < 3; kill++) {
      const head = world.mine([watch], 1)[0]!;
      const committed = async (): Promise<boolean> =>
        (await world.ledger.value('select max(number) from checkpoint')) >= Number(head.number);
      await until('the commit', committed);
      await world.kill();
      await world.start();
    }
    await world.holds([watch]);
  });

  test('fault 3: SIGTERM with 100 attempts in flight', async () => {
    const watches = [await world.watch('draining'), await world.watch('draining')];
    for (const { path } of watches) world.receiver.answer(path, { delayMs: 5_000 });
    const arrived = (): number =>
      watches.reduce((n, watch) => n + world.receiver.requestsOf(watch).length, 0);
    world.mine(watches, 50);
    await until('100 are under way', () => arrived() >= 100);
    const asked = performance.now();
    expect(await world.service.stop()).toBe(0);
    expect(performance.now() - asked).toBeLessThan(20_000);
    // It took nothing new, and everything under way was written down.
    expect(await world.lostLeases.note()).toBe(0);
    for (const { path } of watches) world.receiver.answer(path, 200);
    await world.start();
    await world.holds(watches);
    const ids = watches.flatMap((watch) => world.receiver.requestsOf(watch).map(({ id }) => id));
    expect(ids).toHaveLength(new Set(ids).size);
  });
});
