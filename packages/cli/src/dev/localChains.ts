/** The chains of `sluice dev`: on this machine, with activity on them. */
import { randomBytes, randomInt } from 'node:crypto';
import type { ServiceConfig } from '@sluice/service';
import {
  type Activity,
  type DeployedContracts,
  deployContracts,
  findAnvil,
  localContracts,
  startActivity,
  startAnvil,
  startAptosActivity,
  startScriptedActivity,
  startScriptedAptos,
  startScriptedChain,
} from '@sluice/testkit';

/** A local block is final for us after this many more: soon enough to watch both deliveries come. */
const CONFIRMATIONS = 2;

export interface LocalEvm {
  readonly config: ServiceConfig['chains'][number];
  readonly contracts: DeployedContracts;
  /** Whether it begins at block 0 with each start. */
  readonly isNewEachTime: boolean;
  /** What it is, and where. */
  readonly description: string;
  startActivity(): Activity;
  stop(): Promise<void>;
}

/** A real chain where anvil is found, kept across restarts; else a scripted one, new each time. */
export async function startLocalEvm(
  statePath: string,
  onNotice: (text: string) => void,
): Promise<LocalEvm> {
  if (findAnvil() === undefined) return startScriptedEvm();
  const anvil = await startAnvil({ blockTimeSeconds: 1, statePath, onNotice });
  const contracts = await deployContracts(anvil);
  return {
    config: toConfig(anvil.chainId, anvil.wsUrl),
    contracts,
    isNewEachTime: false,
    description: `anvil at ${anvil.url}, a block each second`,
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
    isNewEachTime: true,
    description: `scripted, since no anvil is found: not a real chain, new each time; ${chain.url}`,
    startActivity: () => startScriptedActivity({ chain, contracts, perSecond: 1 }),
    stop: () => chain.stop(),
  };
}

const toConfig = (chainId: number, url: string): LocalEvm['config'] => ({
  id: `0x${chainId.toString(16)}`,
  urls: [url],
  confirmations: CONFIRMATIONS,
  pollMs: 1_000,
  resetWhenReplaced: true,
});

export interface LocalAptos {
  readonly config: ServiceConfig['aptos'][number];
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * An Aptos chain with payments on it. No Aptos node comes as a package, so it is a scripted one, new
 * each time; its chain id is, too, and the service starts over with it.
 */
export async function startLocalAptos(): Promise<LocalAptos> {
  const node = await startScriptedAptos({ chainId: randomInt(5, 250) });
  const activity = startAptosActivity({ ledger: node, perSecond: 1 });
  return {
    config: { network: 'local', urls: [node.url], pollMs: 250, resetWhenReplaced: true },
    url: node.url,
    async stop() {
      activity.stop();
      await node.stop();
    },
  };
}
