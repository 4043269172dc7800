/**
 * Tests failover of the database. A cluster of three PostgreSQL servers loses its primary or both
 * standbys.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { FEED_URL } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type PostgresCluster, startPostgresCluster, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { type FaultWorld, startWorld } from './world.ts';

/** Maximum time from the loss of the primary to the next write. */
const RESUME_MS = 30_000;
/**
 * Duration of an outage, longer than the query timeout, so that connections are abandoned and
 * reopened.
 */
const GONE_MS = 50_000;
/**
 * Maximum number of sessions: ten in use, one for signals, and twenty abandoned ones whose commits
 * still wait.
 */
const MAX_SESSIONS = 31;

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

/** Returns whether the newest block is committed to the ledger. */
const caughtUp = async (): Promise<boolean> =>
  (await checkpoint()) >= Number(world.chain.head.number);

/** Counts the service's sessions at the primary, and how many of them wait for a standby. */
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

test('fault 16: both standbys are gone: webhooks wait, nothing is lost, and no sessions pile up', async () => {
  const watches = [await world.watch('waiting')];
  world.mine(watches, 3);
  await world.holds(watches);
  const { standbys } = cluster;
  for (const each of standbys) await cluster.killStandby(each);
  const sent = world.receiver.requests.length;
  const goneAt = Date.now();
  const seen: { all: number; waiting: number }[] = [];
  const reasons = new Set<string>();
  while (Date.now() - goneAt < GONE_MS) {
    world.mine(watches);
    // Sends a write to the API, which may be refused or time out.
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
  expect(world.receiver.requests).toHaveLength(sent);
  expect(Math.max(...seen.map(({ waiting }) => waiting))).toBeGreaterThan(0);
  expect(Math.max(...seen.map(({ all }) => all))).toBeLessThanOrEqual(MAX_SESSIONS);
  expect([...reasons]).toContain(
    'commits are waiting for a standby of the database, and none responds',
  );

  for (const each of standbys) await cluster.revive(each);
  await until('the service catches up', caughtUp, 90_000);
  await world.holds(watches);
  expect((await sessions()).waiting).toBe(0);
});

test('fault 16: the primary is killed under load, a standby is promoted, the old primary returns', async () => {
  const watches = [await world.watch('one'), await world.watch('two')];
  const feed = await world.watch('feed', { url: FEED_URL });
  const sluice = () => createSluiceClient({ apiKey: API_KEY, baseUrl: world.service.url });
  /** Reads and acknowledges the next deliveries of the feed. */
  const readFeed = async (limit: number) => {
    const query = { consumer: 'a', limit, waitMs: 5_000 };
    const { deliveries } = await sluice().readFeed(feed.streamId, query);
    const positions = deliveries.map(({ position }) => position);
    if (positions.length > 0) {
      await sluice().acknowledgeFeed(feed.streamId, { consumer: 'a', positions });
    }
    return deliveries.map(({ id, position }) => `${position} ${id}`);
  };
  const succeeded = async (): Promise<string[]> =>
    (
      await world.ledger.rows<{ id: string }>("select id from delivery where state = 'succeeded'")
    ).map(({ id }) => id);
  const loading = new AbortController();
  const load = (async () => {
    while (!loading.signal.aborted) {
      world.mine([...watches, feed]);
      await wait(100);
    }
  })();
  await until('deliveries succeed', async () => (await succeeded()).length > 20);

  const read = await readFeed(10);
  const placed = await sluice().readFeed(feed.streamId, { mode: 'each', after: 0, limit: 1_000 });
  const acknowledged = await succeeded();
  const lostAt = Date.now();
  const old = await cluster.killPrimary();
  await cluster.promote();
  const before = Number(world.chain.head.number);
  await until('writes continue', async () => (await checkpoint()) > before, RESUME_MS);
  expect(Date.now() - lostAt).toBeLessThan(RESUME_MS);
  const kept = new Set(await succeeded());
  expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  // The consumer continues where it was, and each delivery has kept its position.
  const next = await readFeed(5);
  expect(next).not.toEqual([]);
  const again = await sluice().readFeed(feed.streamId, { mode: 'each', after: 0, limit: 1_000 });
  const toPlace = ({ id, position }: { id: string; position: number }) => `${position} ${id}`;
  const places = again.deliveries.map(toPlace);
  expect(places).toEqual(expect.arrayContaining(placed.deliveries.map(toPlace)));
  expect([...read, ...next]).toEqual(places.slice(0, read.length + next.length));

  // The old server acts as the primary and is listed first, but no process may write to it.
  await cluster.revive(old);
  const stale = await cluster.query(old, 'select max(number) from checkpoint');
  await wait(1_000);
  await world.kill();
  await world.start();
  loading.abort();
  await load;
  world.mine(watches, 2);
  await until('the new process catches up', caughtUp, 90_000);
  await world.holds(watches);
  expect(await cluster.query(old, 'select max(number) from checkpoint')).toBe(stale);
  expect(
    await cluster.query(old, "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"),
  ).toBe('0');
});
