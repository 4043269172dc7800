/** Manages the chains of this process: follows them, and sends requests to them. */
import { DEFAULT_MAX_WEBHOOK_BYTES } from '@sluice/kit/contract';
import { createAptosMatching } from './aptos/matching.ts';
import type { ServiceConfig } from '../config.ts';
import { type FollowedAptos, followAptos } from './aptos/followedAptos.ts';
import type { ChainSurroundings, FollowedChain } from './followedChain.ts';
import { type FollowedEvm, followEvm } from './evm/followedEvm.ts';
import { createEvmMatching } from './evm/matching.ts';

export interface Chains {
  readonly all: readonly FollowedChain[];
  /** Returns the calls of an EVM chain; undefined if it is not configured or not an EVM chain. */
  callsOf(chain: string): FollowedEvm['calls'] | undefined;
  /** Like `callsOf`, for an Aptos network. */
  aptosCallsOf(chain: string): FollowedAptos['calls'] | undefined;
  /** Starts following each chain that no other process follows. */
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
      // Loads rules before the next block, so that a long address list does not delay it.
      forgetRules = store.signals.on('rules', () => {
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
