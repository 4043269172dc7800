import { UNDELIVERED } from '@sluice/kit/contract';
import type { DeliveryFilter, Replay, ReplayEstimate } from '@sluice/kit/sluice';
import { setTimeout as delay } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import {
  type Connection,
  type ConnectionOptions,
  addConnectionOptions,
  connect,
} from '../connection/connection.ts';
import {
  type FilterOptions,
  type SearchedFilter,
  addFilterOptions,
  toFilter,
} from '../flags/deliveryFilter.ts';
import { describeAgo, toPerSecond } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { deliveryLine } from '../live/deliveryLine.ts';
import { type Forwarder, createForwarder, findSecret, toLocalUrl } from '../live/forward.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { findDeleted } from '../streams/findStream.ts';
import { findDeliveryId, findReplayId } from '../connection/shortIds.ts';
import { CommandError } from '../terminal/errors.ts';
import { formatCount, formatQuantity, createProgress } from '../terminal/progress.ts';
import { confirm } from '../terminal/prompt.ts';
import { type TableOptions, addTableOptions, printTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * Creates an option that applies only if the service replays the deliveries that match a filter.
 */
const byFilter = (flags: string, description: string): Option =>
  new Option(flags, description).helpGroup('Options for replays by filter, without --to:');

export const declareReplay = (command: Command, terminal: Terminal): Command =>
  addFilterOptions(
    addConnectionOptions(
      command.argument('[delivery...]', 'IDs; or select deliveries with the flags below'),
    ),
  )
    .option('--to <url>', 'Send from this machine to this port or URL instead of the webhook URL')
    .option(
      '--secret <secret>',
      'With --to, secret to sign with; default: SLUICE_SECRET, or the streams secret of the service',
    )
    .option('--dry-run', 'Only print how many deliveries match')
    .addOption(byFilter('--name <text>', 'Name of the replay').default('sluice replay'))
    .addOption(byFilter('--rate <n/s>', 'Maximum rate').default('50/s'))
    .addOption(byFilter('--include-delivered', 'Also replay deliveries that succeeded'))
    .addOption(byFilter('--wait', 'Wait until each delivery has succeeded or failed'))
    .addOption(byFilter('-y, --yes', 'Do not prompt'))
    .addHelpText(
      'after',
      examples(
        'sluice replay --failed --stream payments --since 2h',
        'sluice replay 0cc6a32f --to http://localhost:3000',
      ),
    )
    .action((ids: string[], options: ReplayOptions) => replay(ids, options, terminal));

interface ReplayOptions extends ConnectionOptions, FilterOptions {
  to?: string;
  secret?: string;
  name: string;
  rate: string;
  includeDelivered?: boolean;
  dryRun?: boolean;
  wait?: boolean;
  yes?: boolean;
}

/**
 * Sends deliveries again: through the service to their webhook URLs, or from this machine to
 * another URL.
 */
async function replay(given: string[], options: ReplayOptions, terminal: Terminal): Promise<void> {
  const connection = connect(options, terminal);
  const chosen = await toFilter(options, connection);
  const isFiltered = Object.keys(chosen).length > 0;
  if (!isFiltered && given.length === 0) {
    throw new CommandError(
      'usage',
      'No deliveries selected',
      'pass IDs or flags, e.g. sluice replay --failed --since 2h',
    );
  }
  const ids: string[] = [];
  for (const each of given) ids.push(await findDeliveryId(connection.sluice, each));
  const filter = ids.length > 0 ? { ...chosen, id: ids } : chosen;
  if (isFiltered && options.to === undefined) {
    await replaySelection(connection, filter, options, terminal);
    return;
  }
  const selected = isFiltered ? listIds(connection, filter) : ids;
  if (options.dryRun) {
    let deliveries = 0;
    for await (const _ of selected) deliveries++;
    if (options.json) terminal.printJson({ deliveries });
    else terminal.print(formatQuantity(deliveries, 'delivery', 'deliveries'));
    return;
  }
  const resend = await createResend(connection, options, terminal);
  let sent = 0;
  let failed = 0;
  for await (const id of selected) {
    sent++;
    if (!(await resend(id))) failed++;
    if (terminal.signal.aborted) break;
  }
  const done = options.to === undefined ? 'queued' : 'sent';
  terminal.note(
    `${formatCount(sent)} ${done}${terminal.signal.aborted ? ', then interrupted' : ''}`,
  );
  if (terminal.signal.aborted) return;
  if (failed > 0) {
    throw new CommandError(
      'partial',
      `The receiver did not accept ${failed} of ${sent} deliveries`,
    );
  }
}

async function* listIds(
  { sluice }: Pick<Connection, 'sluice'>,
  filter: SearchedFilter,
): AsyncGenerator<string, undefined> {
  for await (const { id } of sluice.listDeliveries(filter)) yield id;
}

/**
 * Creates a replay, which the service runs in the background. With `--dry-run`, or if no delivery
 * matches, only prints an estimate.
 */
async function replaySelection(
  { sluice }: Connection,
  chosen: SearchedFilter,
  options: ReplayOptions,
  terminal: Terminal,
): Promise<void> {
  const isChosenByState = chosen.state !== undefined || options.includeDelivered === true;
  const filter = isChosenByState ? chosen : { ...chosen, state: UNDELIVERED };
  const perSecond = toPerSecond('--rate', options.rate);
  const [deleted] = await findDeleted({ sluice }, [filter.streamId ?? []].flat());
  if (deleted !== undefined) {
    throw new CommandError(
      'not_found',
      `The stream ${deleted} was deleted, so the service cannot replay its deliveries`,
      'send them from this machine: pass --to with a port or URL',
    );
  }
  const filters = await toReplayable({ sluice }, filter);
  const estimate = await estimateAll({ sluice }, filters);
  const { deliveries, bytes, isCapped } = estimate;
  const many = `${formatCount(deliveries)}${isCapped ? ' or more' : ''} ${deliveries === 1 ? 'delivery' : 'deliveries'}, about ${formatCount(Math.ceil(bytes / 1_000))} kB`;
  if (options.dryRun || deliveries === 0) {
    if (options.json) terminal.printJson(estimate);
    else terminal.print(many);
    if (!isChosenByState) {
      const { deliveries: all } = await estimateAll(
        { sluice },
        await toReplayable({ sluice }, chosen),
      );
      if (all > deliveries)
        terminal.note(
          `${formatCount(all - deliveries)} more succeeded; add --include-delivered to replay them`,
        );
    }
    return;
  }
  await confirm(terminal, `This replays ${many}.`, String(deliveries), options);
  let failed = 0;
  let replayed = 0;
  for (const each of filters) {
    const ended = await startReplay({ sluice }, each, { ...options, perSecond }, terminal);
    failed += ended.failed;
    replayed += ended.replayed;
  }
  if (options.wait && failed > 0) {
    throw new CommandError(
      'partial',
      `${formatCount(failed)} of ${formatCount(replayed)} deliveries failed`,
    );
  }
}

/** Maximum number of delivery IDs in a filter. */
const MAX_IDS = 500;

/** Returns filters that the service can replay: those of a search name the deliveries it finds. */
async function toReplayable(
  connection: Pick<Connection, 'sluice'>,
  { find, body, durationFrom, durationTo, ...filter }: SearchedFilter,
): Promise<DeliveryFilter[]> {
  const search = { find, body, durationFrom, durationTo };
  if (Object.values(search).every((each) => each === undefined)) return [filter];
  const chunks: string[][] = [];
  for await (const id of listIds(connection, { ...filter, ...search })) {
    const last = chunks.at(-1);
    if (last === undefined || last.length === MAX_IDS) chunks.push([id]);
    else last.push(id);
  }
  return chunks.map((id) => ({ ...filter, id }));
}

async function estimateAll(
  { sluice }: Pick<Connection, 'sluice'>,
  filters: readonly DeliveryFilter[],
): Promise<ReplayEstimate> {
  const sum = { deliveries: 0, bytes: 0, isCapped: false };
  for (const filter of filters) {
    const { deliveries, bytes, isCapped } = await sluice.estimateReplay(filter);
    sum.deliveries += deliveries;
    sum.bytes += bytes;
    sum.isCapped ||= isCapped;
  }
  return sum;
}

/** Starts a replay in the service and, with `--wait`, waits for its end. */
async function startReplay(
  { sluice }: Pick<Connection, 'sluice'>,
  filter: DeliveryFilter,
  options: ReplayOptions & { perSecond: number },
  terminal: Terminal,
): Promise<Replay> {
  const { name, perSecond } = options;
  const made = await sluice.createReplay({ name, filter, perSecond });
  const look = `Show progress: ${sluiceCommand()} replays get ${made.id}; cancel: ${sluiceCommand()} replays cancel ${made.id}`;
  let ended = made;
  try {
    if (options.wait) ended = await waitFor(sluice, made, terminal);
  } catch (error) {
    terminal.note(`The replay continues in the service. ${look}`);
    throw error;
  }
  if (options.json) terminal.printJson(ended);
  else terminal.printText(describe(ended), { indent: 4 });
  if (!options.wait) terminal.note(look);
  return ended;
}

const CHECK_EVERY_MS = 500;

async function waitFor(
  sluice: Connection['sluice'],
  made: Replay,
  terminal: Terminal,
): Promise<Replay> {
  const progress = createProgress(terminal, { what: 'deliveries', total: made.total });
  try {
    for (;;) {
      const now = await sluice.getReplay(made.id);
      progress.update(now.replayed);
      if (now.state !== 'running' && now.waiting === 0) return now;
      await delay(CHECK_EVERY_MS, undefined, { signal: terminal.signal });
    }
  } finally {
    progress.end();
  }
}

const describe = ({ id, name, state, total, replayed, succeeded, failed }: Replay): string =>
  `${id}  ${name}  ${state}  ${formatCount(replayed)} of ${formatCount(total)} replayed, ${formatCount(succeeded)} delivered, ${formatCount(failed)} failed`;

/**
 * Returns a function that sends a delivery from this machine if `--to` is set, and otherwise queues
 * the delivery in the service. The function resolves to false if the delivery failed.
 */
async function createResend(
  connection: Connection,
  options: ReplayOptions,
  terminal: Terminal,
): Promise<(id: string) => Promise<boolean>> {
  const { sluice, api } = connection;
  if (options.to !== undefined) {
    const secret = await findSecret(options.secret, terminal.env, () => connection);
    const url = toLocalUrl('--to', options.to);
    const { signal } = terminal;
    return sendFromHere(
      url,
      createForwarder({ connection, url, secret, signal }),
      options,
      terminal,
    );
  }
  return async (id) => {
    const { streamId, webhookUrl } = await sluice.getDelivery(id);
    await api.history.replay({ streamId, id });
    if (options.json) terminal.printJson({ id, queued: true });
    else {
      terminal.printText(`✓ queued ${id} for ${webhookUrl}`, { tint: { tone: 'ok', of: '✓' } });
    }
    return true;
  };
}

const sendFromHere =
  (url: string, forwarder: Forwarder, options: ReplayOptions, terminal: Terminal) =>
  async (id: string): Promise<boolean> => {
    const forwarded = await forwarder.forward(id);
    if (forwarded === undefined) throw new CommandError('not_found', `Delivery ${id} not found`);
    const { status, error, durationMs } = forwarded;
    if (options.json) terminal.printJson({ id, url, status, error, durationMs });
    else
      terminal.print(deliveryLine(terminal, forwarded.delivery, forwarded, { atMs: Date.now() }));
    return error === null;
  };

export function declareReplays(command: Command, terminal: Terminal): void {
  const add = (spec: string, description: string): Command =>
    addConnectionOptions(command.command(spec).description(description));

  addTableOptions(add('list', 'List running and finished replays'))
    .addHelpText('after', examples('sluice replays list'))
    .action((options: ConnectionOptions & TableOptions) => listReplays(options, terminal));
  for (const [verb, description] of [
    ['get', 'Show the progress of a replay'],
    ['cancel', 'Cancel a replay; deliveries that are already queued are still sent'],
  ] as const) {
    add(`${verb} <replay>`, description)
      .addHelpText('after', examples(`sluice replays ${verb} 01a207c0`))
      .action(async (given: string, options: ConnectionOptions) => {
        const { sluice } = connect(options, terminal);
        const id = await findReplayId(sluice, given);
        const found = await (verb === 'get' ? sluice.getReplay(id) : sluice.cancelReplay(id));
        if (options.json) terminal.printJson(found);
        else terminal.printText(describe(found), { indent: 4 });
      });
  }
}

async function listReplays(
  options: ConnectionOptions & TableOptions,
  terminal: Terminal,
): Promise<void> {
  const replays = await connect(options, terminal).sluice.listReplays();
  if (options.json) return terminal.printJson(replays);
  if (replays.length === 0)
    return terminal.note(`No replays yet. Start one: ${sluiceCommand()} replay --help`);
  printTable(
    terminal,
    replays,
    [
      { title: 'REPLAY', value: ({ id }) => id, cut: 'middle' },
      { title: 'NAME', value: ({ name }) => name, cut: 'end' },
      { title: 'STATE', value: ({ state }) => state },
      {
        title: 'REPLAYED',
        value: ({ replayed, total }) => `${formatCount(replayed)}/${formatCount(total)}`,
        right: true,
      },
      { title: 'FAILED', value: ({ failed }) => failed, right: true },
      { title: 'CREATED', value: ({ createdAt }) => describeAgo(createdAt), right: true },
    ],
    options,
  );
}
