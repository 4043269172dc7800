/**
 * Detects damaged files of a SQLite ledger. If the write-ahead log is missing, SQLite silently
 * opens the state of the last checkpoint, so a marker file records that the log must exist.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeError } from '../../../base/log.ts';
import { CallerError } from '../../../base/errors.ts';

const walOf = (path: string): string => `${path}-wal`;
const markOf = (path: string): string => `${path}-open`;

const restoreCommand = (folder: string): string => `sluice restore FILE --data ${folder} --yes`;

/** @throws CallerError if the write-ahead log is missing after an unclean shutdown. */
export function refuseLostLog(path: string): void {
  if (!existsSync(markOf(path)) || existsSync(walOf(path))) return;
  throw new CallerError(
    'invalid_file',
    `The newest changes of the ledger ${path} are missing: its write-ahead log ${walOf(path)} is gone`,
    {
      fix:
        `Put that file back, or restore a backup: ${restoreCommand(dirname(path))}. If another program such as sqlite3 ` +
        `opened and closed the ledger in the meantime, nothing is missing: delete ${markOf(path)} and start again`,
    },
  );
}

/** Records that the log must exist from now on. */
export function markOpen(path: string): void {
  for (const each of [markOf(path), dirname(path)]) {
    const descriptor = openSync(each, each === dirname(path) ? 'r' : 'w', 0o600);
    fsyncSync(descriptor);
    closeSync(descriptor);
  }
}

/** Records that the log may be missing, because the ledger was closed properly or was replaced. */
export const markClosed = (path: string): void => rmSync(markOf(path), { force: true });

/** Converts the error of a damaged ledger to a CallerError. Returns any other error unchanged. */
export function explainDamage(error: unknown, path: string): unknown {
  const text = describeError(error);
  if (!/database disk image is malformed|file is not a database/i.test(text)) return error;
  return new CallerError('invalid_file', `The ledger ${path} is damaged: ${text}`, {
    fix: `Restore a backup: ${restoreCommand(dirname(path))}. Without a backup, keep the file and start with another data folder`,
    cause: error,
  });
}
