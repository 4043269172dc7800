/** The chains that were given to this process: what can be asked of each, and their reading. */
import { DEFAULT_MAX_WEBHOOK_BYTES } from '@sluice/kit/contract';
import { createAptosMatching } from './aptos/matching.ts';
import type { ServiceConfig } from '../config.ts';
import { type FollowedAptos, followAptos } from './aptos/followedAptos.ts';
import type { ChainSurroundings, FollowedChain } from './followedChain.ts';
import { type FollowedEvm, followEvm } from './evm/followedEvm.ts';
import { createEvmMatching } from './evm/matching.ts';

export interface Chains {
  readonly all: readonly FollowedChain[];
  /** Undefined for a chain that was not given, or is none of EVM. */
  callsOf(chain: string): FollowedEvm['calls'] | undefined;
  /** The same of an Aptos network. */
  aptosCallsOf(chain: string): FollowedAptos['calls'] | undefined;
  /** Reads them, each while no other process does. */
  start(): void;
  stop(): Promise<void>;
}

export function createChains(
  config: Pick<ServiceConfig, 'chains' | 'aptos' | 'spamLists' | 'maxWebhookBytes'>,
  surroundings: ChainSurroundings,
): Chains {
  const { store } = surroundings;
  const maxWebhookBytes = config.maxWebhookBytes ?? DEFAULT_MAX_WEBHOOK_BYTES;
  const evm = new Map<string, FollowedEvm>();
  const matching = createEvmMatching({
    store,
    enrichOf: (chain) => evm.get(chain)!.enrich,
    spamLists: config.spamLists ?? {},
    maxWebhookBytes,
  });
  for (const chain of config.chains) {
    evm.set(chain.id, followEvm(chain, { ...surroundings, matching, maxWebhookBytes }));
  }
  const aptos = new Map<string, FollowedAptos>();
  const aptosMatching = createAptosMatching({
    store,
    enrichOf: (chain) => aptos.get(chain)!.enrich,
    maxWebhookBytes,
  });
  for (const network of config.aptos) {
    const followed = followAptos(network, { ...surroundings, matching: aptosMatching });
    aptos.set(followed.id, followed);
  }
  const all: FollowedChain[] = [...evm.values(), ...aptos.values()];
  let forgetRules = (): void => {};

  return {
    all,
    callsOf: (chain) => evm.get(chain)?.calls,
    aptosCallsOf: (chain) => aptos.get(chain)?.calls,
    start() {
      // Before the next block comes: a long list of addresses then holds it up no longer.
      forgetRules = store.notices.on('rules', () => {
        if (evm.size > 0) matching.live.refresh().catch(() => {});
        if (aptos.size > 0) aptosMatching.live.refresh().catch(() => {});
      });
      for (const chain of all) chain.start();
    },
    async stop() {
      forgetRules();
      await Promise.all(all.map((chain) => chain.stop()));
    },
  };
}
