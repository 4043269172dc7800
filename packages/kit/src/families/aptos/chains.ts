/** Aptos networks and their chain ids. */
import type { AptosNetwork } from '../../contract/shapes.generated.ts';

export const APTOS_NETWORKS = ['mainnet', 'testnet', 'devnet', 'local'] as const;

/** Returns the network with this name or chain id (`1`, `2`); undefined for any other value. */
export function toAptosNetwork(value: unknown): AptosNetwork | undefined {
  if (value === '1' || value === 1) return 'mainnet';
  if (value === '2' || value === 2) return 'testnet';
  return APTOS_NETWORKS.find((name) => name === value);
}

/**
 * Chain ids of Aptos networks in lists of chains of all families, such as delivery logs.
 * They are hex, because the official client accepts nothing else, and larger than any EVM chain id
 * (EIP-2294).
 */
export const APTOS_CHAINS = {
  mainnet: '0xa970500000000001',
  testnet: '0xa970500000000002',
  devnet: '0xa970500000000003',
  local: '0xa970500000000004',
} as const satisfies Record<AptosNetwork, string>;

/** Chain id of an Aptos network in Sluice's own routes and live events. */
export type AptosChain = `aptos:${AptosNetwork}`;

export const toAptosChain = (network: AptosNetwork): AptosChain => `aptos:${network}`;

/**
 * Returns the network of an {@link AptosChain} or of one of {@link APTOS_CHAINS}; undefined for any
 * other chain.
 */
export function findAptosNetwork(chain: string): AptosNetwork | undefined {
  return APTOS_NETWORKS.find(
    (network) => toAptosChain(network) === chain || APTOS_CHAINS[network] === chain,
  );
}
