import { findAptosNetwork, toAptosChain } from '@sluice/kit/contract';
import type { ChainSettings } from '../../../chains/familyChains.ts';
import { APTOS_POLL_MS, type AptosConfig } from '../config/networks.ts';

export const toAptosSettings = (configs: readonly AptosConfig[]): ChainSettings<AptosConfig> => ({
  family: 'aptos',
  configs,
  idOf: ({ network }) => toAptosChain(network),
  startConfig: (chain) => ({
    network: findAptosNetwork(chain)!,
    urls: [],
    pollMs: APTOS_POLL_MS,
  }),
});
