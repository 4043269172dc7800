/** Tests the SQL statements of `examples/records.ts` on SQLite and PostgreSQL. */
import { DatabaseSync } from 'node:sqlite';
import { type EvmWebhook, TEST_WEBHOOK } from '@sluice/kit/contract';
import { type Postgres, startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTables, statementsOf, writeToSqlite } from '../../examples/records.ts';

interface Database {
  write(webhook: EvmWebhook): Promise<void>;
  rows(table: string): Promise<Record<string, unknown>[]>;
}

const HASH = `0x${'ab'.repeat(32)}`;
const address = (digit: string) => `0x${digit.repeat(40)}`;
const word = (hex: string) => `0x${hex.padStart(64, '0')}`;
const MAX = String(2n ** 256n - 1n);
const ofLog = {
  transactionHash: HASH,
  logIndex: '7',
  contract: address('c'),
  tokenName: '',
  tokenSymbol: '',
};
const internal = { from: address('a'), to: null, value: '1', gas: '1', transactionHash: HASH };

const webhook: EvmWebhook = {
  ...TEST_WEBHOOK,
  chainId: '0x1',
  streamId: 'stream',
  tag: 'story',
  block: { number: '100', hash: word('100'), timestamp: '1671536351' },
  abi: [
    {
      type: 'event',
      name: 'Transfer',
      inputs: [
        { name: 'from', type: 'address', indexed: true },
        { name: 'id', type: 'uint256', indexed: false },
      ],
    },
  ],
  logs: [
    {
      transactionHash: HASH,
      logIndex: '7',
      address: address('c'),
      data: word('5'),
      // Transfer(address,uint256)
      topic0: '0x69ca02dd4edd7bf0a4abb9ed3b7af3f14778db5d61921c7dc7cd545266326de2',
      topic1: word('a'.repeat(40)),
      topic2: null,
      topic3: null,
    },
  ],
  txsInternal: [internal, internal],
  erc20Transfers: [
    { ...ofLog, from: address('a'), to: address('b'), value: MAX, tokenDecimals: '18' },
  ],
  nftTransfers: ['1', '2'].map((tokenId) => ({
    ...ofLog,
    operator: null,
    from: address('a'),
    to: address('b'),
    tokenId,
    amount: '1',
    tokenContractType: 'ERC1155',
  })),
};
const unconfirmed = { ...webhook, confirmed: false };
const removed = { ...unconfirmed, removed: true } as const;
/** The confirmed webhook, whose block replaced the block of the unconfirmed one. */
const confirmed = { ...webhook, block: { ...webhook.block, hash: word('200') } };

let postgres: Postgres;
let client: pg.Client;

beforeAll(async () => {
  postgres = await startPostgres();
  client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await postgres?.stop();
});

const openings: Record<string, () => Promise<Database>> = {
  async SQLite() {
    const database = new DatabaseSync(':memory:');
    for (const sql of createTables) database.exec(sql);
    return {
      write: async (body) => writeToSqlite(database, body),
      rows: async (table) => database.prepare(`SELECT * FROM "${table}" ORDER BY "id"`).all(),
    };
  },
  async PostgreSQL() {
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    for (const sql of createTables) await client.query(sql);
    return {
      async write(body) {
        await client.query('BEGIN');
        for (const { sql, values } of statementsOf(body)) await client.query(sql, values);
        await client.query('COMMIT');
      },
      rows: async (table) =>
        (await client.query<Record<string, unknown>>(`SELECT * FROM "${table}" ORDER BY "id"`))
          .rows,
    };
  },
};

const TABLES = ['logs', 'txs', 'internalTxs', 'erc20Transfers', 'nftTransfers'];

describe.each(Object.keys(openings))('%s', (name) => {
  test.each([
    ['unconfirmed, then confirmed', [unconfirmed, confirmed]],
    ['confirmed first', [confirmed, unconfirmed]],
    ['each more than once', [unconfirmed, confirmed, unconfirmed, confirmed, unconfirmed]],
  ])('%s: the rows are those of the confirmed delivery', async (_, deliveries) => {
    const database = await openings[name]!();
    for (const each of deliveries) await database.write(each);
    const kept: Record<string, unknown>[][] = [];
    for (const table of TABLES) kept.push(await database.rows(table));
    expect(kept.map((rows) => rows.length)).toEqual([1, 0, 2, 1, 2]);
    for (const row of kept.flat()) {
      expect(row).toMatchObject({ confirmed: 1, blockHash: word('200') });
    }
    expect(kept[3]![0]).toMatchObject({ value: MAX, to: address('b') });
    expect(JSON.parse(String(kept[0]![0]!['parameters']))).toMatchObject({ __id: '5' });
  });

  test.each([
    ['deletes its rows', [unconfirmed, removed], 0],
    ['deletes confirmed rows', [unconfirmed, { ...unconfirmed, confirmed: true }, removed], 0],
    ['keeps the rows of the replacing block', [unconfirmed, confirmed, removed], 6],
    ['may come before those rows', [unconfirmed, removed, confirmed], 6],
    ['is undone when the block returns', [unconfirmed, removed, unconfirmed], 6],
    ['of an unknown block changes nothing', [removed, removed, confirmed], 6],
  ])('a removal webhook %s', async (_, deliveries, left) => {
    const database = await openings[name]!();
    for (const each of deliveries) await database.write(each);
    let rows = 0;
    for (const table of TABLES) rows += (await database.rows(table)).length;
    expect(rows).toBe(left);
  });

  test('an unconfirmed row is kept and follows its block', async () => {
    const database = await openings[name]!();
    await database.write(unconfirmed);
    await database.write({ ...unconfirmed, block: confirmed.block });
    expect(await database.rows('erc20Transfers')).toMatchObject([
      { confirmed: 0, blockHash: word('200') },
    ]);
  });
});

test('statements have the same text on both databases', () => {
  const texts = new Set(statementsOf(webhook).map(({ sql }) => sql));
  // One statement per record type, regardless of the number of rows.
  expect(texts.size).toBe(4);
});
