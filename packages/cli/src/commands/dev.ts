/** `sluice dev`: local chains, the service, the console and a sample receiver. */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Command, Option } from 'commander';
import { createClient, describeWebhook } from '@sluice/kit';
import type { AnyWebhook } from '@sluice/kit/contract';
import type { Config, Service } from '@sluice/service';
import { isBrowserHere, openInBrowser } from '../terminal/browser.ts';
import { announceDevService } from '../connection/contexts.ts';
import { openDevFolder } from '../dev/devFolder.ts';
import { newKey, readOrCreate, startOnFreePort } from '../dev/devService.ts';
import { printStartRow } from '../dev/startRows.ts';
import type { LocalFamily } from '../dev/localFamily.ts';
import { startLocalFamilies } from '../families/dev.ts';
import { webhooksLike } from '../families/webhooks.ts';
import { addServiceOptions, resolveSettings } from '../flags/options.ts';
import { examples } from '../flags/examples.ts';
import { findUnknownVariables } from '../flags/unknownVariables.ts';
import { findDemo, sluiceCommand } from '../package/packaged.ts';
import { type Receiver, startReceiver } from '../dev/receiver.ts';
import { toLine } from '../terminal/table.ts';
import { type Terminal, untilInterrupted } from '../terminal/terminal.ts';
import { VERSION } from '@sluice/service/build';

export interface DevOptions {
  /** Settings from the flags, the environment variables and the settings file. */
  settings: Config;
  fresh?: boolean;
  /**
   * Whether to open the console on the first start in a folder, if a browser is available. Default:
   * true
   */
  open?: boolean;
  /** Kind of sample data to start with; available only in a checkout. */
  seed?: 'demo';
}

export function declareDev(command: Command, terminal: Terminal): Command {
  addServiceOptions(command, '.sluice/dev')
    .option('--fresh', 'Delete the contents of the data folder before starting')
    .option('--no-open', 'Do not open the console on the first start')
    .addHelpText('after', examples('sluice dev', 'sluice dev --fresh --port 4500'));
  const demo = findDemo();
  if (demo !== undefined) {
    command.addOption(
      new Option(
        '--seed <day>',
        'Start with a day of sample data: simulated chains, ten streams, 100,000 deliveries',
      ).choices(['demo']),
    );
  }
  return command.action(async (given: Omit<DevOptions, 'settings'>) => {
    const { config, variables } = resolveSettings(command);
    const options: DevOptions = { ...given, settings: config };
    findUnknownVariables(command, terminal.env, variables).forEach((text) => terminal.note(text));
    if (demo === undefined || options.seed === undefined) return dev(options, terminal);
    const { devDemo } = (await import(pathToFileURL(demo).href)) as { devDemo: typeof dev };
    return devDemo(options, terminal);
  });
}

async function dev(options: DevOptions, terminal: Terminal): Promise<void> {
  const { print, tint } = terminal;
  const started = performance.now();
  const asked = untilInterrupted(terminal);
  const { settings } = options;
  const folder = settings.data;
  const { isFirstStart, release } = openDevFolder(settings, options);

  const warn = (text: string): void => print(`  ${tint('warn', '!')} ${text}`);
  const apiKey =
    settings.apiKey ?? readOrCreate(join(folder, 'api-key'), () => newKey('sluice_dev_'));
  const secret = settings.secret ?? readOrCreate(join(folder, 'secret'), () => newKey('whs_dev_'));

  const config: Config = {
    ...settings,
    apiKey,
    secret,
    allowPrivateEndpoints: true,
    allowNodeChanges: true,
  };
  const locals = await startLocalFamilies({ config, folder, warn });

  // The receiver starts before the service and on its previous port, so that queued deliveries reach it.
  const portFile = join(folder, 'receiver-port');
  const receiver = await startReceiver({
    port: Number(readOrCreate(portFile, () => '0')),
    secret,
    onWebhook: ({ webhook, id }) => printReceived(terminal, webhook, id),
    onRefused: (why) => warn(`rejected a webhook: ${why}`),
  });
  writeFileSync(portFile, String(receiver.port));

  let service: Service;
  try {
    service = await startOnFreePort(
      config,
      { warn, freshChains: locals.flatMap(({ freshChains }) => freshChains) },
      terminal,
    );
  } catch (error) {
    await receiver.close();
    await stopAll(locals);
    throw error;
  }
  const takeBack = announceDevService(folder, { apiUrl: service.url, apiKey });
  printStart(terminal, {
    service,
    rows: locals.flatMap(({ rows }) => rows),
    apiKey,
    receiver,
    folder,
    readyMs: performance.now() - started,
  });
  if (isFirstStart && options.open !== false && isBrowserHere(terminal)) {
    openInBrowser(toConsole(service.url, apiKey));
  }
  const client = createClient({ apiKey, baseUrl: service.url });
  for (const local of locals) await local.keepDemoStream(client, receiver.url);
  const activities = locals.map((local) => local.startActivity());

  await asked;
  takeBack();
  print();
  print(`  ${tint('faint', 'stopping: sending the last webhooks, then saving the chain')}`);
  for (const activity of activities) await activity?.stop();
  await service.stop();
  await receiver.close();
  await stopAll(locals);
  release();
}

/** Stops the chains in the reverse order of their starts. */
async function stopAll(locals: readonly LocalFamily[]): Promise<void> {
  for (const local of locals.toReversed()) await local.stop();
}

function printReceived(terminal: Terminal, webhook: AnyWebhook, id: string): void {
  const line = toLine(
    terminal,
    [
      { text: new Date().toISOString().slice(11, 23), tone: 'faint', optional: true },
      { text: '✓ verified', tone: 'ok' },
      { text: webhooksLike(webhook).describePhase(webhook) },
      { text: describeWebhook(webhook), cut: 'end' },
      { text: id.slice(-8), tone: 'faint', optional: true },
    ],
    2,
  );
  terminal.print(`  ${line}`);
}

/**
 * Returns the sign-in link of the console. The key is in the fragment, which browsers never send.
 */
const toConsole = (url: string, apiKey: string): string => `${url}/console/#key=${apiKey}`;

function printStart(
  terminal: Terminal,
  {
    service,
    rows,
    apiKey,
    receiver,
    folder,
    readyMs,
  }: {
    service: Service;
    rows: LocalFamily['rows'];
    apiKey: string;
    receiver: Receiver;
    folder: string;
    readyMs: number;
  },
): void {
  const { print, tint } = terminal;
  const row = (name: string, value: string, hint?: string): void =>
    printStartRow(terminal, name, value, hint);
  print();
  print(`  ${tint('strong', `sluice ${VERSION}`)}  ready in ${(readyMs / 1000).toFixed(1)} s`);
  print();
  row('Console', toConsole(service.url, apiKey));
  row('API', service.url, `x-api-key: ${apiKey}`);
  row('Secret', service.secret, 'signs the webhooks');
  for (const each of rows) row(...each);
  row('Receiver', receiver.url, 'prints each verified webhook below');
  row('Data', relative(process.cwd(), folder) || folder, '--fresh starts over; Ctrl-C stops');
  row(
    'Next',
    `${sluiceCommand()} listen 3000`,
    'run in this folder to forward webhooks to your app',
  );
  print();
}
