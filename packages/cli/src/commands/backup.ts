/** The commands `sluice backup` and `sluice restore`. */
import { type Command, Option } from 'commander';
import { CallerError, backUpSqlite, restoreSqlite } from '@sluice/service';
import { examples } from '../flags/examples.ts';
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
      new Option('--data <dir>', 'Data folder, with the SQLite ledger')
        .env('SLUICE_DATA')
        .default('.sluice/data'),
    )
    .addOption(
      new Option('--database-url <url>', 'Print the PostgreSQL command to use instead').env(
        'SLUICE_DATABASE_URL',
      ),
    )
    .option('--json', 'Print JSON');

export const declareBackup = (command: Command, terminal: Terminal): Command =>
  addLedgerOptions(command.argument('<file>', 'File to create'))
    .addHelpText('after', examples('sluice backup sluice.backup'))
    .action((file: string, options: LedgerOptions) => {
      if (options.databaseUrl !== undefined) {
        throw new CommandError(
          'usage',
          'sluice backup supports only SQLite ledgers',
          `run pg_dump --format=custom --file=${file} "$SLUICE_DATABASE_URL" while the service runs; for ` +
            'point-in-time recovery use pg_basebackup and a WAL archive',
        );
      }
      const bytes = backUp(options.data, file);
      if (options.json) terminal.printJson({ file, bytes });
      else terminal.print(`${file}  ${(bytes / 1024 / 1024).toFixed(1)} MiB, checked`);
      terminal.note(
        'The backup does not contain the master key, which is required to read its secrets. Store the key separately.',
      );
    });

export const declareRestore = (command: Command, terminal: Terminal): Command =>
  addLedgerOptions(command.argument('<file>', 'File that sluice backup created'))
    .option('--yes', 'Replace an existing ledger')
    .addHelpText('after', examples('sluice restore sluice.backup --data .sluice/data'))
    .action(async (file: string, options: LedgerOptions & { yes?: boolean }) => {
      if (options.databaseUrl !== undefined) {
        throw new CommandError(
          'usage',
          'sluice restore supports only SQLite ledgers',
          `stop the service, then run pg_restore --clean --if-exists --dbname="$SLUICE_DATABASE_URL" ${file}`,
        );
      }
      await restore(file, options.data, options.yes === true);
      if (options.json) terminal.printJson({ data: options.data });
      else terminal.print(`Restored ${file} to ${options.data}`);
      terminal.note(
        'Start the service. It reads the blocks since the backup again, and sends their webhooks again with ' +
          'new IDs.',
      );
    });

function backUp(folder: string, file: string): number {
  try {
    return backUpSqlite(folder, file);
  } catch (error) {
    throw toCommandError(error, 'pass a path that does not exist yet');
  }
}

async function restore(file: string, folder: string, overwrite: boolean): Promise<void> {
  try {
    await restoreSqlite(file, folder, { overwrite });
  } catch (error) {
    throw toCommandError(error, 'pass --yes to replace it');
  }
}

/**
 * Adds to an error of a backup or restore what the command knows: other errors than the service's
 * own concern the file, and `ifTaken` is the fix if the target already exists.
 */
function toCommandError(error: unknown, ifTaken: string): Error {
  const { message } = error as Error;
  if (!(error instanceof CallerError)) return new CommandError('invalid_file', message);
  return error.code === 'not_confirmed'
    ? new CommandError('not_confirmed', message, ifTaken)
    : error;
}
