/** Fields that selectors, such as `$from`, can use in triggers and native balances. */
import type {
  RecordKind,
  WebhookErc20Approval,
  WebhookErc20Transfer,
  WebhookInternalTransaction,
  WebhookLog,
  WebhookNftTransfer,
  WebhookTransaction,
} from '../shapes.generated.ts';

type FieldType = 'address' | 'value';
/**
 * Maps each field that selectors can use to its type. The compiler reports missing fields.
 */
type FieldsOf<T> = Record<
  Exclude<keyof T, 'triggers' | 'triggered_by' | 'transactionFee' | 'valueWithDecimals' | 'caller'>,
  FieldType
>;

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
    toTokenId: 'value',
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

/** Names that selectors may use, without `$`. */
export interface Selectable {
  all: readonly string[];
  /** Names of the fields and parameters that contain an address. */
  addresses: readonly string[];
}

/**
 * Returns the names that selectors may use for this kind of record.
 *
 * @param event parameters of the event, for a log trigger
 */
export function selectableOf(
  kind: RecordKind,
  event: readonly { name: string; type: string }[] = [],
): Selectable {
  const fields = Object.entries(FIELDS[kind]);
  const named = event.filter(({ name }) => name !== '');
  return {
    all: [...new Set([...fields.map(([name]) => name), ...named.map(({ name }) => name)])],
    addresses: [
      ...new Set([
        ...fields.filter(([, type]) => type === 'address').map(([name]) => name),
        ...named.filter(({ type }) => type === 'address').map(({ name }) => name),
      ]),
    ],
  };
}
