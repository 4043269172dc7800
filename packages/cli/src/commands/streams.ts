import type { StreamSummary } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import {
  type Connection,
  type ConnectionOptions,
  addConnectionOptions,
  connect,
} from '../connection/connection.ts';
import { describeAgo } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { rewriteCommands, sluiceCommand } from '../package/packaged.ts';
import { SAME_DESTINATIONS, changeDestinations } from '../streams/destinations.ts';
import { toListedAddresses } from '../streams/givenAddresses.ts';
import { CREATE_STREAM, findStream, nameOf } from '../streams/findStream.ts';
import { fillPast, toBlockNumber } from '../streams/past.ts';
import { type FieldOptions, addFieldOptions, toGivenFields } from '../streams/fieldFlags.ts';
import { createStream, readStream, updateStream } from '../streams/saveStream.ts';
import type { AnyStream, Fields } from '../streams/streamFields.ts';
import { familyOfFields, toCsvRow } from '@sluice/kit/contract';
import { readStreamFile } from '../streams/streamFile.ts';
import { CommandError } from '../terminal/errors.ts';
import { confirm } from '../terminal/prompt.ts';
import { formatCount, formatQuantity } from '../terminal/progress.ts';
import {
  type Cell,
  type TableOptions,
  addTableOptions,
  printField,
  printTable,
} from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareStreams(command: Command, terminal: Terminal): void {
  const add = (spec: string, description: string): Command =>
    addConnectionOptions(command.command(spec).description(description));

  addTableOptions(add('list', 'List streams with their state and recent deliveries'))
    .addHelpText(
      'after',
      examples('sluice streams list', 'sluice streams list --columns stream,state,queue'),
    )
    .action((options: ListOptions) => list(options, terminal));
  add('get <stream>', 'Show all fields of a stream')
    .addHelpText('after', examples('sluice streams get payments'))
    .action(async (name: string, options: ConnectionOptions) => {
      const { api, sluice } = connect(options, terminal);
      const summary = await findStream({ sluice }, name);
      const stream = await readStream(api, summary);
      const { amountOfChildren } = summary;
      const hasFactories = 'factories' in stream && (stream.factories ?? []).length > 0;
      const shown = hasFactories ? { ...stream, amountOfChildren } : stream;
      printStream(shown, options, terminal);
      if (options.json === true) return;
      printProblem(summary, terminal);
      printReceiver(summary, terminal);
    });
  addFieldOptions(add('create', 'Create a stream from flags or a YAML file'))
    .option('-f, --file <file>', 'Read the fields from a YAML file; flags take precedence')
    .option(
      '--address <address...>',
      'Addresses or ENS names to watch; add more with sluice addresses',
    )
    .option(
      '--from <block>',
      'Also match past blocks, from this one; repeat the command to continue',
    )
    .addHelpText(
      'after',
      examples(
        'sluice streams create -f stream.yaml',
        'sluice streams create --tag pay --url https://app.example/hook \\\n' +
          '      --chain 0x1 --native --address 0x…',
      ),
    )
    .action((options: CreateOptions) => create(options, terminal));
  addFieldOptions(add('update <stream>', 'Change the given fields of a stream'))
    .addHelpText(
      'after',
      examples(
        'sluice streams update pay --max-per-second 10',
        'sluice streams update pay --no-logs',
      ),
    )
    .action((name: string, options: FieldOptions & ConnectionOptions) =>
      update(name, options, terminal),
    );
  for (const [verb, status, done, summary] of [
    ['pause', 'paused', 'Paused', 'Stop matching and delivering'],
    ['resume', 'active', 'Resumed', 'Start matching and delivering again'],
  ] as const) {
    add(`${verb} <stream>`, summary)
      .addHelpText('after', examples(`sluice streams ${verb} payments`))
      .action(async (name: string, options: ConnectionOptions) => {
        const { api, sluice } = connect(options, terminal);
        const { id, family, tag } = await findStream({ sluice }, name);
        const updated = await api.streams.setStatus(id, status, { networkType: family });
        if (options.json) terminal.printJson({ id, status: updated.status });
        else {
          terminal.printText(`${done} ${tag || id}`);
          if (status === 'active') printProblem(await findStream({ sluice }, id), terminal);
        }
      });
  }
  add('children <stream>', 'List the contracts that the factories of a stream have created')
    .option('--find <text>', 'Only children that contain this text, or whose label does')
    .option('--chain <id>', 'Only children on this chain')
    .option('--label <address=text...>', 'Label children instead; an empty text removes a label')
    .addHelpText(
      'after',
      examples(
        'sluice streams children pools --find 0x88e6',
        'sluice streams children pools --label "0x…=USDC/ETH"',
      ),
    )
    .action((name: string, options: ChildrenOptions) => children(name, options, terminal));
  add('delete <stream>', 'Permanently delete a stream and its queue')
    .option('-y, --yes', 'Do not prompt')
    .addHelpText('after', examples('sluice streams delete payments'))
    .action((name: string, options: DeleteOptions) => remove(name, options, terminal));
  add('duplicate <stream>', 'Copy an EVM stream with its fields and addresses')
    .addHelpText('after', examples('sluice streams duplicate payments'))
    .action(async (name: string, options: ConnectionOptions) => {
      const { api, sluice } = connect(options, terminal);
      const { id } = await findStream({ sluice }, name);
      printStream(await api.streams.duplicate(id), options, terminal);
    });
}

interface ChildrenOptions extends ConnectionOptions {
  find?: string;
  chain?: string;
  label?: string[];
}

async function children(
  name: string,
  { find, chain, label, ...options }: ChildrenOptions,
  terminal: Terminal,
): Promise<void> {
  const { sluice } = connect(options, terminal);
  const { id } = await findStream({ sluice }, name);
  if (label !== undefined) {
    const labels = Object.fromEntries(label.map(readLabel));
    await sluice.labelChildren(id, { labels });
    if (options.json) terminal.printJson({ labels });
    else terminal.print(`Labeled ${formatQuantity(label.length, 'child', 'children')}`);
    return;
  }
  for await (const child of sluice.listChildren(id, { find, chain })) {
    if (options.json) terminal.printJson(child);
    else {
      const { address, chainId, blockNumber } = child;
      terminal.print(toCsvRow([address, chainId, String(blockNumber), child.label ?? '']));
    }
  }
  if (options.json) return;
  for (const { chainId, childrenMissing = [] } of await sluice.getCoverage(id)) {
    for (const { from, to } of childrenMissing) {
      terminal.note(
        `${name}: children in blocks ${from} to ${to} of ${chainId} are not all known. Show their search: ${sluiceCommand()} backfills list --stream ${name}`,
      );
    }
  }
}

/** Reads `0x…=text`. */
function readLabel(given: string): [address: string, label: string] {
  const [address, ...text] = given.split('=');
  if (address !== undefined && text.length > 0) return [address, text.join('=')];
  throw new CommandError('usage', `--label ${given}: should be an address, = and the label`);
}

type ListOptions = ConnectionOptions & TableOptions;

const STATES = {
  active: { text: 'active', tone: 'ok' },
  paused: { text: 'paused', tone: 'faint' },
  error: { text: 'error', tone: 'bad' },
  terminated: { text: 'terminated', tone: 'bad' },
} as const satisfies Record<StreamSummary['status'], Cell>;

/**
 * Returns the cell with the stream's state. An active stream that has a problem is marked; the note
 * below the table explains the problem.
 */
const toState = ({ status, statusMessage }: StreamSummary): Cell =>
  status === 'active' && statusMessage !== ''
    ? { text: 'attention', tone: 'warn' }
    : STATES[status];

async function list(options: ListOptions, terminal: Terminal): Promise<void> {
  const streams = await connect(options, terminal).sluice.listStreamSummaries();
  if (options.json) return terminal.printJson(streams);
  if (streams.length === 0) return terminal.note(`No streams yet. ${CREATE_STREAM}`);
  printTable(
    terminal,
    streams,
    [
      { title: 'STREAM', value: ({ tag, id }) => tag || id, cut: 'end' },
      { title: 'STATE', value: toState },
      { title: 'WATCHES', value: describeScope, cut: 'end' },
      { title: 'CHAINS', value: ({ chainIds }) => chainIds.join(' '), cut: 'end' },
      { title: 'QUEUE', value: ({ queue }) => queue, right: true },
      { title: 'DELIVERED', value: ({ delivered24h }) => delivered24h, right: true },
      {
        title: 'FAILURES',
        value: ({ failedAttempts24h: bad }) => (bad > 0 ? { text: String(bad), tone: 'bad' } : '0'),
        right: true,
      },
      { title: 'LAST', value: ({ lastDeliveryAt }) => describeAgo(lastDeliveryAt), right: true },
    ],
    options,
  );
  for (const stream of streams) {
    printProblem(stream, terminal);
    printReceiver(stream, terminal);
  }
}

/** Prints why a stream delivers nothing, or only some of its matches. */
function printProblem({ tag, id, statusMessage }: StreamSummary, terminal: Terminal): void {
  if (statusMessage !== '') terminal.note(`${tag || id}: ${rewriteCommands(statusMessage)}`);
}

/** Prints a note if the receiver is backed off, and one if its certificate expires soon. */
function printReceiver(
  { tag, id, backOff, certificateEndsAt }: StreamSummary,
  terminal: Terminal,
): void {
  if (certificateEndsAt !== null && certificateEndsAt > Date.now()) {
    const at = new Date(certificateEndsAt).toISOString().slice(0, 16).replace('T', ' ');
    terminal.note(`${tag || id}: the receiver's certificate expires at ${at} UTC`);
  }
  if (backOff === null || backOff.until <= Date.now()) return;
  const until = `paused until ${new Date(backOff.until).toTimeString().slice(0, 8)}`;
  terminal.note(
    backOff.reason === 'failures'
      ? `${tag || id}: the receiver is failing; deliveries are ${until}, then one is sent as a probe`
      : `${tag || id}: the receiver returned a 429; deliveries are ${until}`,
  );
}

/** Counts the addresses, factories, children, values and events of a stream. */
function describeScope({
  allAddresses,
  amountOfAddresses,
  amountOfFactories,
  amountOfChildren,
  amountOfReads,
  topic0,
}: StreamSummary): string {
  const isElsewhere = amountOfAddresses === 0 && amountOfFactories + amountOfReads > 0;
  const parts = [
    allAddresses && 'all addr',
    !allAddresses && !isElsewhere && `${formatCount(amountOfAddresses)} addr`,
    amountOfFactories > 0 && formatQuantity(amountOfFactories, 'factory', 'factories'),
    amountOfChildren > 0 && formatQuantity(amountOfChildren, 'child', 'children'),
    amountOfReads > 0 && formatQuantity(amountOfReads, 'value'),
    topic0.length > 0 && `${formatCount(topic0.length)} evt`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}

/**
 * Prints the fields that have a value. Strings are wrapped; other values are printed as JSON,
 * truncated to the width of the terminal.
 */
function printStream(stream: AnyStream, { json }: ConnectionOptions, terminal: Terminal): void {
  if (json) return terminal.printJson(stream);
  for (const [name, value] of Object.entries(stream)) {
    if (value === null || value === undefined || value === '') continue;
    printField(terminal, name.padEnd(28), value);
  }
}

interface CreateOptions extends FieldOptions, ConnectionOptions {
  file?: string;
  address?: string[];
  from?: string;
}

async function create(options: CreateOptions, terminal: Terminal): Promise<void> {
  const [declared, ...more] = options.file === undefined ? [] : readStreamFile(options.file);
  if (more.length > 0) {
    throw new CommandError(
      'usage',
      `${options.file} declares several streams`,
      `create them with sluice apply -f ${options.file}`,
    );
  }
  const { network } = options;
  const family = familyOfFields({ ...declared?.fields, ...(network && { network }) });
  const fields = {
    description: '',
    ...declared?.fields,
    ...toGivenFields(options, family, terminal),
  };
  const { api, sluice } = connect(options, terminal);
  const blockFrom = options.from === undefined ? undefined : toBlockNumber('--from', options.from);
  const addresses = [
    ...(declared?.addresses ?? []),
    ...(await toListedAddresses(sluice, options.address ?? [], terminal)),
  ];
  const existing = blockFrom === undefined ? undefined : await findCreated({ api, sluice }, fields);
  if (existing !== undefined) terminal.note(`${nameOf(existing)} exists; continuing with its past`);
  const stream = existing ?? (await createStream(api, fields));
  const { destinations: added = [] } = declared ?? {};
  if (existing === undefined) {
    await changeDestinations(sluice, stream.id, { ...SAME_DESTINATIONS, added });
  }
  if (addresses.length > 0) {
    await sluice.importAddresses({ streamId: stream.id, family, addresses });
  }
  printStream({ ...stream, amountOfAddresses: addresses.length }, options, terminal);
  // Prints the problem as a note too, with its commands as the user must type them.
  if (options.json !== true) printProblem(await findStream({ sluice }, stream.id), terminal);
  if (blockFrom !== undefined) {
    await fillPast(sluice, { id: stream.id, name: nameOf(stream) }, blockFrom, terminal);
  }
}

/** Returns the stream that an earlier run of the command created. */
async function findCreated(
  { api, sluice }: Pick<Connection, 'api' | 'sluice'>,
  { tag, webhookUrl }: Fields,
): Promise<AnyStream | undefined> {
  for (const summary of await sluice.listStreamSummaries()) {
    if (summary.tag !== tag) continue;
    const stream = await readStream(api, summary);
    if (stream.webhookUrl === webhookUrl) return stream;
  }
  return undefined;
}

async function update(
  name: string,
  options: FieldOptions & ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const { api, sluice } = connect(options, terminal);
  const stream = await findStream({ sluice }, name);
  const changes = toGivenFields(options, stream.family, terminal);
  if (Object.keys(changes).length === 0)
    throw new CommandError('usage', 'Nothing to change: pass at least one field');
  printStream(await updateStream(api, stream, changes), options, terminal);
}

interface DeleteOptions extends ConnectionOptions {
  yes?: boolean;
}

async function remove(name: string, options: DeleteOptions, terminal: Terminal): Promise<void> {
  const { api, sluice } = connect(options, terminal);
  const { id, family, tag, queue } = await findStream({ sluice }, name);
  const named = tag || id;
  await confirm(
    terminal,
    `This deletes ${named} and ${formatQuantity(queue, 'queued webhook')}.`,
    named,
    options,
  );
  await api.streams.delete(id, { networkType: family });
  if (options.json) terminal.printJson({ id, deleted: true });
  else terminal.printText(`Deleted ${named}`);
}
