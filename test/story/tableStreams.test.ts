/** Tests streams whose webhook URL is a database: their records are rows of tables. */
import { isSluiceError } from '@sluice/kit';
import { type Postgres, startPostgres, until } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BothChains, CHAIN, startBothChains } from './bothChains.ts';

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

const create = (webhookUrl: string) =>
  world.client.streams.create({
    webhookUrl,
    description: '',
    tag: 'rows',
    chainIds: [CHAIN],
    includeNativeTxs: true,
  });

test('the tables of a stream follow the chain, also through a reorg', async () => {
  const { anvil, client, sluice } = world;
  const url = `${postgres.url.replace('postgres@', 'postgres:a-secret-word@')}?schema=rows`;
  const { id, notifyRemoved } = (await create(url)) as { id: string; notifyRemoved?: boolean };
  expect(notifyRemoved ?? false).toBe(false);
  const to = `0x${'5ea7'.padStart(40, '0')}`;
  await client.streams.addAddress(id, to);
  await anvil.request('evm_mine', []);
  const rows = async () =>
    (
      await pool.query<{ confirmed: boolean; block_hash: string }>(
        'select confirmed, block_hash from rows.transactions where to_address = $1',
        [to],
      )
    ).rows;
  const from = anvil.accounts[0]!.address;
  await anvil.request('eth_sendTransaction', [{ from, to, value: '0x1' }]);
  await until('the row is unconfirmed', async () => (await rows())[0]?.confirmed === false);
  await anvil.request('anvil_reorg', [1, []]);
  await until('the row is deleted', async () => (await rows()).length === 0);
  await anvil.request('eth_sendTransaction', [{ from, to, value: '0x2' }]);
  await anvil.request('anvil_mine', ['0x3']);
  await until('the row is confirmed', async () => (await rows())[0]?.confirmed === true);
  expect(await rows()).toHaveLength(1);
  const { result } = await sluice.listDeliveries({ streamId: id });
  expect(JSON.stringify(result)).not.toContain('a-secret-word');
  expect(new Set(result.map(({ phase }) => phase))).toEqual(
    new Set(['unconfirmed', 'removed', 'confirmed']),
  );
});

test('a database that cannot be used is refused, with what to do', async () => {
  const refused = create(`${postgres.url.replace(/postgres$/, 'missing')}?schema=rows`);
  await expect(refused).rejects.toSatisfy(
    (error) => isSluiceError(error) && JSON.stringify(error.fields).includes('create it'),
  );
  await expect(create(postgres.url)).rejects.toThrow('should name the schema of the tables');
});
