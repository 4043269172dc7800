import type { AlertUrl } from '@sluice/kit/sluice';
import type { Command } from 'commander';
import { type ConnectionOptions, addConnectionOptions, connect } from '../connection/connection.ts';
import { examples } from '../flags/examples.ts';
import { sluiceCommand } from '../package/packaged.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortenId } from '../connection/shortIds.ts';
import { findAdded, printVerdict } from './addedUrls.ts';

export function declareAlerts(command: Command, terminal: Terminal): void {
  addConnectionOptions(command.command('list'))
    .description('List the URLs that get alerts')
    .addHelpText('after', examples('sluice alerts list'))
    .action((options: ConnectionOptions) => listAlertUrls(options, terminal));
  addConnectionOptions(command.command('add <url>'))
    .description('Send alerts to another URL')
    .addHelpText('after', examples('sluice alerts add https://ops.example/sluice'))
    .action((url: string, options: ConnectionOptions) => addAlertUrl(url, options, terminal));
  addConnectionOptions(command.command('test <url>'))
    .description('Send a test alert from the service to a URL')
    .addHelpText('after', examples('sluice alerts test https://ops.example/sluice'))
    .action(async (url: string, options: ConnectionOptions) => {
      const verdict = await connect(options, terminal).sluice.testAlertUrl({ url });
      printVerdict(url, verdict, { json: options.json, terminal });
    });
  addConnectionOptions(command.command('remove <id>'))
    .description('Stop sending alerts to a URL that was added')
    .addHelpText('after', examples('sluice alerts remove 0f3c1a2b'))
    .action((id: string, options: ConnectionOptions) => removeAlertUrl(id, options, terminal));
}

async function listAlertUrls(options: ConnectionOptions, terminal: Terminal): Promise<void> {
  const urls = await connect(options, terminal).sluice.listAlertUrls();
  if (options.json) {
    terminal.printJson(urls);
    return;
  }
  if (urls.length === 0) {
    terminal.note(
      `No alert URLs yet. Start the service with --notify-url, or add one: ${sluiceCommand()} alerts add <url>`,
    );
  }
  for (const url of urls) terminal.printText(describe(url), { indent: 4 });
}

async function addAlertUrl(
  url: string,
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const added = await connect(options, terminal).sluice.addAlertUrl({ url });
  if (options.json) terminal.printJson(added);
  else terminal.printText(describe(added));
}

async function removeAlertUrl(
  given: string,
  options: ConnectionOptions,
  terminal: Terminal,
): Promise<void> {
  const { sluice } = connect(options, terminal);
  const url = findAdded(given, await sluice.listAlertUrls(), {
    one: 'alert URL',
    many: 'alert URLs',
    list: 'sluice alerts list',
  });
  await sluice.removeAlertUrl(url.id);
  if (options.json) terminal.printJson(url);
  else terminal.printText(`${url.host} no longer gets alerts`);
}

const describe = ({ id, host, source }: AlertUrl): string =>
  source === 'added' ? `${host}  added ${shortenId(id)}` : `${host}  configured`;
