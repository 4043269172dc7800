/** Manages the chains of this process: follows them, and sends requests to them. */
import { DEFAULT_MAX_WEBHOOK_BYTES } from '@sluice/kit/contract';
import { createAptosMatching } from './aptos/matching.ts';
import type { ServiceConfig } from '../config.ts';
import { type FollowedAptos, followAptos } from './aptos/followedAptos.ts';
import type { ChainSurroundings, FollowedChain } from './followedChain.ts';
import { type FollowedEvm, followEvm } from './evm/followedEvm.ts';
import { createEvmMatching } from './evm/matching.ts';
import { createRuleKeeper } from './ruleKeeper.ts';
import { createChainSharing } from './sharing.ts';

export interface Chains {
  readonly all: readonly FollowedChain[];
  /** Returns the calls of an EVM chain; undefined if it is not configured or not an EVM chain. */
  callsOf(chain: string): FollowedEvm['calls'] | undefined;
  /** Like `callsOf`, for an Aptos network. */
  aptosCallsOf(chain: string): FollowedAptos['calls'] | undefined;
  /** Message that explains why no chain is read yet; undefined once this process is ready. */
  whyUnprepared(): string | undefined;
  /** Loads the rules, and then reads this process's share of the chains. */
  start(): void;
  stop(): Promise<void>;
}

export function createChains(
  config: Pick<ServiceConfig, 'chains' | 'aptos' | 'spamLists' | 'maxWebhookBytes'>,
  given: Omit<ChainSurroundings, 'isOwn'>,
): Chains {
  const { store, log, holder } = given;
  const surroundings: ChainSurroundings = { ...given, isOwn: (chain) => sharing.isOwn(chain) };
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
  const families = [
    { chains: [...evm.values()], rules: createRuleKeeper(matching.live, given) },
    { chains: [...aptos.values()], rules: createRuleKeeper(aptosMatching.live, given) },
  ].filter(({ chains }) => chains.length > 0);
  const sharing = createChainSharing({
    id: holder.id,
    ...{ store, log },
    listReadable: () =>
      families
        .filter(({ rules }) => rules.isLoaded())
        .flatMap(({ chains }) => chains.map(({ id }) => id)),
    onChange() {
      for (const chain of all) {
        if (sharing.isOwn(chain.id) !== (chain.standing === 'holder')) chain.check();
      }
    },
  });
  let isStarted = false;

  return {
    all,
    whyUnprepared: () =>
      isStarted && families.some(({ rules }) => !rules.isLoaded())
        ? 'the rules and addresses of the streams are being loaded'
        : undefined,
    callsOf: (chain) => evm.get(chain)?.calls,
    aptosCallsOf: (chain) => aptos.get(chain)?.calls,
    start() {
      isStarted = true;
      for (const { rules } of families) rules.start(sharing.look);
      for (const chain of all) chain.start();
      sharing.start();
    },
    async stop() {
      for (const { rules } of families) rules.stop();
      await sharing.stop();
      await Promise.all(all.map((chain) => chain.stop()));
    },
  };
}
