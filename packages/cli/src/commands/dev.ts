/** `sluice dev`: everything on this machine, from a chain to a decoded webhook, in one process. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type AbiItem, createClient } from '@sluice/kit';
import {
  type Service,
  type ServiceConfig,
  VERSION,
  createLog,
  startService,
} from '@sluice/service';
import {
  type Anvil,
  type DeployedContracts,
  deployContracts,
  sluiceCollectible,
  sluiceItems,
  sluiceToken,
  startActivity,
  startAnvil,
} from '@sluice/testkit';
import { type KnownToken, describeWebhook } from '../describe.ts';
import { type ServiceOptions, toServiceConfig } from '../options.ts';
import { EXIT, say, tint } from '../output.ts';
import { type Receiver, startReceiver } from '../receiver.ts';
import { untilAskedToStop } from '../signals.ts';

/** A local block is final for us after this many more: soon enough to watch both deliveries come. */
const CONFIRMATIONS = 2;
const DEMO_TAG = 'demo';

export async function dev(options: ServiceOptions & { fresh?: boolean }): Promise<void> {
  const started = performance.now();
  const asked = untilAskedToStop();
  const folder = options.data;
  if (options.fresh) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });

  const notice = (text: string): void => say(`  ${tint('warn', '!')} ${text}`);
  const anvil = await startAnvil({
    blockTimeSeconds: 1,
    statePath: join(folder, 'chain.json'),
    onNotice: notice,
  });
  const apiKey = options.apiKey ?? keep(join(folder, 'api-key'), () => newKey('sluice_dev_'));
  const secret = options.secret ?? keep(join(folder, 'secret'), () => newKey('whs_dev_'));

  // The receiver is there first, on the port it had: what waited since the last run finds it.
  const tokens = new Map<string, KnownToken>();
  const portFile = join(folder, 'receiver-port');
  const receiver = await startReceiver({
    port: Number(keep(portFile, () => '0')),
    secret,
    onWebhook(received) {
      const { webhook, id } = received;
      const phase = webhook.confirmed ? 'confirmed  ' : 'unconfirmed';
      say(
        `  ${tint('faint', new Date().toISOString().slice(11, 23))}  ${tint('ok', '✓ verified')}  ` +
          `#${webhook.block.number} ${phase}  ${describeWebhook(received, tokens)}  ${tint('faint', id.slice(-8))}`,
      );
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
  config.chains.push({
    id: `0x${anvil.chainId.toString(16)}`,
    urls: [anvil.wsUrl],
    confirmations: CONFIRMATIONS,
    pollMs: 1_000,
    resetWhenReplaced: true,
  });
  let service: Service;
  try {
    service = await startOnFreePort(config, notice);
  } catch (error) {
    await receiver.close();
    await anvil.stop();
    throw error;
  }
  const contracts = await deployContracts(anvil);
  tokens.set(contracts.erc20, { symbol: 'SLD', decimals: 6 });

  printStart({ service, anvil, apiKey, receiver, folder, readyMs: performance.now() - started });
  await createDemoStream({ service, apiKey, receiver, contracts, chainId: anvil.chainId });
  const activity = startActivity({ url: anvil.url, contracts, perSecond: 1 });

  await asked;
  say(`\n  ${tint('faint', 'stopping: the last webhooks go out, then the chain is saved')}`);
  await activity.stop();
  await service.stop();
  await receiver.close();
  await anvil.stop();
  process.exit(EXIT.success);
}

/** What this file of the data folder says, made once: keys and links stay good across starts. */
function keep(path: string, make: () => string): string {
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const text = make();
  writeFileSync(path, `${text}\n`, { mode: 0o600 });
  return text;
}

const newKey = (prefix: string): string => prefix + randomBytes(16).toString('hex');

/** Only what needs attention reaches the terminal: the webhooks are what one is here to see. */
async function startOnFreePort(
  config: ServiceConfig,
  notice: (text: string) => void,
): Promise<Service> {
  const log = createLog((line) => {
    if (!line.includes(' info ')) process.stderr.write(`  ${line}`);
  });
  try {
    return await startService(config, log);
  } catch (error) {
    const taken = error instanceof Error && /^Port \d+ .* in use/.test(error.message);
    if (!taken) throw error;
    notice(`port ${config.port} is in use, listening on another`);
    return startService({ ...config, port: 0 }, log);
  }
}

/** One stream over the three local contracts, made once and pointed at this run's receiver. */
async function createDemoStream({
  service,
  apiKey,
  receiver,
  contracts,
  chainId,
}: {
  service: Service;
  apiKey: string;
  receiver: Receiver;
  contracts: DeployedContracts;
  chainId: number;
}): Promise<void> {
  const client = createClient({ apiKey, baseUrl: service.url });
  for await (const stream of client.streams.list()) {
    if (stream.tag !== DEMO_TAG) continue;
    await client.streams.update(stream.id, { webhookUrl: receiver.url });
    return;
  }
  const stream = await client.streams.create({
    webhookUrl: receiver.url,
    description: 'Token activity of the local chain',
    tag: DEMO_TAG,
    chainIds: [chainId],
    includeContractLogs: true,
    includeNativeTxs: true,
    abi: eventsOf(sluiceToken.abi, sluiceCollectible.abi, sluiceItems.abi),
  });
  await client.streams.addAddress(stream.id, Object.values(contracts));
}

function eventsOf(...abis: (readonly AbiItem[])[]): AbiItem[] {
  const events = abis.flat().filter((item) => item.type === 'event');
  return [...new Map(events.map((item) => [JSON.stringify(item), item])).values()];
}

function printStart({
  service,
  anvil,
  apiKey,
  receiver,
  folder,
  readyMs,
}: {
  service: Service;
  anvil: Anvil;
  apiKey: string;
  receiver: Receiver;
  folder: string;
  readyMs: number;
}): void {
  const row = (name: string, value: string, hint = ''): void =>
    say(`  ${name.padEnd(10)}${value}  ${tint('faint', hint)}`.trimEnd());
  say(`\n  ${tint('strong', `sluice ${VERSION}`)}  ready in ${(readyMs / 1000).toFixed(1)} s\n`);
  row('Console', `${service.url}/console/#key=${apiKey}`);
  row('API', service.url, `x-api-key: ${apiKey}`);
  row('Secret', service.secret, 'signs the webhooks');
  row('Chain', `0x${anvil.chainId.toString(16)}`, `anvil at ${anvil.url}, a block each second`);
  row('Receiver', receiver.url, 'verifies and decodes, one line per webhook:');
  row('Data', relative(process.cwd(), folder) || folder, 'begin anew with --fresh; Ctrl-C stops');
  say();
}
