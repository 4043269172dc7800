import { type Command, Option } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { examples } from '../flags/examples.ts';
import { PHASES, deliveryLine } from '../live/deliveryLine.ts';
import { followDeliveries } from '../live/followDeliveries.ts';
import {
  type ForwardedDelivery,
  createForwarder,
  findSecret,
  toLocalUrl,
} from '../live/forward.ts';
import { startListenView } from '../live/listenView.ts';
import { printState } from '../live/printState.ts';
import { sluiceCommand } from '../package/packaged.ts';
import { findStream, nameOf } from '../streams/findStream.ts';
import type { Terminal } from '../terminal/terminal.ts';

const OUTPUTS = ['interactive', 'compact', 'json', 'quiet'] as const;

export const declareListen = (command: Command, terminal: Terminal): Command =>
  addConnectionOptions(command.argument('[port]', 'Port, host:port or URL of your app', '3000'))
    .option('--path <path>', 'Path in your app', '/')
    .option('--stream <stream>', 'Only this stream, by ID or tag')
    .addOption(new Option('--events <phase...>', 'Only these phases').choices(PHASES))
    .option(
      '--secret <secret>',
      'Secret to sign with; default: SLUICE_SECRET, or the streams secret of the service',
    )
    .option('--print-secret', 'Print the secret to verify with, and exit')
    .addOption(
      new Option(
        '--output <how>',
        'Output format; default: interactive on a terminal, otherwise compact',
      ).choices(OUTPUTS),
    )
    .addHelpText(
      'after',
      examples('sluice listen 3000', 'sluice listen 3000 --path /webhooks --stream payments'),
    )
    .action((port: string, options: ListenOptions) => listen(port, options, terminal));

interface ListenOptions extends ConnectionOptions {
  path: string;
  stream?: string;
  events?: (typeof PHASES)[number][];
  secret?: string;
  printSecret?: boolean;
  output?: (typeof OUTPUTS)[number];
}

export interface ForwardedView {
  show(forwarded: ForwardedDelivery): void;
  close(): void;
}

/** Forwards each new delivery once, one at a time, until Ctrl-C. */
async function listen(port: string, options: ListenOptions, terminal: Terminal): Promise<void> {
  const connection = connect(options, terminal);
  const secret = await findSecret(options.secret, terminal.env, () => connection);
  if (options.printSecret) {
    terminal.print(secret);
    return;
  }
  const url = toLocalUrl('listen', port, options.path);
  const stream =
    options.stream === undefined ? undefined : await findStream(connection, options.stream);
  const forwarder = createForwarder({ connection, url, secret, signal: terminal.signal });
  terminal.note(
    `Forwarding ${stream ? nameOf(stream) : 'all streams'} of ${connection.url} to ${url}`,
  );
  terminal.note(`Print the secret to verify with: ${sluiceCommand()} listen --print-secret`, {
    tone: 'faint',
  });
  const output = options.json
    ? 'json'
    : (options.output ?? (terminal.canAsk && terminal.stdout.isTTY ? 'interactive' : 'compact'));
  const view =
    output === 'interactive'
      ? startListenView(terminal, { url, forwarder })
      : createLines(output, terminal);
  const isNew = rememberIds();
  try {
    const deliveries = followDeliveries(connection.sluice, {
      signal: terminal.signal,
      streamId: stream?.id,
      newOnly: true,
      onState: printState(terminal),
    });
    for await (const { id, state, phase } of deliveries) {
      if (state === 'enriching' || state === 'held' || state === 'cancelled') continue;
      if (options.events !== undefined && !options.events.includes(phase)) continue;
      if (!isNew(id)) continue;
      const forwarded = await forwarder.forward(id);
      if (forwarded === undefined) terminal.note(`Delivery ${id} no longer exists`);
      else if (!terminal.signal.aborted) view.show(forwarded);
    }
  } finally {
    view.close();
  }
}

function createLines(output: 'compact' | 'json' | 'quiet', terminal: Terminal): ForwardedView {
  return {
    show(forwarded) {
      const { delivery, status, error, durationMs } = forwarded;
      if (output === 'json') {
        const { id, streamId, tag, chainId, blockNumber, phase } = delivery;
        terminal.printJson({
          id,
          streamId,
          tag,
          chainId,
          blockNumber,
          phase,
          status,
          error,
          durationMs,
        });
      } else if (output === 'compact' || error !== null) {
        terminal.print(deliveryLine(terminal, delivery, forwarded, { atMs: Date.now() }));
      }
    },
    close() {},
  };
}

const REMEMBERED = 100_000;

/** Returns a function that returns whether an id is new. It remembers the last 100,000 ids. */
function rememberIds(): (id: string) => boolean {
  const seen = new Set<string>();
  return (id) => {
    if (seen.has(id)) return false;
    seen.add(id);
    if (seen.size > REMEMBERED) seen.delete(seen.values().next().value!);
    return true;
  };
}
