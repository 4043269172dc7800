import { sampleWebhook } from '@sluice/kit/testing';
import { TEST_WEBHOOK } from '@sluice/kit/contract';
import { type Postgres, startFaultProxy, startPostgres, until } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../../store/rows/ids.ts';
import { createSender } from '../../send/send.ts';
import { ALL_NETWORKS, createAddressGuard } from '../http/guard.ts';
import { type PostgresOptions, createPostgres } from './postgres.ts';

const WEBHOOK = { ...sampleWebhook('erc20-transfer'), streamId: 'stream' };
const PASSWORD = 'p@ss:word';

let postgres: Postgres;
let client: pg.Pool;
beforeAll(async () => {
  postgres = await startPostgres();
  client = new pg.Pool({ connectionString: postgres.url });
  client.on('error', () => {});
  await client.query(`create role writer login password '${PASSWORD}'`);
});
afterEach(async () => {
  await client.query('drop schema if exists s cascade');
});
afterAll(async () => {
  await client?.end();
  await postgres?.stop();
});

const open = (options: Partial<PostgresOptions> = {}) => {
  const sender = createSender({
    destinations: [
      createPostgres({ guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }), ...options }),
    ],
    secret: () => 'a streams secret',
    region: () => 'us-east-1',
    timeoutMs: 5_000,
  });
  onTestFinished(() => sender.close());
  return {
    refuse: (url: string) => sender.destinationOf(url).refuse(new URL(url)),
    send: (url: string, webhook: object = WEBHOOK, { id = newId(), timeoutMs = 5_000 } = {}) =>
      sender.send({
        url,
        id,
        body: Buffer.from(JSON.stringify(webhook)),
        headers: {},
        timeoutMs,
        queueSize: 0,
        recordsCharged: 0,
      }),
  };
};

const urlOf = ({ login = 'postgres', port = postgres.port, rest = '' } = {}): string =>
  `postgres://${login}@127.0.0.1:${port}/postgres?schema=s${rest}`;
const count = async (): Promise<number> => {
  const { rows } = await client.query<{ n: string }>('select count(*) as n from s.erc20_transfers');
  return Number(rows[0]!.n);
};

test('a webhook is written to tables, and a removal deletes its rows', async () => {
  const { send } = open();
  expect(await send(urlOf())).toMatchObject({ error: null, status: null });
  expect(await count()).toBe(1);
  await send(urlOf(), { ...WEBHOOK, confirmed: false, removed: true });
  expect(await count()).toBe(0);
});

test('the test webhook creates the tables', async () => {
  const { send } = open();
  expect(await send(urlOf(), TEST_WEBHOOK, { id: crypto.randomUUID() })).toMatchObject({
    error: null,
  });
  expect(await count()).toBe(0);
});

test('webhooks in flight share a connection and transactions', async () => {
  const { send } = open();
  await send(urlOf());
  const webhooks = Array.from({ length: 200 }, (_, n) => ({
    ...WEBHOOK,
    erc20Transfers: WEBHOOK.erc20Transfers.map((each) => ({ ...each, logIndex: String(n) })),
  }));
  const results = await Promise.all(webhooks.map((webhook) => send(urlOf(), webhook)));
  expect(results.every(({ error }) => error === null)).toBe(true);
  expect(await count()).toBe(200 + 1);
  const { rows } = await client.query<{ n: string }>(
    `select count(distinct xmin::text) as n from s.erc20_transfers`,
  );
  expect(Number(rows[0]!.n)).toBeLessThan(20);
  const { rows: connections } = await client.query(
    "select 1 from pg_stat_activity where application_name = 'sluice-tables'",
  );
  expect(connections.length).toBeLessThanOrEqual(2);
});

test.each([
  [() => urlOf({ rest: '&sslmode=require' }), 'the server does not offer TLS'],
  [() => urlOf().replace('/postgres?', '/other?'), 'the database does not exist'],
  [() => urlOf({ login: `writer:${encodeURIComponent(PASSWORD)}` }), 'the user lacks a right'],
  [() => urlOf({ port: 1 }).replace(':1/', ':9/'), 'port 9 is not allowed'],
])('the error says what to do: case %#', async (url, message) => {
  const { send } = open();
  const { error } = await send(url());
  expect(error).toContain(message);
  expect(error).not.toContain(PASSWORD);
});

test('a wrong password is reported, and not repeated in the error', async () => {
  const home = await startPostgres({ settings: { password_encryption: 'scram-sha-256' } });
  onTestFinished(home.stop);
  const admin = new pg.Client(home.url);
  await admin.connect();
  const { rows } = await admin.query<{ hba_file: string }>('show hba_file');
  await admin.query(`create role writer login password '${PASSWORD}'`);
  await admin.query(
    `copy (select 'host all writer all scram-sha-256' union all select 'host all postgres all trust') to '${rows[0]!.hba_file}'`,
  );
  await admin.query('select pg_reload_conf()');
  await admin.end();
  const { send } = open();
  const url = urlOf({ login: 'writer:wrong-word', port: home.port });
  await until(
    'the login is checked',
    async () => (await send(url)).error?.includes('login') ?? false,
  );
  const { error } = await send(url);
  expect(error).toContain('the database rejected the login: correct the user and password');
  expect(error).not.toContain('wrong-word');
});

test('private addresses, proxies and connections without TLS are refused', async () => {
  const guarded = open({ guard: createAddressGuard({ allowCidrs: [] }) });
  expect(await guarded.refuse(urlOf())).toContain('loopback');
  expect((await guarded.send(urlOf())).error).toContain('loopback');
  const named = open({
    guard: createAddressGuard({
      allowCidrs: [],
      resolve: async () => [{ address: '10.0.0.1', family: 4 }],
    }),
  });
  expect(await named.refuse('postgres://db.example/a?schema=s')).toContain('10.0.0.1');
  expect((await named.send('postgres://db.example/a?schema=s')).error).toContain('10.0.0.1');
  expect(await open({ egressProxy: 'http://proxy' }).refuse(urlOf())).toContain('--egress-proxy');
  const secure = open({ httpsOnly: true });
  expect(await secure.refuse(urlOf())).toContain('add sslmode=verify-full');
  expect(await secure.refuse(urlOf({ rest: '&sslmode=verify-full' }))).toBeUndefined();
});

test('a schema of another stream is a problem of the URL', async () => {
  const { send } = open();
  await send(urlOf());
  const { error, urlProblem } = await send(urlOf(), { ...WEBHOOK, streamId: 'other' });
  expect(error).toContain('has the rows of the stream stream, not of other');
  expect(urlProblem).toBe(error);
});

test('a lock ends an attempt in time, and does not stop other streams', async () => {
  const { send } = open();
  await send(urlOf());
  const holder = await client.connect();
  await holder.query('begin; lock table s.erc20_transfers');
  const id = newId();
  const [locked, other] = await Promise.all([
    send(urlOf(), { ...WEBHOOK, confirmed: true }, { id, timeoutMs: 500 }),
    send(urlOf().replace('schema=s', 'schema=other')),
  ]);
  expect(locked.error).toBe('the database did not commit the rows within 0.5 s');
  expect(other.error).toBeNull();
  await holder.query('rollback');
  holder.release();
  expect((await send(urlOf(), { ...WEBHOOK, confirmed: true }, { id })).error).toBeNull();
  expect(await count()).toBe(1);
  await client.query('drop schema other cascade');
});

test('after the network was cut or hung, the next attempt opens another connection', async () => {
  const proxy = await startFaultProxy({ port: postgres.port });
  onTestFinished(proxy.stop);
  const { send } = open();
  const url = urlOf({ port: proxy.port });
  const isWritten = async () => (await send(url)).error === null;
  expect(await isWritten()).toBe(true);
  proxy.cut();
  expect((await send(url)).error).not.toBeNull();
  proxy.heal();
  await until('a webhook is written after the cut', isWritten);
  proxy.blackHole();
  const { error } = await send(url, WEBHOOK, { timeoutMs: 300 });
  expect(error).toBe('the database did not commit the rows within 0.3 s');
  proxy.heal();
  await until('a webhook is written after the silence', isWritten, 40_000);
});
