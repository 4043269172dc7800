import type { Command } from 'commander';
import { startService } from '@sluice/service';
import { examples } from '../flags/examples.ts';
import { type ServiceOptions, addServiceOptions, toServiceConfig } from '../flags/options.ts';
import { findUnknownVariables } from '../flags/unknownVariables.ts';
import { type Terminal, untilInterrupted } from '../terminal/terminal.ts';
import { VERSION } from '../version.ts';

export const declareServe = (command: Command, terminal: Terminal): Command =>
  addServiceOptions(command, '.sluice/data')
    .addHelpText(
      'after',
      examples(
        'sluice serve --chain 0x1=https://node.example',
        'sluice serve --chain 0x1=https://node.example,confirmations=12 --port 8080',
      ),
    )
    .action((options: ServiceOptions) => {
      findUnknownVariables(command, terminal.env).forEach((text) => terminal.note(text));
      return serve(options, terminal);
    });

/** Runs the service until SIGTERM or SIGINT, then drains it. The exit code is 0. */
async function serve(options: ServiceOptions, terminal: Terminal): Promise<void> {
  const asked = untilInterrupted(terminal);
  const config = toServiceConfig(options);
  const service = await startService(config);
  terminal.print(`sluice ${VERSION} listening on ${service.url}`);
  if (
    config.chains.length === 0 &&
    config.aptos.length === 0 &&
    (config.roles ?? []).includes('ingest')
  ) {
    terminal.note('No chain is configured. Add one, e.g. --chain 0x1=https://your-node.example');
  }
  if (service.newApiKey !== undefined) {
    terminal.stderr.write(
      `API key, shown only once (use --api-key to set your own):\n${service.newApiKey}\n`,
    );
  }
  await asked;
  await service.stop();
}
