import type { AnyWebhook } from '@sluice/kit/contract';
import { webhooksLike } from '../families/webhooks.ts';
import {
  type AttemptTimings,
  type DeliveryFilter,
  type DeliverySummary,
  describeUnverifiedCode,
} from '@sluice/kit/sluice';
import type { Command } from 'commander';
import {
  type Connection,
  type ConnectionOptions,
  addConnectionOptions,
  connect,
} from '../connection/connection.ts';
import { type FilterOptions, addFilterOptions, toFilter } from '../flags/deliveryFilter.ts';
import { describeAgo, toCount } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { readPath } from '../live/setPath.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { findDeliveryId } from '../connection/shortIds.ts';
import { CREATE_STREAM } from '../streams/findStream.ts';
import { CommandError } from '../terminal/errors.ts';
import {
  type Cell,
  type TableOptions,
  addTableOptions,
  printField,
  printTable,
} from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareDeliveries(command: Command, terminal: Terminal): void {
  addFilterOptions(
    addTableOptions(
      addConnectionOptions(command.command('list').description('List deliveries, newest first')),
    ),
  )
    .option('--limit <n>', 'Maximum number of deliveries', '20')
    .addHelpText(
      'after',
      examples(
        'sluice deliveries list --stream payments --limit 5',
        'sluice deliveries list --failed --since 2h',
        "sluice deliveries list --stream payments --body '$.logs[*].topic0 = 0xddf2…'",
      ),
    )
    .action((options: ListOptions) => list(options, terminal));
  addConnectionOptions(
    command.command('get <delivery>').description('Show a delivery and its attempts'),
  )
    .addHelpText('after', examples('sluice deliveries get 0cc6a32f'))
    .action((id: string, options: ConnectionOptions) => get(id, options, terminal));
  addConnectionOptions(
    command.command('payload <delivery>').description('Print the body exactly as it was sent'),
  )
    .option('--decode', 'Print the events, decoded with the ABI of the stream')
    .option('--path <path>', 'Print one value, e.g. $.logs[0].topic0')
    .addHelpText(
      'after',
      examples(
        'sluice deliveries payload 0cc6a32f --decode',
        "sluice deliveries payload 0cc6a32f --path '$.logs[0].topic0'",
      ),
    )
    .action((id: string, options: PayloadOptions) => payload(id, options, terminal));
  addConnectionOptions(
    command
      .command('release <delivery>')
      .description('Send a held delivery, although no other node confirmed its block'),
  )
    .addHelpText('after', examples('sluice deliveries release 0cc6a32f'))
    .action((id: string, options: ConnectionOptions) => release(id, options, terminal));
}

/** Releases a held delivery, together with the others of its stream in the block. */
async function release(
  given: string,
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const { sluice } = connect(options, terminal);
  const released = await sluice.releaseDelivery(await findDeliveryId(sluice, given));
  if (options.json) return terminal.printJson(released);
  for (const { id, phase, blockNumber } of released) {
    terminal.printText(`${id} is released: ${phase}, block ${blockNumber}`);
  }
}

interface ListOptions extends ConnectionOptions, TableOptions, FilterOptions {
  limit: string;
}

async function list(options: ListOptions, terminal: Terminal): Promise<void> {
  const connection = connect(options, terminal);
  const limit = toCount('--limit', options.limit, 1);
  const filter = await toFilter(options, connection);
  const rows: DeliverySummary[] = [];
  for await (const delivery of connection.sluice.listDeliveries({
    ...filter,
    limit: Math.min(limit, 100),
  })) {
    rows.push(delivery);
    if (rows.length >= limit) break;
  }
  if (options.json) return terminal.printJson(rows);
  if (rows.length === 0) {
    return (await describeNone(filter, connection)).forEach((line) => terminal.note(line));
  }
  printTable(
    terminal,
    rows,
    [
      { title: 'DELIVERY', value: ({ id }) => id, cut: 'middle' },
      { title: 'STREAM', value: ({ tag, streamId: id }) => tag || id, cut: 'end' },
      { title: 'BLOCK', value: ({ blockNumber }) => blockNumber, right: true },
      { title: 'PHASE', value: ({ phase }) => phase },
      { title: 'STATE', value: stateCell },
      { title: 'HTTP', value: ({ status }) => status ?? '–', right: true },
      { title: 'ATTEMPTS', value: ({ attempts }) => attempts, right: true },
      { title: 'CREATED', value: ({ createdAt }) => describeAgo(createdAt), right: true },
    ],
    options,
  );
}

/** Explains an empty list. The suggested command is on its own line, so that it can be copied. */
async function describeNone(filter: DeliveryFilter, { sluice }: Connection): Promise<string[]> {
  if (Object.keys(filter).length > 0) {
    return ['No deliveries match these flags.', `List all: ${sluiceCommand()} deliveries list`];
  }
  if ((await sluice.listStreamSummaries()).length === 0) {
    return ['No deliveries yet, because there are no streams.', CREATE_STREAM];
  }
  return [
    'No deliveries yet. Blocks that match a stream create deliveries.',
    `See why a block did not match: ${sluiceCommand()} explain <block>`,
  ];
}

const stateCell = ({ state }: DeliverySummary): Cell => {
  const tone = { succeeded: 'ok', failed: 'bad', quarantined: 'bad', cancelled: 'faint' } as const;
  return { text: state, tone: state in tone ? tone[state as keyof typeof tone] : 'warn' };
};

async function get(given: string, options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const { sluice } = connect(options, terminal);
  const delivery = await sluice.getDelivery(await findDeliveryId(sluice, given));
  const { bodyBytes: bytes, attemptList, pair, labels, remainingWaitsMs, ...rest } = delivery;
  if (options.json) {
    return terminal.printJson({ ...rest, labels, pair, remainingWaitsMs, bytes, attemptList });
  }
  const { unverified, ...summary } = rest;
  const fields = {
    ...summary,
    unverified: unverified
      .map((code) => `${code}: ${describeUnverifiedCode(code).meaning}`)
      .join(' '),
    afterThat: remainingWaitsMs.map((waitMs) => `+${Math.round(waitMs / 1000)} s`).join(', '),
    pair: pair && `${pair.id} ${pair.phase}`,
    bytes,
  };
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === '') continue;
    const isTime = typeof value === 'number' && /(?:At|Time)$/.test(name);
    printField(terminal, name.padEnd(16), isTime ? new Date(value).toISOString() : value);
  }
  const certificate = attemptList.findLast((attempt) => attempt.certificate !== null)?.certificate;
  if (certificate) {
    const { subject, names, expiresAt } = certificate;
    const until = new Date(expiresAt).toISOString();
    const text = `${subject} for ${names.join(', ')}, expires ${until}`;
    printField(terminal, 'certificate'.padEnd(16), text);
  }
  if (attemptList.length === 0) return;
  terminal.print();
  printTable(terminal, attemptList, [
    { title: '#', value: ({ number }) => number, right: true },
    { title: 'AT', value: ({ startedAt }) => new Date(startedAt).toISOString().slice(0, 19) },
    { title: 'HTTP', value: ({ status }) => status ?? '–', right: true },
    { title: 'DURATION', value: ({ durationMs }) => `${durationMs} ms`, right: true },
    { title: 'TIMING', value: ({ parts }) => describeParts(parts), cut: 'end' },
    { title: 'ERROR', value: ({ error }) => error ?? '', cut: 'end' },
    { title: 'RESPONSE', value: ({ responseBody }) => responseBody, cut: 'end' },
  ]);
}

/**
 * Formats the parts of an attempt's duration in milliseconds, such as `dns 2, tls 31, wait 4966`;
 * `open` marks a reused connection.
 */
function describeParts(parts: AttemptTimings | null): string {
  if (parts === null) return '';
  const { dnsMs, connectMs, tlsMs, waitMs, bodyMs } = parts;
  const timed = Object.entries({
    dns: dnsMs,
    connect: connectMs,
    tls: tlsMs,
    wait: waitMs,
    body: bodyMs,
  })
    .filter(([name, ms]) => ms !== null && (ms > 0 || name === 'wait'))
    .map(([name, ms]) => `${name} ${ms}`);
  return (waitMs !== null && connectMs === null ? ['open', ...timed] : timed).join(', ');
}

interface PayloadOptions extends ConnectionOptions {
  decode?: boolean;
  path?: string;
}

async function payload(given: string, options: PayloadOptions, terminal: Terminal): Promise<void> {
  const { sluice } = connect(options, terminal);
  const body = await sluice.getDeliveryBody(await findDeliveryId(sluice, given));
  if (!options.decode && options.path === undefined) {
    terminal.printExact(options.json ? `${body}\n` : body);
    return;
  }
  const webhook = JSON.parse(body) as AnyWebhook;
  const shown: unknown = options.decode ? webhooksLike(webhook).decode(webhook) : webhook;
  const value = options.path === undefined ? shown : readPath(shown, options.path);
  if (value === undefined)
    throw new CommandError(
      'not_found',
      `--path ${options.path} does not exist in the body`,
      'to see all paths, omit --path',
    );
  const text = typeof value === 'string' && !options.json ? value : toJson(value, !options.json);
  terminal.printExact(`${text}\n`);
}

const toJson = (value: unknown, indented: boolean): string =>
  JSON.stringify(
    value,
    (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each),
    indented ? 2 : undefined,
  );
