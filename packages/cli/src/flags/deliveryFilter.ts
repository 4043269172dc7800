/** Which deliveries are meant, by what they have in common: the flags, the same wherever many are chosen. */
import { DELIVERY_STATES } from '@sluice/kit/contract';
import type { DeliveryFilter } from '@sluice/kit/sluice';
import { type Command, Option } from 'commander';
import type { Connection } from '../connection/connection.ts';
import { toOpenRange, toTimeMs } from './durations.ts';
import { PHASES } from '../live/deliveryLine.ts';
import { findReplayId } from '../connection/shortIds.ts';
import { findStreamId } from '../streams/findStream.ts';

export interface FilterOptions {
  state?: (typeof DELIVERY_STATES)[number][];
  failed?: boolean;
  stream?: string[];
  chain?: string[];
  phase?: (typeof PHASES)[number][];
  status?: string[];
  error?: string;
  attempts?: string;
  reorged?: boolean;
  since?: string;
  until?: string;
  blocks?: string;
  replay?: string;
}

export const addFilterOptions = (command: Command): Command =>
  command
    .addOption(new Option('--state <state...>', 'in one of these states').choices(DELIVERY_STATES))
    .option('--failed', 'short for --state failed quarantined')
    .option('--stream <stream...>', 'of these, by id or tag; a deleted one by its id')
    .option('--chain <id...>', 'of these chains')
    .addOption(new Option('--phase <phase...>', 'of these').choices(PHASES))
    .option('--status <code...>', 'last answered with this: 404, 5xx, or none')
    .option('--error <text>', 'last failed with this in the error')
    .option('--attempts <range>', 'tried so often: 3, 2..5, or 3..')
    .option('--reorged', 'whose block left the chain')
    .option('--no-reorged', 'whose block is still on the chain')
    .option('--since <time>', 'made since then: 2h, or 2026-01-31T08:00Z')
    .option('--until <time>', 'made until then')
    .option('--blocks <range>', 'of a block, of from..to, or of from..')
    .option('--replay <replay>', 'last sent again by this one');

/** Empty where no flag is given. */
export async function toFilter(
  options: FilterOptions,
  connection: Connection,
): Promise<DeliveryFilter> {
  const { state, failed, stream, chain, phase, status, error, reorged, since, until } = options;
  const states = [...(state ?? []), ...(failed ? (['failed', 'quarantined'] as const) : [])];
  const streamId: string[] = [];
  for (const each of stream ?? []) streamId.push(await findStreamId(connection, each));
  const blocks = toOpenRange('--blocks', options.blocks);
  const attempts = toOpenRange('--attempts', options.attempts);
  const filter: DeliveryFilter = {
    state: states.length > 0 ? states : undefined,
    streamId: streamId.length > 0 ? streamId : undefined,
    chainId: chain,
    phase,
    status,
    error,
    attemptsFrom: attempts.from,
    attemptsTo: attempts.to,
    reorged,
    createdFrom: since === undefined ? undefined : toTimeMs('--since', since),
    createdTo: until === undefined ? undefined : toTimeMs('--until', until),
    blockFrom: blocks.from,
    blockTo: blocks.to,
    replayId:
      options.replay === undefined
        ? undefined
        : await findReplayId(connection.sluice, options.replay),
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}
