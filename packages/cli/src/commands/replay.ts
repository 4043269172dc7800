import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection.ts';
import { deliveryLine } from '../live/deliveryLine.ts';
import { createForwarder, findSecret, toLocalUrl } from '../live/forward.ts';
import { CommandError } from '../terminal/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const declareReplay = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command.argument('<delivery...>', 'ids of deliveries'))
    .option('--to <url>', 'port or URL: sent from here, signed anew; the service is not involved')
    .option('--secret <secret>', 'with --to: signs them; default: the secret of the service')
    .action((ids: string[], options: ReplayOptions) => replay(ids, options, terminal));

interface ReplayOptions extends ConnectionOptions {
  to?: string;
  secret?: string;
}

/** Sends deliveries once more: by the service to their streams' URLs, or from here to another. */
async function replay(ids: string[], options: ReplayOptions, terminal: Terminal): Promise<void> {
  const connection = connect(options, terminal);
  const resend =
    options.to === undefined
      ? async (id: string): Promise<boolean> => {
          const delivery = await connection.sluice.getDelivery(id);
          await connection.api.history.replay(delivery);
          if (options.json) terminal.sayJson({ id, queued: true });
          else terminal.say(`${terminal.tint('ok', '✓')} queued ${id} for ${delivery.webhookUrl}`);
          return true;
        }
      : await createLocalResend(options.to, options, terminal);
  let failed = 0;
  for (const id of ids) if (!(await resend(id))) failed++;
  if (failed > 0) {
    throw new CommandError('partial', `${failed} of ${ids.length} were not taken by the receiver`);
  }
}

async function createLocalResend(
  to: string,
  options: ReplayOptions,
  terminal: Terminal,
): Promise<(id: string) => Promise<boolean>> {
  const connection = connect(options, terminal);
  const secret = await findSecret(options.secret, terminal.env, () => connection);
  const url = toLocalUrl('--to', to);
  const forwarder = createForwarder({ connection, url, secret, signal: terminal.signal });
  return async (id) => {
    const forwarded = await forwarder.forward(id);
    if (forwarded === undefined) throw new CommandError('not_found', `There is no delivery ${id}`);
    const { status, error, durationMs } = forwarded;
    if (options.json) terminal.sayJson({ id, url, status, error, durationMs });
    else terminal.say(deliveryLine(terminal, forwarded.delivery, forwarded, Date.now()));
    return error === null;
  };
}
