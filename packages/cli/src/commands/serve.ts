import type { Command } from 'commander';
import { type Config, hasChains, startService } from '@sluice/service';
import { examples } from '../flags/examples.ts';
import { addServiceOptions, resolveSettings } from '../flags/options.ts';
import { findUnknownVariables } from '../flags/unknownVariables.ts';
import { type Terminal, untilInterrupted } from '../terminal/terminal.ts';
import { VERSION } from '@sluice/service/build';

export const declareServe = (command: Command, terminal: Terminal): Command =>
  addServiceOptions(command, '.sluice/data')
    .addHelpText(
      'after',
      examples(
        'sluice serve --chain 0x1=https://node.example',
        'sluice serve --chain 0x1=https://node.example,confirmations=12 --port 8080',
        'sluice serve --config sluice.yaml',
      ),
    )
    .action(() => {
      const { config, variables } = resolveSettings(command);
      findUnknownVariables(command, terminal.env, variables).forEach((text) => terminal.note(text));
      return serve(config, terminal);
    });

/**
 * Runs the service until SIGTERM, SIGINT or SIGHUP, then drains it. The exit code after a drain is
 * 0.
 */
async function serve(config: Config, terminal: Terminal): Promise<void> {
  const asked = untilInterrupted(terminal);
  const service = await startService(config);
  terminal.print(`sluice ${VERSION} listening on ${service.url}`);
  if (!hasChains(config) && config.roles.includes('ingest')) {
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
