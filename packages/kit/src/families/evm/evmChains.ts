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
  /** Usual time between blocks, in milliseconds. */
  readonly blockMs: number;
  /**
   * Number of blocks that must follow before the `confirmed: true` delivery: the hosted service's
   * number, or more if blocks have become faster since it was set, so that it takes as long.
   */
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
  /** `was`: time between blocks when the hosted service set its number. Default: the same. */
  { blockMs, was = blockMs }: { blockMs: number; was?: number },
  hostedConfirmations: number,
  internalTransactions = true,
): EvmChain => {
  const confirmations = Math.max(
    hostedConfirmations,
    Math.ceil((hostedConfirmations * was) / blockMs),
  );
  return { id, name, code, currency, blockMs, confirmations, internalTransactions };
};

export const EVM_CHAINS: readonly EvmChain[] = [
  chain('0x1', 'Ethereum', 'ETH', 'ETH', { blockMs: 12_000 }, 12),
  chain('0xaa36a7', 'Sepolia', 'SEP', 'ETH', { blockMs: 12_000 }, 18),
  chain('0x4268', 'Holesky', 'HOL', 'ETH', { blockMs: 12_000 }, 18),
  chain('0x89', 'Polygon', 'POL', 'POL', { blockMs: 2_000 }, 100),
  chain('0x13882', 'Polygon Amoy', 'AMOY', 'POL', { blockMs: 2_000 }, 100),
  chain('0x38', 'BNB Smart Chain', 'BNB', 'BNB', { blockMs: 450 }, 18),
  chain('0x61', 'BNB Testnet', 'TBNB', 'BNB', { blockMs: 450 }, 18),
  chain('0xa4b1', 'Arbitrum', 'ARB', 'ETH', { blockMs: 250 }, 18),
  chain('0x66eee', 'Arbitrum Sepolia', 'ARBSEP', 'ETH', { blockMs: 250 }, 600),
  chain('0x2105', 'Base', 'BASE', 'ETH', { blockMs: 200, was: 2_000 }, 100),
  chain('0x14a34', 'Base Sepolia', 'BASESEP', 'ETH', { blockMs: 200, was: 2_000 }, 100),
  chain('0xa', 'Optimism', 'OP', 'ETH', { blockMs: 2_000 }, 500),
  chain('0xaa37dc', 'Optimism Sepolia', 'OPSEP', 'ETH', { blockMs: 2_000 }, 600),
  chain('0xe708', 'Linea', 'LINEA', 'ETH', { blockMs: 2_000 }, 100),
  chain('0xe705', 'Linea Sepolia', 'LINSEP', 'ETH', { blockMs: 2_000 }, 100),
  chain('0xa86a', 'Avalanche', 'AVAX', 'AVAX', { blockMs: 1_700 }, 100),
  chain('0xfa', 'Fantom', 'FTM', 'FTM', { blockMs: 1_000 }, 100),
  chain('0xfa2', 'Fantom Testnet', 'TFTM', 'FTM', { blockMs: 1_000 }, 100),
  chain('0x19', 'Cronos', 'CRO', 'CRO', { blockMs: 500 }, 100, false),
  chain('0x64', 'Gnosis', 'GNO', 'xDAI', { blockMs: 5_000 }, 100, false),
  chain('0x27d8', 'Gnosis Chiado', 'CHIADO', 'xDAI', { blockMs: 5_000 }, 100, false),
  chain('0x15b38', 'Chiliz', 'CHZ', 'CHZ', { blockMs: 3_000 }, 100),
  chain('0x15b32', 'Chiliz Testnet', 'TCHZ', 'CHZ', { blockMs: 3_000 }, 100),
  chain('0x504', 'Moonbeam', 'GLMR', 'GLMR', { blockMs: 6_000 }, 100, false),
  chain('0x505', 'Moonriver', 'MOVR', 'MOVR', { blockMs: 6_000 }, 100, false),
  chain('0x507', 'Moonbase', 'MBASE', 'DEV', { blockMs: 6_000 }, 100, false),
  chain('0x2eb', 'Flow', 'FLOW', 'FLOW', { blockMs: 800 }, 100),
  chain('0x221', 'Flow Testnet', 'TFLOW', 'FLOW', { blockMs: 800 }, 100),
  chain('0x7e4', 'Ronin', 'RON', 'RON', { blockMs: 3_000 }, 100),
  chain('0x7e5', 'Ronin Saigon', 'SAIGON', 'RON', { blockMs: 3_000 }, 100),
  chain('0x46f', 'Lisk', 'LISK', 'ETH', { blockMs: 2_000 }, 100),
  chain('0x106a', 'Lisk Sepolia', 'LISKSEP', 'ETH', { blockMs: 2_000 }, 100),
  chain('0x171', 'PulseChain', 'PLS', 'PLS', { blockMs: 10_000 }, 100, false),
  chain('0x3e7', 'HyperEVM', 'HYPE', 'HYPE', { blockMs: 1_000 }, 100),
  chain('0x8f', 'Monad', 'MON', 'MON', { blockMs: 300, was: 400 }, 100),
  chain('0x7a69', 'Local chain', 'LOCAL', 'ETH', { blockMs: 1_000 }, 2),
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
