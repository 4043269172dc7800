/** The networks of Aptos, and how its addresses and paths are spelled. */
import type { AptosNetwork } from '../../shapes.generated.ts';

export const APTOS_NETWORKS = ['mainnet', 'testnet', 'devnet', 'local'] as const;

/** With or without `0x`; leading zeros may be left out. */
const ADDRESS = /^(?:0[xX])?([0-9a-fA-F]{1,64})$/;

/**
 * `0x` and 64 hex digits, or undefined when `value` is no Aptos address. The casing of the digits
 * stays: the official client keeps it too, and a service may compare what it stored.
 */
export function padAptosAddress(value: unknown): string | undefined {
  const digits = typeof value === 'string' ? ADDRESS.exec(value)?.[1] : undefined;
  return digits && `0x${digits.padStart(64, '0')}`;
}

/**
 * A Move path or type in the one spelling that can be compared: each address in it with `0x` and 64
 * lower-case hex digits, and no spaces. What is no path comes back likewise.
 */
export const toMovePath = (path: string): string =>
  path
    .replace(/\s+/g, '')
    .replace(
      /\b0x([0-9a-fA-F]{1,64})(?=::)/g,
      (_, digits: string) => `0x${digits.toLowerCase().padStart(64, '0')}`,
    );

/** With special addresses as people write them (AIP-40): `0x1` and the like, up to `0xf`. */
export const shortenMovePath = (path: string): string =>
  path.replace(/0x0{63}([0-9a-f])(?![0-9a-f])/g, '0x$1');

/** The network's name, from its name or its chain id (`1`, `2`), or undefined. */
export function toAptosNetwork(value: unknown): AptosNetwork | undefined {
  if (value === '1' || value === 1) return 'mainnet';
  if (value === '2' || value === 2) return 'testnet';
  return APTOS_NETWORKS.find((name) => name === value);
}

/**
 * What each network is called where chains of both families stand together, as in the logs of
 * deliveries: hex, because the official client reads nothing else there, and above 0x7fffffffffffffdb,
 * the greatest id EIP-2294 leaves to EVM chains. The last digit is Aptos's own chain id where a network keeps one.
 */
export const APTOS_CHAINS = {
  mainnet: '0xa970500000000001',
  testnet: '0xa970500000000002',
  devnet: '0xa970500000000003',
  local: '0xa970500000000004',
} as const satisfies Record<AptosNetwork, string>;

/** What a network is called on our own routes and in live events: `aptos:` and its name. */
export type AptosChain = `aptos:${AptosNetwork}`;

/** A network as {@link AptosChain}. */
export const toAptosChain = (network: AptosNetwork): AptosChain => `aptos:${network}`;

/**
 * The network of an {@link AptosChain} or of one of {@link APTOS_CHAINS}; undefined for any other
 * chain, so for those of EVM.
 */
export function findAptosNetwork(chain: string): AptosNetwork | undefined {
  return APTOS_NETWORKS.find(
    (network) => toAptosChain(network) === chain || APTOS_CHAINS[network] === chain,
  );
}
