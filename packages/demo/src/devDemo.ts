/**
 * Runs `sluice dev --seed demo`: a service whose ledger contains a day of sample data at the first
 * start.
 */
import { join, relative } from 'node:path';
import { announceDevService } from '../../cli/src/connection/contexts.ts';
import { startDemo } from './startDemo.ts';
import { openDevFolder } from '../../cli/src/dev/devFolder.ts';
import { readOrCreate, newKey, startOnFreePort } from '../../cli/src/dev/devService.ts';
import { printStartRow } from '../../cli/src/dev/startRows.ts';
import { type Terminal, untilInterrupted } from '../../cli/src/terminal/terminal.ts';
import type { DevOptions } from '../../cli/src/commands/dev.ts';

export async function devDemo(options: DevOptions, terminal: Terminal): Promise<void> {
  const { print, tint } = terminal;
  const asked = untilInterrupted(terminal);
  const { settings } = options;
  const folder = settings.data;
  const { isFirstStart, release } = openDevFolder(settings, options);
  const apiKey =
    settings.apiKey ?? readOrCreate(join(folder, 'api-key'), () => newKey('sluice_dev_'));
  const secret = settings.secret ?? readOrCreate(join(folder, 'secret'), () => newKey('whs_dev_'));

  print();
  if (isFirstStart)
    print(`  ${tint('faint', 'writing a day of sample data (takes a few seconds)')}`);
  const demo = await startDemo({ folder });
  const warn = (text: string): void => print(`  ${tint('warn', '!')} ${text}`);
  const config = {
    ...settings,
    apiKey,
    secret,
    allowPrivateEndpoints: true,
    chains: demo.chains,
    aptos: demo.aptos,
  };
  const service = await startOnFreePort(
    config,
    { warn, freshChains: [...demo.chains.map(({ id }) => id), 'aptos:mainnet'] },
    terminal,
  ).catch(async (error: unknown) => {
    await demo.stop();
    throw error;
  });
  const takeBack = announceDevService(folder, { apiUrl: service.url, apiKey });
  demo.startActivity();
  const row = (name: string, value: string, hint?: string): void =>
    printStartRow(terminal, name, value, hint);
  row('Console', `${service.url}/console/#key=${apiKey}`);
  row('API', service.url, `x-api-key: ${apiKey}`);
  if (demo.deliveries !== undefined) {
    row('Day', `${demo.deliveries.toLocaleString('en')} deliveries`, 'sample data and chains');
  }
  row('Data', relative(process.cwd(), folder) || folder, '--fresh writes a new day; Ctrl-C stops');
  print();

  await asked;
  takeBack();
  await service.stop();
  await demo.stop();
  release();
}
