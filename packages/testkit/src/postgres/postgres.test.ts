import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { isAlive, startOtherProcess } from '../otherProcess.test-only.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { queryPostgres as query } from './queryPostgres.ts';

// A temporary folder for this file only, because other tests start servers at the same time.
const ownTemporary = mkdtempSync(path.join(tmpdir(), 'sluice-test-'));
beforeAll(() => {
  // Uses the same mode as /tmp, because the server and its watchdog may run as another user.
  chmodSync(ownTemporary, 0o1777);
  vi.stubEnv('TMPDIR', ownTemporary);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(ownTemporary, { recursive: true });
});

const clusters = () => readdirSync(ownTemporary).map((name) => path.join(ownTemporary, name));

describe('a running server', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres({ settings: { max_connections: '17' } });
    await query(postgres.url, 'create table kept (id int); insert into kept values (1)');
  });
  afterAll(() => postgres.stop());

  test('serves a superuser with the requested settings, on loopback only', async () => {
    expect(await query(postgres.url, 'show max_connections')).toBe('17');
    expect(await query(postgres.url, 'show listen_addresses')).toBe('127.0.0.1');
    expect(await query(postgres.url, 'select rolsuper from pg_roles where rolname = user')).toBe(
      't',
    );
    expect(await query(postgres.url, 'show server_encoding')).toBe('UTF8');
  });

  test('a second server runs at the same time', async () => {
    const other = await startPostgres();
    expect(other.port).not.toBe(postgres.port);
    await expect(query(other.url, 'select * from kept')).rejects.toThrow('does not exist');
    await other.stop();
  });

  test('refuses connections after kill, and has all commits after restart', async () => {
    const { pid } = postgres;
    await postgres.kill();
    expect(isAlive(pid)).toBe(false);
    await expect(query(postgres.url, 'select 1')).rejects.toThrow('ECONNREFUSED');
    await postgres.restart();
    expect(postgres.pid).not.toBe(pid);
    expect(await query(postgres.url, 'select count(*) from kept')).toBe('1');
  });

  test.each(['fast', 'immediate'] as const)('restart, %s', async (mode) => {
    const sleeping = query(postgres.url, 'select pg_sleep(60)');
    const asleep = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'";
    await expect.poll(() => query(postgres.url, asleep)).toBe('1');
    const { pid, port } = postgres;
    const broken = expect(sleeping).rejects.toThrow(
      mode === 'fast' ? 'administrator command' : /immediate shutdown|terminated unexpectedly/,
    );
    await postgres.restart(mode);
    await broken;
    expect(postgres.port).toBe(port);
    expect(isAlive(pid)).toBe(false);
    expect(await query(postgres.url, 'select count(*) from kept')).toBe('1');
  });
});

test('stop ends the server and deletes its data, and can be called twice', async () => {
  const before = clusters();
  const postgres = await startPostgres();
  const [folder] = clusters().filter((name) => !before.includes(name));
  expect(folder).toBeDefined();
  await postgres.stop();
  expect(isAlive(postgres.pid)).toBe(false);
  expect(existsSync(folder ?? '')).toBe(false);
  await postgres.stop();
});

test('neither server nor data outlive a parent killed with SIGKILL', async () => {
  const before = clusters();
  const parent = startOtherProcess(`
    const { pid } = await testkit.startPostgres();
    console.log(pid);
  `);
  const pid = await parent.nextLine<number>();
  const [folder] = clusters().filter((name) => !before.includes(name));
  expect(isAlive(pid)).toBe(true);
  await parent.kill();
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  await expect.poll(() => existsSync(folder ?? ''), { timeout: 10_000 }).toBe(false);
});

test('a setting that the server rejects is reported with its message', async () => {
  const before = clusters();
  await expect(startPostgres({ settings: { max_connections: 'many' } })).rejects.toThrow(
    /PostgreSQL did not start: [^]*max_connections/,
  );
  expect(clusters()).toEqual(before);
});

test('a missing server is reported with the command to install it', async () => {
  vi.doMock('./findPostgres.ts', () => ({ findPostgres: () => [] }));
  vi.resetModules();
  onTestFinished(() => {
    vi.doUnmock('./findPostgres.ts');
    // The next test file of this worker would import the modules that use the mock.
    vi.resetModules();
  });
  const { startPostgres: start } = await import('./postgres.ts');
  await expect(start()).rejects.toThrow('apt-get install postgresql');
});
