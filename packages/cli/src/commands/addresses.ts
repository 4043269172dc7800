import { writeFileSync } from 'node:fs';
import { toCsvRow } from '@sluice/kit/contract';
import { type AddressList, toRejectedList } from '@sluice/kit/operator';
import type { StreamSummary } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import {
  type Connection,
  type ConnectionOptions,
  addConnectionOptions,
  connect,
} from '../connection/connection.ts';
import { toCount } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { readAddressFile } from '../streams/addressFile.ts';
import { compareAddresses, readAddresses, removeAddresses } from '../streams/addresses.ts';
import { toListedAddresses } from '../streams/givenAddresses.ts';
import { findStream, nameOf } from '../streams/findStream.ts';
import { CommandError } from '../terminal/errors.ts';
import { formatCount, formatQuantity, createProgress } from '../terminal/progress.ts';
import { confirm } from '../terminal/prompt.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareAddresses(command: Command, terminal: Terminal): void {
  const add = (spec: string, description: string): Command =>
    addConnectionOptions(command.command(spec).description(description));

  add('add <stream> <address...>', 'Add addresses or ENS names to a stream')
    .option('--label <text>', 'Label for all given addresses')
    .addHelpText(
      'after',
      examples(
        'sluice addresses add payments 0x… --label Treasury',
        'sluice addresses add payments vitalik.eth',
      ),
    )
    .action((name: string, addresses: string[], options: AddOptions) =>
      withStream(name, options, terminal, async ({ sluice }, stream) => {
        const { id: streamId, family } = stream;
        const labeled = await toListedAddresses(sluice, addresses, terminal, options.label);
        await sluice.importAddresses({ streamId, family, addresses: labeled });
        print(
          `Added ${formatQuantity(addresses.length, 'address', 'addresses')} to ${nameOf(stream)}`,
          {
            added: addresses.length,
          },
        );
      }),
    );
  add('remove <stream> <address...>', 'Remove addresses from a stream')
    .addHelpText('after', examples('sluice addresses remove payments 0x…'))
    .action((name: string, addresses: string[], options: ConnectionOptions) =>
      withStream(name, options, terminal, async ({ api }, stream) => {
        await removeAddresses(
          api,
          stream,
          addresses.map((address) => ({ address })),
        );
        print(
          `Removed ${formatQuantity(addresses.length, 'address', 'addresses')} from ${nameOf(stream)}`,
          {
            removed: addresses.length,
          },
        );
      }),
    );
  add('list <stream>', 'List the addresses of a stream, one per line')
    .option('--find <text>', 'Only addresses that contain this text, or whose label does')
    .addHelpText(
      'after',
      examples('sluice addresses list payments', 'sluice addresses list payments --find Alice'),
    )
    .action((name: string, { find, ...options }: ListOptions) =>
      withStream(name, options, terminal, async ({ sluice }, { id }) => {
        for await (const each of sluice.listAddresses(id, { find })) {
          if (options.json) terminal.printJson(each);
          else
            terminal.print(
              toCsvRow(each.label === undefined ? [each.address] : [each.address, each.label]),
            );
        }
      }),
    );
  addFileOptions(add('import <stream> <file>', 'Add addresses from a text or CSV file'))
    .option('--replace', 'Remove addresses that are not in the file')
    .option('-y, --yes', 'Do not prompt before removing addresses')
    .option('--from <n>', 'Resume an import at the address with this number', '1')
    .option('--rejects <path>', 'File for rejected lines; default: <file>.rejects')
    .addHelpText(
      'after',
      examples(
        'sluice addresses import payments addresses.csv',
        'sluice addresses import payments addresses.csv --replace',
      ),
    )
    .action((name: string, path: string, options: ImportOptions) =>
      withStream(name, options, terminal, (connection, stream) =>
        importFile(connection, stream, path, options, terminal),
      ),
    );
  addFileOptions(add('diff <stream> <file>', 'Show what import --replace would change'))
    .addHelpText('after', examples('sluice addresses diff payments addresses.csv'))
    .action((name: string, path: string, options: FileOptions) =>
      withStream(name, options, terminal, async ({ api }, stream) => {
        const { rows } = readAddressFile(path, stream.family, options.labelColumn);
        const { added, removed } = compareAddresses(
          stream.family,
          await readAddresses(api, stream),
          rows,
        );
        if (options.json) return terminal.printJson({ added, removed });
        for (const { address } of added) terminal.print(terminal.tint('ok', `+ ${address}`));
        for (const { address } of removed) terminal.print(terminal.tint('bad', `- ${address}`));
        terminal.note(
          `${formatCount(added.length)} to add, ${formatCount(removed.length)} to remove`,
        );
      }),
    );

  let json: boolean | undefined;
  const print = (text: string, data: object): void =>
    json ? terminal.printJson(data) : terminal.print(text);
  command.hook('preAction', (_, action) => {
    json = action.opts<ConnectionOptions>().json;
  });
}

interface ListOptions extends ConnectionOptions {
  find?: string;
}

interface AddOptions extends ConnectionOptions {
  label?: string;
}

interface FileOptions extends ConnectionOptions {
  labelColumn?: string;
}

/** Maximum number of doubtful addresses that are shown. */
const SHOWN_DOUBTS = 5;

interface ImportOptions extends FileOptions {
  replace?: boolean;
  yes?: boolean;
  from: string;
  rejects?: string;
}

const addFileOptions = (command: Command): Command =>
  command.option(
    '--label-column <column>',
    'Name or number of the label column; default: label, name or tag',
  );

async function withStream(
  name: string,
  options: ConnectionOptions,
  terminal: Terminal,
  work: (connection: Connection, stream: StreamSummary) => Promise<void>,
): Promise<void> {
  const connection = connect(options, terminal);
  await work(connection, await findStream(connection, name));
}

async function importFile(
  { api, sluice }: Connection,
  stream: StreamSummary,
  path: string,
  options: ImportOptions,
  terminal: Terminal,
): Promise<void> {
  const list = readAddressFile(path, stream.family, options.labelColumn);
  const rejectsPath = saveRejects(list, options.rejects ?? `${path}.rejects`);
  const { rows: addresses, rejects, doubts, duplicates } = list;
  for (const { line, address, reason } of doubts.slice(0, SHOWN_DOUBTS)) {
    terminal.note(`${path}, line ${line}: ${reason}. ${address}`);
  }
  if (doubts.length > SHOWN_DOUBTS) {
    terminal.note(
      `${formatQuantity(doubts.length - SHOWN_DOUBTS, 'more address', 'more addresses')} to check`,
    );
  }
  const removed = options.replace
    ? compareAddresses(stream.family, await readAddresses(api, stream), addresses).removed
    : [];
  if (removed.length > 0) {
    const what = `This removes ${formatQuantity(removed.length, 'address', 'addresses')} not listed in ${path}.`;
    await confirm(terminal, what, String(removed.length), options);
  }
  const first = toCount('--from', options.from, 1) - 1;
  const progress = createProgress(terminal, {
    what: 'addresses',
    total: addresses.length,
    from: first,
  });
  let done = first;
  try {
    await sluice.importAddresses({
      streamId: stream.id,
      family: stream.family,
      addresses,
      from: first,
      onProgress(now) {
        done = now;
        progress.update(done);
      },
    });
    await removeAddresses(api, stream, removed);
  } catch (error) {
    progress.end();
    terminal.note(
      `Imported ${formatCount(done)} of ${formatCount(addresses.length)} addresses. To resume:`,
    );
    terminal.note(`  ${toResume(stream, path, done + 1, options)}`);
    throw error;
  }
  progress.end();
  const counts = {
    read: addresses.length,
    removed: removed.length,
    repeated: duplicates,
    rejected: rejects.length,
  };
  if (options.json) terminal.printJson({ ...counts, rejects: rejectsPath ?? null });
  else {
    terminal.print(
      `Imported ${formatQuantity(addresses.length, 'address', 'addresses')} from ${path} to ${nameOf(stream)}` +
        (removed.length > 0 ? `, removed ${formatCount(removed.length)}` : '') +
        (duplicates > 0 ? `, skipped ${formatQuantity(duplicates, 'duplicate line')}` : ''),
    );
  }
  if (rejectsPath !== undefined) {
    throw new CommandError(
      'partial',
      `Rejected ${formatQuantity(rejects.length, 'line')} of ${path}; line ${rejects[0]!.line}: ${rejects[0]!.reason}`,
      `fix the lines in ${rejectsPath} and import that file`,
    );
  }
}

/** Returns the command that resumes an interrupted import. */
const toResume = (
  stream: StreamSummary,
  path: string,
  from: number,
  { labelColumn, rejects, replace }: ImportOptions,
): string =>
  [
    `${sluiceCommand()} addresses import ${nameOf(stream)} ${path} --from ${from}`,
    ...(labelColumn === undefined ? [] : [`--label-column ${labelColumn}`]),
    ...(rejects === undefined ? [] : [`--rejects ${rejects}`]),
    ...(replace ? ['--replace'] : []),
  ].join(' ');

/**
 * Writes the rejected lines to a file that can be imported once corrected. Returns its path, or
 * undefined if no line was rejected.
 */
function saveRejects(list: AddressList, path: string): string | undefined {
  if (list.rejects.length === 0) return undefined;
  writeFileSync(path, toRejectedList(list));
  return path;
}
