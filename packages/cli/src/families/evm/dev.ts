/** The local EVM chain of `sluice dev`, with sample activity. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { AbiItem, Client } from '@sluice/kit';
import type { Config } from '@sluice/service';
import {
  type Activity,
  type DeployedContracts,
  deployContracts,
  findAnvil,
  localContracts,
  sluiceCollectible,
  sluiceItems,
  sluiceToken,
  startActivity,
  startAnvil,
  startScriptedActivity,
  startScriptedChain,
} from '@sluice/testkit';
import type { LocalFamily, LocalNeeds } from '../../dev/localFamily.ts';

const DEMO_TAG = 'demo';

export async function startLocalEvm({ config, folder, warn }: LocalNeeds): Promise<LocalFamily> {
  const evm = await startChain(join(folder, 'chain.json'), warn);
  config.chains.push(evm.config);
  return {
    freshChains: evm.isFreshEachStart ? [evm.config.id] : [],
    rows: [['Chain', evm.config.id, evm.description]],
    keepDemoStream: (client, webhookUrl) => keepDemoStream(evm, client, webhookUrl),
    startActivity: () => evm.startActivity(),
    stop: () => evm.stop(),
  };
}

/**
 * Number of confirmations on a local chain. It is low, so that both the unconfirmed and the
 * confirmed delivery arrive within seconds.
 */
const CONFIRMATIONS = 2;

interface LocalEvm {
  readonly config: Config['chains'][number];
  readonly contracts: DeployedContracts;
  /** Whether the chain starts over at block 0 with each run. */
  readonly isFreshEachStart: boolean;
  /** Kind and URL of the chain, for the start screen. */
  readonly description: string;
  startActivity(): Activity;
  stop(): Promise<void>;
}

/** If anvil is installed, starts it with its saved state; otherwise starts a new scripted chain. */
async function startChain(statePath: string, onWarning: (text: string) => void): Promise<LocalEvm> {
  if (findAnvil() === undefined) return startScriptedEvm();
  const anvil = await startAnvil({ blockTimeSeconds: 1, statePath, onWarning });
  const contracts = await deployContracts(anvil);
  return {
    config: toConfig(anvil.chainId, anvil.wsUrl),
    contracts,
    isFreshEachStart: false,
    description: `anvil at ${anvil.url}, one block per second`,
    startActivity: () => startActivity({ url: anvil.url, contracts, perSecond: 1 }),
    stop: () => anvil.stop(),
  };
}

async function startScriptedEvm(): Promise<LocalEvm> {
  const chain = await startScriptedChain({ seed: randomBytes(8).toString('hex') });
  const contracts = await localContracts();
  return {
    config: toConfig(chain.chainId, chain.wsUrl),
    contracts,
    isFreshEachStart: true,
    description: `simulated at ${chain.url}, starts over with each run; install anvil for a real chain`,
    startActivity: () => startScriptedActivity({ chain, contracts, perSecond: 1 }),
    stop: () => chain.stop(),
  };
}

const toConfig = (chainId: number, url: string): LocalEvm['config'] => ({
  id: `0x${chainId.toString(16)}`,
  urls: [url],
  confirmations: CONFIRMATIONS,
  pollMs: 1_000,
});

/**
 * Creates the stream for the local contracts, or updates the webhook URL of the existing stream.
 */
async function keepDemoStream(
  { config, contracts }: LocalEvm,
  client: Client,
  webhookUrl: string,
): Promise<void> {
  for await (const stream of client.streams.list()) {
    if (stream.tag !== DEMO_TAG) continue;
    await client.streams.update(stream.id, { webhookUrl });
    return;
  }
  const stream = await client.streams.create({
    webhookUrl,
    description: 'Token activity on the local chain',
    tag: DEMO_TAG,
    chainIds: [config.id],
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
