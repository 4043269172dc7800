/** Tests `/ready` while the database is killed and restarted. */
import { type Postgres, startPostgres, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Served, serve } from '../serve.ts';

let postgres: Postgres;
let served: Served;
beforeAll(async () => {
  postgres = await startPostgres();
  served = await serve(['--database-url', postgres.url]);
});
afterAll(async () => {
  await served?.stop();
  await postgres?.stop();
});

const ready = async (): Promise<{ status: number; body: unknown }> => {
  const response = await fetch(`${served.url}/ready`);
  return { status: response.status, body: await response.json() };
};

test('the service is ready while the ledger accepts writes, and stays alive without it', async () => {
  expect(await ready()).toEqual({ status: 200, body: { status: 'ready' } });

  await postgres.kill();
  await until('the process is not ready', async () => (await ready()).status === 503);
  const { body } = await ready();
  // The route is public, so its response must not contain the host or name of the database.
  expect(body).toEqual({
    status: 'not ready',
    reasons: ['the ledger cannot be written; see the log'],
  });
  expect((await fetch(`${served.url}/health`)).status).toBe(200);

  await postgres.restart();
  await until('the process is ready again', async () => (await ready()).status === 200);
});
