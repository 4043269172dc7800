import type { ChainSettings } from '../../../chains/familyChains.ts';
import { type ChainConfig, startChain } from '../config/chains.ts';

export const toEvmSettings = (configs: readonly ChainConfig[]): ChainSettings<ChainConfig> => ({
  family: 'evm',
  configs,
  idOf: ({ id }) => id,
  startConfig: startChain,
});
