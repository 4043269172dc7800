/** Schemas of EVM webhooks. */
import * as z from 'zod';
import { text, flag, count, textOrNull } from '../../../contract/calls/basics.ts';
import { named, shape, typed } from '../../../contract/named.ts';
import type { AbiItem } from '../../../contract/index.ts';
import { abiItemSchema } from '../../../contract/requests/abi.ts';

const webhookTrigger = shape(
  'WebhookTrigger',
  'The result of a trigger.',
  z.strictObject({ name: text, value: z.unknown() }),
);

const webhookTriggers = z
  .array(webhookTrigger)
  .exactOptional()
  .describe('Results of the triggers, in order');

const triggeredBy = z
  .array(text)
  .nullable()
  .exactOptional()
  .describe(
    'Watched addresses that the record concerns, each once; null if there are none. Absent with `--omit-recent-fields`, and in hosted webhooks from before 2025.',
  );

const log = shape(
  'WebhookLog',
  'A raw log; decode it with `decodeLogs`.',
  z.strictObject({
    logIndex: text,
    transactionHash: text,
    address: text,
    data: text,
    topic0: textOrNull,
    topic1: textOrNull,
    topic2: textOrNull,
    topic3: textOrNull,
    triggers: webhookTriggers,
    triggered_by: triggeredBy,
  }),
);

const transaction = shape(
  'WebhookTransaction',
  'A transaction with its receipt.',
  z.strictObject({
    hash: text,
    gas: textOrNull,
    gasPrice: textOrNull,
    nonce: textOrNull,
    input: textOrNull,
    transactionIndex: text,
    fromAddress: text,
    toAddress: textOrNull,
    value: textOrNull,
    type: textOrNull,
    v: textOrNull,
    r: textOrNull,
    s: textOrNull,
    receiptCumulativeGasUsed: textOrNull,
    receiptGasUsed: textOrNull,
    receiptContractAddress: textOrNull,
    receiptRoot: textOrNull,
    receiptStatus: textOrNull,
    transactionFee: textOrNull
      .exactOptional()
      .describe(
        'Exact fee in the native currency of the chain, such as `0.000021`; null if unknown. Absent in the same cases as `triggered_by`.',
      ),
    triggers: webhookTriggers,
    triggered_by: triggeredBy,
  }),
);

const internalTransaction = shape(
  'WebhookInternalTransaction',
  'A call inside a transaction that moved native currency.',
  z.strictObject({
    from: textOrNull,
    to: textOrNull,
    value: textOrNull,
    gas: textOrNull,
    transactionHash: text,
    internalTransactionIndex: text.exactOptional(),
  }),
);

/** Fields that identify the log from which a record was decoded. */
const ofLog = { transactionHash: text, logIndex: text, contract: text };

const token = { tokenName: text, tokenSymbol: text };

const spam = { possibleSpam: flag.exactOptional() };

const erc20Transfer = shape(
  'WebhookErc20Transfer',
  'A transfer of an ERC-20 token.',
  z.strictObject({
    ...ofLog,
    triggered_by: triggeredBy,
    ...token,
    ...spam,
    from: text,
    to: text,
    value: text,
    tokenDecimals: text,
    valueWithDecimals: text.exactOptional(),
    triggers: webhookTriggers,
  }),
);

const erc20Approval = shape(
  'WebhookErc20Approval',
  'An approval of an ERC-20 token.',
  z.strictObject({
    ...ofLog,
    ...token,
    ...spam,
    owner: text,
    spender: text,
    value: text,
    tokenDecimals: text,
    valueWithDecimals: text.exactOptional(),
    triggers: webhookTriggers,
  }),
);

const nftTransfer = shape(
  'WebhookNftTransfer',
  'A transfer of an NFT or of several consecutive NFTs, or one entry of an ERC-1155 batch.',
  z.strictObject({
    ...ofLog,
    ...token,
    ...spam,
    operator: textOrNull,
    from: text,
    to: text,
    tokenId: text,
    amount: text,
    tokenContractType: text,
    toTokenId: text
      .exactOptional()
      .describe(
        'Last token of a range (ERC-2309), whose first token is `tokenId`; otherwise absent. Sluice only.',
      ),
    triggers: webhookTriggers,
  }),
);

const nftTokenApproval = shape(
  'WebhookNftTokenApproval',
  'An approval for one NFT, or for all NFTs of an owner.',
  z.strictObject({
    ...ofLog,
    ...token,
    ...spam,
    account: text,
    operator: text,
    approvedAll: flag,
    tokenId: textOrNull,
    tokenContractType: text,
  }),
);

const webhookBlock = shape(
  'WebhookBlock',
  'The block that a webhook is about.',
  z.strictObject({
    number: text.describe('Decimal; empty in the test webhook.'),
    hash: text,
    timestamp: text.describe('Unix time in seconds, decimal.'),
  }),
);

const nativeBalance = shape(
  'WebhookNativeBalance',
  'A balance at the block of the webhook.',
  z.strictObject({ address: text, balance: text.describe('Wei, decimal.') }),
);

const nftApprovals = shape(
  'WebhookNftApprovals',
  'Deprecated by the contract in favor of `WebhookNftTokenApproval`; still delivered.',
  z.strictObject({
    ERC721: z.array(
      z.strictObject({
        ...ofLog,
        ...token,
        owner: text,
        approved: text,
        tokenId: text,
        tokenContractType: text,
      }),
    ),
    ERC1155: z.array(
      z.strictObject({
        ...ofLog,
        ...token,
        account: text,
        operator: text,
        approved: flag,
        tokenContractType: text,
      }),
    ),
  }),
);

const webhookProofs = shape(
  'WebhookProofs',
  'Proves that the receipts of these transactions are in the block. `verifyLogProof` of the kit checks the proof. Bytes are hex.',
  z.strictObject({
    header: text.describe('The RLP-encoded block header, whose Keccak-256 is the block hash.'),
    receipts: z.array(
      shape(
        'WebhookReceiptProof',
        "The path of a transaction's receipt in the receipts trie of its block.",
        z.strictObject({
          transactionHash: text,
          transactionIndex: text,
          firstLogIndex: text.describe(
            'Number of logs in the block before this receipt; the `logIndex` of its first log, if it has logs.',
          ),
          nodes: z
            .array(text)
            .describe(
              'RLP-encoded nodes of the trie, from the root to the receipt; nodes shorter than 32 bytes are inside their parents.',
            ),
        }),
      ),
    ),
  }),
);

export const webhookFields = {
  confirmed: flag,
  removed: z
    .literal(true)
    .exactOptional()
    .describe(
      'The block left the chain, and this webhook revokes the earlier one. Sluice only, for streams with `notifyRemoved`; otherwise absent.',
    ),
  chainId: text.describe('Hex chain ID; empty in the test webhook.'),
  abi: typed('readonly AbiItem[]', z.array(abiItemSchema) as z.ZodType<readonly AbiItem[]>),
  streamId: text.describe('Empty in the test webhook.'),
  tag: text,
  retries: count.describe('0 on the first attempt, one more with each retry.'),
  block: webhookBlock,
  logs: z.array(log),
  txs: z.array(transaction),
  txsInternal: z.array(internalTransaction),
  erc20Transfers: z.array(erc20Transfer),
  erc20Approvals: z.array(erc20Approval),
  nftTokenApprovals: z.array(nftTokenApproval),
  nftApprovals,
  nftTransfers: z.array(nftTransfer),
  nativeBalances: z.array(nativeBalance),
  proofs: webhookProofs
    .exactOptional()
    .describe(
      'Proofs for the transactions of `logs` and `txs`, in order. Sluice only, for streams with `includeProofs`, on proven chains; otherwise absent.',
    ),
};

export const evmWebhook = named(
  'EvmWebhook',
  'One delivery: all records that one stream matched in one block. Keys are in wire order.',
  z.strictObject(webhookFields),
);
