/** The database itself fails over: three PostgreSQL servers, of which the primary is lost. */
import { setTimeout as wait } from 'node:timers/promises';
import { type PostgresCluster, startPostgresCluster } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../serve.ts';
import { type FaultWorld, startWorld } from './world.ts';

/** Writes go on within so long of the loss. */
const RESUME_MS = 30_000;

let cluster: PostgresCluster;
let world: FaultWorld;
beforeAll(async () => {
  cluster = await startPostgresCluster();
  world = await startWorld('postgres', { cluster });
});
afterAll(async () => {
  await world?.stop();
  await cluster?.stop();
});

const checkpoint = (): Promise<number> =>
  world.ledger.value('select max(number) from checkpoint').catch(() => 0);

/** The chain's newest block is in the ledger. */
const caughtUp = async (): Promise<boolean> =>
  (await checkpoint()) >= Number(world.chain.head.number);

test('fault 16: the primary is killed under load, a standby is promoted, the old one comes back', async () => {
  const watches = [await world.watch('one'), await world.watch('two')];
  const succeeded = async (): Promise<string[]> =>
    (
      await world.ledger.rows<{ id: string }>("select id from delivery where state = 'succeeded'")
    ).map(({ id }) => id);
  const loading = new AbortController();
  const load = (async () => {
    while (!loading.signal.aborted) {
      world.mine(watches);
      await wait(100);
    }
  })();
  await until('deliveries are made', async () => (await succeeded()).length > 20);

  const acknowledged = await succeeded();
  const lostAt = Date.now();
  const old = await cluster.killPrimary();
  await cluster.promote();
  const before = Number(world.chain.head.number);
  await until('writes go on', async () => (await checkpoint()) > before, RESUME_MS);
  expect(Date.now() - lostAt).toBeLessThan(RESUME_MS);
  const kept = new Set(await succeeded());
  expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);

  // It takes itself for the primary, and is named first: nobody may write to it, old process or new.
  await cluster.revive(old);
  const stale = await cluster.query(old, 'select max(number) from checkpoint');
  await wait(1_000);
  await world.kill();
  await world.start();
  loading.abort();
  await load;
  world.mine(watches, 2);
  await until('the new process goes on', caughtUp, 90_000);
  await world.holds(watches);
  expect(await cluster.query(old, 'select max(number) from checkpoint')).toBe(stale);
  expect(
    await cluster.query(old, "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"),
  ).toBe('0');
});
