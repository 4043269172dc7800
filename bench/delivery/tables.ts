/**
 * Measures tables in PostgreSQL: rows per second that the service writes from matches with ERC-20
 * transfers, from the claim of a delivery to its recorded outcome. Each transfer has a row in `logs`,
 * in the table of its event and in `erc20_transfers`. For comparison, the bare limit: the same rows
 * inserted with plain multi-row statements, in as many transactions.
 */
import pg from 'pg';
import { encodeAbiParameters, encodeEventTopics, erc20Abi } from 'viem';
import {
  ALL_NETWORKS,
  createAddressGuard,
} from '../../packages/service/src/deliver/destinations/http/guard.ts';
import { createPostgres } from '../../packages/service/src/deliver/destinations/postgres/postgres.ts';
import type { BlockHeader } from '../../packages/service/src/store/blocks/contract.ts';
import type { Store } from '../../packages/service/src/store/store.ts';
import type { Figures } from '../figures.ts';
import { type EngineName, withLedger, withPostgres } from './ledgers.ts';
import { createChain, startEngine } from './workload.ts';

const TRANSFERS = 20_000;
const ROUNDS = 3;
/** Webhooks per block, because a commit takes longer than a webhook. */
const PARTS = 100;
const ABI = erc20Abi.filter(({ type }) => type === 'event');
const TABLES = ['logs', 'event_transfer', 'erc20_transfers'];
const ROWS = TABLES.length * TRANSFERS;
/** Maximum number of parameters of a statement. */
const MAX_PARAMETERS = 65_535;

export const measureTables = (engine: EngineName): Promise<Figures> =>
  withLedger(engine, ({ store }) =>
    withPostgres(async ({ url }) => ({
      ...(await measure(store, url, 20)),
      ...(await measure(store, url, 1)),
    })),
  );

interface Run {
  perSecond: number;
  barePerSecond: number;
  /** Processor seconds of this process, with the ledger on SQLite, per second. */
  cpu: number;
  rowsPerTransaction: number;
}

async function measure(store: Store, url: string, perWebhook: number): Promise<Figures> {
  const runs: Run[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    runs.push(await run(store, url, perWebhook, `of_${perWebhook}_${round}`));
  }
  const median = (key: keyof Run): number =>
    runs.map((each) => each[key]).toSorted((a, b) => a - b)[1]!;
  const perSecond = (value: number, note: string) => ({ value, unit: 'rows/s', note });
  return {
    [`tables_${perWebhook}`]: perSecond(
      median('perSecond'),
      `${TRANSFERS} transfers, ${perWebhook} per webhook: claim, sign, write, record; median of ${ROUNDS}`,
    ),
    [`tables_${perWebhook}_bare`]: perSecond(
      median('barePerSecond'),
      `the same rows by plain inserts, ${Math.round(median('rowsPerTransaction'))} per transaction`,
    ),
    [`tables_${perWebhook}_cpu`]: {
      value: median('cpu'),
      unit: 's/s',
      note: 'processor time of the service',
    },
  };
}

/** Writes all transfers to a new schema, then the same rows to another one. */
async function run(store: Store, server: string, perWebhook: number, schema: string): Promise<Run> {
  const chain = await createChain(store, `${server}?schema=${schema}`, {
    streams: 1,
    contentOf: (block, part) => contentOf(block, part, perWebhook),
  });
  const webhooks = TRANSFERS / perWebhook;
  for (let n = 0; n < webhooks; n += PARTS) await chain.commit(1, PARTS);
  const cpuBefore = process.cpuUsage();
  const beganAt = performance.now();
  await deliver(store, webhooks);
  const seconds = (performance.now() - beganAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const pool = new pg.Pool({ connectionString: server, max: 1 });
  // The server may stop before the pool has closed its connection.
  pool.on('error', () => {});
  try {
    const transactions = await countTransactions(pool, schema);
    return {
      perSecond: ROWS / seconds,
      cpu: (user + system) / 1_000_000 / seconds,
      rowsPerTransaction: ROWS / transactions,
      barePerSecond: ROWS / (await insertPlainly(pool, schema, transactions)),
    };
  } finally {
    await pool.end();
  }
}

/** Delivers until the ledger has recorded `count` deliveries as succeeded. */
async function deliver(store: Store, count: number): Promise<void> {
  const done = Promise.withResolvers<void>();
  let left = count;
  const engine = await startEngine(
    store,
    (succeeded) => {
      left -= succeeded;
      if (left <= 0) done.resolve();
    },
    createPostgres({ guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }) }),
  );
  await done.promise;
  await engine.stop();
}

/** Returns the number of transactions that wrote the rows, which must be complete. */
async function countTransactions(pool: pg.Pool, schema: string): Promise<number> {
  const { rows } = await pool.query<{ count: number; transactions: number }>(`
    select count(*)::int as count, count(distinct number)::int as transactions
    from (${TABLES.map((table) => `select xmin::text as number from ${schema}.${table}`).join(' union all ')}) as written`);
  const [{ count, transactions } = { count: 0, transactions: 0 }] = rows;
  if (count !== ROWS) throw new Error(`${count} rows were written, not ${ROWS}`);
  return transactions;
}

/** Inserts the rows of a schema into a copy of it; returns the seconds. */
async function insertPlainly(pool: pg.Pool, schema: string, transactions: number): Promise<number> {
  const tables = await Promise.all(
    TABLES.map(async (name) => {
      const table = `bare_${schema}_${name}`;
      await pool.query(`create table ${table} (like ${schema}.${name} including all)`);
      const { rows, fields } = await pool.query<unknown[]>({
        // As text, so that each value is sent as it was received.
        text: `select * from ${schema}.${name}`,
        rowMode: 'array',
        types: { getTypeParser: () => String },
      } as pg.QueryArrayConfig);
      return { table, rows, columns: fields.length };
    }),
  );
  const perTransaction = Math.ceil(TRANSFERS / transactions);
  const beganAt = performance.now();
  for (let at = 0; at < TRANSFERS; at += perTransaction) {
    await pool.query('begin');
    for (const { table, rows, columns } of tables) {
      const most = Math.floor(MAX_PARAMETERS / columns);
      const end = Math.min(at + perTransaction, TRANSFERS);
      for (let from = at; from < end; from += most) {
        const some = rows.slice(from, Math.min(from + most, end));
        const values = some.map(
          (row, n) => `(${row.map((_, column) => `$${n * columns + column + 1}`).join(',')})`,
        );
        await pool.query(`insert into ${table} values ${values.join(',')}`, some.flat());
      }
    }
    await pool.query('commit');
  }
  return (performance.now() - beganAt) / 1000;
}

const account = (n: number): `0x${string}` => `0x${n.toString(16).padStart(40, '0')}`;

/** Returns the content of a webhook with transfers. */
function contentOf(
  { number, hash, timestamp }: BlockHeader,
  part: number,
  transfers: number,
): { abi: object; tail: object } {
  const first = ((number - 1) * PARTS + part) * transfers;
  const numbers = Array.from({ length: transfers }, (_, n) => first + n);
  const hashOf = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
  const tail = {
    block: { number: String(number), hash, timestamp: String(timestamp) },
    logs: numbers.map((n) => {
      const args = { from: account(n), to: account(n + 1) };
      const [topic0, topic1, topic2] = encodeEventTopics({
        abi: erc20Abi,
        eventName: 'Transfer',
        args,
      }) as string[];
      return {
        transactionHash: hashOf(n),
        logIndex: '0',
        address: account(7),
        data: encodeAbiParameters([{ type: 'uint256' }], [BigInt(n)]),
        topic0,
        topic1,
        topic2,
        topic3: null,
      };
    }),
    txs: [],
    txsInternal: [],
    erc20Transfers: numbers.map((n) => ({
      transactionHash: hashOf(n),
      logIndex: '0',
      contract: account(7),
      from: account(n),
      to: account(n + 1),
      value: String(n),
      tokenDecimals: '18',
      tokenName: 'Token',
      tokenSymbol: 'TKN',
    })),
    erc20Approvals: [],
    nftTransfers: [],
    nftApprovals: { ERC721: [], ERC1155: [] },
    nftTokenApprovals: [],
    nativeBalances: [],
  };
  return { abi: ABI, tail };
}
