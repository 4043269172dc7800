/**
 * A known EVM chain: one that the hosted Streams API lists, or the local development chain. Other
 * chains work too, with {@link DEFAULT_CONFIRMATIONS}.
 */
export interface EvmChain {
  /** `0x`-prefixed lowercase hex without leading zeros, such as `0x1`. */
  readonly id: string;
  readonly name: string;
  /** Short code for dense lists, at most 8 characters. */
  readonly code: string;
  /** Symbol of the native currency. */
  readonly currency: string;
  /** Number of blocks that must follow before the `confirmed: true` delivery. */
  readonly confirmations: number;
  /** True if the hosted service offers internal transactions on this chain. */
  readonly internalTransactions: boolean;
}

/** Number of confirmations of a chain that is not in {@link EVM_CHAINS}. */
export const DEFAULT_CONFIRMATIONS = 12;

const chain = (
  id: string,
  name: string,
  code: string,
  currency: string,
  confirmations: number,
  internalTransactions = true,
): EvmChain => ({ id, name, code, currency, confirmations, internalTransactions });

export const EVM_CHAINS: readonly EvmChain[] = [
  chain('0x1', 'Ethereum', 'ETH', 'ETH', 12),
  chain('0xaa36a7', 'Sepolia', 'SEP', 'ETH', 18),
  chain('0x4268', 'Holesky', 'HOL', 'ETH', 18),
  chain('0x89', 'Polygon', 'POL', 'POL', 100),
  chain('0x13882', 'Polygon Amoy', 'AMOY', 'POL', 100),
  chain('0x38', 'BNB Smart Chain', 'BNB', 'BNB', 18),
  chain('0x61', 'BNB Testnet', 'TBNB', 'BNB', 18),
  chain('0xa4b1', 'Arbitrum', 'ARB', 'ETH', 18),
  chain('0x66eee', 'Arbitrum Sepolia', 'ARBSEP', 'ETH', 600),
  chain('0x2105', 'Base', 'BASE', 'ETH', 100),
  chain('0x14a34', 'Base Sepolia', 'BASESEP', 'ETH', 100),
  chain('0xa', 'Optimism', 'OP', 'ETH', 500),
  chain('0xaa37dc', 'Optimism Sepolia', 'OPSEP', 'ETH', 600),
  chain('0xe708', 'Linea', 'LINEA', 'ETH', 100),
  chain('0xe705', 'Linea Sepolia', 'LINSEP', 'ETH', 100),
  chain('0xa86a', 'Avalanche', 'AVAX', 'AVAX', 100),
  chain('0xfa', 'Fantom', 'FTM', 'FTM', 100),
  chain('0xfa2', 'Fantom Testnet', 'TFTM', 'FTM', 100),
  chain('0x19', 'Cronos', 'CRO', 'CRO', 100, false),
  chain('0x64', 'Gnosis', 'GNO', 'xDAI', 100, false),
  chain('0x27d8', 'Gnosis Chiado', 'CHIADO', 'xDAI', 100, false),
  chain('0x15b38', 'Chiliz', 'CHZ', 'CHZ', 100),
  chain('0x15b32', 'Chiliz Testnet', 'TCHZ', 'CHZ', 100),
  chain('0x504', 'Moonbeam', 'GLMR', 'GLMR', 100, false),
  chain('0x505', 'Moonriver', 'MOVR', 'MOVR', 100, false),
  chain('0x507', 'Moonbase', 'MBASE', 'DEV', 100, false),
  chain('0x2eb', 'Flow', 'FLOW', 'FLOW', 100),
  chain('0x221', 'Flow Testnet', 'TFLOW', 'FLOW', 100),
  chain('0x7e4', 'Ronin', 'RON', 'RON', 100),
  chain('0x7e5', 'Ronin Saigon', 'SAIGON', 'RON', 100),
  chain('0x46f', 'Lisk', 'LISK', 'ETH', 100),
  chain('0x106a', 'Lisk Sepolia', 'LISKSEP', 'ETH', 100),
  chain('0x171', 'PulseChain', 'PLS', 'PLS', 100, false),
  chain('0x3e7', 'HyperEVM', 'HYPE', 'HYPE', 100),
  chain('0x8f', 'Monad', 'MON', 'MON', 100),
  chain('0x7a69', 'Local chain', 'LOCAL', 'ETH', 2),
];

const byId = new Map(EVM_CHAINS.map((known) => [known.id, known]));

/** Returns the listed chain with this id, or undefined. */
export function findEvmChain(id: string): EvmChain | undefined {
  return byId.get(id);
}

/**
 * Returns the default number of blocks that must follow before a block of this chain is confirmed.
 */
export function confirmationsOf(id: string): number {
  return byId.get(id)?.confirmations ?? DEFAULT_CONFIRMATIONS;
}
