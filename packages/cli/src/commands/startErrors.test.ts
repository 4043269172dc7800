/** Tests that each common start error has a code, a message and a fix. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '@sluice/service/folderLock';
import { type Postgres, startPostgres } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sluice } from '../terminal/scripted.test-only.ts';
import { startWorld } from './world.test-only.ts';

const root = mkdtempSync(join(tmpdir(), 'sluice-start-'));
const EMPTY = join(root, 'empty');
let postgres: Postgres;
let taken: Server;
let port: string;

beforeAll(async () => {
  postgres = await startPostgres();
  taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  port = String((taken.address() as AddressInfo).port);
});
afterAll(async () => {
  taken.close();
  await postgres.stop();
  rmSync(root, { recursive: true });
});

const at = (change: (url: URL) => void): string => {
  const url = new URL(postgres.url);
  change(url);
  return url.href;
};

test.each<[code: string, message: RegExp, args: () => string[]]>([
  ['port_in_use', /^Port \d+ of 127\.0\.0\.1 is already in use$/, () => ['--port', port]],
  [
    'database_unreachable',
    /^PostgreSQL at 127\.0\.0\.1:9 cannot be reached: .*ECONNREFUSED/,
    () => ['--database-url', 'postgres://me:hidden-word@127.0.0.1:9/sluice'],
  ],
  [
    'database_refused',
    /^PostgreSQL at \S+ has no database "nowhere"$/,
    () => ['--database-url', at((url) => (url.pathname = '/nowhere'))],
  ],
  [
    'database_refused',
    /^PostgreSQL at \S+ refused the login of nobody: .*"nobody"/,
    () => [
      '--database-url',
      at((url) => Object.assign(url, { username: 'nobody', password: 'hidden-word' })),
    ],
  ],
])('%s is reported with a fix: %s', async (code, message, args) => {
  const run = await sluice(['serve', '--port', '0', '--data', EMPTY, ...args()]);
  const [first = '', ...more] = run.stderr
    .split('\n')
    .filter((line) => /^(error|  \w+:)/.test(line));
  expect([run.code, run.stdout]).toEqual([10, '']);
  expect(first.replace(`error[${code}]: `, '')).toMatch(message);
  expect(more).toEqual([
    expect.stringMatching(/^  fix: /),
    `  docs: npm run -s sluice -- docs ${code}`,
  ]);
  expect(run.stderr).not.toContain('hidden-word');
});

test('a data folder in use is reported as data_in_use', async () => {
  const folder = join(root, 'used');
  mkdirSync(folder);
  const lock = lockFolder(folder);
  const { code, stderr } = await sluice(['serve', '--port', '0', '--data', folder]);
  expect([code, stderr]).toEqual([
    10,
    `error[data_in_use]: The data folder ${folder} is in use by another sluice process\n` +
      '  fix: stop that process, or pass another folder with --data\n' +
      '  docs: npm run -s sluice -- docs data_in_use\n',
  ]);
  lock.close();
});

test('another master key is reported as wrong_master_key', async () => {
  const world = await startWorld();
  await world.api.streams.create({
    webhookUrl: world.sink.url,
    description: '',
    tag: 'sealed',
    chainIds: ['0x7a69'],
  });
  const file = join(root, 'other-key');
  writeFileSync(file, Buffer.alloc(32, 7).toString('base64'));
  const other = ['--master-key-file', file, '--data', join(world.folder, 'data')];
  const inUse = await sluice(['serve', '--port', '0', ...other]);
  expect(inUse.stderr).toContain('error[data_in_use]');
  await world.whileStopped(async () => {
    const { code, stderr } = await sluice(['serve', '--port', '0', ...other]);
    expect(code).toBe(10);
    expect(stderr).toMatch(
      /^error\[wrong_master_key\]: .*another master key\n  fix: .*--master-key-file/m,
    );
  });
  await world.stop();
});
