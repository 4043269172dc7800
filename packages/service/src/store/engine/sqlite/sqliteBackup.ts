/** Backs up a SQLite ledger while the service uses it, and restores backups. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Kysely } from 'kysely';
import { CallerError } from '../../../base/errors.ts';
import { describeError } from '../../../base/log.ts';
import { refuseUnknownSchema } from '../migrations.ts';
import { lockFolder } from './folderLock.ts';
import { LEDGER_FILE } from './sqlite.ts';
import { openSqlite } from './sqliteConnection.ts';
import { markClosed } from './sqliteDamage.ts';

/**
 * Writes the current state of the ledger in `folder` to a new file that only its owner can read,
 * and checks the file. Does not block writes to the ledger.
 * @returns the size of the file in bytes
 * @throws CallerError `not_confirmed` if the file exists; Error if there is no ledger, or the copy
 * is damaged
 */
export function backUpSqlite(folder: string, file: string): number {
  const source = join(folder, LEDGER_FILE);
  if (!existsSync(source)) {
    throw new Error(`No ledger found in ${folder}, which should be the data folder of the service`);
  }
  if (existsSync(file)) throw new CallerError('not_confirmed', `${file} already exists`);
  mkdirSync(dirname(file), { recursive: true });
  const unfinished = `${file}.unfinished`;
  rmSync(unfinished, { force: true });
  // Creates the file before SQLite does, so that no other user can ever read its secrets.
  closeSync(openSync(unfinished, 'wx', 0o600));
  try {
    const ledger = new DatabaseSync(source, { readOnly: true, timeout: 10_000 });
    try {
      // Copies in one read transaction. A page-by-page copy would restart with each write of the
      // service.
      ledger.prepare('vacuum into ?').run(unfinished);
    } finally {
      ledger.close();
    }
    checkSound(unfinished);
    sync(unfinished);
    renameSync(unfinished, file);
    sync(dirname(file));
  } finally {
    rmSync(unfinished, { force: true });
  }
  return statSync(file).size;
}

/**
 * Replaces the ledger in `folder` with a backup. The next start of the service continues from the
 * backup.
 * @throws CallerError `not_confirmed` if there is a ledger and `overwrite` is not set,
 * `data_in_use` if a process has locked the folder, or `invalid_file` if the backup has a schema
 * that is unknown to this program; Error if the file is missing, damaged, or not a ledger
 */
export async function restoreSqlite(
  file: string,
  folder: string,
  { overwrite }: { overwrite: boolean },
): Promise<void> {
  if (!existsSync(file)) throw new Error(`File ${file} does not exist`);
  checkSound(file);
  const backup = openSqlite(file, true).db as unknown as Kysely<unknown>;
  try {
    await refuseUnknownSchema(backup, undefined, `The ledger of ${file}`);
  } finally {
    await backup.destroy();
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  try {
    const target = join(folder, LEDGER_FILE);
    if (existsSync(target) && !overwrite) {
      throw new CallerError('not_confirmed', `${folder} already contains a ledger`);
    }
    const unfinished = `${target}.unfinished`;
    rmSync(unfinished, { force: true });
    closeSync(openSync(unfinished, 'wx', 0o600));
    copyFileSync(file, unfinished);
    sync(unfinished);
    // Deletes the write-ahead log of the old ledger, which SQLite would otherwise apply to the new
    // one.
    markClosed(target);
    for (const journal of ['-wal', '-shm']) rmSync(target + journal, { force: true });
    renameSync(unfinished, target);
    sync(folder);
  } finally {
    lock.close();
  }
}

/** @throws Error if the file is not a SQLite database with a ledger, or is damaged */
function checkSound(file: string): void {
  let problem: string | undefined;
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      const tables = db
        .prepare("select name from sqlite_schema where name in ('migrations', 'delivery')")
        .all();
      if (tables.length < 2) problem = 'it is not a Sluice ledger';
      else {
        const found = db.prepare('pragma integrity_check').get()?.['integrity_check'];
        if (found !== 'ok') problem = `it is damaged: ${describeError(found)}`;
      }
    } finally {
      db.close();
    }
  } catch (error) {
    problem = describeError(error);
  }
  if (problem !== undefined) throw new Error(`${file} cannot be used: ${problem}`);
}

/** Waits until a file or folder is written to the disk. */
function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
