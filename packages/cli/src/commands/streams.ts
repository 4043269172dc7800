import type { StreamSummary } from '@sluice/kit/sluice';
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { describeAgo } from '../flags/durations.ts';
import { spellCommands } from '../package/packaged.ts';
import { toListedAddresses } from '../streams/givenAddresses.ts';
import { CREATE_STREAM, findStream } from '../streams/findStream.ts';
import { createStream, readStream, updateStream } from '../streams/saveStream.ts';
import { type AnyStream, type Fields, familyOf } from '../streams/streamFields.ts';
import { readStreamFile } from '../streams/streamFile.ts';
import { CommandError } from '../terminal/errors.ts';
import { confirm } from '../terminal/prompt.ts';
import { count } from '../terminal/progress.ts';
import {
  type Cell,
  type TableOptions,
  addTableOptions,
  sayField,
  sayTable,
} from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareStreams(command: Command, terminal: Terminal): void {
  const add = (spec: string, description: string): Command =>
    addConnectionOptions(command.command(spec).description(description));

  addTableOptions(
    add('list', 'every stream with its state and what it has lately delivered'),
  ).action((options: ListOptions) => list(options, terminal));
  add('get <stream>', 'all fields of a stream, by id or tag').action(
    async (name: string, options: ConnectionOptions) => {
      const { api, sluice } = connect(options, terminal);
      const summary = await findStream({ sluice }, name);
      tell(await readStream(api, summary), options, terminal);
      if (options.json === true) return;
      noteProblem(summary, terminal);
      noteReceiver(summary, terminal);
    },
  );
  addFieldOptions(add('create', 'a new stream, of flags or of a YAML file'))
    .option('-f, --file <file>', 'take the fields from a YAML file; flags win')
    .option(
      '--address <address...>',
      'what it watches, or names of ENS; more with sluice addresses',
    )
    .action((options: CreateOptions) => create(options, terminal));
  addFieldOptions(add('update <stream>', 'change what is given, leave the rest')).action(
    (name: string, options: FieldOptions & ConnectionOptions) => update(name, options, terminal),
  );
  for (const [verb, status, done] of [
    ['pause', 'paused', 'Paused'],
    ['resume', 'active', 'Resumed'],
  ] as const) {
    add(`${verb} <stream>`, verb === 'pause' ? 'deliver nothing for now' : 'deliver again').action(
      async (name: string, options: ConnectionOptions) => {
        const { api, sluice } = connect(options, terminal);
        const { id, family, tag } = await findStream({ sluice }, name);
        const answer = await api.streams.setStatus(id, status, { networkType: family });
        if (options.json) terminal.sayJson({ id, status: answer.status });
        else {
          terminal.sayText(`${done} ${tag || id}`);
          if (status === 'active') noteProblem(await findStream({ sluice }, id), terminal);
        }
      },
    );
  }
  add('delete <stream>', 'for good, with what waits to be delivered')
    .option('-y, --yes', 'do not ask')
    .action((name: string, options: DeleteOptions) => remove(name, options, terminal));
  add('duplicate <stream>', 'a new EVM stream with the same fields and addresses').action(
    async (name: string, options: ConnectionOptions) => {
      const { api, sluice } = connect(options, terminal);
      const { id } = await findStream({ sluice }, name);
      tell(await api.streams.duplicate(id), options, terminal);
    },
  );
}

type ListOptions = ConnectionOptions & TableOptions;

const STATES = {
  active: { text: 'active', tone: 'ok' },
  paused: { text: 'paused', tone: 'faint' },
  error: { text: 'error', tone: 'bad' },
  terminated: { text: 'ended', tone: 'bad' },
} as const satisfies Record<StreamSummary['status'], Cell>;

/** An active stream that cannot find all it asks for says so in its line; the note below says why. */
const toState = ({ status, statusMessage }: StreamSummary): Cell =>
  status === 'active' && statusMessage !== ''
    ? { text: 'attention', tone: 'warn' }
    : STATES[status];

async function list(options: ListOptions, terminal: Terminal): Promise<void> {
  const streams = await connect(options, terminal).sluice.listStreamSummaries();
  if (options.json) return terminal.sayJson(streams);
  if (streams.length === 0) return terminal.note(`No streams yet. ${CREATE_STREAM}`);
  sayTable(
    terminal,
    streams,
    [
      { title: 'STREAM', value: ({ tag, id }) => tag || id, cut: 'end' },
      { title: 'STATE', value: toState },
      { title: 'WATCHES', value: describeScope, cut: 'end' },
      { title: 'CHAINS', value: ({ chainIds }) => chainIds.join(' '), cut: 'end' },
      { title: 'QUEUE', value: ({ queue }) => queue, right: true },
      { title: 'OK 24H', value: ({ delivered24h }) => delivered24h, right: true },
      {
        title: 'BAD',
        value: ({ failedAttempts24h: bad }) => (bad > 0 ? { text: String(bad), tone: 'bad' } : '0'),
        right: true,
      },
      { title: 'LAST', value: ({ lastDeliveryAt }) => describeAgo(lastDeliveryAt), right: true },
    ],
    options,
  );
  for (const stream of streams) {
    noteProblem(stream, terminal);
    noteReceiver(stream, terminal);
  }
}

/** Why a stream does not deliver, or not all it asks for. */
function noteProblem({ tag, id, statusMessage }: StreamSummary, terminal: Terminal): void {
  if (statusMessage !== '') terminal.note(`${tag || id}: ${spellCommands(statusMessage)}`);
}

/** That nothing is sent to its receiver for a while, though deliveries are due; or will be, before long. */
function noteReceiver(
  { tag, id, spared, certificateEndsAt }: StreamSummary,
  terminal: Terminal,
): void {
  if (certificateEndsAt !== null && certificateEndsAt > Date.now()) {
    const at = new Date(certificateEndsAt).toISOString().slice(0, 16).replace('T', ' ');
    terminal.note(`${tag || id}: the certificate of its receiver ends at ${at} UTC`);
  }
  if (spared === null || spared.until <= Date.now()) return;
  const nothing = `nothing is sent until ${new Date(spared.until).toTimeString().slice(0, 8)}`;
  terminal.note(
    spared.reason === 'failures'
      ? `${tag || id}: its receiver fails; ${nothing}, then one delivery tries`
      : `${tag || id}: its receiver asked for patience; ${nothing}`,
  );
}

const describeScope = ({ allAddresses, amountOfAddresses, topic0 }: StreamSummary): string => {
  const events = topic0.length === 0 ? '' : ` · ${topic0.length} evt`;
  return `${allAddresses ? 'everybody' : `${count(amountOfAddresses)} addr`}${events}`;
};

/** A line for each field; lists and the like as JSON, as far as it fits. */
function tell(stream: AnyStream, { json }: ConnectionOptions, terminal: Terminal): void {
  if (json) return terminal.sayJson(stream);
  for (const [name, value] of Object.entries(stream)) {
    if (value === null || value === undefined || value === '') continue;
    sayField(terminal, name.padEnd(28), value);
  }
}

/** The fields of a stream as flags; what is more than a flag can hold goes into a file. */
export interface FieldOptions {
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
  maxInFlight?: string;
  maxPerSecond?: string;
  strictOrder?: boolean;
}

/** Turns a switch off; the help of the switch itself names it. */
const hidden = (flag: string): Option => new Option(flag).hideHelp();

const addFieldOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'where its webhooks go')
    .option('--tag <tag>', 'its name; each webhook carries it')
    .option('--description <text>', 'for people')
    .option('--chain <id...>', 'EVM chains, e.g. 0x1 137')
    .option('--network <name...>', 'networks of Aptos: makes it an Aptos stream')
    .option('--event <signature...>', "'Transfer(address,address,uint256)'; on Aptos a Move path")
    .option('--function <path...>', 'on Aptos: entry functions by their Move path')
    .option('--abi <file>', 'JSON file of the events to decode')
    .option('--all-addresses', 'any address, where an event is named; --no-all-addresses')
    .addOption(hidden('--no-all-addresses'))
    .option('--native', 'native transactions; --no-native: without them')
    .addOption(hidden('--no-native'))
    .option('--logs', 'logs of contracts; --no-logs')
    .addOption(hidden('--no-logs'))
    .option('--internal', 'calls inside transactions that move value; --no-internal')
    .addOption(hidden('--no-internal'))
    .option('--deliver <which>', 'both, or confirmed alone')
    .option(
      '--notify-removed',
      'a removal webhook where a block left the chain; --no-notify-removed',
    )
    .addOption(hidden('--no-notify-removed'))
    .option('--max-in-flight <n>', 'webhooks under way at once')
    .option('--max-per-second <n>', 'webhooks sent in a second')
    .option('--strict-order', 'one at a time, in the order of the chain; --no-strict-order')
    .addOption(hidden('--no-strict-order'));

/** By the contract's names; only what was given. */
function toGivenFields(options: FieldOptions): Fields {
  const isAptos = options.network !== undefined;
  const fields: Fields = {
    webhookUrl: options.url,
    tag: options.tag,
    description: options.description,
    chainIds: options.chain,
    network: options.network,
    [isAptos ? 'events' : 'topic0']: options.event,
    functions: options.function,
    abi: options.abi === undefined ? undefined : readAbi(options.abi),
    allAddresses: options.allAddresses,
    includeNativeTxs: options.native,
    includeContractLogs: options.logs,
    includeInternalTxs: options.internal,
    deliver: options.deliver,
    notifyRemoved: options.notifyRemoved,
    maxInFlight: toNumber('--max-in-flight', options.maxInFlight),
    maxPerSecond: toNumber('--max-per-second', options.maxPerSecond),
    strictOrder: options.strictOrder,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function toNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  throw new CommandError('usage', `${flag} ${text}: should be a number`);
}

/** A list of events, or what compilers write around one. */
function readAbi(path: string): unknown {
  try {
    const parsed = JSON.parse(readFileSync(path, 'utf8')) as unknown;
    const abi = Array.isArray(parsed) ? parsed : (parsed as { abi?: unknown }).abi;
    if (!Array.isArray(abi)) throw new Error('should be a JSON list, or an object with one as abi');
    return abi.filter((item: { type?: unknown }) => item.type === 'event');
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
      `sluice apply -f ${options.file}`,
    );
  }
  const fields = { description: '', ...declared?.fields, ...toGivenFields(options) };
  const { api, sluice } = connect(options, terminal);
  const addresses = [
    ...(declared?.addresses ?? []),
    ...(await toListedAddresses(sluice, options.address ?? [])),
  ];
  const stream = await createStream(api, fields);
  const family = familyOf(fields);
  if (addresses.length > 0) {
    await sluice.importAddresses({ streamId: stream.id, family, addresses });
  }
  tell({ ...stream, amountOfAddresses: addresses.length }, options, terminal);
  // Among the fields it is cut to the terminal's width, and it names what is to be done.
  if (options.json !== true) noteProblem(await findStream({ sluice }, stream.id), terminal);
}

async function update(
  name: string,
  options: FieldOptions & ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const changes = toGivenFields(options);
  if (Object.keys(changes).length === 0) throw new CommandError('usage', 'Nothing to change');
  const { api, sluice } = connect(options, terminal);
  tell(await updateStream(api, await findStream({ sluice }, name), changes), options, terminal);
}

interface DeleteOptions extends ConnectionOptions {
  yes?: boolean;
}

async function remove(name: string, options: DeleteOptions, terminal: Terminal): Promise<void> {
  const { api, sluice } = connect(options, terminal);
  const { id, family, tag, queue } = await findStream({ sluice }, name);
  const named = tag || id;
  await confirm(terminal, `Deletes ${named} and ${count(queue)} waiting webhooks.`, named, options);
  await api.streams.delete(id, { networkType: family });
  if (options.json) terminal.sayJson({ id, deleted: true });
  else terminal.sayText(`Deleted ${named}`);
}
