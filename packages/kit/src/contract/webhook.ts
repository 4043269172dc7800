/**
 * The body of an EVM webhook and of its records; that of an Aptos
 * webhook is in `aptosWebhook.ts`.
 * Every number of the chain is a decimal string; addresses are lower-case hex.
 */
import type { AbiItem } from './streams.ts';

/** Bytes of the largest webhook that Sluice sends, unless `--max-webhook-bytes` sets another limit. */
export const DEFAULT_MAX_WEBHOOK_BYTES = 8 * 1024 * 1024;

/** The block that a webhook is about. */
export interface WebhookBlock {
  /** Decimal; empty in the test webhook. */
  number: string;
  hash: string;
  /** Unix time in seconds, decimal. */
  timestamp: string;
}

/** What a trigger of the stream answered. */
export interface WebhookTrigger {
  name: string;
  value: unknown;
}

/** A log as the chain has it; decoded by `decodeLogs`. */
export interface WebhookLog {
  logIndex: string;
  transactionHash: string;
  address: string;
  data: string;
  topic0: string | null;
  topic1: string | null;
  topic2: string | null;
  topic3: string | null;
  triggers?: WebhookTrigger[];
}

/** A transaction with its receipt. */
export interface WebhookTransaction {
  hash: string;
  gas: string | null;
  gasPrice: string | null;
  nonce: string | null;
  input: string | null;
  transactionIndex: string;
  fromAddress: string;
  toAddress: string | null;
  value: string | null;
  type: string | null;
  v: string | null;
  r: string | null;
  s: string | null;
  receiptCumulativeGasUsed: string | null;
  receiptGasUsed: string | null;
  receiptContractAddress: string | null;
  receiptRoot: string | null;
  receiptStatus: string | null;
  triggers?: WebhookTrigger[];
}

/** A call inside a transaction that moved native currency. */
export interface WebhookInternalTransaction {
  from: string | null;
  to: string | null;
  value: string | null;
  gas: string | null;
  transactionHash: string;
  internalTransactionIndex?: string;
}

interface TokenMetadata {
  tokenName: string;
  tokenSymbol: string;
}

/** A transfer of an ERC-20 token. */
export interface WebhookErc20Transfer extends TokenMetadata {
  transactionHash: string;
  logIndex: string;
  contract: string;
  from: string;
  to: string;
  value: string;
  tokenDecimals: string;
  possibleSpam?: boolean;
  valueWithDecimals?: string;
  triggers?: WebhookTrigger[];
}

/** An approval of an ERC-20 token. */
export interface WebhookErc20Approval extends TokenMetadata {
  transactionHash: string;
  logIndex: string;
  contract: string;
  owner: string;
  spender: string;
  value: string;
  tokenDecimals: string;
  possibleSpam?: boolean;
  valueWithDecimals?: string;
  triggers?: WebhookTrigger[];
}

/** A transfer of an NFT; of an ERC-1155 batch, one entry. */
export interface WebhookNftTransfer extends TokenMetadata {
  operator: string | null;
  from: string;
  to: string;
  tokenId: string;
  amount: string;
  transactionHash: string;
  logIndex: string;
  contract: string;
  possibleSpam?: boolean;
  tokenContractType: string;
  triggers?: WebhookTrigger[];
}

/** An approval of one NFT, or of all of an owner. */
export interface WebhookNftTokenApproval extends TokenMetadata {
  transactionHash: string;
  logIndex: string;
  contract: string;
  account: string;
  operator: string;
  approvedAll: boolean;
  tokenId: string | null;
  possibleSpam?: boolean;
  tokenContractType: string;
}

/** Deprecated by the contract in favour of {@link WebhookNftTokenApproval}; still delivered. */
export interface WebhookNftApprovals {
  ERC721: (TokenMetadata & {
    transactionHash: string;
    logIndex: string;
    contract: string;
    owner: string;
    approved: string;
    tokenId: string;
    tokenContractType: string;
  })[];
  ERC1155: (TokenMetadata & {
    transactionHash: string;
    logIndex: string;
    contract: string;
    account: string;
    operator: string;
    approved: boolean;
    tokenContractType: string;
  })[];
}

/** A balance at the block of the webhook. */
export interface WebhookNativeBalance {
  address: string;
  /** Wei, decimal. */
  balance: string;
}

/** One delivery: everything of one block that one stream matched. Keys stand in wire order. */
export interface EvmWebhook {
  confirmed: boolean;
  /**
   * Ours, only where a stream asks for it: the block left the chain, and what was delivered of it is
   * taken back. Absent everywhere else.
   */
  removed?: true;
  /** Hex chain id; empty in the test webhook. */
  chainId: string;
  abi: readonly AbiItem[];
  /** Empty in the test webhook. */
  streamId: string;
  tag: string;
  /** 0 on the first attempt, one more with each retry. */
  retries: number;
  block: WebhookBlock;
  logs: WebhookLog[];
  txs: WebhookTransaction[];
  txsInternal: WebhookInternalTransaction[];
  erc20Transfers: WebhookErc20Transfer[];
  erc20Approvals: WebhookErc20Approval[];
  nftTokenApprovals: WebhookNftTokenApproval[];
  nftApprovals: WebhookNftApprovals;
  nftTransfers: WebhookNftTransfer[];
  nativeBalances: WebhookNativeBalance[];
}

/** The body sent once to a new URL before the stream is accepted. */
export const TEST_WEBHOOK: EvmWebhook = {
  abi: [],
  block: { number: '', hash: '', timestamp: '' },
  txs: [],
  txsInternal: [],
  logs: [],
  chainId: '',
  confirmed: true,
  retries: 0,
  tag: '',
  streamId: '',
  erc20Approvals: [],
  erc20Transfers: [],
  nftTokenApprovals: [],
  nftApprovals: { ERC721: [], ERC1155: [] },
  nftTransfers: [],
  nativeBalances: [],
};
