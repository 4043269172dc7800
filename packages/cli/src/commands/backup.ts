/** `sluice backup` and `sluice restore`: the ledger as a file, and back. */
import { type Command, Option } from 'commander';
import { CallerError, backUpSqlite, restoreSqlite } from '@sluice/service';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface LedgerOptions {
  data: string;
  databaseUrl?: string;
  json?: boolean;
}

const addLedgerOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--data <dir>', 'folder of the ledger').env('SLUICE_DATA').default('.sluice/data'),
    )
    .addOption(
      new Option('--database-url <url>', 'says how PostgreSQL does it').env('SLUICE_DATABASE_URL'),
    )
    .option('--json', 'print JSON');

export const declareBackup = (command: Command, terminal: Terminal): Command =>
  addLedgerOptions(command.argument('<file>', 'a file that is not there yet')).action(
    (file: string, options: LedgerOptions) => {
      if (options.databaseUrl !== undefined) {
        throw new CommandError(
          'usage',
          'A ledger on PostgreSQL is backed up by PostgreSQL itself',
          `pg_dump --format=custom --file=${file} "$SLUICE_DATABASE_URL" while the service runs; for ` +
            'every commit up to the last, pg_basebackup and an archive of the WAL',
        );
      }
      const bytes = backUp(options.data, file);
      if (options.json) terminal.sayJson({ file, bytes });
      else terminal.say(`${file}  ${(bytes / 1024 / 1024).toFixed(1)} MiB, checked`);
      terminal.note(
        'The master key is not in it, and without it nobody reads its secrets: keep both, apart.',
      );
    },
  );

export const declareRestore = (command: Command, terminal: Terminal): Command =>
  addLedgerOptions(command.argument('<file>', 'what sluice backup wrote'))
    .option('--yes', 'replace the ledger that is there')
    .action(async (file: string, options: LedgerOptions & { yes?: boolean }) => {
      if (options.databaseUrl !== undefined) {
        throw new CommandError(
          'usage',
          'A ledger on PostgreSQL is restored by PostgreSQL itself',
          `stop the service, then pg_restore --clean --if-exists --dbname="$SLUICE_DATABASE_URL" ${file}`,
        );
      }
      await restore(file, options.data, options.yes === true);
      if (options.json) terminal.sayJson({ data: options.data });
      else terminal.say(`${options.data} holds what ${file} held`);
      terminal.note(
        'Start the service: it reads the blocks since the backup again, and what was delivered since is ' +
          'delivered once more, with ids of its own.',
      );
    });

function backUp(folder: string, file: string): number {
  try {
    return backUpSqlite(folder, file);
  } catch (error) {
    throw toCommandError(error, 'name a file that is not there yet');
  }
}

async function restore(file: string, folder: string, overwrite: boolean): Promise<void> {
  try {
    await restoreSqlite(file, folder, { overwrite });
  } catch (error) {
    throw toCommandError(error, '--yes replaces it');
  }
}

/** What can go wrong with a ledger or a backup is wrong with a file. */
function toCommandError(error: unknown, ifTaken: string): CommandError {
  const { message } = error as Error;
  if (!(error instanceof CallerError)) return new CommandError('invalid_file', message);
  return error.code === 'not_confirmed'
    ? new CommandError('not_confirmed', message, ifTaken)
    : new CommandError('invalid_file', message, error.fix);
}
