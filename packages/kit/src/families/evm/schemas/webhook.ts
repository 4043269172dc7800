/** Schemas of EVM webhooks. */
import * as z from 'zod';
import { text, flag, count, textOrNull } from '../../../contract/calls/basics.ts';
import { named, shape, typed } from '../../../contract/named.ts';
import { CALL_TYPES, type AbiItem } from '../../../contract/index.ts';
import { abiItemSchema } from '../../../contract/requests/abi.ts';
import { conditionSchema } from './reads.ts';

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

const callArguments = z
  .array(
    shape(
      'WebhookArgument',
      'An argument of a decoded call.',
      z.strictObject({
        name: text.describe('`arg0`, `arg1`, … by position if it has none.'),
        type: text.describe('E.g. `uint256` or `(address,uint24)[]`.'),
        value: typed(
          'unknown',
          z.unknown().describe('Integers are decimal text, bytes are hex, and structs are arrays.'),
        ),
      }),
    ),
  )
  .nullable();

const calledFunction = textOrNull.describe(
  "Signature of the function, from `functions` or the stream's ABI; null if neither has it.",
);

const caller = shape(
  'WebhookCaller',
  "The sender of a log's transaction, and the call that the transaction makes.",
  z.strictObject({
    from: text.describe('Sender of the transaction.'),
    to: textOrNull.describe('Null if the transaction creates a contract.'),
    selector: textOrNull.describe('Null if the input has no selector.'),
    function: calledFunction,
    arguments: callArguments.describe('Null if the call was not decoded.'),
  }),
);

const callReason = shape(
  'WebhookCallReason',
  'Why a call failed.',
  z.strictObject({
    kind: z
      .enum(['error', 'panic', 'custom', 'revert', 'out-of-gas', 'caller', 'other'])
      .describe(
        "`error` and `panic`: `Error(string)` and `Panic(uint256)` of Solidity; `custom`: an error of the stream's ABI; `revert`: other or no revert data; `caller`: an enclosing call failed.",
      ),
    message: text.describe('The text of `Error`, the meaning of the panic code, or a description.'),
    data: textOrNull.describe('Revert data in hex, up to 1,024 bytes; null if there is none.'),
  }),
);

const call = shape(
  'WebhookCall',
  'A call of a selected function. Decode it with `decodeCalls`.',
  z.strictObject({
    transactionHash: text,
    transactionIndex: text,
    traceAddress: z
      .array(count)
      .describe(
        "Position in the transaction's tree of calls: `[0, 2]` is the third call of its first call. Empty for the transaction itself.",
      ),
    type: z.enum(CALL_TYPES),
    from: text,
    to: text,
    value: text.describe('Wei, decimal.'),
    input: text,
    function: calledFunction,
    arguments: callArguments.describe(
      'Null if the function is unknown, or the input does not encode its arguments.',
    ),
    status: z
      .enum(['success', 'failed'])
      .nullable()
      .describe('`failed`: it was undone. Null if the receipt has no status.'),
    reason: callReason.exactOptional().describe('Only for failed calls.'),
    reasonUnavailable: text
      .exactOptional()
      .describe('Why a failed call has no `reason`, such as a missing trace.'),
  }),
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
    caller: caller
      .nullable()
      .exactOptional()
      .describe(
        'Null for a log without a transaction. Sluice only, for streams with `includeCaller`; otherwise absent.',
      ),
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

const readValue = shape(
  'WebhookReadValue',
  'A value in the state of a block.',
  z.strictObject({
    block: text.describe('Number of the block, decimal.'),
    value: typed(
      'unknown',
      z.unknown().describe('Integers are decimal text, bytes are hex, and structs are arrays.'),
    ),
  }),
);

const read = shape(
  'WebhookRead',
  'A value on chain whose condition holds.',
  z.strictObject({
    contract: text.exactOptional().describe('Address of the contract that was called.'),
    function: text.exactOptional().describe('Canonical signature, such as `totalSupply()`.'),
    arguments: z.array(z.unknown()).exactOptional(),
    output: text.exactOptional().describe('As in the stream; absent if it names no output.'),
    balance: text.exactOptional().describe('`native`, or the address of the token.'),
    of: text.exactOptional().describe('The account of the balance.'),
    when: conditionSchema,
    decimals: count.nullable().describe('Decimals of the value; null if they are unknown.'),
    before: readValue
      .nullable()
      .describe('The last known value, with the last block that had it; null if there is none.'),
    after: readValue.describe('The value in the block of the webhook.'),
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

const rule = shape(
  'WebhookRule',
  "A field of the stream that selects records, or one of the field's entries.",
  z.strictObject({
    field: z.enum([
      'topic0',
      'functions',
      'advancedOptions',
      'includeContractLogs',
      'includeNativeTxs',
      'includeInternalTxs',
      'includeAllTxLogs',
    ]),
    index: count
      .nullable()
      .describe(
        'Position of the entry when the block was matched; null if the field has no entries.',
      ),
  }),
);

const matched = shape(
  'WebhookMatched',
  'A watched address in the records of the webhook.',
  z.strictObject({
    address: textOrNull.describe(
      'Null for the records without a watched address, such as all records with `allAddresses`.',
    ),
    label: textOrNull.describe('Label of the address in the stream; null if it has none.'),
    factory: count
      .nullable()
      .describe(
        'Position in `factories` of the entry that added the address; null for addresses of the stream.',
      ),
    rules: z.array(rule).describe('The rules that selected the records, each once.'),
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
  calls: z
    .array(call)
    .exactOptional()
    .describe('Sluice only, for streams that select functions; otherwise absent.'),
  reads: z
    .array(read)
    .exactOptional()
    .describe(
      'Sluice only, in the webhooks about values on chain, which have no other records; otherwise absent.',
    ),
  proofs: webhookProofs
    .exactOptional()
    .describe(
      'Proofs for the transactions of `logs` and `txs`, in order. Sluice only, for streams with `includeProofs`, on proven chains; otherwise absent.',
    ),
  matched: z
    .array(matched)
    .exactOptional()
    .describe(
      'Each address once, in the order of `logs`, `txs`, `txsInternal` and `calls`. Sluice only, for streams with `includeMatched`; otherwise absent.',
    ),
};

export const evmWebhook = named(
  'EvmWebhook',
  'One delivery: all records that one stream matched in one block. Keys are in wire order.',
  z.strictObject(webhookFields),
);
