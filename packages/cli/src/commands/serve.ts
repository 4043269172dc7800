import { VERSION, startService } from '@sluice/service';
import { type ServiceOptions, toServiceConfig } from '../options.ts';
import { EXIT, say } from '../output.ts';
import { untilAskedToStop } from '../signals.ts';

/** Runs the service until SIGTERM or SIGINT, then drains and exits with 0. */
export async function serve(options: ServiceOptions): Promise<void> {
  const asked = untilAskedToStop();
  const service = await startService(toServiceConfig(options));
  say(`sluice ${VERSION} listening on ${service.url}`);
  if (service.newApiKey !== undefined) {
    process.stderr.write(
      `API key, shown this once (give your own with --api-key): ${service.newApiKey}\n`,
    );
  }
  await asked;
  await service.stop();
  process.exit(EXIT.success);
}
