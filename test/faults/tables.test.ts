/** Tests tables whose service and database are killed while the chain reorganizes. */
import { setTimeout as wait } from 'node:timers/promises';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type Postgres, startPostgres, until } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY } from '../serve.ts';
import { CHAIN, type FaultWorld, STORES, type Watch, startWorld } from './world.ts';

/** Number of kills of the service, and of the database of the tables. `FAULT_KILLS` makes more. */
const KILLS = Number(process.env['FAULT_KILLS'] ?? 4);
/** Maximum wait before a kill. */
const RUN_MS = 800;
/** Maximum depth of a reorg. */
const DEPTH = 6;
const TABLES = ['transactions', 'logs'];

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;
  let tables: Postgres;
  let pool: pg.Pool;

  beforeAll(async () => {
    tables = await startPostgres();
    pool = new pg.Pool({ connectionString: tables.url, max: 1 });
    // Connections end with the server.
    pool.on('error', () => {});
    world = await startWorld(store);
  });
  afterAll(async () => {
    await world?.stop();
    await pool?.end();
    await tables?.stop();
  });

  const rowsOf = async (schema: string): Promise<Record<string, unknown>[]> => {
    const all: Record<string, unknown>[] = [];
    for (const table of TABLES) {
      const { rows } = await pool.query<Record<string, unknown>>(
        `select * from "${schema}".${table} order by id`,
      );
      all.push(...rows.map(({ delivery_id: _id, ...row }) => ({ table, ...row })));
    }
    return all;
  };
  /** The blocks of the chain that must have rows, by hash. */
  const blocksOf = (watch: Watch): string[] =>
    world.chain
      .canonical()
      .filter(({ number, transactions }) => {
        return number >= watch.from && transactions.some(({ to }) => to === watch.address);
      })
      .map(({ hash }) => hash)
      .toSorted();
  const isSettled = async (schema: string, watch: Watch): Promise<boolean> => {
    // The tables are created with the first webhook.
    const { rowCount } = await pool.query('select 1 from pg_tables where schemaname = $1', [
      schema,
    ]);
    if (rowCount === 0) return false;
    const { rows } = await pool.query<{ hash: string; confirmed: boolean }>(
      `select block_hash as hash, confirmed from "${schema}".transactions order by block_hash`,
    );
    const isComplete = rows.map(({ hash }) => hash).join() === blocksOf(watch).join();
    return isComplete && rows.every(({ confirmed }) => confirmed);
  };

  test(`fault 20: reorgs with ${KILLS} kill -9 of the service, and of the database of tables`, async () => {
    const watch = await world.watch('tables', { url: `${tables.url}?schema=kept` });
    const reorganize = (): void => {
      world.mine([watch], 1 + Math.floor(Math.random() * 4));
      // The newest transaction moves to another block.
      const moved = world.transactionsOf([watch]);
      const { hash: removed, number } = world.chain.mine({ transactions: moved });
      const depth = Math.min(1 + Math.floor(Math.random() * DEPTH), Number(number - watch.from));
      const branch = Array.from({ length: depth }, (_, n) => ({
        transactions: n % 2 === 0 ? world.transactionsOf([watch]) : [],
      }));
      world.chain.fork({ depth, blocks: [{ transactions: moved }, ...branch] });
      if (Math.random() < 0.3) {
        // The chain returns to the earlier branch, which becomes the longer one.
        world.chain.switchTo(removed);
        world.mine([watch], 2);
      }
    };
    for (let kill = 0; kill < KILLS; kill++) {
      for (let n = 0; n < 3; n++) {
        reorganize();
        await wait((Math.random() * RUN_MS) / 3);
      }
      if (kill % 2 === 0) {
        await world.kill();
        reorganize();
        await world.start();
      } else {
        await tables.kill();
        reorganize();
        await tables.restart('immediate');
      }
    }
    world.mine([], 3);
    await until('the tables have the rows of the chain', () => isSettled('kept', watch), 120_000);
    const client = createSluiceClient({ apiKey: API_KEY, baseUrl: world.service.url });
    const fresh = await world.client().streams.create({
      webhookUrl: `${tables.url}?schema=fresh`,
      description: 'fresh',
      tag: 'fresh',
      chainIds: [CHAIN],
      includeNativeTxs: true,
      includeContractLogs: true,
    });
    await world.client().streams.addAddress(fresh.id, watch.address);
    world.mine([], 3);
    await client.createBackfills(fresh.id, { blockFrom: Number(watch.from) });
    await until('the past is written', () => isSettled('fresh', watch));
    expect(await rowsOf('kept')).toEqual(await rowsOf('fresh'));
    expect(blocksOf(watch).length).toBeGreaterThan(KILLS);
  }, 300_000);
});
