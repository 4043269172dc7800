/** Tests streams whose webhook URL is a database: their records are rows of tables. */
import { readFileSync } from 'node:fs';
import { isSluiceError } from '@sluice/kit';
import { type Postgres, crier, startPostgres, until } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Hex, encodeAbiParameters, encodeFunctionData, erc20Abi, toEventSelector } from 'viem';
import { type BothChains, CHAIN, startBothChains } from './bothChains.ts';

let postgres: Postgres;
let pool: pg.Pool;
beforeAll(async () => {
  postgres = await startPostgres();
  pool = new pg.Pool({ connectionString: postgres.url });
  pool.on('error', () => {});
  await pool.query('create database ledger');
}, 60_000);
afterAll(async () => {
  await pool?.end();
  await postgres?.stop();
});

describe.each(['SQLite', 'PostgreSQL'])('with a ledger on %s', (engine) => {
  const prefix = engine.toLowerCase();
  let world: BothChains;
  beforeAll(async () => {
    world = await startBothChains(
      engine === 'PostgreSQL' ? postgres.url.replace(/postgres$/, 'ledger') : undefined,
    );
  }, 60_000);
  afterAll(() => world?.stop());

  let accounts = 0;
  const create = async (webhookUrl: string) => {
    const { id, notifyRemoved } = (await world.client.streams.create({
      webhookUrl,
      description: '',
      tag: 'rows',
      chainIds: [CHAIN],
      includeNativeTxs: true,
    })) as { id: string; notifyRemoved?: boolean };
    expect(notifyRemoved ?? false).toBe(false);
    const to = `0x${(0x5ea7_0000 + (accounts += 1)).toString(16).padStart(40, '0')}`;
    await world.client.streams.addAddress(id, to);
    return { id, to };
  };
  const rowsOf = async (schema: string, to: string) =>
    (
      await pool.query<{ confirmed: boolean }>(
        `select confirmed from ${schema}.transactions where to_address = $1`,
        [to],
      )
    ).rows;
  const deploy = async (data: Hex): Promise<Hex> => {
    const { anvil } = world;
    const hash = await anvil.request('eth_sendTransaction', [
      { from: anvil.accounts[0]!.address, gas: '0x4c4b40', data },
    ]);
    return until('the contract is deployed', async () => {
      const receipt = await anvil.request<{ contractAddress: Hex } | null>(
        'eth_getTransactionReceipt',
        [hash],
      );
      return receipt?.contractAddress;
    });
  };
  const pay = (to: string, value: string) =>
    world.anvil.request('eth_sendTransaction', [
      { from: world.anvil.accounts[0]!.address, to, value },
    ]);
  /** Makes a block with a payment leave the chain, and pays again in another block. */
  const reorganize = async (schema: string, to: string) => {
    const { anvil } = world;
    // The address is watched from the next block on.
    await anvil.request('evm_mine', []);
    await pay(to, '0x1');
    await until('the row is unconfirmed', async () => {
      const [row] = await rowsOf(schema, to);
      return row?.confirmed === false;
    });
    await anvil.request('anvil_reorg', [1, []]);
    await until('the row is deleted', async () => (await rowsOf(schema, to)).length === 0);
    await pay(to, '0x2');
    await anvil.request('anvil_mine', ['0x3']);
    await until('the row is confirmed', async () => {
      const [row] = await rowsOf(schema, to);
      return row?.confirmed === true;
    });
    expect(await rowsOf(schema, to)).toHaveLength(1);
  };
  const phasesOf = async (streamId: string, destination: number) => {
    const { result } = await world.sluice.listDeliveries({ streamId, destination });
    return new Set(result.map(({ phase }) => phase));
  };

  test('the tables of a stream follow the chain, also through a reorg', async () => {
    const url = postgres.url.replace('postgres@', 'postgres:a-secret-word@');
    const { id, to } = await create(`${url}?schema=${prefix}_own`);
    await reorganize(`${prefix}_own`, to);
    const { result } = await world.sluice.listDeliveries({ streamId: id });
    expect(JSON.stringify(result)).not.toContain('a-secret-word');
    expect(await phasesOf(id, 0)).toEqual(new Set(['unconfirmed', 'removed', 'confirmed']));
  });

  test('tables that are an additional destination get removals, and the stream does not', async () => {
    const { id, to } = await create(`${world.sink.url}/without-removals`);
    const { destination } = await world.sluice.addDestination(id, {
      webhookUrl: `${postgres.url}?schema=${prefix}_additional`,
    });
    await reorganize(`${prefix}_additional`, to);
    expect(await phasesOf(id, destination)).toEqual(
      new Set(['unconfirmed', 'removed', 'confirmed']),
    );
    expect(await phasesOf(id, 0)).toEqual(new Set(['unconfirmed', 'confirmed']));
  });

  test('the views of the docs have the balances of the chain after a reorg', async () => {
    const { anvil, contracts } = world;
    const schema = `${prefix}_views`;
    await world.client.streams.create({
      webhookUrl: `${postgres.url}?schema=${schema}`,
      description: '',
      tag: schema,
      chainIds: [CHAIN],
      includeContractLogs: true,
      allAddresses: true,
      topic0: ['Transfer(address,address,uint256)'],
    });
    const [owner, alice, bob] = anvil.accounts.map(({ address }) => address);
    const transfer = async (from: Hex, to: Hex, amount: bigint): Promise<unknown> =>
      anvil.request('eth_sendTransaction', [
        {
          from,
          to: contracts.erc20,
          data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
        },
      ]);
    const balanceOf = async (account: Hex): Promise<string> => {
      const data = encodeFunctionData({
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [account],
      });
      const balance = await anvil.request<Hex>('eth_call', [{ to: contracts.erc20, data }]);
      return String(BigInt(balance));
    };
    await anvil.request('evm_mine', []);
    await transfer(owner!, alice!, 500n);
    await transfer(alice!, bob!, 200n);
    // Removes the second payment.
    await anvil.request('anvil_reorg', [1, []]);
    await transfer(alice!, bob!, 30n);
    await anvil.request('anvil_mine', ['0x3']);
    const page = readFileSync(new URL('../../docs/tables.md', import.meta.url), 'utf8');
    const views = [...page.matchAll(/```sql\n(create view .*?)```/gs)].map(([, sql]) => sql!);
    expect(views).toHaveLength(2);
    await until('the rows are confirmed', async () => {
      const { rows } = await pool
        .query<{ found: boolean }>(
          `select count(*) = 2 and bool_and(confirmed) as found from ${schema}.erc20_transfers`,
        )
        .catch(() => ({ rows: [] }));
      return rows[0]?.found === true;
    });
    for (const sql of views) {
      await pool.query(sql.replaceAll('payments.', `${schema}.`));
    }
    const { rows: balances } = await pool.query<{ account: string; balance: string }>(
      `select account, balance from ${schema}.balances`,
    );
    expect(new Map(balances.map(({ account, balance }) => [account, balance]))).toEqual(
      new Map([
        [owner!.toLowerCase(), '-500'],
        [alice!.toLowerCase(), await balanceOf(alice!)],
        [bob!.toLowerCase(), await balanceOf(bob!)],
      ]),
    );
    const { rows: days } = await pool.query(
      `select count::int, volume from ${schema}.transfers_per_day`,
    );
    expect(days).toEqual([{ count: 2, volume: '530' }]);
  });

  test('a changed ABI keeps rows, and text that PostgreSQL cannot store is written', async () => {
    const { anvil, client } = world;
    const schema = `${prefix}_changed`;
    const emitter = await deploy(crier.bytecode);
    const text = (name: string) => [
      { type: 'event' as const, name: 'Note', inputs: [{ name, type: 'string', indexed: false }] },
    ];
    const wide = [
      {
        ...text('words')[0]!,
        inputs: [...text('words')[0]!.inputs, { name: 'count', type: 'uint256', indexed: false }],
      },
    ];
    const { id } = await client.streams.create({
      webhookUrl: `${postgres.url}?schema=${schema}`,
      description: '',
      tag: schema,
      chainIds: [CHAIN],
      includeContractLogs: true,
      topic0: ['Note(string)', 'Note(string,uint256)'],
      abi: [...text('words'), ...wide],
    });
    await client.streams.addAddress(id, emitter);
    await anvil.request('evm_mine', []);
    const emit = async (signature: string, data: Hex): Promise<void> => {
      await anvil.request('eth_sendTransaction', [
        {
          from: anvil.accounts[0]!.address,
          to: emitter,
          data: encodeFunctionData({
            abi: crier.abi,
            functionName: 'cryAll',
            args: [[[toEventSelector(signature)]], [data]],
          }),
        },
      ]);
      await anvil.request('anvil_mine', ['0x3']);
    };
    const textOf = (bytes: Hex): Hex => encodeAbiParameters([{ type: 'bytes' }], [bytes]);
    const written = async (table: string, columns: string, count: number) =>
      until(`${table} has ${count} rows`, async () => {
        const { rows } = await pool
          .query(`select ${columns} from ${schema}.${table} where confirmed order by block_number`)
          .catch(() => ({ rows: [] }));
        return rows.length === count && rows;
      });
    // Text with a NUL, and text that is not UTF-8.
    await emit('Note(string)', textOf('0x610062'));
    await emit('Note(string)', textOf('0xff00fe'));
    await written('event_note', 'words', 2);
    await client.streams.update(id, { abi: [...text('renamed'), ...wide] });
    await anvil.request('evm_mine', []);
    await emit('Note(string)', textOf('0x63'));
    await emit(
      'Note(string,uint256)',
      encodeAbiParameters([{ type: 'string' }, { type: 'uint256' }], ['d', 5n]),
    );
    expect(await written('event_note', 'words, renamed', 3)).toEqual([
      { words: 'a\uFFFDb', renamed: null },
      { words: '\uFFFD\uFFFD\uFFFD', renamed: null },
      { words: null, renamed: 'c' },
    ]);
    const { rows } = await pool.query<{ table_name: string }>(
      `select table_name from ${schema}.sluice_events where signature = 'Note(string, uint256)'`,
    );
    expect(await written(rows[0]!.table_name, 'words, count', 1)).toEqual([
      { words: 'd', count: '5' },
    ]);
  });

  test('a database that cannot be used is refused, with what to do', async () => {
    const refused = create(`${postgres.url.replace(/postgres$/, 'missing')}?schema=rows`);
    await expect(refused).rejects.toSatisfy(
      (error) => isSluiceError(error) && JSON.stringify(error.fields).includes('create it'),
    );
    await expect(create(postgres.url)).rejects.toThrow('should name the schema of the tables');
  });
});
