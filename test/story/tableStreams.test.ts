/** Tests streams whose webhook URL is a database: their records are rows of tables. */
import { isSluiceError } from '@sluice/kit';
import { type Postgres, startPostgres, until } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

  test('a database that cannot be used is refused, with what to do', async () => {
    const refused = create(`${postgres.url.replace(/postgres$/, 'missing')}?schema=rows`);
    await expect(refused).rejects.toSatisfy(
      (error) => isSluiceError(error) && JSON.stringify(error.fields).includes('create it'),
    );
    await expect(create(postgres.url)).rejects.toThrow('should name the schema of the tables');
  });
});
