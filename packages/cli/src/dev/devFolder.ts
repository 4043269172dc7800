/** The data folder of `sluice dev`, which `--fresh` may empty because `sluice dev` made it. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LOCK_FILE, lockFolder } from '@sluice/service/folderLock';
import { CommandError } from '../terminal/errors.ts';

/** Written into a folder that was empty before, and into no other. */
const MARKER = 'made-by-sluice-dev';

/**
 * Creates the folder where it is missing, and with `fresh` empties it first.
 *
 * @returns whether nothing was there, and what ends the hold on the folder.
 * @throws CommandError `usage` for a folder that `sluice dev` did not make; CallerError `data_in_use` when
 *   a service runs on it. Nothing is deleted then.
 */
export function openDevFolder(
  folder: string,
  { fresh = false, databaseUrl }: { fresh?: boolean; databaseUrl?: string },
): { isFirstStart: boolean; release(): void } {
  if (fresh && existsSync(folder)) empty(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isNew = readdirSync(folder).length === 0;
  if (isNew) writeFileSync(join(folder, MARKER), 'sluice dev --fresh empties this folder.\n');
  // A ledger in the folder has its own lock.
  const lock = databaseUrl === undefined ? undefined : lockFolder(folder);
  return { isFirstStart: isNew, release: () => lock?.close() };
}

function empty(folder: string): void {
  if (!existsSync(join(folder, MARKER))) {
    throw new CommandError(
      'usage',
      `--fresh: sluice dev did not make ${resolve(folder)}, so nothing was deleted`,
      'delete the folder yourself, or pass another one with --data',
    );
  }
  const remove = (names: readonly string[]): void => {
    for (const name of names) rmSync(join(folder, name), { recursive: true, force: true });
  };
  const lock = lockFolder(folder);
  // The lock goes last, and the marker before it: a folder that is half empty is still ours.
  const names = readdirSync(folder).filter((name) => !name.startsWith(LOCK_FILE));
  remove(names.filter((name) => name !== MARKER));
  lock.close();
  remove([...readdirSync(folder)]);
}
