/** `sluice dev`: local chains, the service, the console and a sample receiver. */
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Command, Option } from 'commander';
import {
  type AbiItem,
  type AptosNetwork,
  type AptosWebhook,
  type Client,
  type EvmWebhook,
  createClient,
  describeWebhook,
} from '@sluice/kit';
import type { Service, ServiceConfig } from '@sluice/service';
import { sluiceCollectible, sluiceItems, sluiceToken } from '@sluice/testkit';
import { isBrowserHere, openInBrowser } from '../terminal/browser.ts';
import { announceDevService } from '../connection/contexts.ts';
import { openDevFolder } from '../dev/devFolder.ts';
import { newKey, readOrCreate, startOnFreePort } from '../dev/devService.ts';
import { printStartRow } from '../dev/startRows.ts';
import { type LocalEvm, startLocalAptos, startLocalEvm } from '../dev/localChains.ts';
import { addServiceOptions, resolveSettings } from '../flags/options.ts';
import { examples } from '../flags/examples.ts';
import { findUnknownVariables } from '../flags/unknownVariables.ts';
import { findDemo, sluiceCommand } from '../package/packaged.ts';
import { type Receiver, startReceiver } from '../dev/receiver.ts';
import { toLine } from '../terminal/table.ts';
import { type Terminal, untilInterrupted } from '../terminal/terminal.ts';
import { VERSION } from '@sluice/service/build';

const DEMO_TAG = 'demo';
const APTOS_DEMO_TAG = 'demo-aptos';
/** Payment functions that the Aptos demo stream matches. */
const APTOS_PAYMENTS = ['0x1::aptos_account::transfer', '0x1::coin::transfer'];

export interface DevOptions {
  /** Settings from the flags, the environment variables and the settings file. */
  settings: ServiceConfig;
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
  const folder = settings.dataFolder;
  const { isFirstStart, release } = openDevFolder(settings, options);

  const warn = (text: string): void => print(`  ${tint('warn', '!')} ${text}`);
  const evm = await startLocalEvm(join(folder, 'chain.json'), warn);
  const apiKey =
    settings.apiKey ?? readOrCreate(join(folder, 'api-key'), () => newKey('sluice_dev_'));
  const secret = settings.secret ?? readOrCreate(join(folder, 'secret'), () => newKey('whs_dev_'));

  // The receiver starts first and on its previous port, so that queued deliveries reach it.
  const portFile = join(folder, 'receiver-port');
  const receiver = await startReceiver({
    port: Number(readOrCreate(portFile, () => '0')),
    secret,
    onWebhook({ webhook, id }) {
      const phase = webhook.confirmed ? 'confirmed  ' : 'unconfirmed';
      printReceived(terminal, `#${webhook.block.number} ${phase}`, webhook, id);
    },
    onAptosWebhook({ webhook, id }) {
      printReceived(terminal, `aptos #${webhook.block.number} final`, webhook, id);
    },
    onRefused: (why) => warn(`rejected a webhook: ${why}`),
  });
  writeFileSync(portFile, String(receiver.port));

  const config: ServiceConfig = {
    ...settings,
    apiKey,
    secret,
    allowPrivateEndpoints: true,
    allowNodeChanges: true,
  };
  config.chains.push(evm.config);
  const aptos = config.aptos.length === 0 ? await startLocalAptos() : undefined;
  if (aptos !== undefined) config.aptos.push(aptos.config);
  const freshChains = ['aptos:local', ...(evm.isFreshEachStart ? [evm.config.id] : [])];
  let service: Service;
  try {
    service = await startOnFreePort(config, { warn, freshChains }, terminal);
  } catch (error) {
    await receiver.close();
    await aptos?.stop();
    await evm.stop();
    throw error;
  }
  const takeBack = announceDevService(folder, { apiUrl: service.url, apiKey });
  printStart(terminal, {
    service,
    evm,
    aptosUrl: aptos?.url,
    networks: config.aptos.map(({ network }) => network),
    apiKey,
    receiver,
    folder,
    readyMs: performance.now() - started,
  });
  if (isFirstStart && options.open !== false && isBrowserHere(terminal)) {
    openInBrowser(toConsole(service.url, apiKey));
  }
  const client = createClient({ apiKey, baseUrl: service.url });
  await createDemoStream({ client, receiver, evm });
  await createAptosDemoStream({
    client,
    receiver,
    networks: config.aptos.map(({ network }) => network),
  });
  const activity = evm.startActivity();

  await asked;
  takeBack();
  print();
  print(`  ${tint('faint', 'stopping: sending the last webhooks, then saving the chain')}`);
  await activity.stop();
  await service.stop();
  await receiver.close();
  await aptos?.stop();
  await evm.stop();
  release();
}

function printReceived(
  terminal: Terminal,
  block: string,
  webhook: EvmWebhook | AptosWebhook,
  id: string,
): void {
  const line = toLine(
    terminal,
    [
      { text: new Date().toISOString().slice(11, 23), tone: 'faint', optional: true },
      { text: '✓ verified', tone: 'ok' },
      { text: block },
      { text: describeWebhook(webhook), cut: 'end' },
      { text: id.slice(-8), tone: 'faint', optional: true },
    ],
    2,
  );
  terminal.print(`  ${line}`);
}

/**
 * Creates the stream for the local contracts, or updates the webhook URL of the existing stream.
 */
async function createDemoStream({
  client,
  receiver,
  evm: { config, contracts },
}: {
  client: Client;
  receiver: Receiver;
  evm: LocalEvm;
}): Promise<void> {
  for await (const stream of client.streams.list()) {
    if (stream.tag !== DEMO_TAG) continue;
    await client.streams.update(stream.id, { webhookUrl: receiver.url });
    return;
  }
  const stream = await client.streams.create({
    webhookUrl: receiver.url,
    description: 'Token activity on the local chain',
    tag: DEMO_TAG,
    chainIds: [config.id],
    includeContractLogs: true,
    includeNativeTxs: true,
    abi: eventsOf(sluiceToken.abi, sluiceCollectible.abi, sluiceItems.abi),
  });
  await client.streams.addAddress(stream.id, Object.values(contracts));
}

/**
 * Creates the stream for all Aptos payments, or updates the webhook URL and the networks of the
 * existing stream.
 */
async function createAptosDemoStream({
  client,
  receiver,
  networks,
}: {
  client: Client;
  receiver: Receiver;
  networks: AptosNetwork[];
}): Promise<void> {
  const networkType = 'aptos';
  for await (const stream of client.streams.list({ networkType })) {
    if (stream.tag !== APTOS_DEMO_TAG) continue;
    const change = { networkType, webhookUrl: receiver.url, network: networks } as const;
    await client.streams.update(stream.id, change);
    return;
  }
  await client.streams.create({
    networkType,
    webhookUrl: receiver.url,
    description: 'Payments on Aptos',
    tag: APTOS_DEMO_TAG,
    network: networks,
    functions: APTOS_PAYMENTS,
    allAddresses: true,
  });
}

function eventsOf(...abis: (readonly AbiItem[])[]): AbiItem[] {
  const events = abis.flat().filter((item) => item.type === 'event');
  return [...new Map(events.map((item) => [JSON.stringify(item), item])).values()];
}

/**
 * Returns the sign-in link of the console. The key is in the fragment, which browsers never send.
 */
const toConsole = (url: string, apiKey: string): string => `${url}/console/#key=${apiKey}`;

function printStart(
  terminal: Terminal,
  {
    service,
    evm,
    aptosUrl,
    networks,
    apiKey,
    receiver,
    folder,
    readyMs,
  }: {
    service: Service;
    evm: LocalEvm;
    /** URL of the scripted Aptos chain; undefined if the service reads real Aptos chains. */
    aptosUrl: string | undefined;
    networks: AptosNetwork[];
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
  row('Chain', evm.config.id, evm.description);
  if (aptosUrl === undefined) row('Aptos', networks.join(', '), 'read from your nodes');
  else {
    row('Aptos', `simulated at ${aptosUrl}, starts over with each run`);
    row('', 'to read a real chain:', '--aptos testnet=<fullnodeUrl>');
  }
  row('Receiver', receiver.url, 'prints each verified webhook below');
  row('Data', relative(process.cwd(), folder) || folder, '--fresh starts over; Ctrl-C stops');
  row(
    'Next',
    `${sluiceCommand()} listen 3000`,
    'run in this folder to forward webhooks to your app',
  );
  print();
}
