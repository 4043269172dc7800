/** Combines the configured nodes with nodes that were added while the service ran. */
import { findAptosNetwork, toAptosChain } from '@sluice/kit/contract';
import {
  APTOS_POLL_MS,
  type AddedNode,
  type AptosConfig,
  type ChainConfig,
  startChain,
} from '../config.ts';

export interface ChainConfigs {
  chains: readonly ChainConfig[];
  aptos: readonly AptosConfig[];
}

/** Returns the URLs of the configured nodes, by chain. */
export const listConfigured = ({ chains, aptos }: ChainConfigs): Map<string, readonly string[]> =>
  new Map([
    ...chains.map(({ id, urls }) => [id, urls] as const),
    ...aptos.map(({ network, urls }) => [toAptosChain(network), urls] as const),
  ]);

/**
 * Returns whether an added URL is also configured. Added URLs are normalized; configured ones are
 * not.
 */
export const isConfigured = (configured: readonly string[], added: string): boolean =>
  configured.some((given) => {
    const url = new URL(given);
    url.hash = '';
    return url.href === added;
  });

/**
 * Returns the configuration with the added nodes, and with the chains that only added nodes serve.
 * An added node whose URL is also configured is left out.
 *
 * @param added added URLs; those without a chain are not nodes
 */
export function withAddedNodes(
  { chains, aptos }: ChainConfigs,
  added: readonly (AddedNode & { chain: string | null })[],
): ChainConfigs {
  const nodesOf = Map.groupBy(added, ({ chain }) => chain);
  nodesOf.delete(null);
  const take = (chain: string, configured: readonly string[]): AddedNode[] => {
    const nodes = nodesOf.get(chain) ?? [];
    nodesOf.delete(chain);
    return nodes
      .filter(({ url }) => !isConfigured(configured, url))
      .map(({ id, url }) => ({ id, url }));
  };
  const knownChains = chains.map((chain) => ({ ...chain, addedNodes: take(chain.id, chain.urls) }));
  const knownAptos = aptos.map((each) => ({
    ...each,
    addedNodes: take(toAptosChain(each.network), each.urls),
  }));
  const newChains: ChainConfig[] = [];
  const newAptos: AptosConfig[] = [];
  for (const chain of nodesOf.keys()) {
    if (chain === null) continue;
    const network = findAptosNetwork(chain);
    const addedNodes = take(chain, []);
    if (network !== undefined) {
      newAptos.push({ network, urls: [], addedNodes, pollMs: APTOS_POLL_MS });
    } else newChains.push({ ...startChain(chain, addedNodes[0]!.url), addedNodes });
  }
  return { chains: [...knownChains, ...newChains], aptos: [...knownAptos, ...newAptos] };
}
