import { writeFileSync } from 'node:fs';
import type { StreamSummary } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import {
  type Connection,
  type ConnectionOptions,
  addConnectionOptions,
  connect,
} from '../connection/connection.ts';
import { toCount } from '../flags/durations.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { type AddressFile, readAddressFile } from '../streams/addressFile.ts';
import { compareAddresses, readAddresses, removeAddresses } from '../streams/addresses.ts';
import { toListedAddresses } from '../streams/givenAddresses.ts';
import { findStream } from '../streams/findStream.ts';
import { CommandError } from '../terminal/errors.ts';
import { count, createProgress } from '../terminal/progress.ts';
import { confirm } from '../terminal/prompt.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareAddresses(command: Command, terminal: Terminal): void {
  const add = (spec: string, description: string): Command =>
    addConnectionOptions(command.command(spec).description(description));

  add('add <stream> <address...>', 'watch more addresses, or what names of ENS stand for')
    .option('--label <text>', 'a name for people, for each of them')
    .action((name: string, addresses: string[], options: AddOptions) =>
      withStream(name, options, terminal, async ({ sluice }, stream) => {
        const { id: streamId, family } = stream;
        const labelled = await toListedAddresses(sluice, addresses, options.label);
        await sluice.importAddresses({ streamId, family, addresses: labelled });
        tell(`Added ${count(addresses.length)} to ${stream.tag}`, { added: addresses.length });
      }),
    );
  add('remove <stream> <address...>', 'watch them no longer').action(
    (name: string, addresses: string[], options: ConnectionOptions) =>
      withStream(name, options, terminal, async ({ api }, stream) => {
        await removeAddresses(
          api,
          stream,
          addresses.map((address) => ({ address })),
        );
        tell(`Removed ${count(addresses.length)} from ${stream.tag}`, {
          removed: addresses.length,
        });
      }),
  );
  add('list <stream>', 'one a line, with labels; when and by whom they were added with --json')
    .option('--find <text>', 'those that begin with it, or have it in them or their labels')
    .action((name: string, { find, ...options }: ListOptions) =>
      withStream(name, options, terminal, async ({ sluice }, { id }) => {
        for await (const each of sluice.listAddresses(id, { find })) {
          if (options.json) terminal.sayJson(each);
          else
            terminal.say(
              each.label === undefined ? each.address : `${each.address},${quote(each.label)}`,
            );
        }
      }),
    );
  addFileOptions(add('import <stream> <file>', 'add those of a file, one a line or CSV'))
    .option('--replace', 'watch these and no others')
    .option('-y, --yes', 'do not ask before addresses are removed')
    .option('--from <n>', 'begin with this one of the file, as a broken-off import says', '1')
    .option('--rejects <path>', 'where lines go that are no addresses; default: <file>.rejects')
    .action((name: string, path: string, options: ImportOptions) =>
      withStream(name, options, terminal, (connection, stream) =>
        importFile(connection, stream, path, options, terminal),
      ),
    );
  addFileOptions(add('diff <stream> <file>', 'what import --replace would change')).action(
    (name: string, path: string, options: FileOptions) =>
      withStream(name, options, terminal, async ({ api }, stream) => {
        const { addresses } = readAddressFile(path, options);
        const { added, removed } = compareAddresses(await readAddresses(api, stream), addresses);
        if (options.json) return terminal.sayJson({ added, removed });
        for (const { address } of added) terminal.say(terminal.tint('ok', `+ ${address}`));
        for (const { address } of removed) terminal.say(terminal.tint('bad', `- ${address}`));
        terminal.note(`${count(added.length)} to add, ${count(removed.length)} to remove`);
      }),
  );

  let json: boolean | undefined;
  const tell = (text: string, data: object): void =>
    json ? terminal.sayJson(data) : terminal.say(text);
  command.hook('preAction', (_, action) => {
    json = action.opts<ConnectionOptions>().json;
  });
}

const quote = (label: string): string =>
  /[",\n]/.test(label) ? `"${label.replaceAll('"', '""')}"` : label;

interface ListOptions extends ConnectionOptions {
  find?: string;
}

interface AddOptions extends ConnectionOptions {
  label?: string;
}

interface FileOptions extends ConnectionOptions {
  labelColumn?: string;
}

interface ImportOptions extends FileOptions {
  replace?: boolean;
  yes?: boolean;
  from: string;
  rejects?: string;
}

const addFileOptions = (command: Command): Command =>
  command.option(
    '--label-column <column>',
    'name or number of the column of labels; default: label',
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
  const file = readAddressFile(path, options);
  const rejectsPath = saveRejects(file, options.rejects ?? `${path}.rejects`);
  const { addresses, rejects, repeated } = file;
  const removed = options.replace
    ? compareAddresses(await readAddresses(api, stream), addresses).removed
    : [];
  if (removed.length > 0) {
    const what = `Stops watching ${count(removed.length)} addresses that are not in ${path}.`;
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
      ...{ streamId: stream.id, family: stream.family, addresses, from: first },
      onProgress(now) {
        done = now;
        progress.update(done);
      },
    });
    await removeAddresses(api, stream, removed);
  } catch (error) {
    progress.end();
    terminal.note(`${count(done)} of ${count(addresses.length)} are in; to go on:`);
    terminal.note(`  ${toResume(stream, path, done + 1, options)}`);
    throw error;
  }
  progress.end();
  const told = {
    read: addresses.length,
    removed: removed.length,
    repeated,
    rejected: rejects.length,
  };
  if (options.json) terminal.sayJson({ ...told, rejects: rejectsPath ?? null });
  else {
    terminal.say(
      `${count(addresses.length)} addresses of ${path} are in ${stream.tag || stream.id}` +
        (removed.length > 0 ? `, ${count(removed.length)} others removed` : '') +
        (repeated > 0 ? `, ${count(repeated)} lines repeated one` : ''),
    );
  }
  if (rejectsPath !== undefined) {
    throw new CommandError(
      'partial',
      `${count(rejects.length)} lines of ${path} are no addresses, the first is line ${rejects[0]!.line}: ${rejects[0]!.why}`,
      `mend them in ${rejectsPath} and import that file`,
    );
  }
}

/** The command that goes on with a broken-off import. */
const toResume = (
  { tag, id }: StreamSummary,
  path: string,
  from: number,
  { labelColumn, rejects, replace }: ImportOptions,
): string =>
  [
    `${sluiceCommand()} addresses import ${tag || id} ${path} --from ${from}`,
    ...(labelColumn === undefined ? [] : [`--label-column ${labelColumn}`]),
    ...(rejects === undefined ? [] : [`--rejects ${rejects}`]),
    ...(replace ? ['--replace'] : []),
  ].join(' ');

/** Where the lines are that could not be read, as they came; undefined where all could be. */
function saveRejects({ rejects }: AddressFile, path: string): string | undefined {
  if (rejects.length === 0) return undefined;
  writeFileSync(
    path,
    rejects.map(({ line, text, why }) => `# line ${line}: ${why}\n${text}\n`).join(''),
  );
  return path;
}
