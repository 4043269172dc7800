/**
 * Tests that the tables of random histories equal those of the final chain alone.
 * `SLUICE_TABLE_HISTORIES` sets the number of histories.
 */
import { type PostgresPool, createTables } from '@sluice/kit/postgres';
import { type Postgres, startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '../../packages/demo/src/random.ts';
import { type Delivery, createHistory, shuffle } from './tableHistory.ts';

const HISTORIES = Number(process.env['SLUICE_TABLE_HISTORIES'] ?? 8);
const SECONDS = Math.max(60, HISTORIES * 4);

let postgres: Postgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await startPostgres({ settings: { fsync: 'off' } });
  pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
  pool.on('error', () => {});
});
afterAll(async () => {
  await pool?.end();
  await postgres?.stop();
});

/**
 * A pool whose queries fail at random: before they are executed or, for a commit, also after.
 * Failing connections are closed, as by a crash.
 */
const failing = (random: Random): PostgresPool => ({
  async connect() {
    const client = await pool.connect();
    let isBroken = false;
    return {
      async query(text, values) {
        if (isBroken) throw new Error('the connection is lost');
        const fails = text !== 'rollback' && random.next() < 0.02;
        if (fails && text !== 'commit') isBroken = true;
        const result = isBroken ? undefined : await client.query(text, values);
        if (fails) isBroken = true;
        if (isBroken) throw new Error('the connection is lost');
        return result!;
      },
      release: () => client.release(isBroken),
    };
  },
});

/** Applies webhooks with several writers at once, and repeats those that fail, as a service does. */
async function applyAll(
  deliveries: readonly Delivery[],
  schema: string,
  random: Random,
): Promise<void> {
  const open = () => createTables({ pool: failing(random), schema }).catch(() => undefined);
  const waiting = [...deliveries];
  while (waiting.length > 0) {
    const writers = (await Promise.all([open(), open()])).filter((each) => each !== undefined);
    if (writers.length === 0) continue;
    // A process that ends applies nothing more.
    for (let rounds = 1 + random.below(30); rounds > 0 && waiting.length > 0; rounds--) {
      const together = shuffle(random, waiting.splice(0, 1 + random.below(24)));
      await Promise.all(
        together.map(async (delivery) => {
          try {
            await random.pick(writers).apply(delivery);
          } catch {
            waiting.push(delivery);
          }
        }),
      );
    }
  }
}

/** Returns the rows of all tables, without the IDs of deliveries, which contain their time. */
async function readAll(schema: string): Promise<Record<string, unknown[]>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = $1 and table_name not like 'sluice%' order by 1`,
    [schema],
  );
  const all: Record<string, unknown[]> = {};
  for (const { name } of tables) {
    const { rows } = await pool.query<Record<string, unknown>>(
      `select * from "${schema}"."${name}" order by id`,
    );
    for (const row of rows) delete row['delivery_id'];
    all[name] = rows;
  }
  return all;
}

test(
  `${HISTORIES} random histories leave the tables of their final chains`,
  async () => {
    let reorgs = 0;
    let rows = 0;
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const random = createRandom(seed);
      const { arrivals, final } = createHistory(seed, 64);
      reorgs += arrivals.filter(({ webhook }) => webhook.removed).length;
      for (const schema of ['random', 'fresh']) {
        await pool.query(`drop schema if exists ${schema} cascade`);
      }
      await applyAll(arrivals, 'random', random);
      const tables = await createTables({ pool, schema: 'fresh' });
      await Promise.all(final.map((delivery) => tables.apply(delivery)));
      const expected = await readAll('fresh');
      expect(await readAll('random'), `history ${seed}`).toEqual(expected);
      rows += Object.values(expected).flat().length;
    }
    expect(reorgs).toBeGreaterThan(HISTORIES);
    expect(rows).toBeGreaterThan(HISTORIES * 20);
  },
  SECONDS * 1000,
);
