/**
 * Lists what is known about networks: how their blocks differ from Ethereum's, and which checks
 * therefore pass. `docs/nodes.md` is generated from this table.
 */
import { type UnverifiedCode, keccak256 } from '@sluice/kit/contract';
import type { Json } from '../../../ingest/json.ts';
import { toBytes } from './proof/fields.ts';

export interface Network {
  readonly name: string;
  /**
   * Whether every block follows Ethereum's rules, so that a block that fails a check is rejected.
   */
  readonly isStandard: boolean;
  /** Checks that blocks of the network may not pass; a block with only these codes needs no wait. */
  readonly deviations: readonly UnverifiedCode[];
  /** Returns whether a transaction of a block is in neither root. Its receipt and logs are kept. */
  isOutsideRoots(transaction: Json, block: Json): boolean;
  /** Sentences about the network's blocks, for the documentation. */
  readonly notes: string;
  /** Specifications of what differs. */
  readonly sources: readonly string[];
}

interface Row extends Partial<Network> {
  /** Chain IDs by name of the chain; empty if the chains of the network have any ID. */
  chains: Readonly<Record<string, string>>;
}

const ROOTS = ['transactions-root', 'receipts-root'] as const;
/** Deviations of networks whose blocks only resemble Ethereum's. */
const OWN_BLOCKS = ['header-hash', ...ROOTS] as const;

const ROWS: readonly Row[] = [
  {
    chains: { Ethereum: '0x1', Sepolia: '0xaa36a7', Hoodi: '0x88bb0', Holesky: '0x4268' },
    isStandard: true,
    notes: 'A block that fails a check is never accepted.',
    sources: ['https://github.com/ethereum/execution-specs'],
  },
  {
    chains: {
      Optimism: '0xa',
      'Optimism Sepolia': '0xaa37dc',
      Lisk: '0x46f',
      'Lisk Sepolia': '0x106a',
      Unichain: '0x82',
      'World Chain': '0x1e0',
      Ink: '0xdef1',
      Soneium: '0x74c',
    },
    notes: 'Deposits (`0x7e`) and post-exec transactions (`0x7d`) are proven.',
    sources: [
      'https://specs.optimism.io/protocol/deposits.html',
      'https://github.com/ethereum-optimism/optimism',
    ],
  },
  {
    chains: { Base: '0x2105', 'Base Sepolia': '0x14a34' },
    deviations: ['transactions-root'],
    notes:
      'Account abstraction (`0x7d`, EIP-8130) is proven, except transactions that change the keys of an account.',
    sources: [
      'https://eips.ethereum.org/EIPS/eip-8130',
      'https://github.com/base/base/tree/main/crates/common/consensus/src/transaction/eip8130',
    ],
  },
  {
    chains: { Arbitrum: '0xa4b1', 'Arbitrum Nova': '0xa4ba', 'Arbitrum Sepolia': '0x66eee' },
    notes:
      'Retryables, deposits and internal transactions (`0x64` to `0x6a`) are proven. Blocks before Nitro are not.',
    sources: ['https://github.com/OffchainLabs/go-ethereum/blob/master/core/types/arb_types.go'],
  },
  {
    chains: { Polygon: '0x89', 'Polygon Amoy': '0x13882', Shibarium: '0x6d' },
    deviations: ROOTS,
    isOutsideRoots: isStateSync,
    notes:
      'State syncs before PIP-74 are in neither root. Later ones (`0x7f`) are in both, but nodes omit their data. Blocks without a state sync are proven.',
    sources: [
      'https://github.com/0xPolygon/bor/blob/develop/core/types/state_sync_tx.go',
      'https://github.com/0xPolygon/Polygon-Improvement-Proposals/blob/main/PIPs/PIP-74.md',
    ],
  },
  {
    chains: { Celo: '0xa4ec', 'Celo Sepolia': '0xaa044c', Alfajores: '0xaef3' },
    deviations: ['receipts-root', 'foreign-receipts'],
    notes:
      'Transactions with other fee currencies (`0x7a` to `0x7c`) are proven. A receipt is not proven if its base fee does not follow from its price. Blocks before the migration to an L2 may have logs without a transaction.',
    sources: [
      'https://github.com/celo-org/op-geth/tree/celo-rebase-12/core/types',
      'https://github.com/celo-org/celo-proposals/blob/master/CIPs/cip-0064.md',
    ],
  },
  {
    chains: { Avalanche: '0xa86a', Fuji: '0xa869' },
    deviations: ['receipts-root', 'bloom'],
    notes:
      'Since Helicon, the receipts root and the bloom of a header cover the blocks that it settles. Headers and transactions are proven.',
    sources: [
      'https://github.com/avalanche-foundation/ACPs/tree/main/ACPs/194-streaming-asynchronous-execution',
      'https://github.com/ava-labs/avalanchego/blob/master/graft/coreth/plugin/evm/customtypes/header_ext.go',
    ],
  },
  {
    chains: { 'BNB Smart Chain': '0x38', 'BNB Testnet': '0x61' },
    notes: 'Public nodes refuse `eth_getLogs`; logs are read from receipts.',
    sources: ['https://github.com/bnb-chain/bsc'],
  },
  {
    chains: { Scroll: '0x82750', 'Scroll Sepolia': '0x8274f' },
    notes: 'Messages from L1 (`0x7e`) are proven.',
    sources: [
      'https://github.com/scroll-tech/go-ethereum/blob/develop/core/types/l1_message_tx.go',
    ],
  },
  {
    chains: { Berachain: '0x138de', Bepolia: '0x138c5' },
    notes: 'The transaction that distributes rewards (`0x7e`) is proven.',
    sources: [
      'https://github.com/berachain/BRIPs/blob/main/meta/BRIP-0004.md',
      'https://github.com/berachain/beacon-kit',
    ],
  },
  {
    chains: { HyperEVM: '0x3e7', 'HyperEVM Testnet': '0x3e6' },
    deviations: ROOTS,
    isOutsideRoots: isHyperSystemTransaction,
    notes:
      'Some nodes list transfers from HyperCore as transactions, which are in neither root. Other blocks are proven.',
    sources: [
      'https://github.com/hl-archive-node/nanoreth/blob/main/src/node/primitives/transaction.rs',
    ],
  },
  {
    chains: { Tempo: '0x1079', 'Tempo Moderato': '0xa5bf', 'Tempo Andantino': '0xa5bd' },
    notes:
      'Transactions of type `0x76` are proven. A webhook has the target and input of the first call, and the sum of all values.',
    sources: ['https://github.com/tempoxyz/tempo/tree/main/crates/primitives/src'],
  },
  {
    chains: { Moonbeam: '0x504', Moonriver: '0x505', Moonbase: '0x507' },
    notes:
      'Nodes list a base fee that the hashed header does not have. `eth_getBlockReceipts` takes no block hash; receipts are read by number or one by one.',
    sources: ['https://github.com/polkadot-evm/frontier'],
  },
  {
    chains: { Sonic: '0x92', Fantom: '0xfa', 'Fantom Testnet': '0xfa2' },
    deviations: ['header-hash', 'receipts-root'],
    notes:
      'Block hashes are those of consensus events. Headers have no receipts root. Blooms may be missing.',
    sources: ['https://github.com/0xsoniclabs/sonic'],
  },
  {
    chains: { Viction: '0x58', XDC: '0x32', 'XDC Apothem': '0x33' },
    notes: 'Headers have fields of validators, and are proven.',
    sources: [
      'https://github.com/BuildOnViction/victionchain/blob/master/core/types/block.go',
      'https://github.com/XinFinOrg/XDPoSChain/blob/dev-upgrade/core/types/block.go',
    ],
  },
  {
    chains: { Filecoin: '0x13a', 'Filecoin Calibration': '0x4cb2f' },
    deviations: [...OWN_BLOCKS, 'bloom'],
    notes: 'Blooms have only ones. Heights may have no block.',
    sources: ['https://github.com/filecoin-project/FIPs/blob/master/FIPS/fip-0054.md'],
  },
  {
    chains: {
      'SKALE Europa': '0x79f99296',
      'SKALE Nebula': '0x585eb4b1',
      'SKALE Calypso': '0x5d456c62',
      'SKALE Titan': '0x507aaa2a',
    },
    deviations: [...OWN_BLOCKS, 'log-indices'],
    notes: 'Log indices restart in each transaction; logs are numbered in block order.',
    sources: ['https://github.com/skalenetwork/skaled'],
  },
  {
    chains: { Stable: '0x3dc', 'Stable Testnet': '0x899' },
    deviations: [...OWN_BLOCKS, 'log-indices'],
    notes: 'As for other networks on Cosmos. Log indices restart in each transaction.',
    sources: ['https://github.com/cosmos/evm'],
  },
  {
    chains: {},
    name: 'Polygon Edge',
    deviations: [...OWN_BLOCKS, 'log-indices'],
    notes: 'Private networks with any chain ID. Log indices restart in each transaction.',
    sources: ['https://github.com/0xPolygon/polygon-edge'],
  },
  {
    chains: { Flow: '0x2eb', 'Flow Testnet': '0x221' },
    deviations: [...OWN_BLOCKS, 'log-indices'],
    notes: 'Block hashes are not computed as on Ethereum. Log indices may repeat.',
    sources: ['https://github.com/onflow/flow-evm-gateway'],
  },
  {
    chains: { zkSync: '0x144', 'zkSync Sepolia': '0x12c', Abstract: '0xab5', Lens: '0xe8' },
    deviations: [...OWN_BLOCKS, 'bloom'],
    notes:
      'Block hashes are not computed as on Ethereum, and headers have no roots. The last block of a batch has logs without a transaction.',
    sources: ['https://github.com/matter-labs/zksync-era'],
  },
  {
    chains: { Hedera: '0x127', 'Hedera Testnet': '0x128' },
    deviations: [...OWN_BLOCKS, 'repeated-receipts'],
    notes: 'Block hashes are not computed as on Ethereum. Lists of receipts may repeat one.',
    sources: ['https://github.com/hiero-ledger/hiero-json-rpc-relay'],
  },
  {
    chains: { 'Oasis Emerald': '0xa516', 'Oasis Sapphire': '0x5afe', Sei: '0x531' },
    deviations: [...OWN_BLOCKS, 'log-transactions', 'log-indices'],
    notes:
      'Transactions of other kinds shift the indices in logs; the transaction hash of a log decides.',
    sources: [
      'https://github.com/oasisprotocol/oasis-web3-gateway',
      'https://github.com/sei-protocol/sei-chain',
    ],
  },
  {
    chains: {
      Cronos: '0x19',
      'Cronos Testnet': '0x152',
      Evmos: '0x2329',
      Kava: '0x8ae',
      Injective: '0x6f0',
    },
    deviations: [...OWN_BLOCKS, 'log-transactions', 'log-indices'],
    notes:
      'Block hashes are those of Tendermint. Some old blocks of Cronos have transactions without a receipt, or receipts that are returned by transaction hash alone.',
    sources: ['https://github.com/crypto-org-chain/ethermint'],
  },
  {
    chains: { Tron: '0x2b6653dc', 'Tron Nile': '0xcd8690dc' },
    deviations: [...OWN_BLOCKS, 'bloom'],
    notes: 'Block hashes are those of Tron. `eth_getLogs` by block hash is empty, as are blooms.',
    sources: ['https://github.com/tronprotocol/java-tron'],
  },
  {
    chains: { 'Kakarot Sepolia': '0x34550b76e4065' },
    deviations: OWN_BLOCKS,
    notes:
      'Block hashes are not computed as on Ethereum. Nodes return `null` instead of the receipts of an empty block.',
    sources: ['https://github.com/kkrt-labs/kakarot-rpc'],
  },
  {
    chains: { Rootstock: '0x1e', 'Rootstock Testnet': '0x1f' },
    deviations: OWN_BLOCKS,
    notes:
      'Headers contain Bitcoin merge-mining fields, and tries differ. Nodes return decimal values.',
    sources: ['https://github.com/rsksmart/rskj'],
  },
  {
    chains: { Neon: '0xe9ac0d6', 'Neon Devnet': '0xe9ac0ce' },
    deviations: OWN_BLOCKS,
    notes: 'Blocks are those of Solana. Blooms may be `null`.',
    sources: ['https://github.com/neonevm/neon-proxy.py'],
  },
  {
    chains: { Gnosis: '0x64', 'Gnosis Chiado': '0x27d8' },
    notes: 'Blocks are proven since the merge. Headers before it have seals of validators.',
    sources: ['https://github.com/gnosischain/specs'],
  },
];

/** The row of networks that are not listed. */
const UNKNOWN: Network = toNetwork('Other networks', {
  chains: {},
  notes:
    'Blocks are proven if they follow the standard rules, which includes the seals of Besu and GoQuorum (IBFT, QBFT, Clique). Header fields of later forks are found by trial.',
});

const BY_CHAIN: ReadonlyMap<string, Network> = new Map(
  ROWS.flatMap((row) =>
    Object.entries(row.chains).map(([name, chain]) => [chain, toNetwork(name, row)]),
  ),
);

/** Returns what is known about the network with this chain ID. */
export const networkOf = (chain: string): Network => BY_CHAIN.get(chain) ?? UNKNOWN;

/** A row of the table: a kind of network, and its chain IDs by name. */
export interface NetworkRow {
  chains: Readonly<Record<string, string>>;
  network: Network;
}

/** Lists the rows of the table; the last one is of networks that are not listed. */
export const listNetworks = (): NetworkRow[] => [
  ...ROWS.map((row) => {
    const { chains, name = Object.keys(chains)[0]! } = row;
    return { chains, network: toNetwork(name, row) };
  }),
  { chains: {}, network: UNKNOWN },
];

function toNetwork(name: string, { chains: _chains, ...row }: Row): Network {
  const base = { isStandard: false, deviations: [], sources: [], notes: '' };
  return { ...base, isOutsideRoots: () => false, ...row, name };
}

const ZERO_ADDRESS = `0x${'00'.repeat(20)}`;

/**
 * Returns whether this is a state sync of Polygon before PIP-74: its hash is not the hash of the
 * transaction, and its sender cannot sign.
 */
function isStateSync(transaction: Json, block: Json): boolean {
  const { type, from, to, gas } = transaction;
  if (type != null && type !== '0x0') return false;
  if (from === ZERO_ADDRESS && to === ZERO_ADDRESS && (gas === '0x0' || gas == null)) return true;
  const { transactions } = block;
  return (
    Array.isArray(transactions) &&
    transactions.at(-1) === transaction &&
    transaction['hash'] === toStateSyncHash(block)
  );
}

const toStateSyncHash = ({ number, hash }: Json): string => {
  const height = Buffer.alloc(8);
  height.writeBigUInt64BE(BigInt(String(number)));
  return keccak256(Buffer.concat([Buffer.from('matic-bor-receipt-'), height, toBytes(hash)]));
};

/** Returns whether this is a transfer from HyperCore, which has a made-up signature. */
function isHyperSystemTransaction({ type, gasPrice, r }: Json): boolean {
  return type === '0x0' && gasPrice === '0x0' && r === '0x1';
}
