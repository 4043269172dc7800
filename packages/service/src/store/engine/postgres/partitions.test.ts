/** Tests the creation, use and removal of PostgreSQL partitions. */
import { movedBy } from '../../live/movedBy.test-only.ts';
import { type Postgres, startPostgres, until } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { newMatch } from '../../../../test/store/newMatch.ts';
import { toBlockDay } from '../days.ts';

import { openPostgresStore } from './postgres.ts';
import type { AttemptOutcome } from '../../deliveries/contract.ts';
import { DEFAULT_DELIVERY, DEFAULT_OPTIONS } from '../../streams/contract.ts';
import type { Store } from '../../store.ts';
import { takeChain } from '../../../../test/store/takeChain.ts';
import { plain } from '../../../../test/store/plain.ts';

const DAY_S = 86_400;
const DAY_MS = DAY_S * 1000;
const nowS = Math.floor(Date.now() / 1000);

let postgres: Postgres;
let db: pg.Client;
let store: Store;
beforeAll(async () => {
  postgres = await startPostgres({ settings: { autovacuum: 'off' } });
  db = new pg.Client(postgres.url);
  await db.connect();
  await (await openPostgresStore(postgres.url)).close();
});
afterAll(async () => {
  await db.end();
  await postgres.stop();
});

beforeEach(async () => {
  const database = `test_${Math.random().toString(36).slice(2)}`;
  await db.query(`create database ${database}`);
  url = postgres.url.replace(/postgres$/, database);
  store = await openPostgresStore(url);
  const client = new pg.Client(url);
  await client.connect();
  sql = async (text) => (await client.query(text)).rows as Record<string, never>[];
  return async () => {
    await client.end();
    await store.close();
  };
});

let url: string;
let sql: (text: string) => Promise<Record<string, never>[]>;
let lastChain = 0;

/** Creates a stream, and functions that commit matching blocks and attempt deliveries. */
async function newStream() {
  const chain = `0x${(++lastChain).toString(16)}`;
  const { id: streamId } = await store.createStream(
    plain({
      family: 'evm',
      tag: 'tag',
      description: '',
      webhookUrl: 'http://127.0.0.1:1/',
      chainIds: [chain],
      options: { ...DEFAULT_OPTIONS, includeContractLogs: true },
      ...DEFAULT_DELIVERY,
    }),
  );
  const commit = async (timestamp: number, matches = 1): Promise<void> => {
    await store.commitManual({
      chain,
      block: { number: timestamp, hash: `h${timestamp}`, parentHash: 'h', timestamp },
      requestId: crypto.randomUUID(),
      isConfirmed: true,
      matches: Array.from({ length: matches }, (_, part) => newMatch(streamId, { part })),
    });
  };
  const attempt = async (result: AttemptOutcome['result'], count = 1000) => {
    const claimed = await store.claimDeliveries({
      limit: count,
      maxBytes: 1e9,
      perStream: count,
      taken: {},
      leaseMs: 40_000,
    });
    const failure = { status: 500, error: 'HTTP 500' };
    return store.completeDeliveries(
      claimed.map(({ id, leaseToken }) => ({
        id,
        leaseToken,
        webhookUrl: 'http://127.0.0.1:1/',
        startedAt: Date.now(),
        durationMs: 5,
        status: 200,
        error: null,
        responseBody: '',
        transport: null,
        result,
        retryInMs: 3_600_000,
        isFastRetry: false,
        ...(result === 'succeeded' ? {} : failure),
      })),
    );
  };
  return { streamId, chain, commit, attempt };
}

/**
 * Follows the chain of a new stream. Returns functions that commit a block, which confirms matches
 * up to `confirmUpTo`, and that remove all blocks after the first.
 */
async function followChain() {
  const { streamId, chain } = await newStream();
  const header = (number: number, timestamp: number) => ({
    number,
    timestamp,
    hash: `h${number}`,
    parentHash: `h${number - 1}`,
  });
  const epoch = await takeChain(store, chain);
  const genesis = header(0, nowS);
  await store.startChain({ chain, epoch, block: genesis, genesisHash: genesis.hash });
  return {
    streamId,
    commit: async (number: number, timestamp: number, streams: string[], confirmUpTo: number) => {
      const ruleRevision = (await store.readRules(1e9, 'evm')).revision;
      const { moved } = await movedBy(store, () =>
        store.commitBlock({
          chain,
          epoch,
          confirmUpTo,
          block: header(number, timestamp),
          ruleRevision,
          windowBlocks: 256,
          matches: streams.map((id) => newMatch(id, { deliver: 'confirmed' })),
        }),
      );
      return moved;
    },
    rewind: () => store.rewindChain({ chain, epoch, ancestor: genesis }),
  };
}

const partitions = async (): Promise<string[]> =>
  (await sql('select name from partition order by name')).map((row) => row['name']!);
const openOnes = async (): Promise<string[]> =>
  (await sql('select name from partition where open order by name')).map((row) => row['name']!);
const countIn = async (table: string): Promise<number> =>
  Number((await sql(`select count(*) as n from ${table}`))[0]!['n']);

const compact = (day: string): string => day.replaceAll('-', '');

/**
 * Maintains the partitions, and keeps delivered rows for `days` days. With -1, even new rows have
 * expired.
 */
const tend = async (days = 1, undelivered = 30) =>
  store.tendDays({ deliveredMs: days * DAY_MS, undeliveredMs: undelivered * DAY_MS });

describe('a partition is created', () => {
  test('for each recent day and each older month, and for the next two days', async () => {
    const { commit } = await newStream();
    for (const daysAgo of [0, 1, 3]) await commit(nowS - daysAgo * DAY_S);
    for (const day of ['2019-02-03', '2019-02-28', '2019-12-31']) {
      await commit(Date.parse(day) / 1000);
    }
    const days = [0, 1, 3].map((n) => compact(toBlockDay(nowS - n * DAY_S)));
    const old = ['20190201_month', '20191201_month'];
    expect(await partitions()).toEqual([...old, ...days].toSorted());
    await tend();
    const ahead = [1, 2].map((n) => compact(toBlockDay(nowS + n * DAY_S)));
    expect(await partitions()).toEqual([...old, ...days, ...ahead].toSorted());
  });

  test('for a day whose month has a daily partition', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { commit } = await newStream();
    const seconds = (text: string): number => Date.parse(text) / 1000;
    vi.setSystemTime('2024-05-20T12:00Z');
    await commit(seconds('2024-05-02'));
    vi.setSystemTime('2024-06-20T12:00Z');
    await commit(seconds('2024-05-01'));
    await commit(seconds('2024-04-30'));
    vi.useRealTimers();
    expect(await partitions()).toEqual(['20240401_month', '20240501', '20240502']);
  });

  test('for timestamps that no real block can have', async () => {
    const { commit } = await newStream();
    for (const timestamp of [0, 1e15]) await commit(timestamp);
    expect(await partitions()).toEqual(['19700101_month', '99991201']);
  });

  test('once, even if many chains reach the day at the same moment', async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, newStream));
    await Promise.all(streams.map(({ commit }) => commit(nowS)));
    expect(await partitions()).toHaveLength(1);
    expect(await countIn('delivery')).toBe(6);
  });
});

describe('a partition is open', () => {
  test('while it has unfinished deliveries, and again after a replay', async () => {
    const { streamId, commit, attempt } = await newStream();
    const name = compact(toBlockDay(nowS));
    await commit(nowS);
    await tend();
    expect(await openOnes()).toContain(name);
    const [retried] = await attempt('retry');
    await tend();
    expect(await openOnes()).toContain(name);
    await store.replayDelivery(streamId, retried!.id);
    await attempt('succeeded');
    expect(await openOnes()).toContain(name);
    await tend();
    expect(await openOnes()).not.toContain(name);
    await store.replayDelivery(streamId, retried!.id);
    expect(await openOnes()).toContain(name);
    expect(await attempt('succeeded')).toMatchObject([{ id: retried!.id, attempts: 3 }]);
    await tend();
    expect(await openOnes()).not.toContain(name);
    const replay = await store.createReplay({
      name: '',
      filter: { streamId },
      perSecond: 1,
      total: 1,
      keyId: 'bootstrap',
    });
    const { id } = replay!;
    await store.advanceReplay({ id, after: '', ids: [retried!.id], isLast: true });
    expect(await openOnes()).toContain(name);
    expect(await attempt('succeeded')).toMatchObject([{ id: retried!.id, attempts: 4 }]);
  });

  test.each(['enriching', 'held', 'pending', 'leased'])(
    'and is kept while it has a delivery that is %s',
    async (state) => {
      const { commit } = await newStream();
      const old = nowS - 2 * DAY_S;
      const name = compact(toBlockDay(old));
      await commit(old);
      await sql(`update delivery set state = '${state}'`);
      expect(await tend(-1, -1)).toMatchObject({ dropped: [], shrunk: [] });
      expect(await openOnes()).toContain(name);
      await sql(`update delivery set state = 'cancelled'`);
      expect(await tend(-1, -1)).toMatchObject({ dropped: [name], shrunk: [] });
    },
  );

  test('while a match in it awaits confirmation', async () => {
    const { streamId, commit } = await followChain();
    await commit(1, nowS - 3 * DAY_S, [streamId], 0);
    await tend();
    const name = compact(toBlockDay(nowS - 3 * DAY_S));
    expect(await openOnes()).toContain(name);
    expect(await commit(2, nowS, [], 1)).toMatchObject([{ phase: 'confirmed', state: 'pending' }]);
  });

  test('again when a removed match in it returns, which is confirmed at once', async () => {
    const { streamId, commit, rewind } = await followChain();
    const name = compact(toBlockDay(nowS - 3 * DAY_S));
    await commit(1, nowS - 3 * DAY_S, [streamId], 0);
    await rewind();
    await tend(30);
    expect(await openOnes()).not.toContain(name);
    expect(await commit(1, nowS - 3 * DAY_S, [], 1)).toMatchObject([
      { phase: 'confirmed', state: 'pending' },
    ]);
    expect(await openOnes()).toContain(name);
  });

  test.each(['commitBlock', 'commitManual'] as const)(
    'while the transaction of %s still writes to it',
    async (write) => {
      const { commit, attempt } = await newStream();
      const following = await followChain();
      // Creates the partitions of the next days, because the lock below would delay it.
      await tend();
      await commit(nowS);
      await attempt('succeeded');
      const waiting = async () =>
        Number((await sql('select count(*) as n from pg_locks where not granted'))[0]!['n']);
      // The write waits for this lock after it has found the partition open.
      await sql('begin');
      await sql('lock table match in share mode');
      const writing =
        write === 'commitManual'
          ? commit(nowS)
          : following.commit(1, nowS, [following.streamId], 0);
      await until('the write waits', async () => (await waiting()) === 1);
      const tending = tend();
      await until('the maintenance waits', async () => (await waiting()) === 2);
      await sql('rollback');
      await Promise.all([writing, tending]);
      expect(await openOnes()).toContain(compact(toBlockDay(nowS)));
    },
  );

  test('and only open partitions are read by claims and completions', async () => {
    const { commit, attempt } = await newStream();
    for (let daysAgo = 5; daysAgo > 0; daysAgo--) {
      await commit(nowS - daysAgo * DAY_S, 3);
    }
    await attempt('succeeded');
    // Earlier than the closed partitions, this one stays open.
    await commit(nowS - 7 * DAY_S);
    await attempt('retry');
    await tend();
    await commit(nowS, 400);
    await sql('analyze');
    // Connections report their scans only when they are closed.
    const scans = async (): Promise<Record<string, number>> => {
      await store.close();
      store = await openPostgresStore(url);
      await expect
        .poll(() => sql('select from pg_stat_activity where datname = current_database()'))
        .toHaveLength(2);
      const rows = await sql(`
        select relname, seq_scan + coalesce(idx_scan, 0) as n from pg_stat_user_tables
        where relname ~ '^(delivery|match|attempt)_[0-9]'`);
      return Object.fromEntries(rows.map((row) => [row['relname']!, Number(row['n']!)]));
    };
    const [today, earliest] = [nowS, nowS - 7 * DAY_S].map((day) => compact(toBlockDay(day)));
    const before = await scans();
    for (let n = 0; n < 20; n++) await attempt('succeeded', 20);
    const after = await scans();
    const touched = Object.keys(after).filter((name) => after[name]! > before[name]!);
    expect(touched.toSorted()).toEqual([
      ...[`delivery_${earliest}`, `delivery_${today}`],
      ...[`match_${earliest}`, `match_${today}`],
    ]);
    expect(Object.keys(after).length).toBeGreaterThan(15);
  });
});

describe('an old partition', () => {
  const old = nowS - 2 * DAY_S;
  const name = compact(toBlockDay(old));

  test('is dropped with all its rows', async () => {
    const { commit, attempt } = await newStream();
    await commit(old, 20);
    await attempt('succeeded');
    expect(await tend()).toMatchObject({ dropped: [], shrunk: [] });
    expect(await tend(-1)).toMatchObject({ dropped: [name], shrunk: [] });
    for (const table of ['match', 'match_transaction', 'delivery', 'attempt']) {
      expect(await countIn(table)).toBe(0);
    }
    expect(await partitions()).not.toContain(name);
    // A block of that day creates the partition again.
    await commit(old);
    expect(await partitions()).toContain(name);
  });

  test('is kept while it has pending deliveries, then keeps only recent failures', async () => {
    const { streamId, commit, attempt } = await newStream();
    await commit(old, 50);
    const [failed] = await attempt('failed', 1);
    const [waiting] = await attempt('retry', 1);
    await attempt('succeeded');
    expect(await tend(-1)).toMatchObject({ dropped: [], shrunk: [] });
    expect(await countIn('delivery')).toBe(50);
    await store.replayDelivery(streamId, waiting!.id);
    expect(await attempt('succeeded')).toHaveLength(1);

    expect(await tend(-1)).toMatchObject({ dropped: [], shrunk: [name] });
    expect(await tend(-1)).toMatchObject({ dropped: [], shrunk: [] });
    const { rows } = await store.listDeliveries({ limit: 100, streamId });
    expect(rows.map((row) => row.id)).toEqual([failed!.id]);
    for (const table of ['match', 'match_transaction', 'delivery', 'attempt']) {
      expect(await countIn(table)).toBe(1);
    }
    expect((await store.readDelivery(failed!.id))?.attemptList).toHaveLength(1);

    // Failures are kept for longer than delivered rows, but now they have expired as well.
    expect(await tend(-1, -1)).toMatchObject({ dropped: [name], shrunk: [] });
    expect(await countIn('match')).toBe(0);
  });

  test.each(['dropped', 'shrunk'])(
    'is not %s if a delivery is replayed meanwhile',
    async (removal) => {
      const { commit, attempt } = await newStream();
      await commit(old, 3);
      if (removal === 'shrunk') await attempt('failed', 1);
      await attempt('succeeded');
      // A replay that commits between the check and the removal.
      await sql(`
        create function replay() returns trigger language plpgsql as $$ begin
          update delivery set state = 'pending' where state = 'succeeded';
          return null;
        end $$`);
      await sql(`
        create trigger replay after update on partition for each row when (not new.open)
        execute function replay()`);
      expect(await tend(-1)).toMatchObject({ dropped: [], shrunk: [] });
      expect(await countIn('delivery')).toBe(3);
    },
  );

  test('is kept while a transaction reads it, without blocking others', async () => {
    const { commit, attempt } = await newStream();
    await commit(old);
    await attempt('succeeded');
    await sql('begin');
    await sql(`select * from delivery_${name}`);
    expect(await tend(-1)).toMatchObject({ dropped: [], shrunk: [] });
    await sql('commit');
    expect(await tend(-1)).toMatchObject({ dropped: [name], shrunk: [] });
  });
});
