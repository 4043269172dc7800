/** The flags that filter deliveries, shared by all commands that select deliveries. */
import { DELIVERY_STATES, type DeliverySearch } from '@sluice/kit/contract';
import type { DeliveryFilter } from '@sluice/kit/sluice';
import { type Command, Option } from 'commander';
import type { Connection } from '../connection/connection.ts';
import { toCount, toOpenRange, toTimeMs } from './durations.ts';
import { PHASES } from '../live/deliveryLine.ts';
import { findReplayId } from '../connection/shortIds.ts';
import { findStreamId } from '../streams/findStream.ts';

export interface FilterOptions {
  state?: (typeof DELIVERY_STATES)[number][];
  failed?: boolean;
  stream?: string[];
  destination?: string;
  receiver?: string;
  chain?: string[];
  phase?: (typeof PHASES)[number][];
  status?: string[];
  error?: string;
  attempts?: string;
  duration?: string;
  reorged?: boolean;
  since?: string;
  until?: string;
  blocks?: string;
  transaction?: string;
  address?: string;
  body?: string;
  replay?: string;
}

/** A filter, and the searches of the deliveries that match it. */
export type SearchedFilter = DeliveryFilter &
  Pick<DeliverySearch, 'find' | 'body' | 'durationFrom' | 'durationTo'>;

export const addFilterOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--state <state...>', 'Only deliveries in these states').choices(DELIVERY_STATES),
    )
    .option('--failed', 'Short for --state failed quarantined')
    .option(
      '--stream <stream...>',
      'Only deliveries of these streams, by ID or tag (deleted streams only by ID)',
    )
    .option(
      '--destination <number>',
      'Only deliveries to this destination of the streams; 0 for the webhook URL',
    )
    .option(
      '--receiver <host>',
      'Only deliveries to this host, or to an inbox: api.example:8443, "inbox demo"',
    )
    .option('--chain <id...>', 'Only deliveries on these chains')
    .addOption(new Option('--phase <phase...>', 'Only deliveries in these phases').choices(PHASES))
    .option(
      '--status <code...>',
      'Only deliveries with this last response status: 404, 5xx, or none',
    )
    .option('--error <text>', 'Only deliveries whose last error contains this text')
    .option('--attempts <range>', 'Only deliveries with this number of attempts: 3, 2..5, or 3..')
    .option(
      '--duration <range>',
      'Only deliveries with an attempt of this duration in milliseconds: 5000.., or 100..200; searches attempts, newest first',
    )
    .option('--reorged', 'Only deliveries whose block left the chain in a reorg')
    .option('--no-reorged', 'Only deliveries whose block is still on the chain')
    .option(
      '--since <time>',
      'Only deliveries created at or after this time, e.g. 2h (ago) or 2026-01-31T08:00Z',
    )
    .option('--until <time>', 'Only deliveries created at or before this time')
    .option('--blocks <range>', 'Only deliveries of these blocks: 100, 100..200, or 100..')
    .option('--transaction <hash>', 'Only deliveries with records of this transaction')
    .option(
      '--address <address>',
      'Only deliveries with this address in their body, or with a watched address of this label; searches bodies, newest first',
    )
    .option(
      '--body <search>',
      "Only deliveries whose body contains this text, or has this path and value: '$.logs[*].address = 0x…'; searches bodies, newest first",
    )
    .option('--replay <replay>', 'Only deliveries last sent by this replay');

/** Builds the filter, which is empty if no flag is given. */
export async function toFilter(
  options: FilterOptions,
  connection: Connection,
): Promise<SearchedFilter> {
  const { state, failed, stream, chain, phase, status, error, reorged, since, until } = options;
  const states = [...(state ?? []), ...(failed ? (['failed', 'quarantined'] as const) : [])];
  const streamId: string[] = [];
  for (const each of stream ?? []) streamId.push(await findStreamId(connection, each));
  const blocks = toOpenRange('--blocks', options.blocks);
  const attempts = toOpenRange('--attempts', options.attempts);
  const duration = toOpenRange('--duration', options.duration);
  const filter: SearchedFilter = {
    state: states.length > 0 ? states : undefined,
    streamId: streamId.length > 0 ? streamId : undefined,
    destination:
      options.destination === undefined ? undefined : toCount('--destination', options.destination),
    receiver: options.receiver,
    chainId: chain,
    phase,
    status,
    error,
    attemptsFrom: attempts.from,
    attemptsTo: attempts.to,
    durationFrom: duration.from,
    durationTo: duration.to,
    reorged,
    createdFrom: since === undefined ? undefined : toTimeMs('--since', since),
    createdTo: until === undefined ? undefined : toTimeMs('--until', until),
    blockFrom: blocks.from,
    blockTo: blocks.to,
    transactionHash: options.transaction,
    find: options.address,
    body: options.body,
    replayId:
      options.replay === undefined
        ? undefined
        : await findReplayId(connection.sluice, options.replay),
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}
