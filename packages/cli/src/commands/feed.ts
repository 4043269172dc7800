import type { FeedConsumer, FeedStart } from '@sluice/kit/sluice';
import { type Command, Option } from 'commander';
import {
  type ConnectionOptions,
  addConnectionOptions,
  connect,
  connectTo,
  toClientOptions,
} from '../connection/connection.ts';
import { describeAgo, toCount, toTimeMs } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { findStream, nameOf } from '../streams/findStream.ts';
import { CommandError } from '../terminal/errors.ts';
import { confirm } from '../terminal/prompt.ts';
import { type TableOptions, addTableOptions, printTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareFeed(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.argument('[stream]', 'Stream whose webhook URL is sluice://feed'))
    .option('--consumer <name>', 'Read as this consumer; the first read creates it')
    .addOption(
      new Option(
        '--mode <mode>',
        'share: lease each delivery to one reader of the consumer; each: print all, without leases; default: share with --consumer, otherwise each',
      ).choices(['share', 'each']),
    )
    .addOption(destinationOption())
    .option('--after <position>', 'Start after this position; only with --mode each')
    .option('--ack', 'Acknowledge each delivery once it is printed; only with --mode share')
    .option('--headers', 'Print the headers of each delivery, too')
    .addHelpText(
      'after',
      examples(
        'sluice feed payments --after 0',
        'sluice feed payments --consumer billing --ack | ./process',
        'sluice feed consumers payments',
        'sluice feed reset payments billing --to start',
      ),
    )
    .action(async (name: string | undefined, options: ReadOptions) => {
      if (name === undefined) command.help();
      await read(name, options, terminal);
    });
  // `feed` itself parses the flags that it shares with its subcommands, wherever they are.
  addTableOptions(addConnectionOptions(command.command('consumers <stream>')))
    .description('List the consumers of a feed with their progress')
    .addOption(destinationOption())
    .addHelpText('after', examples('sluice feed consumers payments'))
    .action((name: string, _: object, self: Command) =>
      listConsumers(name, self.optsWithGlobals(), terminal),
    );
  addConnectionOptions(command.command('reset <stream> <consumer>'))
    .description('Move a consumer to another position; creates the consumer')
    .addOption(destinationOption())
    .addOption(
      new Option('--to <place>', 'The oldest delivery that is kept, or after the newest').choices([
        'start',
        'end',
      ]),
    )
    .option('--time <time>', 'The first delivery since then, e.g. 2h (ago) or 2026-01-31T08:00Z')
    .option('--block <number>', 'The first delivery of this block or a later one; needs --chain')
    .option('--chain <id>', 'Chain of --block, e.g. 0x1, 137 or aptos:mainnet')
    .option('--position <position>', 'The first delivery after this position')
    .addHelpText(
      'after',
      examples(
        'sluice feed reset payments billing --to start',
        'sluice feed reset payments billing --chain 0x1 --block 23456789',
      ),
    )
    .action((name: string, consumer: string, _: object, self: Command) =>
      reset(name, consumer, self.optsWithGlobals(), terminal),
    );
  addConnectionOptions(command.command('delete <stream> <consumer>'))
    .description('Delete a consumer and its position')
    .addOption(destinationOption())
    .option('-y, --yes', 'Do not prompt')
    .addHelpText('after', examples('sluice feed delete payments billing'))
    .action((name: string, consumer: string, _: object, self: Command) =>
      remove(name, consumer, self.optsWithGlobals(), terminal),
    );
}

const destinationOption = (): Option =>
  new Option('--destination <number>', 'The feed of this additional destination');

interface FeedPlace extends ConnectionOptions {
  destination?: string;
}

const toFeed = ({ destination }: FeedPlace): { destination?: number } =>
  destination === undefined ? {} : { destination: toCount('--destination', destination) };

interface ReadOptions extends FeedPlace {
  consumer?: string;
  mode?: 'share' | 'each';
  after?: string;
  ack?: true;
  headers?: true;
}

/** Prints each delivery as a line of JSON, until Ctrl-C. */
async function read(name: string, options: ReadOptions, terminal: Terminal): Promise<void> {
  const { consumer, mode = consumer === undefined ? 'each' : 'share' } = options;
  const isShared = mode === 'share';
  if (isShared && consumer === undefined) throw new CommandError('usage', '--consumer is required');
  if (isShared && options.after !== undefined) {
    throw new CommandError('usage', '--after needs --mode each');
  }
  if (!isShared && options.ack) throw new CommandError('usage', '--ack needs --mode share');
  const after = options.after === undefined ? undefined : toCount('--after', options.after);
  const connection = connect(options, terminal);
  const { id } = await findStream(connection, name);
  // Ctrl-C ends the iteration, and must not abort its last acknowledgements.
  const { sluice } = connectTo(connection, { ...toClientOptions(options, terminal), fetch });
  const { signal } = terminal;
  const print = ({ id, position, headers, body }: PrintedDelivery): void =>
    terminal.printJson({ id, position, ...(options.headers && { headers }), body });
  if (!isShared) {
    const all = sluice.feed(id, {
      mode,
      consumer,
      after,
      family: 'any',
      signal,
      ...toFeed(options),
    });
    for await (const delivery of all) print(delivery);
    return;
  }
  if (!options.ack)
    terminal.note('Deliveries are returned again after 60 s. To prevent this, pass --ack.');
  const shared = { consumer: consumer!, family: 'any', signal, ...toFeed(options) } as const;
  for await (const delivery of sluice.feed(id, shared)) {
    print(delivery);
    if (options.ack) await delivery.ack();
  }
}

interface PrintedDelivery {
  readonly id: string;
  readonly position: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type ConsumersOptions = FeedPlace & TableOptions;

async function listConsumers(
  name: string,
  options: ConsumersOptions,
  terminal: Terminal,
): Promise<void> {
  const { sluice } = connect(options, terminal);
  const { id } = await findStream({ sluice }, name);
  const consumers = await sluice.listFeedConsumers(id, toFeed(options));
  if (options.json) return terminal.printJson(consumers);
  if (consumers.length === 0) {
    return terminal.note('No consumers yet. The first read of a consumer creates it.');
  }
  printTable(
    terminal,
    consumers,
    [
      { title: 'CONSUMER', value: (each) => each.name, cut: 'end' },
      { title: 'POSITION', value: ({ position }) => position, right: true },
      { title: 'UNREAD', value: ({ unread }) => unread, right: true },
      { title: 'LEASED', value: ({ leased }) => leased, right: true },
      {
        title: 'MISSED',
        value: ({ missed }) => (missed > 0 ? { text: String(missed), tone: 'bad' } : '0'),
        right: true,
      },
      { title: 'OLDEST', value: ({ oldestAt }) => describeAgo(oldestAt), right: true },
      { title: 'ACTIVE', value: ({ activeAt }) => describeAgo(activeAt), right: true },
    ],
    options,
  );
}

interface ResetOptions extends FeedPlace {
  to?: 'start' | 'end';
  time?: string;
  block?: string;
  chain?: string;
  position?: string;
}

async function reset(
  name: string,
  consumer: string,
  options: ResetOptions,
  terminal: Terminal,
): Promise<void> {
  const to = toStart(options);
  const { sluice } = connect(options, terminal);
  const { id } = await findStream({ sluice }, name);
  const moved = await sluice.resetFeedConsumer(id, consumer, { to, ...toFeed(options) });
  printProgress(moved, options, terminal);
}

function toStart({ to, time, block, chain, position }: ResetOptions): FeedStart {
  const given: FeedStart[] = [];
  if (to !== undefined) given.push(to);
  if (time !== undefined) given.push({ time: toTimeMs('--time', time) });
  if (position !== undefined) given.push({ position: toCount('--position', position) });
  if (block !== undefined && chain !== undefined) {
    given.push({ chainId: chain, block: toCount('--block', block) });
  } else if (block !== undefined || chain !== undefined) {
    throw new CommandError('usage', '--block and --chain need each other');
  }
  const [start, ...more] = given;
  if (start !== undefined && more.length === 0) return start;
  throw new CommandError('usage', 'Pass one of --to, --time, --block and --position');
}

function printProgress(
  consumer: FeedConsumer,
  { json }: ConnectionOptions,
  terminal: Terminal,
): void {
  if (json) return terminal.printJson(consumer);
  const { name, position, unread } = consumer;
  terminal.printText(`${name} continues after position ${position}, with ${unread} unread`);
}

interface DeleteOptions extends FeedPlace {
  yes?: boolean;
}

async function remove(
  name: string,
  consumer: string,
  options: DeleteOptions,
  terminal: Terminal,
): Promise<void> {
  const { sluice } = connect(options, terminal);
  const stream = await findStream({ sluice }, name);
  const what = `This deletes the consumer ${consumer} of ${nameOf(stream)} and its position.`;
  await confirm(terminal, what, consumer, options);
  await sluice.deleteFeedConsumer(stream.id, consumer, toFeed(options));
  if (options.json) terminal.printJson({ name: consumer, deleted: true });
  else terminal.printText(`Deleted ${consumer}`);
}
