import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, rmdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { isSqliteFrom351 } from './sqliteVersion.ts';
import { createCheckpoints, createLogReader } from './sqliteCheckpoints.ts';
import { openSqlite } from './sqliteConnection.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-checkpoints-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SOON = { timeout: 10_000, interval: 5 };

describe.runIf(isSqliteFrom351)('the write-ahead log', () => {
  const path = join(folder, 'ledger.db');
  const { db, sqlite } = openSqlite(path, false);
  // This test measures how much each thread writes, so it needs no durability.
  sqlite.exec('pragma synchronous = off; create table page (id integer primary key, filler blob)');
  const readLog = createLogReader(sqlite);
  const left = (): number => readLog().log - readLog().checkpointed;
  const checkpoints = createCheckpoints(path, sqlite);
  afterAll(async () => {
    await checkpoints.stop();
    await db.destroy();
  });

  // Number of pages that the committing thread copied itself, per checkpoint.
  const own: number[] = [];
  const prepare = sqlite.prepare.bind(sqlite);
  vi.spyOn(sqlite, 'prepare').mockImplementation((text) => {
    if (text.includes('passive')) own.push(left());
    return prepare(text);
  });
  beforeEach(() => void own.splice(0));

  /** Commits at least this number of pages. */
  const commit = (pages: number): void => {
    const insert = prepare('insert into page (filler) values (zeroblob(4096))');
    sqlite.exec('begin');
    for (let n = 0; n < pages; n++) insert.run();
    sqlite.exec('commit');
    checkpoints.look();
  };

  test('is copied by another thread when it grows long, then restarts', async () => {
    commit(9_000);
    expect(readLog().checkpointed).toBe(0);
    commit(2_000);
    await vi.waitFor(() => expect(left()).toBe(0), SOON);
    commit(1);
    expect(readLog().log).toBeLessThan(100);
    expect(own).toEqual([]);
  });

  test('is fully copied during continuous commits: one commit copies the last part', async () => {
    commit(11_000);
    await vi.waitFor(() => {
      commit(10);
      expect(readLog().log).toBeLessThan(1_000);
    }, SOON);
    expect(own.length).toBeLessThanOrEqual(1);
    for (const pages of own) expect(pages).toBeLessThan(1_000);
  });

  test('is copied after a long read that needs it, still by the other thread', async () => {
    commit(1);
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec('begin');
    reader.prepare('select count(*) from page').get();
    commit(11_000);
    await vi.waitFor(() => expect(readLog().checkpointed).toBeGreaterThan(0), SOON);
    expect(left()).toBeGreaterThan(10_000);
    reader.close();
    await vi.waitFor(() => {
      commit(1);
      expect(readLog().log).toBeLessThan(1_000);
    }, SOON);
    for (const pages of own) expect(pages).toBeLessThan(1_000);
  });

  test('is copied later if the thread cannot open the file at first', async () => {
    const other = join(folder, 'other.db');
    const link = join(folder, 'link.db');
    const ledger = openSqlite(other, false);
    ledger.sqlite.exec('pragma synchronous = off; create table page (filler blob)');
    const thread = createCheckpoints(link, ledger.sqlite);
    mkdirSync(link);
    const started = once(process, 'worker') as Promise<[Worker]>;
    ledger.sqlite.exec(`insert into page
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 11000)
      select zeroblob(4096) from n`);
    thread.look();
    const [first] = await started;
    await new Promise((resolve) => first.once('exit', resolve));
    rmdirSync(link);
    symlinkSync(other, link);
    const readOther = createLogReader(ledger.sqlite);
    expect(readOther().checkpointed).toBe(0);
    await vi.waitFor(() => {
      thread.look();
      expect(readOther().checkpointed).toBeGreaterThan(10_000);
    }, SOON);
    await thread.stop();
    await ledger.db.destroy();
  });
});
