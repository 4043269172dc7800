import type { NetworkType } from '@sluice/kit';
import type { StreamSummary } from '@sluice/kit/sluice';
import { isEventItem, listAbi } from '@sluice/kit/contract';
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { describeAgo } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { spellCommands } from '../package/packaged.ts';
import { toListedAddresses } from '../streams/givenAddresses.ts';
import { CREATE_STREAM, findStream } from '../streams/findStream.ts';
import { type OAuth2Options, addOAuth2Options, toOAuth2 } from '../streams/oauth2Flags.ts';
import { createStream, readStream, updateStream } from '../streams/saveStream.ts';
import { type AnyStream, type Fields, familyOfFields } from '../streams/streamFields.ts';
import { readStreamFile } from '../streams/streamFile.ts';
import { CommandError } from '../terminal/errors.ts';
import { confirm } from '../terminal/prompt.ts';
import { count, counted } from '../terminal/progress.ts';
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
      tell(await readStream(api, summary), options, terminal);
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
        const answer = await api.streams.setStatus(id, status, { networkType: family });
        if (options.json) terminal.printJson({ id, status: answer.status });
        else {
          terminal.printText(`${done} ${tag || id}`);
          if (status === 'active') printProblem(await findStream({ sluice }, id), terminal);
        }
      });
  }
  add('delete <stream>', 'Permanently delete a stream and its queue')
    .option('-y, --yes', 'Do not prompt')
    .addHelpText('after', examples('sluice streams delete payments'))
    .action((name: string, options: DeleteOptions) => remove(name, options, terminal));
  add('duplicate <stream>', 'Copy an EVM stream with its fields and addresses')
    .addHelpText('after', examples('sluice streams duplicate payments'))
    .action(async (name: string, options: ConnectionOptions) => {
      const { api, sluice } = connect(options, terminal);
      const { id } = await findStream({ sluice }, name);
      tell(await api.streams.duplicate(id), options, terminal);
    });
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
  if (statusMessage !== '') terminal.note(`${tag || id}: ${spellCommands(statusMessage)}`);
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

const describeScope = ({ allAddresses, amountOfAddresses, topic0 }: StreamSummary): string => {
  const events = topic0.length === 0 ? '' : ` · ${topic0.length} evt`;
  return `${allAddresses ? 'all' : count(amountOfAddresses)} addr${events}`;
};

/**
 * Prints the fields that have a value. Strings are wrapped; other values are printed as JSON,
 * truncated to the width of the terminal.
 */
function tell(stream: AnyStream, { json }: ConnectionOptions, terminal: Terminal): void {
  if (json) return terminal.printJson(stream);
  for (const [name, value] of Object.entries(stream)) {
    if (value === null || value === undefined || value === '') continue;
    printField(terminal, name.padEnd(28), value);
  }
}

/** The flags of stream fields. More complex fields can be set only in files. */
export interface FieldOptions extends OAuth2Options {
  url?: string;
  tag?: string;
  description?: string;
  chain?: string[];
  network?: string[];
  event?: string[];
  function?: string[];
  abi?: string;
  allAddresses?: boolean;
  native?: boolean;
  logs?: boolean;
  internal?: boolean;
  deliver?: string;
  notifyRemoved?: boolean;
  unverified?: string;
  proofs?: boolean;
  maxInFlight?: string;
  maxPerSecond?: string;
  maxWebhookBytes?: string;
  strictOrder?: boolean;
}

/** Creates a hidden flag that turns another flag off. The help of the other flag mentions it. */
const hidden = (flag: string): Option => new Option(flag).hideHelp();

const addFieldOptions = (command: Command): Command =>
  addOAuth2Options(command)
    .option('--url <url>', 'Webhook URL')
    .option('--tag <tag>', 'Name of the stream; included in each webhook')
    .option('--description <text>', 'Description')
    .option('--chain <id...>', 'EVM chains, e.g. 0x1 137')
    .option('--network <name...>', 'Aptos networks; creates an Aptos stream')
    .option(
      '--event <signature...>',
      "Events, e.g. 'Transfer(address,address,uint256)'; on Aptos by Move path",
    )
    .option('--function <path...>', 'Entry functions by Move path (Aptos only)')
    .option('--abi <file>', 'JSON file with the ABI for decoding events')
    .option(
      '--all-addresses',
      'Match all addresses; requires --event or --function (off: --no-all-addresses)',
    )
    .addOption(hidden('--no-all-addresses'))
    .option('--native', 'Include native transactions (off: --no-native)')
    .addOption(hidden('--no-native'))
    .option('--logs', 'Include contract logs (off: --no-logs)')
    .addOption(hidden('--no-logs'))
    .option('--internal', 'Include internal transactions (off: --no-internal)')
    .addOption(hidden('--no-internal'))
    .option('--deliver <which>', 'Phases to deliver: both or confirmed')
    .option('--notify-removed', 'Send a removal webhook after a reorg (off: --no-notify-removed)')
    .addOption(hidden('--no-notify-removed'))
    .option('--unverified <how>', 'Webhooks of unverified blocks: send, or hold until confirmed')
    .option('--proofs', 'Add proofs of receipts to webhooks, on proven chains (off: --no-proofs)')
    .addOption(hidden('--no-proofs'))
    .option('--max-in-flight <n>', 'Maximum number of concurrent webhooks')
    .option('--max-per-second <n>', 'Maximum number of webhooks per second')
    .option('--max-webhook-bytes <n>', 'Maximum size of a webhook; a larger one is sent in parts')
    .option('--strict-order', 'Send one webhook at a time, in chain order (off: --no-strict-order)')
    .addOption(hidden('--no-strict-order'));

/** Maps the given flags to the contract's field names for the chain family. */
function toGivenFields(options: FieldOptions, family: NetworkType, terminal: Terminal): Fields {
  const fields: Fields = {
    webhookUrl: options.url,
    tag: options.tag,
    description: options.description,
    chainIds: options.chain,
    network: options.network,
    [family === 'aptos' ? 'events' : 'topic0']: options.event,
    functions: options.function,
    abi: options.abi === undefined ? undefined : readAbiFile(options.abi),
    allAddresses: options.allAddresses,
    includeNativeTxs: options.native,
    includeContractLogs: options.logs,
    includeInternalTxs: options.internal,
    deliver: options.deliver,
    notifyRemoved: options.notifyRemoved,
    unverified: options.unverified,
    includeProofs: options.proofs,
    maxInFlight: toNumber('--max-in-flight', options.maxInFlight),
    maxPerSecond: toNumber('--max-per-second', options.maxPerSecond),
    maxWebhookBytes: toNumber('--max-webhook-bytes', options.maxWebhookBytes),
    strictOrder: options.strictOrder,
    oauth2: toOAuth2(options, terminal),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function toNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  throw new CommandError('usage', `${flag} ${text}: should be a number`);
}

/** Reads the events of an ABI from a JSON list, or from a compiler's output that contains one. */
function readAbiFile(path: string): unknown {
  try {
    const abi = listAbi(JSON.parse(readFileSync(path, 'utf8')));
    if (abi === undefined)
      throw new Error('should be a JSON list, or an object with a list in abi');
    return abi.filter(isEventItem);
  } catch (error) {
    throw new CommandError('invalid_file', `${path}: ${(error as Error).message}`);
  }
}

interface CreateOptions extends FieldOptions, ConnectionOptions {
  file?: string;
  address?: string[];
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
  const addresses = [
    ...(declared?.addresses ?? []),
    ...(await toListedAddresses(sluice, options.address ?? [])),
  ];
  const stream = await createStream(api, fields);
  if (addresses.length > 0) {
    await sluice.importAddresses({ streamId: stream.id, family, addresses });
  }
  tell({ ...stream, amountOfAddresses: addresses.length }, options, terminal);
  // Prints the problem as a note too, with its commands spelled as the user must type them.
  if (options.json !== true) printProblem(await findStream({ sluice }, stream.id), terminal);
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
  tell(await updateStream(api, stream, changes), options, terminal);
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
    `This deletes ${named} and ${counted(queue, 'queued webhook')}.`,
    named,
    options,
  );
  await api.streams.delete(id, { networkType: family });
  if (options.json) terminal.printJson({ id, deleted: true });
  else terminal.printText(`Deleted ${named}`);
}
