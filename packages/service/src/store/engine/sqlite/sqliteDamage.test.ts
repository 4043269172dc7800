/**
 * Tests that a ledger without its write-ahead log, or with damaged pages, is rejected with a fix.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqliteStore } from './sqlite.ts';
import { backUpSqlite, restoreSqlite } from './sqliteBackup.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-damage-'));
/** Ledger folder as a killed process leaves it: the commits are still in the write-ahead log. */
const killed = join(folder, 'killed');
beforeAll(async () => {
  const live = join(folder, 'live');
  const store = await openSqliteStore(live);
  await store.saveSetting('color', 'green');
  cpSync(live, killed, { recursive: true });
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

const copyOf = (name: string): { data: string; ledger: string } => {
  const data = join(folder, name);
  cpSync(killed, data, { recursive: true });
  return { data, ledger: join(data, 'sluice.db') };
};
const colorIn = async (data: string): Promise<string | undefined> => {
  const store = await openSqliteStore(data);
  try {
    return await store.readSetting('color');
  } finally {
    await store.close();
  }
};

test('after a kill, the log contains the commits, and closing copies them', async () => {
  const { data, ledger } = copyOf('whole');
  expect(statSync(`${ledger}-wal`).size).toBeGreaterThan(0);
  expect(await colorIn(data)).toBe('green');
  expect([existsSync(`${ledger}-wal`), existsSync(`${ledger}-open`)]).toEqual([false, false]);
  expect(await colorIn(data)).toBe('green');
});

test('a ledger without its log is rejected with a fix, every time', async () => {
  const { data, ledger } = copyOf('lost');
  rmSync(`${ledger}-wal`);
  const before = statSync(ledger).mtimeMs;
  for (let n = 0; n < 2; n++) {
    await expect(openSqliteStore(data)).rejects.toMatchObject({
      code: 'invalid_file',
      message: `The newest changes of the ledger ${ledger} are missing: its write-ahead log ${ledger}-wal is gone`,
      fix: expect.stringContaining(`sluice restore FILE --data ${data} --yes`) as string,
    });
  }
  expect(statSync(ledger).mtimeMs).toBe(before);
  cpSync(join(killed, 'sluice.db-wal'), `${ledger}-wal`);
  expect(await colorIn(data)).toBe('green');
});

test('a backup can be restored over a ledger without its log', async () => {
  const backup = join(folder, 'backup');
  backUpSqlite(killed, backup);
  const { data, ledger } = copyOf('restored');
  rmSync(`${ledger}-wal`);
  await restoreSqlite(backup, data, { overwrite: true });
  expect(await colorIn(data)).toBe('green');
});

test('if another program copied the log, deleting the marker file fixes it', async () => {
  const { data, ledger } = copyOf('taken-over');
  execFileSync(process.execPath, [
    '-e',
    `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
     db.prepare('select * from setting').all(); db.close();`,
    ledger,
  ]);
  expect(existsSync(`${ledger}-wal`)).toBe(false);
  await expect(openSqliteStore(data)).rejects.toMatchObject({
    fix: expect.stringContaining(`delete ${ledger}-open and start again`) as string,
  });
  rmSync(`${ledger}-open`);
  expect(await colorIn(data)).toBe('green');
});

test.each([
  ['overwritten from the start', 0, 'file is not a database'],
  ['overwritten from the second page', 4096, 'database disk image is malformed'],
])('a damaged ledger (%s) is rejected, and the fix names restore', async (_, from, why) => {
  const { data, ledger } = copyOf(`damaged-${from}`);
  // Opening and closing the ledger copies the log into the file.
  expect(await colorIn(data)).toBe('green');
  const bytes = Buffer.alloc(statSync(ledger).size - from, 'x');
  const file = openSync(ledger, 'r+');
  writeSync(file, bytes, 0, bytes.length, from);
  closeSync(file);
  await expect(openSqliteStore(data)).rejects.toMatchObject({
    code: 'invalid_file',
    message: `The ledger ${ledger} is damaged: ${why}`,
    fix: expect.stringContaining(`sluice restore FILE --data ${data} --yes`) as string,
  });
});

test('damage that appears while the ledger is open is explained, too', async () => {
  const { data, ledger } = copyOf('damaged-later');
  const store = await openSqliteStore(data);
  expect(store.explainError(new Error('database disk image is malformed'))).toMatchObject({
    code: 'invalid_file',
    message: `The ledger ${ledger} is damaged: database disk image is malformed`,
  });
  await store.close();
});
