import { hashAuditRecord } from '@sluice/kit/contract';
import type { AuditRecord } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toCount } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { CommandError } from '../terminal/errors.ts';
import { formatQuantity } from '../terminal/progress.ts';
import { toLine } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareAudit(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('list'))
    .description('List audit records, newest first')
    .option('--limit <n>', 'Maximum number of records', '100')
    .addHelpText('after', examples('sluice audit list --limit 20'))
    .action((options: ListOptions) => listAudit(options, terminal));
  addConnectionOptions(command.command('verify'))
    .description('Check the audit log for changed, removed or inserted records')
    .option('--head <hash>', 'Hash that must still be in the log, e.g. from an earlier check')
    .addHelpText('after', examples('sluice audit verify', 'sluice audit verify --head 3f9a…'))
    .action((options: VerifyOptions) => verifyAudit(options, terminal));
}

interface ListOptions extends ConnectionOptions {
  limit: string;
}

async function listAudit(options: ListOptions, terminal: Terminal): Promise<void> {
  let left = toCount('--limit', options.limit, 1);
  for await (const record of connect(options, terminal).sluice.listAudit()) {
    if (options.json) terminal.printJson(record);
    else printRecord(record, terminal);
    if (--left === 0) return;
  }
}

interface VerifyOptions extends ConnectionOptions {
  head?: string;
}

const COMPARE = 'compare the log with a backup, and check who can write to the database';

/**
 * Checks the hash of each record, the links between records, that the log starts at record 1, and
 * that a record has the hash `--head`.
 */
async function verifyAudit(options: VerifyOptions, terminal: Terminal): Promise<void> {
  let newest: AuditRecord | undefined;
  let later: AuditRecord | undefined;
  let isHeadThere = options.head === undefined;
  for await (const record of connect(options, terminal).sluice.listAudit()) {
    newest ??= record;
    const follows =
      later === undefined || (record.hash === later.previousHash && record.seq === later.seq - 1);
    if (!follows || hashAuditRecord(record) !== record.hash) {
      throw new CommandError(
        'check_failed',
        `The audit log was changed at or right after record ${record.seq}`,
        COMPARE,
      );
    }
    if (record.hash === options.head) isHeadThere = true;
    later = record;
  }
  if (later !== undefined && (later.seq !== 1 || later.previousHash !== '')) {
    throw new CommandError(
      'check_failed',
      `The audit log starts at record ${later.seq}: earlier records are missing`,
      COMPARE,
    );
  }
  if (!isHeadThere) {
    throw new CommandError(
      'check_failed',
      `No audit record has the hash ${options.head}`,
      `check the hash; if it is correct, ${COMPARE}`,
    );
  }
  const [records, head] = [newest?.seq ?? 0, newest?.hash ?? ''];
  if (options.json) terminal.printJson({ records, head });
  else if (records === 0) terminal.printText('No audit records yet');
  else
    terminal.printText(`${formatQuantity(records, 'record')}, intact; hash of the newest: ${head}`);
}

const printRecord = (
  { seq, at, action, keyId, sessionName, address, target }: AuditRecord,
  terminal: Terminal,
): void =>
  terminal.print(
    toLine(terminal, [
      { text: String(seq) },
      { text: `${new Date(at).toISOString().slice(0, 19)}Z` },
      { text: action },
      { text: target, cut: 'middle' },
      { text: [keyId || 'no key', sessionName].filter(Boolean).join(' ') },
      { text: address },
    ]),
  );
