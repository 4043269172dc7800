/** `sluice dev`: everything on this machine, from a chain to a decoded webhook, in one process. */
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
import { keep, newKey, startOnFreePort } from '../dev/devService.ts';
import { sayStartRow } from '../dev/startRows.ts';
import { type LocalEvm, startLocalAptos, startLocalEvm } from '../dev/localChains.ts';
import { type ServiceOptions, addServiceOptions, toServiceConfig } from '../flags/options.ts';
import { findUnknownVariables } from '../flags/unknownVariables.ts';
import { findDemo, sluiceCommand } from '../package/packaged.ts';
import { type Receiver, startReceiver } from '../dev/receiver.ts';
import { toLine } from '../terminal/table.ts';
import { type Terminal, untilAsked } from '../terminal/terminal.ts';
import { VERSION } from '../version.ts';

const DEMO_TAG = 'demo';
const APTOS_DEMO_TAG = 'demo-aptos';
/** What the demo stream of Aptos tells of: the two functions that pay somebody. */
const APTOS_PAYMENTS = ['0x1::aptos_account::transfer', '0x1::coin::transfer'];

export interface DevOptions extends ServiceOptions {
  fresh?: boolean;
  /** False: never. Default: at the first start of a folder, where there is a browser. */
  open?: boolean;
  /** In a checkout. */
  seed?: 'demo';
}

export function declareDev(command: Command, terminal: Terminal): Command {
  addServiceOptions(command, '.sluice/dev')
    .option('--fresh', 'begin with an empty data folder')
    .option('--no-open', 'open no browser; otherwise the first start of a folder does');
  const demo = findDemo();
  if (demo !== undefined) {
    command.addOption(
      new Option(
        '--seed <day>',
        'begin with a day of sample data: scripted chains, ten streams, 100,000 deliveries',
      ).choices(['demo']),
    );
  }
  return command.action(async (options: DevOptions) => {
    findUnknownVariables(command, terminal.env).forEach((text) => terminal.note(text));
    if (demo === undefined || options.seed === undefined) return dev(options, terminal);
    const { devDemo } = (await import(pathToFileURL(demo).href)) as { devDemo: typeof dev };
    return devDemo(options, terminal);
  });
}

async function dev(options: DevOptions, terminal: Terminal): Promise<void> {
  const { say, tint } = terminal;
  const started = performance.now();
  const asked = untilAsked(terminal);
  const folder = options.data;
  const { isFirstStart, release } = openDevFolder(folder, options);

  const notice = (text: string): void => say(`  ${tint('warn', '!')} ${text}`);
  const evm = await startLocalEvm(join(folder, 'chain.json'), notice);
  const apiKey = options.apiKey ?? keep(join(folder, 'api-key'), () => newKey('sluice_dev_'));
  const secret = options.secret ?? keep(join(folder, 'secret'), () => newKey('whs_dev_'));

  // The receiver is there first, on the port it had: what waited since the last run finds it.
  const portFile = join(folder, 'receiver-port');
  const receiver = await startReceiver({
    port: Number(keep(portFile, () => '0')),
    secret,
    onWebhook({ webhook, id }) {
      const phase = webhook.confirmed ? 'confirmed  ' : 'unconfirmed';
      sayReceived(terminal, `#${webhook.block.number} ${phase}`, webhook, id);
    },
    onAptosWebhook({ webhook, id }) {
      sayReceived(terminal, `aptos #${webhook.block.number} final`, webhook, id);
    },
    onRefused: (why) => notice(`refused a webhook: ${why}`),
  });
  writeFileSync(portFile, String(receiver.port));

  const config: ServiceConfig = {
    ...toServiceConfig(options),
    apiKey,
    secret,
    allowPrivateEndpoints: true,
  };
  config.chains.push(evm.config);
  const aptos = config.aptos.length === 0 ? await startLocalAptos() : undefined;
  if (aptos !== undefined) config.aptos.push(aptos.config);
  const newEachTime = ['aptos:local', ...(evm.isNewEachTime ? [evm.config.id] : [])];
  let service: Service;
  try {
    service = await startOnFreePort(config, { notice, newEachTime }, terminal);
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
  say();
  say(`  ${tint('faint', 'stopping: the last webhooks go out, then the chain is saved')}`);
  await activity.stop();
  await service.stop();
  await receiver.close();
  await aptos?.stop();
  await evm.stop();
  release();
}

function sayReceived(
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
  terminal.say(`  ${line}`);
}

/** One stream over the three local contracts, made once and pointed at this run's receiver. */
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
    description: 'Token activity of the local chain',
    tag: DEMO_TAG,
    chainIds: [config.id],
    includeContractLogs: true,
    includeNativeTxs: true,
    abi: eventsOf(sluiceToken.abi, sluiceCollectible.abi, sluiceItems.abi),
  });
  await client.streams.addAddress(stream.id, Object.values(contracts));
}

/** One stream over the payments of everybody, made once and pointed at this run's receiver. */
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

/** Signed in: the key stands behind the #, which is never sent. */
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
    /** Of the scripted chain; undefined where a real one is read. */
    aptosUrl: string | undefined;
    networks: AptosNetwork[];
    apiKey: string;
    receiver: Receiver;
    folder: string;
    readyMs: number;
  },
): void {
  const { say, tint } = terminal;
  const row = (name: string, value: string, hint?: string): void =>
    sayStartRow(terminal, name, value, hint);
  say();
  say(`  ${tint('strong', `sluice ${VERSION}`)}  ready in ${(readyMs / 1000).toFixed(1)} s`);
  say();
  row('Console', toConsole(service.url, apiKey));
  row('API', service.url, `x-api-key: ${apiKey}`);
  row('Secret', service.secret, 'signs the webhooks');
  row('Chain', evm.config.id, evm.description);
  if (aptosUrl === undefined) row('Aptos', networks.join(', '), 'read from the nodes you gave');
  else {
    row('Aptos', `scripted at ${aptosUrl}, new each time`);
    row('', 'not a real chain; to read one:', '--aptos testnet=<fullnodeUrl>');
  }
  row('Receiver', receiver.url, 'verifies and decodes, one line per webhook:');
  row('Data', relative(process.cwd(), folder) || folder, 'begin anew with --fresh; Ctrl-C stops');
  row('Next', `${sluiceCommand()} listen 3000`, 'in this folder: to your own app');
  say();
}
