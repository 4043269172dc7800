import { hashAuditRecord } from '@sluice/kit/contract';
import type { AuditRecord } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toCount } from '../flags/durations.ts';
import { CommandError } from '../terminal/errors.ts';
import { toLine } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareAudit(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('list'))
    .description('who did what, newest first')
    .option('--limit <n>', 'how many', '100')
    .action((options: ListOptions) => listAudit(options, terminal));
  addConnectionOptions(command.command('verify'))
    .description('whether nothing was changed, left out or put in')
    .option('--head <hash>', 'a hash noted earlier, which must still be there')
    .action((options: VerifyOptions) => verifyAudit(options, terminal));
}

interface ListOptions extends ConnectionOptions {
  limit: string;
}

async function listAudit(options: ListOptions, terminal: Terminal): Promise<void> {
  let left = toCount('--limit', options.limit, 1);
  for await (const record of connect(options, terminal).sluice.listAudit()) {
    if (options.json) terminal.sayJson(record);
    else sayRecord(record, terminal);
    if (--left === 0) return;
  }
}

interface VerifyOptions extends ConnectionOptions {
  head?: string;
}

/** Holds each record, newest first, against its hash and what the one after it says of it. */
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
        `The audit log was changed at record ${record.seq}, or just after it`,
      );
    }
    if (record.hash === options.head) isHeadThere = true;
    later = record;
  }
  if (later !== undefined && (later.seq !== 1 || later.previousHash !== '')) {
    throw new CommandError(
      'check_failed',
      `The audit log begins at record ${later.seq}: what came before it is gone`,
    );
  }
  if (!isHeadThere)
    throw new CommandError(
      'check_failed',
      `No record of the audit log has the hash ${options.head}`,
    );
  const [records, head] = [newest?.seq ?? 0, newest?.hash ?? ''];
  if (options.json) terminal.sayJson({ records, head });
  else terminal.sayText(`${records} records, unbroken; the newest has the hash ${head}`);
}

const sayRecord = (
  { seq, at, action, keyId, address, target }: AuditRecord,
  terminal: Terminal,
): void =>
  terminal.say(
    toLine(terminal, [
      { text: String(seq) },
      { text: `${new Date(at).toISOString().slice(0, 19)}Z` },
      { text: action },
      { text: target, cut: 'middle' },
      { text: keyId || 'nobody' },
      { text: address },
    ]),
  );
