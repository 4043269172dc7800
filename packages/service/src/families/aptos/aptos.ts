/** The family of Aptos networks. */
import { type AptosWebhook, findAptosNetwork, toAptosChain } from '@sluice/kit/contract';
import { type FollowedAptos, followAptos } from './chains/followedAptos.ts';
import { createAptosMatching } from './chains/matching.ts';
import { toAptosSettings } from './chains/settings.ts';
import { type FamilyChains, createFamilyChains } from '../../chains/familyChains.ts';
import { createRuleKeeper } from '../../chains/ruleKeeper.ts';
import { createAptosProvider, findAptosChain } from './ingest/provider.ts';
import { defineFamily } from '../family.ts';
import { APTOS_API } from './api/aptosApi.ts';
import { createAptosBlockHandlers } from './api/blocks.ts';
import { createAptosStreamHandlers } from './api/streams.ts';

export const APTOS = defineFamily({
  ...APTOS_API,
  explorers: Object.fromEntries(
    ['mainnet', 'testnet', 'devnet'].map((network) => [
      `aptos:${network}`,
      `https://explorer.aptoslabs.com/?network=${network}`,
    ]),
  ),
  openNode: ({ chainId, url }, { connect }) =>
    createAptosProvider(findAptosNetwork(chainId)!, url, new URL(url).host, connect),
  findChain: (url, { connect }) => findAptosChain(url, new URL(url).host, connect),
  readChainAndPhase(webhook) {
    const { network } = webhook as Partial<AptosWebhook>;
    if (!network) return undefined;
    return { chainId: toAptosChain(network), phase: 'confirmed' };
  },
  open({ aptos, maxWebhookBytes }, dependencies) {
    const matching = createAptosMatching({
      store: dependencies.store,
      enrichOf: (chain) => chains.get(chain)!.enrich,
      maxWebhookBytes,
    });
    const chains: FamilyChains<FollowedAptos> = createFamilyChains({
      settings: toAptosSettings(aptos),
      rules: createRuleKeeper(matching.live, dependencies),
      open: (config) => followAptos(config, { ...dependencies, matching }),
    });
    return {
      chains,
      createHandlers: (needs) => ({
        ...createAptosStreamHandlers(needs),
        ...createAptosBlockHandlers({
          store: needs.store,
          callsOf: (chain) => chains.get(chain)?.calls,
        }),
      }),
    };
  },
});
