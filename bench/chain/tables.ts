/**
 * Measures tables of transfers in PostgreSQL, from the start of the program to complete tables: of
 * Sluice, and of Ponder on the same chain and server. The event is not that of a token standard,
 * because Sluice would also read the metadata of tokens. Sluice writes two rows for each transfer, in
 * `logs` and `event_moved`, Ponder one.
 */
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import pg from 'pg';
import { type Hex, encodeEventTopics, parseAbi } from 'viem';
import { API_KEY } from '../../test/serve.ts';
import { withPostgres } from '../delivery/ledgers.ts';
import { toFigure, type Figures } from '../figures.ts';
import { type PonderApp, withPonder } from './ponder.ts';
import { type World, startWorld, withService } from './world.ts';

const BLOCKS = 1_000;
const TRANSFERS_PER_BLOCK = 50;
const TRANSFERS = BLOCKS * TRANSFERS_PER_BLOCK;
const ROUNDS = 3;
const CHAIN = '0x7a69';
const CHECK_MS = 100;
const MAX_MS = 600_000;
const MOVED = parseAbi(['event Moved(address indexed from, address indexed to, uint256 value)']);
const TABLES = ['logs', 'event_moved'];
const SCHEMA = 'bench';

const APP: PonderApp = {
  abi: `export const abi = ${JSON.stringify(MOVED)} as const;`,
  schema: `
import { onchainTable } from 'ponder';

export const transfer = onchainTable('transfer', (t) => ({
  id: t.text().primaryKey(),
  blockNumber: t.bigint().notNull(),
  blockTimestamp: t.bigint().notNull(),
  transactionHash: t.hex().notNull(),
  from: t.hex().notNull(),
  to: t.hex().notNull(),
  value: t.bigint().notNull(),
}));
`,
  handlers: `
import { ponder } from 'ponder:registry';
import { transfer } from 'ponder:schema';

ponder.on('Token:Moved', async ({ event, context }) => {
  await context.db.insert(transfer).values({
    id: event.id,
    blockNumber: event.block.number,
    blockTimestamp: event.block.timestamp,
    transactionHash: event.transaction.hash,
    ...event.args,
  });
});
`,
};

export async function measureTablesFromStart(): Promise<Figures> {
  const world = await startWorld();
  try {
    const from = Number(await world.anvil.request('eth_blockNumber')) + 1;
    await fill(world);
    return await withPostgres(async ({ url }) => {
      const admin = new pg.Pool({ connectionString: url, max: 1 });
      // The server may stop before the pool has closed its connection.
      admin.on('error', () => {});
      const seconds = { sluice: [] as number[], ponder: [] as number[] };
      // They alternate, so that neither has a less busy machine.
      for (let round = 0; round < ROUNDS; round++) {
        for (const [name, run] of [
          ['sluice', runSluice],
          ['ponder', runPonder],
        ] as const) {
          const database = `${name}_${round}`;
          await admin.query(`create database ${database}`);
          seconds[name].push(await run(world, from, url.replace(/postgres$/, database)));
        }
      }
      await admin.end();
      const [sluice, ponder] = [seconds.sluice, seconds.ponder].map(
        (runs) => runs.toSorted((a, b) => a - b)[(ROUNDS - 1) / 2]!,
      ) as [number, number];
      return {
        tables_start: toFigure(
          sluice,
          's',
          `${TRANSFERS} transfers in ${BLOCKS} blocks, from the start of the program to complete tables; median of ${ROUNDS}`,
        ),
        tables_start_ponder: toFigure(ponder, 's', 'Ponder, on the same chain and server'),
        tables_start_rows: toFigure(
          (TABLES.length * TRANSFERS) / sluice,
          'rows/s',
          'two per transfer',
        ),
        tables_start_ponder_rows: toFigure(TRANSFERS / ponder, 'rows/s', 'one per transfer'),
      };
    });
  } finally {
    await world.stop();
  }
}

async function fill({ anvil, emit }: World): Promise<void> {
  const [from, to] = anvil.accounts.map(({ address }) => address);
  const topics = encodeEventTopics({
    abi: MOVED,
    eventName: 'Moved',
    args: { from: from!, to: to! },
  }) as Hex[];
  await anvil.request('evm_setAutomine', [false]);
  for (let block = 0; block < BLOCKS; block++) {
    await emit(TRANSFERS_PER_BLOCK, topics);
    await anvil.request('evm_mine', []);
  }
  // Adds blocks after the range, because a backfill ends at the newest confirmed block.
  await anvil.request('anvil_mine', [64]);
}

/** Waits until a table has a row per transfer. */
async function complete(databaseUrl: string, table: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  pool.on('error', () => {});
  try {
    const count = async (): Promise<boolean> => {
      try {
        const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${table}`);
        return rows[0]!.n === TRANSFERS;
      } catch (error) {
        // The table is created while the program runs.
        if ((error as pg.DatabaseError).code === '42P01') return false;
        throw error;
      }
    };
    await until(`${table} is complete`, count, MAX_MS, CHECK_MS);
  } finally {
    await pool.end();
  }
}

async function runSluice(world: World, blockFrom: number, databaseUrl: string): Promise<number> {
  const startedAt = performance.now();
  return withService(`${world.anvil.url},confirmations=12`, async ({ url }) => {
    const { streams } = createClient({ apiKey: API_KEY, baseUrl: url });
    const sluice = createSluiceClient({ apiKey: API_KEY, baseUrl: url });
    await until('the chain is live', async () => (await sluice.listChains())[0]?.state === 'live');
    const { id } = await streams.create({
      webhookUrl: `${databaseUrl}?schema=${SCHEMA}`,
      description: 'bench',
      tag: 'bench',
      chainIds: [CHAIN],
      includeContractLogs: true,
      topic0: ['Moved(address,address,uint256)'],
      abi: MOVED,
    });
    await streams.addAddress(id, world.contract);
    await sluice.createBackfills(id, { blockFrom });
    for (const table of TABLES) {
      await complete(databaseUrl, `${SCHEMA}.${table}`);
    }
    return (performance.now() - startedAt) / 1000;
  });
}

async function runPonder(world: World, startBlock: number, databaseUrl: string): Promise<number> {
  const startedAt = performance.now();
  const options = { node: world.anvil.url, contract: world.contract, startBlock };
  return withPonder({ ...options, app: APP, databaseUrl }, async () => {
    await complete(databaseUrl, `${SCHEMA}.transfer`);
    return (performance.now() - startedAt) / 1000;
  });
}
