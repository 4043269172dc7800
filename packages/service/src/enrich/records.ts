/** The records of a body, by the kinds that triggers and balances name. */
import type {
  EvmWebhook,
  RecordKind,
  WebhookErc20Approval,
  WebhookErc20Transfer,
  WebhookInternalTransaction,
  WebhookLog,
  WebhookNftTransfer,
  WebhookTransaction,
  WebhookTrigger,
} from '@sluice/kit/contract';

/** All of a body but what is known before its records are. */
export type BodyTail = Omit<
  EvmWebhook,
  'confirmed' | 'removed' | 'chainId' | 'abi' | 'streamId' | 'tag' | 'retries'
>;

/** A record of any kind, read by its field names. */
export type AnyRecord = Readonly<Record<string, unknown>> & { triggers?: WebhookTrigger[] };

export function recordsOf(tail: BodyTail, kind: RecordKind): AnyRecord[] {
  return arrayOf(tail, kind) as unknown as AnyRecord[];
}

function arrayOf(tail: BodyTail, kind: RecordKind): readonly object[] {
  switch (kind) {
    case 'tx':
      return tail.txs;
    case 'log':
      return tail.logs;
    case 'erc20transfer':
      return tail.erc20Transfers;
    case 'erc20approval':
      return tail.erc20Approvals;
    case 'nfttransfer':
      return tail.nftTransfers;
    case 'internalTx':
      return tail.txsInternal;
  }
}

type FieldType = 'address' | 'value';
/** Fields a selector may name; the compiler holds that none is forgotten. */
type FieldsOf<T> = Record<Exclude<keyof T, 'triggers' | 'valueWithDecimals'>, FieldType>;

const TOKEN = {
  contract: 'address',
  transactionHash: 'value',
  logIndex: 'value',
  tokenName: 'value',
  tokenSymbol: 'value',
  possibleSpam: 'value',
} as const;

const FIELDS: Record<RecordKind, Readonly<Record<string, FieldType>>> = {
  tx: {
    hash: 'value',
    gas: 'value',
    gasPrice: 'value',
    nonce: 'value',
    input: 'value',
    transactionIndex: 'value',
    fromAddress: 'address',
    toAddress: 'address',
    value: 'value',
    type: 'value',
    v: 'value',
    r: 'value',
    s: 'value',
    receiptCumulativeGasUsed: 'value',
    receiptGasUsed: 'value',
    receiptContractAddress: 'address',
    receiptRoot: 'value',
    receiptStatus: 'value',
  } satisfies FieldsOf<WebhookTransaction>,
  log: {
    logIndex: 'value',
    transactionHash: 'value',
    address: 'address',
    data: 'value',
    topic0: 'value',
    topic1: 'value',
    topic2: 'value',
    topic3: 'value',
  } satisfies FieldsOf<WebhookLog>,
  erc20transfer: {
    ...TOKEN,
    from: 'address',
    to: 'address',
    value: 'value',
    tokenDecimals: 'value',
  } satisfies FieldsOf<WebhookErc20Transfer>,
  erc20approval: {
    ...TOKEN,
    owner: 'address',
    spender: 'address',
    value: 'value',
    tokenDecimals: 'value',
  } satisfies FieldsOf<WebhookErc20Approval>,
  nfttransfer: {
    ...TOKEN,
    operator: 'address',
    from: 'address',
    to: 'address',
    tokenId: 'value',
    amount: 'value',
    tokenContractType: 'value',
  } satisfies FieldsOf<WebhookNftTransfer>,
  internalTx: {
    from: 'address',
    to: 'address',
    value: 'value',
    gas: 'value',
    transactionHash: 'value',
    internalTransactionIndex: 'value',
  } satisfies FieldsOf<WebhookInternalTransaction>,
};

/** The fields of a kind of record, or those among them that are addresses. */
export const fieldsOf = (kind: RecordKind, only?: 'address'): string[] =>
  Object.entries(FIELDS[kind])
    .filter(([, type]) => only === undefined || type === only)
    .map(([name]) => name);
