/** Decodes the records of an EVM webhook for display. */
import { decodeLogs, type DecodedValue, type WebhookLog } from '@sluice/kit';
import { KNOWN_EVENTS, type ReadCondition, toNativeTransfer } from '@sluice/kit/contract';
import {
  amountOf,
  type DecodedField,
  type DecodedRecord,
  createField,
  isObject,
  type Json,
  listOf,
  textOf,
} from '../../body/decodedRecord.ts';
import type { MatchedAddress } from '../../body/matchedAddress.ts';
import { formatAmount } from '../../ui/text/formatAmount.ts';
import { describeCondition, formatInUnit, nameOfFunction } from './readWords.ts';

/**
 * Returns a function that decodes a single log of the body; null if the body has no list of logs.
 */
export function createLogReader(body: unknown): ((log: Json) => DecodedRecord) | null {
  if (!isObject(body) || !Array.isArray(body['logs'])) return null;
  let tokens: Map<string, TokenRecord> | undefined;
  return (log) => {
    tokens ??= tokenRecords(body);
    return toLogRecord(log, tokens.get(placeKey(log)), body['abi']);
  };
}

/** Converts the timestamp of a block, in seconds. */
export const toEvmMs = (timestamp: number): number => timestamp * 1000;

/** Returns the matched addresses in a body; empty if the stream does not include them. */
export const readMatched = (body: Json): MatchedAddress[] =>
  listOf(body['matched']).map(({ address, label, factory, rules }) => ({
    address: typeof address === 'string' ? address : null,
    label: typeof label === 'string' ? label : null,
    factory: typeof factory === 'number' ? factory : null,
    rules: listOf(rules).flatMap(({ field, index }) =>
      typeof field === 'string' ? [{ field, index: typeof index === 'number' ? index : null }] : [],
    ),
  }));

export function decodeEvmRecords(body: Json): DecodedRecord[] {
  const tokens = tokenRecords(body);
  const records: DecodedRecord[] = [];
  for (const log of listOf(body['logs'])) {
    const key = placeKey(log);
    records.push(toLogRecord(log, tokens.get(key), body['abi']));
    tokens.delete(key);
  }
  // Adds the transfers and approvals whose log is not in the body.
  records.push(...[...tokens.values()].map(toTokenRecord));
  for (const tx of listOf(body['txs'])) {
    records.push({
      title: 'Transaction',
      about: '',
      fields: [
        createField('from', tx['fromAddress']),
        createField('to', tx['toAddress'] ?? tx['receiptContractAddress']),
        createField('value', tx['value'], nativeAmount(tx['value'])),
        createField('status', tx['receiptStatus'], STATUS_WORDS[textOf(tx['receiptStatus'])] ?? ''),
        ...feeOf(tx),
        ...watchedIn(tx),
        ...triggersOf(tx),
      ],
      place: `transaction ${textOf(tx['transactionIndex'])}`,
      txHash: textOf(tx['hash']),
      unknown: false,
    });
  }
  for (const call of listOf(body['txsInternal'])) {
    records.push({
      title: 'Internal transaction',
      about: '',
      fields: [
        createField('from', call['from']),
        createField('to', call['to']),
        createField('value', call['value'], nativeAmount(call['value'])),
        ...triggersOf(call),
      ],
      place: '',
      txHash: textOf(call['transactionHash']),
      unknown: false,
    });
  }
  for (const call of listOf(body['calls'])) records.push(toCallRecord(call));
  for (const read of listOf(body['reads'])) records.push(toReadRecord(read));
  for (const { address, balance } of listOf(body['nativeBalances'])) {
    records.push({
      title: 'Native balance',
      about: '',
      fields: [
        createField('address', address),
        createField('balance', balance, nativeAmount(balance)),
      ],
      place: '',
      txHash: '',
      unknown: false,
    });
  }
  return records;
}

function toCallRecord(call: Json): DecodedRecord {
  const named = textOf(call['function']);
  const reason = (call['reason'] as Json | undefined)?.['message'] ?? call['reasonUnavailable'];
  return {
    title: named === '' ? 'Call' : named.slice(0, named.indexOf('(')),
    about: call['type'] === 'call' ? '' : textOf(call['type']),
    fields: [
      createField('from', call['from']),
      createField('to', call['to']),
      createField('value', call['value'], nativeAmount(call['value'])),
      ...listOf(call['arguments']).map(({ name, value }) => createField(textOf(name), value)),
      createField('status', call['status']),
      ...(reason === undefined ? [] : [createField('reason', reason)]),
    ],
    place: `call ${textOf(call['transactionIndex'])}`,
    txHash: textOf(call['transactionHash']),
    unknown: call['arguments'] === null,
  };
}

function toReadRecord(read: Json): DecodedRecord {
  const { balance, output, decimals } = read;
  const valueOf = (name: 'before' | 'after'): DecodedField => {
    const given = read[name];
    if (!isObject(given)) return createField(name, 'none');
    const amount = formatInUnit(given['value'], typeof decimals === 'number' ? decimals : null);
    const unit = balance === 'native' ? ' native' : '';
    return createField(
      name,
      given['value'],
      [
        ...(amount === null ? [] : [`${amount}${unit}`]),
        `in block ${formatInUnit(given['block'], 0) ?? textOf(given['block'])}`,
      ].join(' '),
    );
  };
  const called = textOf(read['function']);
  const values = Array.isArray(read['arguments']) ? (read['arguments'] as unknown[]) : [];
  return {
    title:
      balance === undefined
        ? nameOfFunction(called)
        : balance === 'native'
          ? 'Native balance'
          : 'Token balance',
    about: isCondition(read['when']) ? describeCondition(read['when']) : '',
    fields: [
      createField('contract', read['contract']),
      createField('token', balance === 'native' ? undefined : balance),
      createField('account', read['of']),
      ...values.map((value, n) => createField(`argument ${n + 1}`, value)),
      createField('output', output),
      valueOf('before'),
      valueOf('after'),
    ],
    place: '',
    txHash: '',
    unknown: false,
  };
}

/** Returns whether a value of an untrusted body is the condition of a read. */
const isCondition = (value: unknown): value is ReadCondition =>
  value === 'changes' ||
  (isObject(value) &&
    (typeof value['every'] === 'number' ||
      ['below', 'above', 'crosses'].some((name) => typeof value[name] === 'string')));

const TRIGGER = 'trigger ';

/**
 * Returns the trigger results of a record. A failed trigger is named `error`, and its value is the
 * reason.
 */
const triggersOf = (record: Json): DecodedField[] =>
  listOf(record['triggers']).map(({ name, value }) =>
    createField(`${TRIGGER}${textOf(name)}`, value),
  );

const isTrigger = ({ name }: DecodedField): boolean => name.startsWith(TRIGGER);

/** Returns the fee of a transaction; empty if the body does not have it. */
const feeOf = ({ transactionFee: fee }: Json): DecodedField[] =>
  fee == null ? [] : [createField('fee', `${textOf(fee)} native`)];

/** Returns the watched addresses that a record concerns; empty if the body does not have them. */
const watchedIn = ({ triggered_by: addresses }: Json): DecodedField[] =>
  Array.isArray(addresses) ? [createField('triggered by', addresses.map(textOf).join(', '))] : [];

const STATUS_WORDS: Readonly<Record<string, string>> = { '0': 'failed', '1': 'succeeded' };

const placeKey = (record: Json): string =>
  `${textOf(record['transactionHash'])} ${textOf(record['logIndex'])}`;

/**
 * Formats an amount of the native currency, which has 18 decimals on every EVM chain; empty if it
 * is zero or invalid.
 */
const nativeAmount = (value: unknown): string => {
  const amount = typeof value === 'string' ? formatAmount(value, 18) : null;
  return amount === null || amount === '0' ? '' : `${amount} native`;
};

/** A transfer or approval that the service decoded from a log. */
interface TokenRecord {
  kind: TokenKind;
  record: Json;
}

/**
 * The title, token standard and fields of the records in each list of decoded transfers or
 * approvals.
 */
const TOKEN_KINDS = {
  erc20Transfers: { title: 'Transfer', standard: 'ERC-20', names: ['from', 'to', 'value'] },
  erc20Approvals: { title: 'Approval', standard: 'ERC-20', names: ['owner', 'spender', 'value'] },
  nftTransfers: {
    title: 'Transfer',
    standard: '',
    names: ['from', 'to', 'tokenId', 'toTokenId', 'amount'],
  },
  nftTokenApprovals: {
    title: 'Approval',
    standard: '',
    names: ['account', 'operator', 'approvedAll', 'tokenId'],
  },
} as const;
type TokenKind = keyof typeof TOKEN_KINDS;

/** Maps the transaction hash and index of a log to the transfer or approval decoded from it. */
const tokenRecords = (body: Json): Map<string, TokenRecord> =>
  new Map(
    (Object.keys(TOKEN_KINDS) as TokenKind[]).flatMap((kind) =>
      listOf(body[kind]).map((record) => [placeKey(record), { kind, record }] as const),
    ),
  );

function toTokenRecord({ kind, record }: TokenRecord): DecodedRecord {
  const { title, standard, names } = TOKEN_KINDS[kind];
  const symbol = textOf(record['tokenSymbol']) || textOf(record['tokenName']);
  const type = textOf(record['tokenContractType']);
  return {
    title,
    about: [standard || type, symbol].filter((part) => part !== '').join(' '),
    fields: [
      createField('contract', record['contract']),
      ...names
        .filter((name) => name in record)
        .map((name) => createField(name, record[name], name === 'value' ? amountOf(record) : '')),
      ...triggersOf(record),
    ],
    place: `log ${textOf(record['logIndex'])}`,
    txHash: textOf(record['transactionHash']),
    unknown: false,
  };
}

/**
 * Decodes the log of a native transfer, or a log of the ABI; for other logs, uses the service's
 * record, then a known topic.
 */
function toLogRecord(log: Json, found: TokenRecord | undefined, abi: unknown): DecodedRecord {
  const token = found && toTokenRecord(found);
  const context = [...watchedIn(log), ...triggersOf(log)];
  const where = { place: `log ${textOf(log['logIndex'])}`, txHash: textOf(log['transactionHash']) };
  const native = toNativeTransfer({
    address: textOf(log['address']),
    topics: TOPICS.map((name) => (typeof log[name] === 'string' ? log[name] : null)),
    data: textOf(log['data']),
  });
  if (native !== undefined) {
    const value = String(native.value);
    const fields = [createField('from', native.from), createField('to', native.to)];
    fields.push(createField('value', value, nativeAmount(value)), ...context);
    return { title: 'Native transfer', about: '', fields, ...where, unknown: false };
  }
  const decoded = decodeWith(log, abi);
  if (decoded !== undefined) {
    return {
      title: decoded.name,
      about: token?.about ?? '',
      fields: [
        createField('contract', log['address']),
        ...withAmounts(decoded.fields, token),
        ...(token?.fields.filter(isTrigger) ?? []),
        ...context,
      ],
      ...where,
      unknown: false,
    };
  }
  if (token !== undefined) return { ...token, fields: [...token.fields, ...context] };
  const known = KNOWN_EVENTS[textOf(log['topic0'])];
  const topics = TOPICS.filter((name) => log[name] != null);
  return {
    title: known?.slice(0, known.indexOf('(')) ?? 'Unknown event',
    about: '',
    fields: [
      createField('contract', log['address']),
      ...topics.map((name) => createField(name, log[name], name === 'topic0' ? (known ?? '') : '')),
      createField('data', log['data']),
      ...context,
    ],
    ...where,
    unknown: known === undefined,
  };
}

const TOPICS = ['topic0', 'topic1', 'topic2', 'topic3'] as const;

function withAmounts(fields: DecodedField[], token: DecodedRecord | undefined): DecodedField[] {
  const amount = token?.fields.find(({ note }) => note !== '');
  if (amount === undefined) return fields;
  return fields.map((each) =>
    each.value === amount.value ? { ...each, note: amount.note } : each,
  );
}

/** Decodes a single log, so that an invalid log does not affect others. */
function decodeWith(log: Json, abi: unknown): { name: string; fields: DecodedField[] } | undefined {
  if (!Array.isArray(abi) || abi.length === 0) return undefined;
  try {
    const source = { logs: [log as unknown as WebhookLog], abi };
    const [decoded] = decodeLogs(source, undefined, { addresses: 'checksummed' }).decoded;
    if (decoded === undefined) return undefined;
    const fields = Object.entries(decoded.args).map(([name, value]) =>
      createField(name, decodedText(value)),
    );
    return { name: decoded.name, fields };
  } catch {
    return undefined;
  }
}

function decodedText(value: DecodedValue): string {
  return typeof value === 'object'
    ? JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each))
    : String(value);
}
