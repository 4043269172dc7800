import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { testAccess } from './suite/access.suite.ts';
import { openSqliteStore } from './sqlite.ts';
import { testEvents } from './suite/events.suite.ts';
import { testHistory } from './suite/history.suite.ts';
import { testInvariants } from './suite/invariants.suite.ts';
import { testStore } from './suite/store.suite.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-store-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('SQLite store', () => {
  testStore(() => openSqliteStore(join(folder, 'suite')));
  testHistory(() => openSqliteStore(join(folder, 'history')));
  testInvariants(async () => {
    const path = join(folder, 'invariants');
    const store = await openSqliteStore(path);
    return {
      store,
      async execute(statement) {
        const other = new DatabaseSync(join(path, 'sluice.db'), { timeout: 5_000 });
        other.exec(statement);
        other.close();
      },
    };
  });
  testAccess(() => openSqliteStore(join(folder, 'access')));
  testEvents(() => openSqliteStore(join(folder, 'events')));

  test('keeps what it holds when it is opened again', async () => {
    const path = join(folder, 'again');
    const first = await openSqliteStore(path);
    await first.saveSetting('kept', 'yes');
    await first.close();
    const second = await openSqliteStore(path);
    expect(await second.readSetting('kept')).toBe('yes');
    await second.close();
  });

  test('of writes that are committed together, each answers for itself alone', async () => {
    const path = join(folder, 'together');
    const store = await openSqliteStore(path);
    const other = new DatabaseSync(join(path, 'sluice.db'));
    // As a full disk does it: with the statement, all that the transaction did before is undone.
    other.exec(`create trigger refuse before insert on setting when new.key = 'bad'
      begin select raise(rollback, 'no room for it'); end`);
    other.close();
    const keys = ['first', 'second', 'bad', 'last'];
    const answers = await Promise.allSettled(keys.map((key) => store.saveSetting(key, 'kept')));
    expect(answers.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(answers[2]).toMatchObject({ reason: { message: 'no room for it' } });
    expect(await Promise.all(keys.map((key) => store.readSetting(key)))).toEqual([
      'kept',
      'kept',
      undefined,
      'kept',
    ]);
    await store.close();
  });

  test('belongs to its owner alone', async () => {
    const path = join(folder, 'private');
    const store = await openSqliteStore(path);
    await store.saveSetting('a', 'b');
    const modeOf = (name: string): number => statSync(join(path, name)).mode & 0o777;
    expect(modeOf('.')).toBe(0o700);
    const files = readdirSync(path).filter((name) => name.startsWith('sluice.db'));
    expect(files.toSorted()).toEqual(['sluice.db', 'sluice.db-shm', 'sluice.db-wal']);
    expect(files.map(modeOf)).toEqual([0o600, 0o600, 0o600]);
    await store.close();
  });

  test('refuses a folder that is in use, naming the fix', async () => {
    const path = join(folder, 'taken');
    const first = await openSqliteStore(path);
    await expect(openSqliteStore(path)).rejects.toThrow(/in use by another sluice process.*--data/);
    await first.close();
    await (await openSqliteStore(path)).close();
  });
});
