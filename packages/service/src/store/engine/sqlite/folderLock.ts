/**
 * Locks a data folder for one process. A SQLite lock ends with its process, whereas a lock file
 * would remain after a crash.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { CallerError } from '../../../base/errors.ts';

/** Name of the SQLite database that holds the lock, in the data folder. */
export const LOCK_FILE = 'lock.db';

/** Opens the lock database. Loads SQLite on first use, because most commands need no lock. */
function open(folder: string): DatabaseSync {
  const sqlite = process.getBuiltinModule('node:sqlite');
  return new sqlite.DatabaseSync(join(folder, LOCK_FILE), { timeout: 0 });
}

/**
 * Locks the folder until the returned database is closed or the process ends.
 * @throws CallerError `data_in_use` if another process has locked the folder
 */
export function lockFolder(folder: string): DatabaseSync {
  const lock = open(folder);
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    throw new CallerError(
      'data_in_use',
      `The data folder ${resolve(folder)} is in use by another sluice process`,
      { cause: error },
    );
  }
}

/** Returns whether a process has locked the folder. Creates no files. */
export function isFolderLocked(folder: string): boolean {
  if (!existsSync(join(folder, LOCK_FILE))) return false;
  const lock = open(folder);
  try {
    lock.exec('begin exclusive; rollback');
    return false;
  } catch (error) {
    return (error as { errcode?: number }).errcode === SQLITE_BUSY;
  } finally {
    lock.close();
  }
}

const SQLITE_BUSY = 5;
