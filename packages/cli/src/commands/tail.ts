import { DELIVERY_STATES } from '@sluice/kit/contract';
import { anyChain } from '@sluice/kit/calls';
import type { DeliverySummary } from '@sluice/kit/sluice';
import { type Command, Option } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toTimeMs } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { deliveryLine } from '../live/deliveryLine.ts';
import { followDeliveries } from '../live/followDeliveries.ts';
import { printState } from '../live/printState.ts';
import { findStream } from '../streams/findStream.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const declareTail = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command)
    .addOption(
      new Option('--state <state>', 'Only deliveries in this state').choices(DELIVERY_STATES),
    )
    .option('--stream <stream>', 'Only this stream, by ID or tag')
    .option('--chain <id>', 'Only this chain, e.g. 0x1, 137 or aptos:mainnet')
    .option('--since <time>', 'Start at this time, e.g. 2h (ago) or 2026-01-31T08:00Z')
    .addHelpText('after', examples('sluice tail', 'sluice tail --stream payments --since 2h'))
    .action((options: TailOptions) => tail(options, terminal));

interface TailOptions extends ConnectionOptions {
  state?: DeliverySummary['state'];
  stream?: string;
  chain?: string;
  since?: string;
}

/** Prints a line for each change of a delivery, until Ctrl-C. */
async function tail(options: TailOptions, terminal: Terminal): Promise<void> {
  const chain = options.chain === undefined ? undefined : toChain(options.chain);
  const { sluice } = connect(options, terminal);
  const streamId =
    options.stream === undefined ? undefined : (await findStream({ sluice }, options.stream)).id;
  const deliveries = followDeliveries(sluice, {
    signal: terminal.signal,
    streamId,
    sinceMs: options.since === undefined ? undefined : toTimeMs('--since', options.since),
    onState: printState(terminal),
  });
  /** Last printed state and attempts by delivery, so that a repeated state is not printed again. */
  const printed = new Map<string, string>();
  for await (const delivery of deliveries) {
    const { id, state, attempts, chainId, updatedAt } = delivery;
    if (options.state !== undefined && state !== options.state) continue;
    if (chain !== undefined && chainId !== chain) continue;
    const status = `${state} ${attempts}`;
    if (printed.get(id) === status) continue;
    remember(printed, id, status);
    if (options.json) terminal.printJson(delivery);
    else terminal.print(deliveryLine(terminal, delivery, delivery, { atMs: updatedAt }));
  }
}

/** Parses a chain ID as the service does, because deliveries are filtered here. */
function toChain(given: string): string {
  const { data, error } = anyChain.safeParse(given);
  if (error === undefined) return data;
  throw new CommandError('usage', `--chain ${given}: ${error.issues[0]!.message}`);
}

const REMEMBERED = 10_000;

function remember(printed: Map<string, string>, id: string, status: string): void {
  printed.delete(id);
  printed.set(id, status);
  if (printed.size > REMEMBERED) printed.delete(printed.keys().next().value!);
}
