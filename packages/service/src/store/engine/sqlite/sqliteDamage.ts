/**
 * What is wrong with the files of a SQLite ledger. Between checkpoints, commits are in the write-ahead log
 * alone; SQLite opens a ledger without its log as it was at the last checkpoint, perhaps empty, and does not
 * complain. So a file beside the ledger says while there must be a log.
 */
import { closeSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeError } from '../../../base/log.ts';
import { CallerError } from '../../../base/errors.ts';

/** The name of the write-ahead log and of the file that says it must be there. */
const walOf = (path: string): string => `${path}-wal`;
const markOf = (path: string): string => `${path}-open`;

const restoreFix = (folder: string): string =>
  `Restore a backup: sluice restore FILE --data ${folder} --yes`;

/** @throws CallerError when the log was there when the ledger was last used, and is gone. */
export function refuseLostLog(path: string): void {
  if (!existsSync(markOf(path)) || existsSync(walOf(path))) return;
  throw new CallerError(
    'invalid_file',
    `The newest changes of the ledger ${path} are missing: its write-ahead log ${walOf(path)} is gone`,
    {
      fix:
        `Put that file back. ${restoreFix(dirname(path))}. If another program such as sqlite3 opened and closed ` +
        `the ledger meanwhile, the log is in it and nothing is missing: delete ${markOf(path)} and start again`,
    },
  );
}

/** From here on the log must be there. */
export function markOpen(path: string): void {
  for (const each of [markOf(path), dirname(path)]) {
    const descriptor = openSync(each, each === dirname(path) ? 'r' : 'w', 0o600);
    fsyncSync(descriptor);
    closeSync(descriptor);
  }
}

/** The log may go: the ledger is closed in good order, or replaced. */
export const markClosed = (path: string): void => rmSync(markOf(path), { force: true });

/** An error of a damaged ledger as a CallerError, any other as it is. */
export function explainDamage(error: unknown, path: string): unknown {
  const text = describeError(error);
  if (!/database disk image is malformed|file is not a database/i.test(text)) return error;
  return new CallerError('invalid_file', `The ledger ${path} is damaged: ${text}`, {
    fix: `${restoreFix(dirname(path))}. Without a backup, keep the file and start with another --data folder`,
    cause: error,
  });
}
