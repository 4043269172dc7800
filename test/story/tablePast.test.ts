/** Tests `sluice streams create --from`, which fills tables with the past of a chain. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Postgres, scriptedAptos, startPostgres, until } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, SLUICE } from '../serve.ts';
import { type BothChains, startBothChains } from './bothChains.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ALICE = `0x${'a'.repeat(64)}` as const;
const BOB = `0x${'b0b'.padStart(64, '0')}` as const;

let world: BothChains;
let postgres: Postgres;
let pool: pg.Pool;
beforeAll(async () => {
  postgres = await startPostgres();
  pool = new pg.Pool({ connectionString: postgres.url });
  pool.on('error', () => {});
  world = await startBothChains();
}, 60_000);
afterAll(async () => {
  await world?.stop();
  await pool?.end();
  await postgres?.stop();
});

const urlOf = (schema: string): string => `${postgres.url}?schema=${schema}`;

/** Runs `sluice` to its end; returns its exit code and what it printed on standard error. */
async function sluice(...args: string[]): Promise<{ code: number; notes: string }> {
  const child = spawn(process.execPath, [...SLUICE, ...args], {
    cwd: root,
    env: { ...process.env, SLUICE_API_URL: world.url, SLUICE_API_KEY: API_KEY },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let notes = '';
  child.stderr.on('data', (chunk: Buffer) => (notes += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, notes };
}

const rowsOf = async (schema: string, table: string): Promise<Record<string, unknown>[]> => {
  const { rows } = await pool.query<Record<string, unknown>>(
    `select * from ${schema}.${table} order by id`,
  );
  return rows.map(({ delivery_id: _id, ...row }) => row);
};

/** Reads the payments to an address from the chain. */
async function hashesOfPayments(to: string): Promise<Set<string>> {
  const { anvil } = world;
  const head = Number(await anvil.request('eth_blockNumber'));
  const hashes = new Set<string>();
  for (let number = 0; number <= head; number++) {
    const { transactions } = await anvil.request<{ transactions: { to: string; hash: string }[] }>(
      'eth_getBlockByNumber',
      [`0x${number.toString(16)}`, true],
    );
    for (const each of transactions) if (each.to === to) hashes.add(each.hash);
  }
  return hashes;
}

/**
 * Mines blocks, so that earlier ones become confirmed: at first with payments, and a reorg after
 * some of them, then empty ones.
 */
function mineSteadily(pay: () => Promise<unknown>) {
  const { anvil } = world;
  let blocks = 0;
  let mine: (() => Promise<unknown>) | undefined = async () => {
    await pay();
    if (++blocks % 5 === 0) await anvil.request('anvil_reorg', [1, []]);
  };
  const mining = (async () => {
    while (mine !== undefined) {
      await mine();
      await delay(50);
    }
  })();
  return {
    endPayments() {
      mine = () => anvil.request('evm_mine', []);
    },
    get reorgs() {
      return Math.floor(blocks / 5);
    },
    async stop() {
      mine = undefined;
      await mining;
    },
  };
}

/** Waits until all deliveries of the tag's stream are written. */
const written = (tag: string): Promise<unknown> =>
  until('all webhooks are written', async () => {
    const found = (await world.sluice.listStreamSummaries()).find((each) => each.tag === tag);
    return found?.queue === 0;
  });

test('the past and the present fill the tables as a complete run does', async () => {
  const { anvil } = world;
  const to = `0x${'f111'.padStart(40, '0')}`;
  let paid = 0;
  const pay = (): Promise<unknown> =>
    anvil.request('eth_sendTransaction', [
      { from: anvil.accounts[0]!.address, to, value: `0x${(++paid).toString(16)}` },
    ]);
  for (let n = 0; n < 20; n++) await pay();
  const create = (tag: string) =>
    sluice(
      ...['streams', 'create', '--tag', tag, '--url', urlOf(tag), '--chain', '31337'],
      ...['--native', '--address', to, '--from', '1'],
    );
  const mining = mineSteadily(pay);
  const created = create('past');
  const { code, notes } = await created;
  expect(code, notes).toBe(0);
  expect(notes).toContain('past: matching blocks 1 to ');
  const [, matched] = /past: (\d+) past blocks matched/.exec(notes)!;
  // The stream gets the newest of the 20 payments as the present if their blocks were not read yet.
  expect(Number(matched)).toBeGreaterThan(10);

  mining.endPayments();
  expect(mining.reorgs).toBeGreaterThan(2);

  const repeated = await create('past');
  expect(repeated).toMatchObject({ code: 0, notes: expect.stringContaining('past exists') });
  const { result: streams } = await world.client.streams.list();
  expect(streams).toHaveLength(1);
  expect(await world.sluice.listJobs()).toHaveLength(1);

  await until('all rows are confirmed', async () => {
    const { rows } = await pool.query('select 1 from past.transactions where not confirmed');
    return rows.length === 0;
  });
  await written('past');
  expect((await create('fresh')).code).toBe(0);
  await written('fresh');
  await mining.stop();
  const rows = await rowsOf('past', 'transactions');
  expect(rows).toEqual(await rowsOf('fresh', 'transactions'));
  expect(new Set(rows.map(({ hash }) => hash))).toEqual(await hashesOfPayments(to));
});

test('the past of an Aptos chain fills its tables', async () => {
  const { aptos } = world;
  const pay = (amount: bigint): void =>
    void aptos.mine({
      transactions: [scriptedAptos.transfer({ from: ALICE, to: BOB, amount })],
    });
  for (let n = 1n; n <= 5n; n++) pay(n);
  const { code, notes } = await sluice(
    ...['streams', 'create', '--tag', 'aptos', '--url', urlOf('aptos'), '--network', 'local'],
    ...['--address', BOB, '--from', '0'],
  );
  expect(code, notes).toBe(0);
  pay(6n);
  const amounts = await until('all rows are written', async () => {
    const found = await rowsOf('aptos', 'coin_deposits');
    return found.length === 6 && found.map(({ value }) => value);
  });
  expect(new Set(amounts)).toEqual(new Set(['1', '2', '3', '4', '5', '6']));
});

test('a block that does not exist yet has no past', async () => {
  const { code, notes } = await sluice('backfills', 'create', 'past', '--from', '1000000');
  expect({ code, notes }).toMatchObject({ code: 0, notes: expect.stringContaining('no blocks') });
  expect((await sluice('backfills', 'create', 'past', '--from', 'x')).code).toBe(2);
});
