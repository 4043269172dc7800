/** The family of EVM chains. */
import type { EvmWebhook } from '@sluice/kit/contract';
import { createAbiSource } from './chains/abiSource.ts';
import { unpackNames } from './chains/ensNames.ts';
import { EXPLORERS } from './chains/explorers.ts';
import { type FollowedEvm, followEvm } from './chains/followedEvm.ts';
import { createEvmMatching } from './chains/matching.ts';
import { toEvmSettings } from './chains/settings.ts';
import { findEvmChain, openEvmNode } from './chains/openNode.ts';
import { type FamilyChains, createFamilyChains } from '../../chains/familyChains.ts';
import { createRuleKeeper } from '../../chains/ruleKeeper.ts';
import { checkPlan } from './enrich/plan.ts';
import { checkReads } from './chains/reads/compileReads.ts';
import { checkRules } from './match/rules.ts';
import { checkAbi } from './match/selection.ts';
import { defineFamily } from '../family.ts';
import { createEvmBlockHandlers } from './api/blocks.ts';
import { createChildHandlers } from './api/children.ts';
import { createContractHandlers } from './api/contracts.ts';
import { EVM_API } from './api/evmApi.ts';
import { createNameHandler, findNameChain, resolveQuery } from './api/names.ts';
import { type EvmStreamNeeds, createEvmStreamHandlers } from './api/streams.ts';

export const EVM = defineFamily({
  ...EVM_API,
  explorers: EXPLORERS,
  openNode: openEvmNode,
  findChain: findEvmChain,
  readChainAndPhase(webhook) {
    const { chainId, removed, confirmed } = webhook as Partial<EvmWebhook>;
    if (chainId === undefined) return undefined;
    return { chainId, phase: removed ? 'removed' : confirmed ? 'confirmed' : 'unconfirmed' };
  },
  open(config, dependencies) {
    const { readAgainAfterMs, maxWebhookBytes } = config;
    const matching = createEvmMatching({
      store: dependencies.store,
      enrichOf: (chain) => chains.get(chain)!.enrich,
      spamLists: config.spamLists,
      omitRecentFields: config.omitRecentFields,
      maxWebhookBytes,
    });
    const chains: FamilyChains<FollowedEvm> = createFamilyChains({
      settings: toEvmSettings(config.chains),
      rules: createRuleKeeper(matching.live, dependencies),
      open: (chain) =>
        followEvm(chain, {
          ...dependencies,
          matching,
          maxWebhookBytes,
          settleMs: config.settle * 1_000,
          readAgainAfterMs,
        }),
    });
    const callsOf = (chain: string) => chains.get(chain)?.calls;
    const abiSource = createAbiSource(config.abiUrls);
    return {
      chains,
      /** Chains for which ABIs of verified contracts are read. */
      abiChains: abiSource.chains,
      resolveQuery: (query: string) => resolveQuery(query, { callsOf }),
      /** Unpacks the tables for ENS names, because this blocks the event loop. */
      prepareApi() {
        if (findNameChain({ callsOf }) !== undefined) unpackNames();
      },
      createHandlers: (needs: Omit<EvmStreamNeeds, 'checkOptions'>) => ({
        ...createEvmStreamHandlers({ ...needs, checkOptions }),
        ...createEvmBlockHandlers({ store: needs.store, callsOf, checkOptions }),
        ...createContractHandlers({ abiSource, callsOf }),
        ...createChildHandlers(needs),
        ...createNameHandler({ callsOf }),
      }),
    };
  },
});

const checkOptions: EvmStreamNeeds['checkOptions'] = (options, body) => [
  ...checkAbi(body, options),
  ...checkRules(options),
  ...checkPlan(options),
  ...checkReads(options),
];
