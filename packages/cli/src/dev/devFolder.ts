/** The data folder of `sluice dev`. `--fresh` empties it only if `sluice dev` created it. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '@sluice/service';
import { LOCK_FILE, lockFolder } from '@sluice/service/folderLock';
import { CommandError } from '../terminal/errors.ts';

/** Name of the marker file, which is written only into a folder that was empty. */
const MARKER = 'made-by-sluice-dev';

/**
 * Creates the folder if it is missing; with `fresh`, empties an existing folder. If an error is
 * thrown, nothing has been deleted.
 *
 * @returns whether the folder was empty, and a function that releases the folder's lock.
 * @throws CommandError `usage` with `fresh` if `sluice dev` did not create the folder; CallerError
 * `data_in_use` if a service uses the folder.
 */
export function openDevFolder(
  { data: folder, databaseUrl }: Pick<Config, 'data'> & Partial<Pick<Config, 'databaseUrl'>>,
  { fresh = false }: { fresh?: boolean } = {},
): { isFirstStart: boolean; release(): void } {
  if (fresh && existsSync(folder)) empty(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isNew = readdirSync(folder).length === 0;
  if (isNew) writeFileSync(join(folder, MARKER), 'sluice dev --fresh empties this folder.\n');
  // A SQLite ledger locks the folder itself; with PostgreSQL, the folder needs this lock.
  const lock = databaseUrl === undefined ? undefined : lockFolder(folder);
  return { isFirstStart: isNew, release: () => lock?.close() };
}

function empty(folder: string): void {
  if (!existsSync(join(folder, MARKER))) {
    throw new CommandError(
      'usage',
      `--fresh: sluice dev did not create ${resolve(folder)}; nothing was deleted`,
      'delete the folder yourself, or pass another one with --data',
    );
  }
  const remove = (names: readonly string[]): void => {
    for (const name of names) rmSync(join(folder, name), { recursive: true, force: true });
  };
  const lock = lockFolder(folder);
  // Deletes the marker and the lock last, so that an interrupted run can be repeated.
  const names = readdirSync(folder).filter((name) => !name.startsWith(LOCK_FILE));
  remove(names.filter((name) => name !== MARKER));
  lock.close();
  remove([...readdirSync(folder)]);
}
