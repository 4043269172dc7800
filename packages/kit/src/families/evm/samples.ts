/** Sample webhooks of EVM streams. */
import type {
  EvmWebhook,
  WebhookCall,
  WebhookCallReason,
  WebhookRead,
  WebhookErc20Transfer,
  WebhookLog,
  WebhookTransaction,
} from '../../contract/shapes.generated.ts';
import { TEST_WEBHOOK } from './testWebhook.ts';

/**
 * Kinds of webhooks that {@link sampleWebhook} creates. `test` is the test webhook, which the
 * service sends to each new URL.
 */
export type SampleKind =
  | 'erc20-transfer'
  | 'erc20-approval'
  | 'erc721-transfer'
  | 'erc1155-transfer'
  | 'erc1155-batch-transfer'
  | 'nft-approval-for-all'
  | 'native-transfer'
  | 'internal-transfer'
  | 'call'
  | 'failed-call'
  | 'read'
  | 'test';

/**
 * Creates a confirmed Ethereum webhook as the service sends it, with one log, transaction, internal
 * transaction or call of this kind and the records decoded from it. The kind `test` has no
 * records. Returns a new object each time; the fields in `change` replace its fields.
 *
 * @example sampleWebhook('erc20-transfer', { confirmed: false, streamId })
 */
export function sampleWebhook(kind: SampleKind, change: Partial<EvmWebhook> = {}): EvmWebhook {
  return structuredClone(
    kind === 'test' ? { ...TEST_WEBHOOK, ...change } : { ...FRAME, ...SAMPLES[kind], ...change },
  );
}

/** Returns the number of records in the header `x-records-charged`. */
export const countChargedEvmRecords = ({
  confirmed,
  txs,
  logs,
  txsInternal,
}: EvmWebhook): number => (confirmed ? txs.length + logs.length + txsInternal.length : 0);

// Fields of all samples. The log of each decoded event in a sample is also in `logs`.
const FRAME: EvmWebhook = {
  confirmed: true,
  chainId: '0x1',
  abi: [],
  streamId: '6c86e9ed-0a93-4f8f-af4d-929ee8918bbb',
  tag: 'sample',
  retries: 0,
  block: {
    number: '16225662',
    hash: '0x36a8359fa2eaff57364158247dff17d80c053096ad9c54d1c27f4768974f552b',
    timestamp: '1671536351',
  },
  logs: [],
  txs: [],
  txsInternal: [],
  erc20Transfers: [],
  erc20Approvals: [],
  nftTokenApprovals: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
  nftTransfers: [],
  nativeBalances: [],
};

const ALICE = '0x0a1ad77312d36459179ad622c2a8a6280cc79419';
const BOB = '0xc5b4ffe6e645fa7ae5c8bb061870907e5f314c14';
/** The addresses that the stream of the samples watches. */
const WATCHED = [ALICE];
const TRANSACTION = '0x8b7ed07563c2e679b9b49e2e0b62d1fe8a37c2f6c6d43a6ed072d1fc9ac15a22';
const ORIGIN = { transactionHash: TRANSACTION, logIndex: '361' };

const USDC = {
  contract: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
  tokenName: 'USD Coin',
  tokenSymbol: 'USDC',
  tokenDecimals: '6',
  possibleSpam: false,
};
const APES = {
  contract: '0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d',
  tokenName: 'BoredApeYachtClub',
  tokenSymbol: 'BAYC',
  tokenContractType: 'ERC721',
};
const STOREFRONT = {
  contract: '0x495f947276749ce646f68ac8c248420045cb7b5e',
  tokenName: 'OpenSea Shared Storefront',
  tokenSymbol: 'OPENSTORE',
  tokenContractType: 'ERC1155',
};

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const APPROVAL_FOR_ALL = '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31';

const word = (value: string | bigint): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');

const logOf = (address: string, topics: readonly string[], ...data: bigint[]): WebhookLog => {
  const [topic0 = null, ...indexed] = topics;
  const [topic1 = null, topic2 = null, topic3 = null] = indexed.map((it) => `0x${word(it)}`);
  const { transactionHash, logIndex } = ORIGIN;
  const words = `0x${data.map(word).join('')}`;
  return {
    logIndex,
    transactionHash,
    address,
    data: words,
    topic0,
    topic1,
    topic2,
    topic3,
    triggered_by: WATCHED,
  };
};

const nativeTransfer: WebhookTransaction = {
  hash: TRANSACTION,
  gas: '21000',
  gasPrice: '14730818000',
  nonce: '7',
  input: '0x',
  transactionIndex: '42',
  fromAddress: ALICE,
  toAddress: BOB,
  value: '100000000000000000',
  type: '2',
  v: '0',
  r: '9001253475243653702017016519257145538419454360627742044622070949800375057415',
  s: '21207930346202371260508142926393852886912381606567500827202803519435539899509',
  receiptCumulativeGasUsed: '7724173',
  receiptGasUsed: '21000',
  receiptContractAddress: null,
  receiptRoot: null,
  receiptStatus: '1',
  transactionFee: '0.000309347178',
  triggered_by: WATCHED,
};

const AMOUNT = { value: '250000000', valueWithDecimals: '250' };
const { contract, ...usdc } = USDC;
const erc20Transfer: WebhookErc20Transfer = {
  ...ORIGIN,
  contract,
  triggered_by: WATCHED,
  ...usdc,
  ...AMOUNT,
  from: ALICE,
  to: BOB,
};

const nftMove = { ...ORIGIN, from: ALICE, to: BOB, possibleSpam: false };
const approvalForAll = { ...ORIGIN, ...STOREFRONT, account: ALICE, operator: BOB };

const call: WebhookCall = {
  transactionHash: TRANSACTION,
  transactionIndex: '42',
  traceAddress: [],
  type: 'call',
  from: ALICE,
  to: USDC.contract,
  value: '0',
  input: `0xa9059cbb${word(BOB)}${word(250_000_000n)}`,
  function: 'transfer(address,uint256)',
  arguments: [
    { name: 'to', type: 'address', value: BOB },
    { name: 'amount', type: 'uint256', value: '250000000' },
  ],
  status: 'success',
};
const read: WebhookRead = {
  balance: USDC.contract,
  of: ALICE,
  when: { below: '1000' },
  decimals: 6,
  before: { block: '16225661', value: '1250000000' },
  after: { block: '16225662', value: '750000000' },
};
const callReason: WebhookCallReason = {
  kind: 'error',
  message: 'ERC20: transfer amount exceeds balance',
  data: null,
};

const SAMPLES: Record<Exclude<SampleKind, 'test'>, Partial<EvmWebhook>> = {
  'erc20-transfer': {
    logs: [logOf(USDC.contract, [TRANSFER, ALICE, BOB], 250_000_000n)],
    erc20Transfers: [erc20Transfer],
  },
  'erc20-approval': {
    logs: [logOf(USDC.contract, [APPROVAL, ALICE, BOB], 250_000_000n)],
    erc20Approvals: [{ ...ORIGIN, ...USDC, ...AMOUNT, owner: ALICE, spender: BOB }],
  },
  'erc721-transfer': {
    logs: [logOf(APES.contract, [TRANSFER, ALICE, BOB, '0xb83'])],
    nftTransfers: [{ ...nftMove, ...APES, operator: null, tokenId: '2947', amount: '1' }],
  },
  'erc1155-transfer': {
    logs: [logOf(STOREFRONT.contract, [TRANSFER_SINGLE, ALICE, ALICE, BOB], 7n, 3n)],
    nftTransfers: [{ ...nftMove, ...STOREFRONT, operator: ALICE, tokenId: '7', amount: '3' }],
  },
  'erc1155-batch-transfer': {
    logs: [
      // The offsets of the lists of token ids and amounts, then the length and values of each list.
      logOf(
        STOREFRONT.contract,
        [TRANSFER_BATCH, ALICE, ALICE, BOB],
        ...[64n, 160n],
        ...[2n, 7n, 8n],
        ...[2n, 3n, 4n],
      ),
    ],
    nftTransfers: [
      { ...nftMove, ...STOREFRONT, operator: ALICE, tokenId: '7', amount: '3' },
      { ...nftMove, ...STOREFRONT, operator: ALICE, tokenId: '8', amount: '4' },
    ],
  },
  'nft-approval-for-all': {
    logs: [logOf(STOREFRONT.contract, [APPROVAL_FOR_ALL, ALICE, BOB], 1n)],
    nftTokenApprovals: [{ ...approvalForAll, approvedAll: true, tokenId: null }],
    nftApprovals: { ERC721: [], ERC1155: [{ ...approvalForAll, approved: true }] },
  },
  call: { calls: [call] },
  read: { reads: [read] },
  'failed-call': { calls: [{ ...call, status: 'failed', reason: callReason }] },
  'native-transfer': { txs: [nativeTransfer] },
  'internal-transfer': {
    txsInternal: [
      {
        from: ALICE,
        to: BOB,
        value: '2419488490784747',
        gas: '212199',
        transactionHash: TRANSACTION,
        internalTransactionIndex: '0',
      },
    ],
  },
};
