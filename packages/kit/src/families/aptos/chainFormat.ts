import type { ChainFormat } from '../chainFormat.ts';
import { findAptosNetwork, toAptosChain, toAptosNetwork } from './chains.ts';

export const APTOS_CHAIN_FORMAT: ChainFormat = {
  accepts: 'an Aptos network, e.g. aptos:mainnet',
  toChainId(value) {
    const network = typeof value === 'string' ? findAptosNetwork(value) : undefined;
    return network && toAptosChain(network);
  },
  streamField: 'network',
  toName: toAptosNetwork,
  nameOf: (chainId) => findAptosNetwork(chainId) ?? chainId,
  nodeSetting: 'aptos',
  nodeUrl: '<fullnodeUrl>',
  nodeUrlProblem: (url) =>
    url.startsWith('http')
      ? undefined
      : 'should be the http:// or https:// URL of an Aptos REST API',
};
