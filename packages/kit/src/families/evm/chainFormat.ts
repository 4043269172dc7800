import type { ChainFormat } from '../chainFormat.ts';
import { toChainId } from './chains.ts';

export const EVM_CHAIN_FORMAT: ChainFormat = {
  accepts: 'a chain ID in hex, e.g. 0x1',
  toChainId,
  streamField: 'chainIds',
  toName: toChainId,
  nameOf: (chainId) => chainId,
  nodeSetting: 'chain',
  nodeUrl: '<rpcUrl>',
  nodeUrlProblem: () => undefined,
};
