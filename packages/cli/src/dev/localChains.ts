/** The local chains of `sluice dev`, with sample activity. */
import { randomBytes, randomInt } from 'node:crypto';
import type { Config } from '@sluice/service';
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

/**
 * Number of confirmations on a local chain. It is low, so that both the unconfirmed and the
 * confirmed delivery arrive within seconds.
 */
const CONFIRMATIONS = 2;

export interface LocalEvm {
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
export async function startLocalEvm(
  statePath: string,
  onWarning: (text: string) => void,
): Promise<LocalEvm> {
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

export interface LocalAptos {
  readonly config: Config['aptos'][number];
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts a scripted Aptos chain with sample payments, because no package contains an Aptos node.
 * Each run has a random chain id, so that the service recognizes a new chain and starts over.
 */
export async function startLocalAptos(): Promise<LocalAptos> {
  const node = await startScriptedAptos({ chainId: randomInt(5, 250) });
  const activity = startAptosActivity({ ledger: node, perSecond: 1 });
  return {
    config: { network: 'local', urls: [node.url], pollMs: 250 },
    url: node.url,
    async stop() {
      activity.stop();
      await node.stop();
    },
  };
}
