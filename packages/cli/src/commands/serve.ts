import type { Command } from 'commander';
import { startService } from '@sluice/service';
import { type ServiceOptions, addServiceOptions, toServiceConfig } from '../options.ts';
import { type Terminal, untilAsked } from '../terminal/terminal.ts';
import { VERSION } from '../version.ts';

export const declareServe = (command: Command, terminal: Terminal): Command =>
  addServiceOptions(command, '.sluice/data').action((options: ServiceOptions) =>
    serve(options, terminal),
  );

/** Runs the service until SIGTERM or SIGINT, then drains and exits with 0. */
async function serve(options: ServiceOptions, terminal: Terminal): Promise<void> {
  const asked = untilAsked(terminal);
  const service = await startService(toServiceConfig(options));
  terminal.say(`sluice ${VERSION} listening on ${service.url}`);
  if (service.newApiKey !== undefined) {
    terminal.stderr.write(
      `API key, shown this once (give your own with --api-key): ${service.newApiKey}\n`,
    );
  }
  await asked;
  await service.stop();
}
