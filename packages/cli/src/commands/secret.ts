import type { StreamSecret } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { toDurationMs } from '../flags/durations.ts';
import { examples } from '../flags/examples.ts';
import { findStream } from '../streams/findStream.ts';
import type { Terminal } from '../terminal/terminal.ts';

export function declareSecret(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('show <stream>'))
    .description('Print the signing secret of a stream')
    .addHelpText('after', examples('sluice secret show payments'))
    .action(async (name: string, options: ConnectionOptions) => {
      const { sluice } = connect(options, terminal);
      const { id } = await findStream({ sluice }, name);
      print(await sluice.getStreamSecret(id), options, terminal);
    });
  addConnectionOptions(command.command('rotate <stream>'))
    .description('Create a new signing secret; the old one also signs for a while')
    .option('--overlap <duration>', 'Time during which both secrets sign; 0 for none', '24h')
    .addHelpText('after', examples('sluice secret rotate payments --overlap 7d'))
    .action(async (name: string, options: ConnectionOptions & { overlap: string }) => {
      const overlapSeconds = Math.round(toDurationMs('--overlap', options.overlap) / 1_000);
      const { sluice } = connect(options, terminal);
      const { id } = await findStream({ sluice }, name);
      print(await sluice.rotateStreamSecret(id, { overlapSeconds }), options, terminal);
    });
  addConnectionOptions(command.command('end-overlap <stream>'))
    .description('Stop signing with the previous secrets now')
    .addHelpText('after', examples('sluice secret end-overlap payments'))
    .action(async (name: string, options: ConnectionOptions) => {
      const { sluice } = connect(options, terminal);
      const { id } = await findStream({ sluice }, name);
      const times = await sluice.endStreamSecretOverlap(id);
      if (options.json) terminal.printJson(times);
      else terminal.note('Only the current secret signs now');
    });
}

function print(secret: StreamSecret, { json }: ConnectionOptions, terminal: Terminal): void {
  if (json) {
    terminal.printJson(secret);
    return;
  }
  terminal.print(secret.secret);
  for (const { endsAt } of secret.previous) {
    terminal.note(`A previous secret also signs until ${new Date(endsAt).toISOString()}`);
  }
}
