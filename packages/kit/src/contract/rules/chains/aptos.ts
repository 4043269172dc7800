/** Aptos networks, and the format of Aptos addresses and Move paths. */
import type { AptosNetwork } from '../../shapes.generated.ts';

export const APTOS_NETWORKS = ['mainnet', 'testnet', 'devnet', 'local'] as const;

/** Matches an address; `0x` and leading zeros are optional. */
const ADDRESS = /^(?:0[xX])?([0-9a-fA-F]{1,64})$/;

/**
 * Returns `0x` and 64 hex digits, or undefined if `value` is not an Aptos address. Keeps the
 * casing, as the official client does, because a service may compare the result with a stored
 * address.
 */
export function padAptosAddress(value: unknown): string | undefined {
  const digits = typeof value === 'string' ? ADDRESS.exec(value)?.[1] : undefined;
  return digits && `0x${digits.padStart(64, '0')}`;
}

/**
 * Normalizes a Move path or type for comparison: removes whitespace, and pads each address before
 * `::` to `0x` and 64 lowercase hex digits.
 */
export const toMovePath = (path: string): string =>
  path
    .replace(/\s+/g, '')
    .replace(
      /\b0x([0-9a-fA-F]{1,64})(?=::)/g,
      (_, digits: string) => `0x${digits.toLowerCase().padStart(64, '0')}`,
    );

/** Shortens the special addresses `0x0` to `0xf` (AIP-40) in a normalized path. */
export const shortenMovePath = (path: string): string =>
  path.replace(/0x0{63}([0-9a-f])(?![0-9a-f])/g, '0x$1');

/** Returns the network with this name or chain id (`1`, `2`); undefined for any other value. */
export function toAptosNetwork(value: unknown): AptosNetwork | undefined {
  if (value === '1' || value === 1) return 'mainnet';
  if (value === '2' || value === 2) return 'testnet';
  return APTOS_NETWORKS.find((name) => name === value);
}

/**
 * Chain ids of Aptos networks in lists that contain both chain families, such as delivery logs.
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
