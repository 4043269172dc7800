/** The database itself fails over: three PostgreSQL servers, of which the primary is lost. */
import { setTimeout as wait } from 'node:timers/promises';
import { type PostgresCluster, startPostgresCluster, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { type FaultWorld, startWorld } from './world.ts';

/** Writes go on within so long of the loss. */
const RESUME_MS = 30_000;
/** Longer than a query is waited for, so that connections are given up and opened anew. */
const GONE_MS = 50_000;
/** Ten connections, the session of notices, twenty whose commits wait though nobody listens. */
const MOST_SESSIONS = 31;

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

/** Sessions of the service at the primary, by what they wait for. */
const sessions = async (): Promise<{ all: number; waiting: number }> => {
  const [all, waiting] = (
    await cluster.query(
      cluster.primary,
      `select count(*) || ' ' || count(*) filter (where wait_event = 'SyncRep') from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
  ).split(' ');
  return { all: Number(all), waiting: Number(waiting) };
};

test('fault 16: both standbys are gone: commits wait, nothing is lost, and no sessions pile up', async () => {
  const watches = [await world.watch('waiting')];
  world.mine(watches, 3);
  await world.holds(watches);
  const { standbys } = cluster;
  for (const each of standbys) await cluster.killStandby(each);
  const committed = await checkpoint();
  const goneAt = Date.now();
  const seen: { all: number; waiting: number }[] = [];
  const reasons = new Set<string>();
  while (Date.now() - goneAt < GONE_MS) {
    world.mine(watches);
    // Whoever asks for something to be written is refused, and may ask again.
    await fetch(`${world.service.url}/settings`, {
      method: 'POST',
      headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
      body: '{"region":"eu-central-1"}',
      signal: AbortSignal.timeout(1_000),
    }).catch(() => undefined);
    const ready = await fetch(`${world.service.url}/ready`);
    if (ready.status === 503) {
      for (const each of ((await ready.json()) as { reasons: string[] }).reasons) reasons.add(each);
    }
    seen.push(await sessions());
    await wait(500);
  }
  expect(await checkpoint()).toBe(committed);
  expect(Math.max(...seen.map(({ waiting }) => waiting))).toBeGreaterThan(0);
  expect(Math.max(...seen.map(({ all }) => all))).toBeLessThanOrEqual(MOST_SESSIONS);
  expect([...reasons]).toContain(
    'commits are waiting for a standby of the database, and none responds',
  );

  for (const each of standbys) await cluster.revive(each);
  await until('commits go on', caughtUp, 90_000);
  await world.holds(watches);
  expect((await sessions()).waiting).toBe(0);
});

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
