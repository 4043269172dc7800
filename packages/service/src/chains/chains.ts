/** Manages the chains of this process: follows and stops them, and provides their calls. */
import { DEFAULT_MAX_WEBHOOK_BYTES } from '@sluice/kit/contract';
import { createAptosMatching } from './aptos/matching.ts';
import type { AptosConfig, ChainConfig, ServiceConfig } from '../config.ts';
import type { ChainConfigs } from './addedNodes.ts';
import { type FollowedAptos, followAptos } from './aptos/followedAptos.ts';
import { type Family, createFamily } from './chainFamily.ts';
import type { ChainSurroundings, FollowedChain } from './followedChain.ts';
import { type FollowedEvm, followEvm } from './evm/followedEvm.ts';
import { createEvmMatching } from './evm/matching.ts';
import { createRuleKeeper } from './ruleKeeper.ts';
import { createChainSharing } from './sharing.ts';

export interface Chains {
  readonly all: readonly FollowedChain[];
  /** Returns the calls of an EVM chain; undefined if this process does not follow such a chain. */
  callsOf(chain: string): FollowedEvm['calls'] | undefined;
  /**
   * Returns the calls of an Aptos network; undefined if this process does not follow the network.
   */
  aptosCallsOf(chain: string): FollowedAptos['calls'] | undefined;
  /** Returns why some chains can't be read yet; undefined unless their rules are being loaded. */
  whyUnprepared(): string | undefined;
  /**
   * Follows exactly these chains with these nodes from now on, once earlier calls have finished.
   * Chains with unchanged settings are not interrupted.
   */
  follow(configs: ChainConfigs): Promise<void>;
  /** Loads the rules, and then reads this process's share of the chains. */
  start(): void;
  stop(): Promise<void>;
}

export function createChains(
  config: Pick<
    ServiceConfig,
    'spamLists' | 'omitRecentFields' | 'maxWebhookBytes' | 'settleMs' | 'readAgainAfterMs'
  >,
  given: Omit<ChainSurroundings, 'isOwn'>,
): Chains {
  const { store, log, holder } = given;
  const surroundings: ChainSurroundings = { ...given, isOwn: (chain) => sharing.isOwn(chain) };
  const maxWebhookBytes = config.maxWebhookBytes ?? DEFAULT_MAX_WEBHOOK_BYTES;
  const matching = createEvmMatching({
    store,
    enrichOf: (chain) => evm.get(chain)!.enrich,
    spamLists: config.spamLists ?? {},
    omitRecentFields: config.omitRecentFields === true,
    maxWebhookBytes,
  });
  const evm: Family<ChainConfig, FollowedEvm> = createFamily({
    rules: createRuleKeeper(matching.live, given),
    open: (chain: ChainConfig) =>
      followEvm(chain, {
        ...surroundings,
        ...{ matching, maxWebhookBytes },
        ...{ settleMs: config.settleMs, readAgainAfterMs: config.readAgainAfterMs },
      }),
  });
  const aptosMatching = createAptosMatching({
    store,
    enrichOf: (chain) => aptos.get(chain)!.enrich,
    maxWebhookBytes,
  });
  const aptos: Family<AptosConfig, FollowedAptos> = createFamily({
    rules: createRuleKeeper(aptosMatching.live, given),
    open: (network: AptosConfig) =>
      followAptos(network, { ...surroundings, matching: aptosMatching }),
  });
  const families = [evm, aptos];
  const listAll = (): FollowedChain[] => [...evm.list(), ...aptos.list()];
  const sharing = createChainSharing({
    id: holder.id,
    ...{ store, log },
    listReadable: () => families.flatMap((family) => family.listReadable()),
    onChange() {
      for (const chain of listAll()) {
        if (sharing.isOwn(chain.id) !== (chain.standing === 'holder')) chain.check();
      }
    },
  });
  let isStarted = false;
  let following = Promise.resolve();

  return {
    get all() {
      return listAll();
    },
    whyUnprepared: () =>
      isStarted && families.some((family) => !family.isPrepared())
        ? 'the rules and addresses of the streams are being loaded'
        : undefined,
    callsOf: (chain) => evm.get(chain)?.calls,
    aptosCallsOf: (chain) => aptos.get(chain)?.calls,
    follow(configs) {
      const done = following.then(async () => {
        await Promise.all([evm.follow(configs.chains), aptos.follow(configs.aptos)]);
        sharing.look();
      });
      following = done.catch(() => {});
      return done;
    },
    start() {
      isStarted = true;
      for (const family of families) family.start(sharing.look);
      sharing.start();
    },
    async stop() {
      await following;
      await sharing.stop();
      await Promise.all(families.map((family) => family.stop()));
    },
  };
}
