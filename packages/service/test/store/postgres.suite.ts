import { type Postgres, startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testAccess } from './access.suite.ts';
import { testActivity } from './activity.suite.ts';
import { CHAIN_HEALTH, eventStream, followFeed, testEvents } from './events.suite.ts';
import { testCounts } from './counts.suite.ts';
import { testMaximumOfChildren } from './children.suite.ts';
import { testHistory } from './history.suite.ts';
import { testOrder } from './order.suite.ts';
import { testInvariants } from './invariants.suite.ts';
import { newMatch } from './newMatch.ts';
import { createLog } from '../../src/base/log.ts';
import { createReadiness } from '../../src/operate/readiness.ts';
import { openPostgresStore } from '../../src/store/engine/postgres/postgres.ts';
import { DEFAULT_DELIVERY } from '../../src/store/streams/contract.ts';
import type { Store } from '../../src/store/store.ts';
import { testSettling } from './settling.suite.ts';
import { testStore } from './store.suite.ts';
import { takeChain } from './takeChain.ts';

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
}

/**
 * Commits blocks, each with a match for each stream. Returns the epoch, the genesis block and a
 * function that commits a block.
 */
async function commitBlocks(store: Store, chain: string, count: number, streamIds: string[]) {
  const header = (number: number) => ({
    number,
    hash: `${chain} ${number}`,
    parentHash: `${chain} ${number - 1}`,
    timestamp: number,
  });
  const epoch = await takeChain(store, chain);
  await store.startChain({ chain, epoch, block: header(0), genesisHash: 'genesis' });
  const { revision: ruleRevision } = await store.readRules(Number.MAX_SAFE_INTEGER, 'evm');
  const commit = (number: number) =>
    store.commitBlock({
      chain,
      epoch,
      block: header(number),
      ruleRevision,
      confirmUpTo: 0,
      windowBlocks: 9,
      matches: streamIds.map((id) => newMatch(id)),
    });
  for (let number = 1; number <= count; number++) await commit(number);
  return { epoch, genesis: header(0), commit };
}

/** Waits until this number of other sessions waits for a lock. */
const untilBlocked = (client: pg.Client, sessions = 1) =>
  expect
    .poll(async () => {
      // In a transaction, `pg_stat_activity` would not list sessions that begin later.
      const { rows } = await client.query('select from pg_locks where not granted');
      return rows.length;
    })
    .toBe(sessions);

/** Claims all due deliveries of these streams. */
async function claimOf(store: Store, streamIds: readonly string[], perStream = 1000) {
  const limits = { limit: 1000, maxBytes: 1e9, perStream, taken: {}, leaseMs: 40_000 };
  const claimed = await store.claimDeliveries(limits);
  return claimed.filter(({ streamId }) => streamIds.includes(streamId));
}

/** `programs` is the folder of a server's programs, as for `startPostgres`. */
export function testPostgresStore(programs?: string): void {
  const chosen = programs === undefined ? {} : { programs };
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres(chosen);
  });
  afterAll(() => postgres.stop());

  testStore(() => openPostgresStore(postgres.url));
  testSettling(() =>
    Promise.all([openPostgresStore(postgres.url), openPostgresStore(postgres.url)]),
  );
  testMaximumOfChildren((limits) => openPostgresStore(postgres.url, limits));
  testAccess(() => openPostgresStore(postgres.url));
  testEvents(() => openPostgresStore(postgres.url));

  describe('the event feed', () => {
    let stores: [Store, Store];
    beforeAll(async () => {
      stores = [await openPostgresStore(postgres.url), await openPostgresStore(postgres.url)];
    });
    afterAll(() => Promise.all(stores.map((store) => store.close())));

    test('waits for earlier transactions, and skips none of their rows', async () => {
      const feeds = await Promise.all(stores.map(({ events }) => followFeed(events)));
      const slow = new pg.Client(postgres.url);
      await slow.connect();
      await slow.query('begin');
      await slow.query(
        `insert into live_event values (pg_current_xact_id()::text::bigint, 0, '{"type":"stream","streamId":"slow"}')`,
      );
      const { id } = await eventStream(stores[0], '0x1');
      // A reader that starts now must not miss the earlier transaction either.
      feeds.push(await followFeed(stores[1].events));
      for (let n = 0; n < 10; n++) {
        for (const feed of feeds) await feed.readOn();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(feeds.map(({ received }) => received)).toEqual([[], [], []]);
      await slow.query('commit');
      await slow.end();
      for (const feed of feeds) {
        expect(await feed.take('stream')).toEqual([
          { type: 'stream', streamId: 'slow' },
          { type: 'stream', streamId: id },
        ]);
      }
    });

    test('is the same for every process during concurrent writes', async () => {
      const start = (await stores[0].events.newest()).position;
      const feeds = await Promise.all(stores.map(({ events }) => followFeed(events, start)));
      const made: string[] = [];
      const write = async (store: Store, writer: number): Promise<void> => {
        for (let n = 0; n < 20; n++) {
          const id = `${writer} ${n}`;
          made.push(id);
          await store.events.publish([{ type: 'chain', chain: { ...CHAIN_HEALTH, id } }]);
        }
      };
      const writing = Promise.all([...stores, ...stores, ...stores].map(write));
      const read = async (): Promise<boolean> => {
        for (const { readOn } of feeds) await readOn();
        return feeds.every(({ received }) => received.length >= made.length);
      };
      await expect.poll(read, { timeout: 15_000, interval: 5 }).toBe(true);
      await writing;
      await expect.poll(read, { timeout: 15_000, interval: 5 }).toBe(true);
      const ids = feeds.map(({ received }) =>
        received.map((event) => (event.type === 'chain' ? event.chain.id : event.type)),
      );
      expect(ids[0]).toEqual(ids[1]);
      expect(ids[0]!.toSorted()).toEqual(made.toSorted());
    });

    test('wakes readers in other processes', async () => {
      const woken = new Promise<void>((resolve) => stores[1].events.on(resolve));
      await eventStream(stores[0], '0x1');
      await woken;
    });

    test('deletes the oldest events beyond 32 MiB, and those with ids of another server', async () => {
      const count = async (where: string): Promise<number> => {
        const client = new pg.Client(postgres.url);
        await client.connect();
        const { rows } = await client.query<{ n: string }>(
          `select count(*) as n from live_event where ${where}`,
        );
        await client.end();
        return Number(rows[0]!.n);
      };
      await execute(
        postgres.url,
        // The events of other tests would count, too.
        `delete from live_event;
         insert into live_event select -n, n, repeat('x', 1048576) from generate_series(1, 40) as n;
         insert into live_event values (1000000000000, 1, 'from another server')`,
      );
      await stores[0].events.trim();
      expect(await count("events like 'xxx%'")).toBeLessThanOrEqual(32);
      expect(await count("events like 'xxx%'")).toBeGreaterThan(20);
      expect(await count("events = 'from another server'")).toBe(0);
      await execute(postgres.url, "delete from live_event where events like 'xxx%'");
    });
  });

  describe('in a separate database', () => {
    const openSecond = async (name: string) => {
      const url = new URL(postgres.url);
      url.pathname = `/${name}`;
      await execute(postgres.url, `create database ${name}`);
      return {
        store: await openPostgresStore(url.href),
        execute: (statement: string) => execute(url.href, statement),
      };
    };
    testHistory(async () => (await openSecond('history')).store);
    testInvariants(() => openSecond('invariants'));
    testCounts(() => openSecond('facets'));
    testActivity(() => openSecond('activity'));
    testOrder(() => openSecond('in_order'));
  });

  test('survives a server crash: the next call after the restart succeeds', async () => {
    const store = await openPostgresStore(postgres.url);
    await store.saveSetting('before', 'kept');
    const { position } = await store.events.newest();
    await postgres.kill();
    await expect(store.readSetting('before')).rejects.toThrow(/connect|terminat|ECONN/i);
    await postgres.restart();
    expect(await store.readSetting('before')).toBe('kept');
    // A crash empties the feed, so the old position is unknown.
    expect(await store.events.readFrom(position)).toBeUndefined();
    const feed = await followFeed(store.events);
    await eventStream(store, '0x1');
    expect(await feed.take('stream')).toHaveLength(1);
    await store.close();
  });

  test('a crash may undo the last blocks, but none with a claimed delivery', async () => {
    // Only transactions that wait are on disk, because nothing else writes the log.
    const server = await startPostgres({ ...chosen, settings: { wal_writer_delay: '10s' } });
    const store = await openPostgresStore(server.url);
    const chain = '0xe48';
    const { id } = await eventStream(store, chain);
    const { commit } = await commitBlocks(store, chain, 1, [id]);
    // The claim is the last write, because a later one could write it to disk.
    const [claimed] = await claimOf(store, [id]);
    const crash = async () => {
      await server.kill();
      await server.restart();
      return (await store.readCheckpoint(chain))!.number;
    };
    expect(await crash()).toBe(1);
    expect(await store.readDelivery(claimed!.id)).toMatchObject({ state: 'leased' });
    await commit(2);
    await commit(3);
    // Full pages of the log can be on disk, so block 2 can be there, but the last block is not.
    expect([1, 2]).toContain(await crash());
    await store.close();
    await server.stop();
  });

  test('a delivery that is requeued while its block is removed is canceled by its next claim', async () => {
    const store = await openPostgresStore(postgres.url);
    const chain = '0xe45';
    const { id } = await eventStream(store, chain);
    const { epoch, genesis } = await commitBlocks(store, chain, 1, [id]);
    const claim = () => claimOf(store, [id]);
    const [claimed] = await claim();

    // A transaction that has requeued the delivery but has not committed yet.
    const other = new pg.Client(postgres.url);
    await other.connect();
    await other.query('begin');
    await other.query(
      `update delivery set state = 'pending', lease_token = null, lease_until = null
       where id = $1`,
      [claimed!.id],
    );
    await store.rewindChain({ chain, epoch, ancestor: genesis });
    await other.query('commit');
    await other.end();

    expect(await store.readDelivery(claimed!.id)).toMatchObject({ state: 'pending' });
    expect(await claim()).toEqual([]);
    expect(await store.readDelivery(claimed!.id)).toMatchObject({ state: 'cancelled' });
    await store.close();
  });

  test('a lease that its holder renews is neither waited for nor released', async () => {
    const store = await openPostgresStore(postgres.url);
    const chain = '0xe46';
    const { id } = await eventStream(store, chain);
    await commitBlocks(store, chain, 2, [id]);
    const [renewed, lost] = await claimOf(store, [id]);
    await store.extendLeases([renewed!, lost!], -1_000);

    const holder = new pg.Client(postgres.url);
    await holder.connect();
    await holder.query('begin');
    await holder.query('update delivery set lease_until = lease_until + 60000 where id = $1', [
      renewed!.id,
    ]);
    await store.releaseLeases('expired');
    await holder.query('commit');
    await holder.end();

    expect(await store.readDelivery(renewed!.id)).toMatchObject({ state: 'leased' });
    expect(await store.readDelivery(lost!.id)).toMatchObject({ state: 'pending' });
    await store.close();
  });

  test('the lease of a chain is taken only after the current write of its holder', async () => {
    const [holder, another] = await Promise.all([
      openPostgresStore(postgres.url),
      openPostgresStore(postgres.url),
    ]);
    const chain = '0xe48';
    const { id } = await eventStream(holder, chain);
    const { epoch, commit } = await commitBlocks(holder, chain, 1, [id]);
    const other = new pg.Client(postgres.url);
    await other.connect();
    await other.query('begin; lock table match in exclusive mode');
    const committed = commit(2);
    await untilBlocked(other);
    const lease = { name: chain, holder: 'another', forMs: 60_000, force: true };
    const taken = another.takeLease(lease);
    await untilBlocked(other, 2);
    await other.query('commit');
    await other.end();
    expect(await committed).toMatchObject({ outcome: 'committed' });
    expect(await taken).toBe(epoch + 1);
    expect(await commit(3)).toEqual({ outcome: 'lost-lease' });
    await Promise.all([holder.close(), another.close()]);
  });

  test('a change of a stream that deadlocks with the end of attempts is repeated', async () => {
    const store = await openPostgresStore(postgres.url);
    const chain = '0xe47';
    const { id } = await eventStream(store, chain);
    await commitBlocks(store, chain, 2, [id]);
    const [first, second] = await claimOf(store, [id]);

    const other = new pg.Client(postgres.url);
    await other.connect();
    const touch = (delivery: string) =>
      other.query('update delivery set updated_at = updated_at + 1 where id = $1', [delivery]);
    // A session that has waited for its deadlock_timeout looks for a deadlock and ends its own
    // transaction. Only the change of the stream waits that long.
    await other.query(`begin; set local deadlock_timeout = '1h'`);
    await touch(second!.id);
    const limits = { ...DEFAULT_DELIVERY.limits, strictOrder: true };
    const changed = store.updateStream(id, { limits });
    await untilBlocked(other);
    await touch(first!.id);
    await other.query('commit');
    await other.end();

    expect(await changed).toMatchObject({ limits });
    await store.close();
  });

  test('only one of several claimers probes a stream in error, every ten minutes', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore(postgres.url)));
    const [one] = stores as [Store];
    const chain = '0xe44';
    const { id } = await eventStream(one, chain);
    await commitBlocks(one, chain, 5, [id]);
    await one.failStream(id, 'HTTP 410');
    const claimed = async () => {
      return (await Promise.all(stores.map((store) => claimOf(store, [id])))).flat();
    };
    expect(await claimed()).toEqual([]);
    await execute(postgres.url, `update stream set probe_at = 0 where id = '${id}'`);
    expect(await claimed()).toMatchObject([{ isProbe: true }]);
    expect(await claimed()).toEqual([]);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('opens no sessions while commits wait for a standby, and continues when it is back', async () => {
    // Uses a separate server, because on a shared server, readiness would also report what other
    // tests left behind.
    const server = await startPostgres();
    const store = await openPostgresStore(server.url);
    const readiness = createReadiness(
      store,
      createLog(() => {}),
      () => true,
    );
    readiness.started();
    expect(await readiness.read()).toEqual([]);
    const clients = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const client = new pg.Client(server.url);
        await client.connect();
        return client;
      }),
    );
    const synchronousWith = async (change: string) => {
      await execute(server.url, `alter system ${change}`);
      await execute(server.url, 'select pg_reload_conf()');
    };
    await synchronousWith("set synchronous_standby_names = 'nobody'");
    // Repeats the commits until the setting takes effect, because commits before that do not wait.
    let hasBegun = false;
    const waiting = Promise.all(
      clients.map(async (client, n) => {
        await client.query('set synchronous_commit = on');
        for (let attempt = 0; !hasBegun; attempt++) {
          await client.query(`insert into setting values ('waits ${n} ${attempt}', '')`);
        }
      }),
    );
    try {
      await expect.poll(() => store.countWaitingCommits(), { timeout: 15_000 }).toBe(20);
      hasBegun = true;
      await expect(openPostgresStore(server.url)).rejects.toThrow(
        '20 commits are waiting for a standby of the database, and none responds',
      );
      // Existing connections also wait, and the readiness check reports this.
      await expect
        .poll(() => readiness.read(), { timeout: 15_000, interval: 1_000 })
        .toEqual(['commits are waiting for a standby of the database, and none responds']);
    } finally {
      hasBegun = true;
      await synchronousWith('reset synchronous_standby_names');
      await waiting;
      await Promise.all(clients.map((client) => client.end()));
    }
    await expect.poll(() => readiness.read(), { timeout: 15_000, interval: 1_000 }).toEqual([]);
    await store.close();
    await server.stop();
  });

  test('claimers never take the same delivery, and respect the limit of each lane', async () => {
    const PER_STREAM = 8;
    const stores = await Promise.all([1, 2, 3].map(() => openPostgresStore(postgres.url)));
    const [one] = stores as [Store];
    const chain = '0xabcdef';
    const streams = await Promise.all(Array.from({ length: 5 }, () => eventStream(one, chain)));
    const ours = streams.map(({ id }) => id);
    await commitBlocks(one, chain, 40, ours);

    const underWay = new Map<string, number>();
    const seen: string[] = [];
    let most = 0;
    const work = async (store: Store): Promise<void> => {
      while (seen.length < 5 * 40) {
        const claimed = await claimOf(store, ours, PER_STREAM);
        for (const { id, streamId } of claimed) {
          seen.push(id);
          const n = (underWay.get(streamId) ?? 0) + 1;
          underWay.set(streamId, n);
          most = Math.max(most, n);
        }
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
        // Decrements the count before the ledger records the completion, so that the count is never
        // too high.
        for (const { streamId } of claimed) {
          underWay.set(streamId, (underWay.get(streamId) ?? 1) - 1);
        }
        await store.completeDeliveries(
          claimed.map(({ id, leaseToken }) => ({
            id,
            leaseToken,
            webhookUrl: '',
            startedAt: 0,
            durationMs: 1,
            status: 200,
            error: null,
            responseBody: '',
            transport: null,
            result: 'succeeded',
            retryInMs: 0,
            isFastRetry: false,
          })),
        );
      }
    };
    await Promise.all([...stores, ...stores].map(work));
    expect(seen).toHaveLength(5 * 40);
    expect(new Set(seen).size).toBe(seen.length);
    expect(most).toBe(PER_STREAM);
    await Promise.all(stores.map((store) => store.close()));
  });
}
