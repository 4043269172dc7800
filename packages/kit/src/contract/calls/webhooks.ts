import * as z from 'zod';
import { text, flag, count, textOrNull } from './basics.ts';
import { named, shape, typed } from '../named.ts';
import { APTOS_NETWORKS, type AbiItem, abiItemSchema } from '../index.ts';

const webhookTrigger = shape(
  'WebhookTrigger',
  'What a trigger of the stream answered.',
  z.strictObject({ name: text, value: z.unknown() }),
);

const webhookTriggers = z
  .array(webhookTrigger)
  .exactOptional()
  .describe('What the triggers of the stream answered, in their order');

const log = shape(
  'WebhookLog',
  'A log as the chain has it; decoded by `decodeLogs`.',
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
    triggers: webhookTriggers,
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

/** Where a decoded record comes from. */
const ofLog = { transactionHash: text, logIndex: text, contract: text };

const token = { tokenName: text, tokenSymbol: text };

const spam = { possibleSpam: flag.exactOptional() };

const erc20Transfer = shape(
  'WebhookErc20Transfer',
  'A transfer of an ERC-20 token.',
  z.strictObject({
    ...{ ...ofLog, ...token, ...spam },
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
    ...{ ...ofLog, ...token, ...spam },
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
  'A transfer of an NFT; of an ERC-1155 batch, one entry.',
  z.strictObject({
    ...{ ...ofLog, ...token, ...spam },
    operator: textOrNull,
    from: text,
    to: text,
    tokenId: text,
    amount: text,
    tokenContractType: text,
    triggers: webhookTriggers,
  }),
);

const nftTokenApproval = shape(
  'WebhookNftTokenApproval',
  'An approval of one NFT, or of all of an owner.',
  z.strictObject({
    ...{ ...ofLog, ...token, ...spam },
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
  'Deprecated by the contract in favour of `WebhookNftTokenApproval`; still delivered.',
  z.strictObject({
    ERC721: z.array(
      z.strictObject({
        ...{ ...ofLog, ...token },
        owner: text,
        approved: text,
        tokenId: text,
        tokenContractType: text,
      }),
    ),
    ERC1155: z.array(
      z.strictObject({
        ...{ ...ofLog, ...token },
        account: text,
        operator: text,
        approved: flag,
        tokenContractType: text,
      }),
    ),
  }),
);

export const webhookFields = {
  confirmed: flag,
  removed: z
    .literal(true)
    .exactOptional()
    .describe(
      'Ours, only where a stream asks for it: the block left the chain, and what was delivered of it is taken back. Absent everywhere else.',
    ),
  chainId: text.describe('Hex chain id; empty in the test webhook.'),
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
};

export const evmWebhook = named(
  'EvmWebhook',
  'One delivery: everything of one block that one stream matched. Keys stand in wire order.',
  z.strictObject(webhookFields),
);

const aptosCoin = shape(
  'AptosCoin',
  'What is known of a coin or fungible asset.',
  z.strictObject({
    decimals: count.nullable().describe('Null where the chain does not say.'),
    name: text.describe(
      'Empty where the chain does not say. Anybody may give a coin any name: see `type`.',
    ),
    symbol: text,
    type: text.describe(
      'Ours: which asset it is, since names may be borrowed. Of a coin its Move type, its address with all 64 digits; of a fungible asset the address of its metadata; empty where the transaction does not show it.',
    ),
  }),
);

const aptosCoinMovement = shape(
  'AptosCoinMovement',
  'A coin or fungible asset that came to an account, or left it.',
  z.strictObject({
    value: text.describe('In the smallest unit, decimal.'),
    address: text,
    coin: aptosCoin,
    valueWithDecimals: z
      .number()
      .nullable()
      .describe(
        'The nearest JSON number, as the hosted service sends; `value` is exact. Null without decimals.',
      ),
    sequenceNumber: text.describe(
      'Of the event that tells of it; `0` for the events that are not counted.',
    ),
    txHash: text,
  }),
);

const aptosRaw = shape(
  'AptosRaw',
  'Something as the node gave it, with the hash of its transaction.',
  z.looseObject({ txHash: text }),
);

const aptosWebhookBlock = shape(
  'AptosWebhookBlock',
  'The block that a webhook is about.',
  z.strictObject({
    number: text.describe('Height, decimal; empty in the test webhook.'),
    timestamp: text.describe('Unix time in microseconds, decimal.'),
    hash: text,
    firstVersion: text.describe(
      `Ledger versions of the block's first and last transaction, decimal.`,
    ),
    lastVersion: text,
  }),
);

const aptosCoinTransfer = shape(
  'AptosCoinTransfer',
  'A payment by `0x1::coin::transfer` or `0x1::aptos_account::transfer`.',
  z.strictObject({
    coin: aptosCoin,
    to: text,
    value: text.describe('In the smallest unit, decimal.'),
    from: text,
    valueWithDecimals: z.number().nullable().describe('As in `AptosCoinMovement`.'),
    transaction: text.describe('Hash of the transaction; the contract has it under both names.'),
    txHash: text,
  }),
);

const aptosWebhookTransaction = shape(
  'AptosWebhookTransaction',
  'A transaction that the stream matched.',
  z.strictObject({
    gasLimit: text,
    gasUnitPrice: text,
    gasUsed: text,
    hash: text,
    stateChangeHash: text,
    eventChangeHash: text,
    success: flag,
    type: text.describe('E.g. `user_transaction`.'),
    sender: text.describe(
      'Empty for transactions that nobody signed, such as `block_metadata_transaction`.',
    ),
  }),
);

export const aptosWebhook = shape(
  'AptosWebhook',
  'One delivery: everything of one block that one Aptos stream matched. Keys stand in wire order.',
  z.strictObject({
    streamId: text.describe('Empty in the test webhook.'),
    tag: text,
    network: z.enum([...APTOS_NETWORKS, '']).describe('Empty in the test webhook.'),
    block: aptosWebhookBlock,
    retries: count.describe('0 on the first attempt, one more with each retry.'),
    coinTransfers: z.array(aptosCoinTransfer),
    coinDeposits: z
      .array(aptosCoinMovement)
      .describe('What came to accounts in the matched transactions, whoever watches them.'),
    coinWithdrawals: z.array(aptosCoinMovement),
    transactions: z.array(aptosWebhookTransaction),
    changes: z.array(aptosRaw).describe('Empty without `includeChanges`.'),
    payloads: z.array(aptosRaw).describe('Empty without `includePayload`.'),
    events: z
      .array(z.array(aptosRaw))
      .describe(
        'A list for each of `transactions`, in their order; empty without `includeEvents`.',
      ),
  }),
);
