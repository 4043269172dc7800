/** Tests the tables of `@sluice/kit/postgres` on PostgreSQL. */
import type { EvmWebhook } from '@sluice/kit';
import { isSluiceError } from '@sluice/kit';
import { type Tables, type TablesOptions, createTables } from '@sluice/kit/postgres';
import { sampleAptosWebhook, sampleWebhook } from '@sluice/kit/testing';
import { type Postgres, startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type AbiEvent, encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { TEST_WEBHOOK } from '@sluice/kit/contract';

let postgres: Postgres;
let pool: pg.Pool;

beforeAll(async () => {
  postgres = await startPostgres();
  pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
  pool.on('error', () => {});
});
afterEach(() => pool.query('drop schema if exists s cascade'));
afterAll(async () => {
  await pool?.end();
  await postgres?.stop();
});

const open = (options: Partial<TablesOptions> = {}): Promise<Tables> =>
  createTables({ pool, schema: 's', ...options });
/** Returns an ID that sorts by its number. */
const idOf = (order: number): string =>
  `0196f000-0000-7000-8000-${String(order).padStart(12, '0')}`;
const rowsOf = async (table: string, order = 'id'): Promise<Record<string, unknown>[]> =>
  (await pool.query<Record<string, unknown>>(`select * from s."${table}" order by ${order}`)).rows;
const typesOf = async (table: string): Promise<Record<string, string>> => {
  const { rows } = await pool.query<{ name: string; type: string }>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 order by attnum`,
    [`s."${table}"`],
  );
  return Object.fromEntries(rows.map(({ name, type }) => [name, type]));
};
const HASH = `0x${'ab'.repeat(32)}`;
const ACCOUNT = `0x${'a1'.repeat(20)}` as const;

/** Returns a webhook with logs of events, each with its arguments in the order of its inputs. */
function webhookOf(
  abi: ReturnType<typeof parseAbi>,
  logs: readonly { at: number; values: readonly unknown[] }[],
  rest: Partial<EvmWebhook> = {},
): EvmWebhook {
  return {
    ...TEST_WEBHOOK,
    chainId: '0x1',
    streamId: 'stream',
    block: { number: '100', hash: HASH, timestamp: '1700000000' },
    abi: abi as never,
    logs: logs.map(({ at, values }, n) => {
      const item = abi[at] as AbiEvent;
      const indexed = values.filter((_, n) => item.inputs[n]!.indexed);
      const others = item.inputs.filter((input) => !input.indexed);
      const topics = encodeEventTopics({ abi: [item], args: indexed }) as (string | undefined)[];
      return {
        transactionHash: HASH,
        logIndex: String(n),
        address: ACCOUNT,
        data: encodeAbiParameters(
          others as never,
          values.filter((_, n) => !item.inputs[n]!.indexed) as never,
        ),
        topic0: topics[0] ?? null,
        topic1: topics[1] ?? null,
        topic2: topics[2] ?? null,
        topic3: topics[3] ?? null,
      };
    }),
    ...rest,
  };
}

test('each event has a table with a column of the right type for each parameter', async () => {
  const abi = parseAbi([
    'event Mixed(address indexed user, string indexed topic, uint256 amount, int56 tick, bool isLast, bytes data, string id, (uint8 a, address b)[] parts)',
  ]);
  const max = 2n ** 256n - 1n;
  const values = [ACCOUNT, 'news', max, -(2n ** 55n), true, '0x01', 'text', [{ a: 7, b: ACCOUNT }]];
  const tables = await open();
  await tables.apply({ id: idOf(1), webhook: webhookOf(abi, [{ at: 0, values }]) });
  expect(await typesOf('event_mixed')).toMatchObject({
    user: 'text',
    topic: 'text',
    amount: 'numeric(78,0)',
    tick: 'bigint',
    is_last: 'boolean',
    data: 'text',
    _id: 'text',
    parts: 'jsonb',
    block_timestamp: 'timestamp with time zone',
    delivery_id: 'uuid',
  });
  expect(await rowsOf('event_mixed')).toMatchObject([
    {
      user: ACCOUNT,
      topic: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      amount: String(max),
      tick: String(-(2n ** 55n)),
      is_last: true,
      data: '0x01',
      _id: 'text',
      parts: [{ a: '7', b: ACCOUNT }],
      block_timestamp: new Date(1_700_000_000_000),
      confirmed: true,
    },
  ]);
  expect(await rowsOf('logs')).toMatchObject([{ event: 'Mixed', undecoded_reason: null }]);
});

test('events with the same name have their own tables, and long names stay apart', async () => {
  const long = 'x'.repeat(80);
  const abi = parseAbi([
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'event Transfer(address indexed from, address indexed to, uint256 indexed value)',
    `event ${long}A(uint256 ${long}A, uint256 ${long}B, uint256 fooBar, uint256 foo_bar, uint256 ctid)`,
    `event ${long}B(uint256 a)`,
  ]);
  const logs = [0, 1].map((at) => ({ at, values: [ACCOUNT, ACCOUNT, BigInt(at + 1)] }));
  logs.push({ at: 2, values: [1n, 2n, 3n, 4n, 5n] as never });
  logs.push({ at: 3, values: [6n] as never });
  const tables = await open();
  await tables.apply({ id: idOf(1), webhook: webhookOf(abi, logs) });
  const events = new Map(
    (await rowsOf('sluice_events', 'signature')).map((row) => [
      String(row['signature']),
      String(row['table_name']),
    ]),
  );
  expect([...events.keys()]).toContain('Transfer(address indexed, address indexed, uint256)');
  expect(new Set(events.values()).size).toBe(4);
  const values: unknown[] = [];
  for (const [signature, table] of events) {
    expect(table.length).toBeLessThanOrEqual(63);
    const [row] = await rowsOf(table);
    if (signature.startsWith('Transfer')) values.push(row!['value']);
    const columns = Object.keys(row!).slice(-6, -1);
    if (signature.includes('A(')) {
      expect(columns.map((name) => row![name])).toEqual(['1', '2', '3', '4', '5']);
      expect(columns.slice(2)).toEqual(['foo_bar', '_foo_bar', '_ctid']);
    }
  }
  expect(new Set(values)).toEqual(new Set(['1', '2']));
});

test('a change of the ABI keeps existing rows, and adds tables and columns', async () => {
  const before = parseAbi(['event Paid(address by, uint256 amount)']);
  const after = parseAbi([
    'event Paid(address payer, uint256 amount)',
    'event Paid(address by, uint256 amount, uint256 fee)',
  ]);
  const tables = await open();
  await tables.apply({
    id: idOf(1),
    webhook: webhookOf(before, [{ at: 0, values: [ACCOUNT, 1n] }]),
  });
  const block = { number: '101', hash: `0x${'cd'.repeat(32)}`, timestamp: '1700000012' };
  const logs = [
    { at: 0, values: [ACCOUNT, 2n] },
    { at: 1, values: [ACCOUNT, 3n, 4n] },
  ];
  const other = webhookOf(after, logs, { block });
  other.logs = other.logs.map((log) => ({ ...log, transactionHash: block.hash }));
  await tables.apply({ id: idOf(2), webhook: other });
  expect(await rowsOf('event_paid', 'amount')).toMatchObject([
    { by: ACCOUNT, payer: null, amount: '1' },
    { by: null, payer: ACCOUNT, amount: '2' },
  ]);
  const [, added] = await rowsOf('sluice_events', 'length(signature)');
  expect(await rowsOf(String(added!['table_name']))).toMatchObject([{ by: ACCOUNT, fee: '4' }]);
  // A removal without the ABI deletes the rows that were written with it.
  const written = webhookOf(before, [{ at: 0, values: [ACCOUNT, 1n] }]);
  const removed = { ...written, abi: [], confirmed: false, removed: true } as const;
  await tables.apply({ id: idOf(3), webhook: removed });
  expect(await rowsOf('event_paid')).toHaveLength(1);
  expect(await rowsOf('logs')).toHaveLength(2);
});

test('a parameter does not get a column of another type', async () => {
  const tables = await open();
  const first = parseAbi(['event Named(address a, uint256 b)']);
  await tables.apply({
    id: idOf(1),
    webhook: webhookOf(first, [{ at: 0, values: [ACCOUNT, 1n] }]),
  });
  const second = parseAbi(['event Named(address b, uint256 a)']);
  await tables.apply({
    id: idOf(2),
    webhook: webhookOf(second, [{ at: 0, values: [ACCOUNT, 2n] }]),
  });
  expect(await rowsOf('event_named')).toMatchObject([{ _b: ACCOUNT, _a: '2' }]);
});

test('all kinds of records have their table', async () => {
  const kinds = {
    'erc20-transfer': 'erc20_transfers',
    'erc20-approval': 'erc20_approvals',
    'erc1155-batch-transfer': 'nft_transfers',
    'nft-approval-for-all': 'nft_approvals',
    'native-transfer': 'transactions',
    'internal-transfer': 'internal_transactions',
    call: 'calls',
    read: 'reads',
  } as const;
  const tables = await open();
  let order = 0;
  for (const [kind, table] of Object.entries(kinds)) {
    const webhook = { ...sampleWebhook(kind as 'call'), streamId: 'stream' };
    await tables.apply({ id: idOf(++order), webhook });
    expect((await rowsOf(table)).length, table).toBeGreaterThan(0);
    await tables.apply({
      id: idOf(++order),
      webhook: { ...webhook, confirmed: false, removed: true },
    });
    expect(await rowsOf(table), table).toEqual([]);
  }
  const nativeBalances = [{ address: ACCOUNT, balance: '7' }];
  await tables.apply({ id: idOf(++order), webhook: webhookOf([], [], { nativeBalances }) });
  expect(await rowsOf('native_balances')).toMatchObject([{ account: ACCOUNT, balance: '7' }]);
});

test('webhooks of Aptos streams are written, too', async () => {
  const tables = await open({ schema: 's', family: 'aptos' });
  const webhook = sampleAptosWebhook('coin-transfer');
  for (const order of [1, 1, 2]) await tables.apply({ id: idOf(order), webhook });
  expect(await rowsOf('coin_transfers')).toMatchObject([
    { value: webhook.coinTransfers[0]!.value, network: 'mainnet' },
  ]);
  expect((await rowsOf('transactions')).length).toBe(webhook.transactions.length);
});

test('text that PostgreSQL cannot store never stops a table', async () => {
  const abi = parseAbi(['event Note(string text, (string name)[] list)']);
  const tables = await open();
  const webhook = webhookOf(abi, [{ at: 0, values: ['a\0b', [{ name: '\0' }]] }], {
    erc20Transfers: [
      {
        transactionHash: HASH,
        logIndex: '9',
        contract: ACCOUNT,
        from: ACCOUNT,
        to: ACCOUNT,
        value: 'not a number',
        tokenDecimals: '18',
        tokenName: 'N\0\ud800',
        tokenSymbol: '\udc00\ud83d\ude00',
        triggers: [{ name: 'x\0', value: ['\ud800', { 'k\0': '\\u0000' }] as never }],
      },
    ],
  });
  const [data] = webhook.logs.map((log) => log.data);
  // Replaces the text `a\0b` by bytes that are not UTF-8.
  const broken = { ...webhook.logs[0]!, logIndex: '1', data: data!.replace('610062', 'ff00fe') };
  webhook.logs.push(broken);
  await tables.apply({ id: idOf(1), webhook });
  expect(await rowsOf('event_note', 'log_index')).toMatchObject([
    { text: 'a\uFFFDb', list: [{ name: '\uFFFD' }] },
    { text: '\uFFFD\uFFFD\uFFFD' },
  ]);
  expect(await rowsOf('erc20_transfers')).toMatchObject([
    {
      value: null,
      token_name: 'N\uFFFD\uFFFD',
      token_symbol: '\uFFFD😀',
      triggers: [{ name: 'x\uFFFD', value: ['\uFFFD', { 'k\uFFFD': '\\u0000' }] }],
    },
  ]);
});

const transfer = (rest: Partial<EvmWebhook> = {}): EvmWebhook => ({
  ...sampleWebhook('erc20-transfer'),
  streamId: 'stream',
  ...rest,
});
const unconfirmed = transfer({ confirmed: false });
const confirmed = transfer({ confirmed: true });
const removed = transfer({ confirmed: false, removed: true });
const replaced = transfer({
  confirmed: false,
  block: { ...unconfirmed.block, hash: `0x${'ef'.repeat(32)}` },
});

test.each<[string, [number, EvmWebhook][], object[]]>([
  [
    'a confirmation updates the row',
    [
      [1, unconfirmed],
      [2, confirmed],
    ],
    [{ confirmed: true }],
  ],
  [
    'a late unconfirmed webhook changes nothing',
    [
      [2, confirmed],
      [1, unconfirmed],
    ],
    [{ confirmed: true }],
  ],
  [
    'a newer unconfirmed webhook does not undo a confirmation',
    [
      [1, confirmed],
      [2, unconfirmed],
    ],
    [{ confirmed: true }],
  ],
  [
    'an older confirmation counts, too',
    [
      [2, unconfirmed],
      [1, confirmed],
    ],
    [{ confirmed: true }],
  ],
  [
    'a removal deletes the row',
    [
      [1, unconfirmed],
      [2, confirmed],
      [3, removed],
    ],
    [],
  ],
  [
    'a replay of a removed block is ignored',
    [
      [1, unconfirmed],
      [3, removed],
      [2, confirmed],
      [1, unconfirmed],
    ],
    [],
  ],
  [
    'a removal that arrives first',
    [
      [3, removed],
      [1, unconfirmed],
    ],
    [],
  ],
  [
    'a returned block has its rows again',
    [
      [1, unconfirmed],
      [2, removed],
      [3, unconfirmed],
    ],
    [{ confirmed: false }],
  ],
  [
    'a late removal does not delete a returned block',
    [
      [1, unconfirmed],
      [3, unconfirmed],
      [2, removed],
    ],
    [{ confirmed: false }],
  ],
  [
    'a removal is repeated',
    [
      [1, unconfirmed],
      [2, removed],
      [3, confirmed],
      [2, removed],
    ],
    [{ confirmed: true }],
  ],
  [
    'a removal deletes only rows of its block',
    [
      [1, replaced],
      [2, removed],
    ],
    [{ block_hash: replaced.block.hash }],
  ],
  [
    'a removal keeps the row of the replacing block',
    [
      [1, confirmed],
      [3, replaced],
      [2, removed],
    ],
    [{ block_hash: replaced.block.hash, confirmed: false }],
  ],
  [
    'a late webhook of a replaced block',
    [
      [3, replaced],
      [1, confirmed],
      [2, removed],
    ],
    [{ block_hash: replaced.block.hash, confirmed: false }],
  ],
])('%s, one after the other and together', async (_, deliveries, expected) => {
  const tables = await open();
  for (const [order, webhook] of deliveries) await tables.apply({ id: idOf(order), webhook });
  expect(await rowsOf('erc20_transfers')).toMatchObject(expected);
  await pool.query('drop schema s cascade');
  const again = await open();
  await Promise.all(
    deliveries.map(([order, webhook]) => again.apply({ id: idOf(order), webhook })),
  );
  expect(await rowsOf('erc20_transfers')).toMatchObject(expected);
});

test('the position is stored with the rows, and never falls', async () => {
  const tables = await open();
  expect(await tables.readPosition()).toBe(0);
  await tables.apply({ id: idOf(1), webhook: unconfirmed }, { position: 7 });
  await tables.apply({ id: idOf(2), webhook: confirmed }, { position: 5 });
  expect(await tables.readPosition()).toBe(7);
  await pool.query('alter table s.erc20_transfers add check (false) not valid');
  const refused = tables.apply({ id: idOf(3), webhook: confirmed }, { position: 9 });
  await expect(refused).rejects.toMatchObject({ code: '23514' });
  expect(await tables.readPosition()).toBe(7);
});

test('a webhook that the database refuses does not stop others', async () => {
  const tables = await open();
  await pool.query("alter table s.erc20_transfers add check (token_symbol <> 'BAD')");
  const bad = transfer({
    erc20Transfers: unconfirmed.erc20Transfers.map((each) => ({
      ...each,
      logIndex: '999',
      tokenSymbol: 'BAD',
    })),
  });
  const results = await Promise.allSettled(
    [unconfirmed, bad, confirmed].map((webhook, n) => tables.apply({ id: idOf(n), webhook })),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await rowsOf('erc20_transfers')).toMatchObject([{ confirmed: true }]);
});

test('tables that were dropped are created again', async () => {
  const tables = await open();
  await tables.apply({ id: idOf(1), webhook: unconfirmed });
  await pool.query('drop schema s cascade');
  await expect(tables.apply({ id: idOf(2), webhook: confirmed })).rejects.toThrow();
  await tables.apply({ id: idOf(2), webhook: confirmed });
  expect(await rowsOf('erc20_transfers')).toHaveLength(1);
});

test('several processes create and write the tables at once', async () => {
  const all = await Promise.all(Array.from({ length: 4 }, () => open()));
  const webhooks = Array.from({ length: 40 }, (_, n) =>
    transfer({ confirmed: n % 2 === 1, block: { ...unconfirmed.block, number: String(n) } }),
  );
  await Promise.all(
    webhooks.flatMap((webhook, n) => all.map((each) => each.apply({ id: idOf(n), webhook }))),
  );
  expect(await rowsOf('erc20_transfers')).toMatchObject([{ confirmed: true, block_number: '39' }]);
});

test('a removal waits for a webhook that another process is writing', async () => {
  const gate = Promise.withResolvers<void>();
  let isGated = false;
  const slow = await open({
    pool: {
      async connect() {
        const client = await pool.connect();
        return {
          async query(text, values) {
            if (isGated && text === 'commit') await gate.promise;
            return client.query(text, values);
          },
          release: () => client.release(),
        };
      },
    },
  });
  const other = await open();
  isGated = true;
  const writing = slow.apply({ id: idOf(1), webhook: unconfirmed });
  let isOver = false;
  const removing = other.apply({ id: idOf(2), webhook: removed }).then(() => (isOver = true));
  await expect
    .poll(async () => {
      const { rows } = await pool.query(
        "select 1 from pg_stat_activity where wait_event_type = 'Lock'",
      );
      return isOver || rows.length > 0;
    })
    .toBe(true);
  gate.resolve();
  await Promise.all([writing, removing]);
  expect(await rowsOf('erc20_transfers')).toEqual([]);
});

test('the test webhook writes nothing, and other streams and IDs are refused', async () => {
  const tables = await open();
  await tables.apply({ id: crypto.randomUUID(), webhook: TEST_WEBHOOK });
  await tables.apply({ id: idOf(2), webhook: unconfirmed });
  const other = tables.apply({ id: idOf(3), webhook: transfer({ streamId: 'other' }) });
  await expect(other).rejects.toThrow('has the rows of the stream stream, not of other');
  const hosted = tables.apply({ id: HASH, webhook: confirmed });
  await expect(hosted).rejects.toSatisfy((error) => isSluiceError(error, 'invalid_argument'));
  expect(await rowsOf('erc20_transfers')).toMatchObject([{ confirmed: false }]);
});

test('a user without the right to create schemas can use an existing one', async () => {
  await pool.query('create schema s');
  await pool.query(`create role writer login; grant all on schema s to writer`);
  const own = new pg.Pool({ connectionString: postgres.url.replace('postgres@', 'writer@') });
  try {
    const tables = await open({ pool: own });
    await tables.apply({ id: idOf(1), webhook: unconfirmed });
    await expect(open({ pool: own, schema: 'another' })).rejects.toMatchObject({ code: '42501' });
  } finally {
    await own.end();
    await pool.query('drop schema s cascade');
    await pool.query('drop role writer');
  }
});
