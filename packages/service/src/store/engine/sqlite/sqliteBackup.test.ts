import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from './sqlite.ts';
import { backUpSqlite, restoreSqlite } from './sqliteBackup.ts';
import type { Store } from '../../store.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'));
const ledger = join(folder, 'ledger');
const file = join(folder, 'copies', 'ledger.backup');
let store: Store;
beforeAll(async () => {
  store = await openSqliteStore(ledger);
  await store.saveSetting('color', 'green');
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const settingOf = (path: string): unknown => {
  const restored = new DatabaseSync(join(path, 'sluice.db'));
  const row = restored.prepare("select value from setting where key = 'color'").get();
  restored.close();
  return row?.['value'];
};

test('a backup of a ledger in use contains all commits, and only its owner can read it', async () => {
  let writing = true;
  const writer = (async () => {
    for (let n = 0; writing; n++) await store.saveSetting('counter', String(n));
  })();
  const bytes = backUpSqlite(ledger, file);
  writing = false;
  await writer;
  await store.saveSetting('color', 'blue');
  expect(statSync(file)).toMatchObject({ size: bytes });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const target = join(folder, 'restored');
  await restoreSqlite(file, target, { overwrite: false });
  expect(settingOf(target)).toBe('green');
});

test('a backup replaces no file, and a restore replaces a ledger only if requested', async () => {
  expect(() => backUpSqlite(ledger, file)).toThrow('already exists');
  const target = join(folder, 'other');
  const other = await openSqliteStore(target);
  await other.saveSetting('color', 'red');
  await expect(restoreSqlite(file, target, { overwrite: true })).rejects.toThrow(
    'in use by another sluice process',
  );
  await other.close();
  await expect(restoreSqlite(file, target, { overwrite: false })).rejects.toThrow(
    'already contains a ledger',
  );
  expect(settingOf(target)).toBe('red');
  await restoreSqlite(file, target, { overwrite: true });
  expect(settingOf(target)).toBe('green');
});

test('a restore discards the write-ahead log that a killed process left', async () => {
  const target = join(folder, 'killed');
  const wal = join(target, 'sluice.db-wal');
  await restoreSqlite(file, target, { overwrite: true });
  const killed = new DatabaseSync(join(target, 'sluice.db'));
  killed.exec("pragma journal_mode = wal; update setting set value = 'red'");
  const log = readFileSync(wal);
  killed.close();
  writeFileSync(wal, log);
  await restoreSqlite(file, target, { overwrite: true });
  expect(existsSync(wal)).toBe(false);
  expect(settingOf(target)).toBe('green');
});

test('a restored ledger can be opened, although a process was killed with the ledger before', async () => {
  const target = join(folder, 'killed in use');
  const mark = join(target, 'sluice.db-open');
  await restoreSqlite(file, target, { overwrite: true });
  const killed = await openSqliteStore(target);
  const marked = readFileSync(mark);
  await killed.close();
  writeFileSync(mark, marked);
  await restoreSqlite(file, target, { overwrite: true });
  const restored = await openSqliteStore(target);
  expect(await restored.readSetting('color')).toBe('green');
  await restored.close();
});

describe('a restore is rejected without changing the ledger', () => {
  const refused = async (made: string, reason: RegExp) => {
    const target = join(folder, 'kept');
    await restoreSqlite(file, target, { overwrite: true });
    const kept = new DatabaseSync(join(target, 'sluice.db'));
    kept.exec("update setting set value = 'red'");
    kept.close();
    await expect(restoreSqlite(made, target, { overwrite: true })).rejects.toThrow(reason);
    expect(settingOf(target)).toBe('red');
  };

  test('if the file is not a ledger', async () => {
    const text = join(folder, 'text');
    writeFileSync(text, 'not a database, whatever its length'.repeat(100));
    await refused(text, /text cannot be used: file is not a database/);
    const empty = join(folder, 'empty.db');
    new DatabaseSync(empty).exec('create table other (n)');
    await refused(empty, /it is not a Sluice ledger/);
    await refused(join(folder, 'nowhere'), /does not exist/);
  });

  test('if a page of the file is damaged', async () => {
    const damaged = join(folder, 'damaged');
    const bytes = readFileSync(file);
    for (let at = 8192; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 200);
    writeFileSync(damaged, bytes);
    await refused(damaged, /damaged cannot be used/);
  });

  test('if a newer program created the file', async () => {
    const newer = join(folder, 'newer');
    writeFileSync(newer, readFileSync(file));
    const db = new DatabaseSync(newer);
    db.exec("insert into migrations (name, timestamp) values ('9999 later', '')");
    db.close();
    await refused(newer, /created by a newer version of Sluice/);
  });
});
