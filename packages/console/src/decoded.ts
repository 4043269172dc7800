/** The records of a webhook's body, as people read them. Pure; everything in a body is untrusted. */
import { decodeLogs, type DecodedValue, type WebhookLog } from '@sluice/kit';
import { KNOWN_EVENTS } from '@sluice/kit/contract';
import { formatAmount } from './format.ts';

export interface DecodedField {
  name: string;
  value: string;
  /** What the value means, such as `250 USDC`; empty when there is nothing to add. */
  note: string;
}

export interface DecodedRecord {
  /** Such as `Transfer`, or `transaction`. */
  title: string;
  /** Such as `ERC-20 USDC`; empty when nothing is known. */
  about: string;
  fields: DecodedField[];
  /** Where it stands in its block, such as `log 214`. */
  place: string;
  txHash: string;
  /** Nobody has said what it is. */
  unknown: boolean;
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);

const field = (name: string, value: unknown, note = ''): DecodedField => ({
  name,
  value: textOf(value),
  note,
});

/** Null for a body that is no webhook. */
export function toDecodedRecords(body: unknown): DecodedRecord[] | null {
  if (!isObject(body) || !isObject(body['block'])) return null;
  return 'coinTransfers' in body ? aptosRecords(body) : evmRecords(body);
}

function evmRecords(body: Json): DecodedRecord[] {
  const tokens = tokenRecords(body);
  const records: DecodedRecord[] = [];
  for (const log of listOf(body['logs'])) {
    const answers = triggersOf(log);
    const key = placeKey(log);
    const token = tokens.get(key);
    tokens.delete(key);
    const decoded = decodeWith(log, body['abi']);
    const place = `log ${textOf(log['logIndex'])}`;
    const txHash = textOf(log['transactionHash']);
    if (decoded !== undefined) {
      records.push({
        title: decoded.name,
        about: token?.about ?? '',
        fields: [
          field('contract', log['address']),
          ...withAmounts(decoded.fields, token),
          ...(token?.fields.filter(isTrigger) ?? []),
          ...answers,
        ],
        place,
        txHash,
        unknown: false,
      });
    } else if (token !== undefined) {
      records.push({ ...token, fields: [...token.fields, ...answers] });
    } else {
      const topic0 = textOf(log['topic0']);
      const known = KNOWN_EVENTS[topic0];
      const topics = ['topic0', 'topic1', 'topic2', 'topic3'].filter((name) => log[name] != null);
      records.push({
        title: known?.slice(0, known.indexOf('(')) ?? 'Unknown event',
        about: '',
        fields: [
          field('contract', log['address']),
          ...topics.map((name) => field(name, log[name], name === 'topic0' ? (known ?? '') : '')),
          field('data', log['data']),
          ...answers,
        ],
        place,
        txHash,
        unknown: known === undefined,
      });
    }
  }
  // What has no log beside it: a stream may leave its logs out.
  records.push(...tokens.values());
  for (const tx of listOf(body['txs'])) {
    records.push({
      title: 'Transaction',
      about: '',
      fields: [
        field('from', tx['fromAddress']),
        field('to', tx['toAddress'] ?? tx['receiptContractAddress']),
        field('value', tx['value'], nativeAmount(tx['value'])),
        field('status', tx['receiptStatus'], STATUS_WORDS[textOf(tx['receiptStatus'])] ?? ''),
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
        field('from', call['from']),
        field('to', call['to']),
        field('value', call['value'], nativeAmount(call['value'])),
        ...triggersOf(call),
      ],
      place: '',
      txHash: textOf(call['transactionHash']),
      unknown: false,
    });
  }
  for (const { address, balance } of listOf(body['nativeBalances'])) {
    records.push({
      title: 'Native balance',
      about: '',
      fields: [field('address', address), field('balance', balance, nativeAmount(balance))],
      place: '',
      txHash: '',
      unknown: false,
    });
  }
  return records;
}

const TRIGGER = 'trigger ';

/** What calls that were made for the record answered, or `error` and why not. */
const triggersOf = (record: Json): DecodedField[] =>
  listOf(record['triggers']).map(({ name, value }) => field(`${TRIGGER}${textOf(name)}`, value));

const isTrigger = ({ name }: DecodedField): boolean => name.startsWith(TRIGGER);

const STATUS_WORDS: Readonly<Record<string, string>> = { '0': 'failed', '1': 'succeeded' };

const placeKey = (record: Json): string =>
  `${textOf(record['transactionHash'])} ${textOf(record['logIndex'])}`;

/** 18 decimals: every EVM chain's own currency has them. */
const nativeAmount = (value: unknown): string => {
  const amount = typeof value === 'string' ? formatAmount(value, 18) : null;
  return amount === null || amount === '0' ? '' : `${amount} native`;
};

const amountOf = (record: Json): string => {
  const { value, tokenDecimals, tokenSymbol } = record;
  if (typeof value !== 'string' || typeof tokenDecimals !== 'string' || tokenDecimals === '') {
    return '';
  }
  const amount = formatAmount(value, Number(tokenDecimals));
  return amount === null ? '' : `${amount} ${textOf(tokenSymbol)}`.trim();
};

/** What the service decoded itself, by transaction and log. */
function tokenRecords(body: Json): Map<string, DecodedRecord> {
  const records = new Map<string, DecodedRecord>();
  const add = (list: unknown, title: string, standard: string, names: readonly string[]): void => {
    for (const record of listOf(list)) {
      const symbol = textOf(record['tokenSymbol']) || textOf(record['tokenName']);
      const type = textOf(record['tokenContractType']);
      const amount = amountOf(record);
      records.set(placeKey(record), {
        title,
        about: [standard || type, symbol].filter((part) => part !== '').join(' '),
        fields: [
          field('contract', record['contract']),
          ...names
            .filter((name) => name in record)
            .map((name) => field(name, record[name], name === 'value' ? amount : '')),
          ...triggersOf(record),
        ],
        place: `log ${textOf(record['logIndex'])}`,
        txHash: textOf(record['transactionHash']),
        unknown: false,
      });
    }
  };
  add(body['erc20Transfers'], 'Transfer', 'ERC-20', ['from', 'to', 'value']);
  add(body['erc20Approvals'], 'Approval', 'ERC-20', ['owner', 'spender', 'value']);
  add(body['nftTransfers'], 'Transfer', '', ['from', 'to', 'tokenId', 'amount']);
  add(body['nftTokenApprovals'], 'Approval', '', ['account', 'operator', 'approvedAll', 'tokenId']);
  return records;
}

function withAmounts(fields: DecodedField[], token: DecodedRecord | undefined): DecodedField[] {
  const amount = token?.fields.find(({ note }) => note !== '');
  if (amount === undefined) return fields;
  return fields.map((each) =>
    each.value === amount.value ? { ...each, note: amount.note } : each,
  );
}

/** One log at a time: a log that cannot be decoded disturbs no other. */
function decodeWith(log: Json, abi: unknown): { name: string; fields: DecodedField[] } | undefined {
  if (!Array.isArray(abi) || abi.length === 0) return undefined;
  try {
    const source = { logs: [log as unknown as WebhookLog], abi };
    const [decoded] = decodeLogs(source, undefined, { addresses: 'checksummed' }).decoded;
    if (decoded === undefined) return undefined;
    const fields = Object.entries(decoded.args).map(([name, value]) =>
      field(name, decodedText(value)),
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

function aptosRecords(body: Json): DecodedRecord[] {
  const coinNote = (record: Json): string => {
    const coin = isObject(record['coin']) ? record['coin'] : {};
    const decimals = coin['decimals'];
    const value = record['value'];
    if (typeof value !== 'string' || typeof decimals !== 'number') return '';
    const amount = formatAmount(value, decimals);
    return amount === null ? '' : `${amount} ${textOf(coin['symbol'])}`.trim();
  };
  const coinName = (record: Json): string =>
    isObject(record['coin']) ? textOf(record['coin']['name']) : '';
  const movements = (list: unknown, title: string): DecodedRecord[] =>
    listOf(list).map((record) => ({
      title,
      about: coinName(record),
      fields: [
        field('account', record['address']),
        field('value', record['value'], coinNote(record)),
      ],
      place: '',
      txHash: textOf(record['txHash']),
      unknown: false,
    }));
  return [
    ...listOf(body['coinTransfers']).map((record) => ({
      title: 'Coin transfer',
      about: coinName(record),
      fields: [
        field('from', record['from']),
        field('to', record['to']),
        field('value', record['value'], coinNote(record)),
      ],
      place: '',
      txHash: textOf(record['txHash']),
      unknown: false,
    })),
    ...movements(body['coinDeposits'], 'Deposit'),
    ...movements(body['coinWithdrawals'], 'Withdrawal'),
    ...listOf(body['transactions']).map((record) => ({
      title: 'Transaction',
      about: textOf(record['type']),
      fields: [
        field('sender', record['sender']),
        field('success', record['success']),
        field('gas used', record['gasUsed']),
      ],
      place: '',
      txHash: textOf(record['hash']),
      unknown: false,
    })),
  ];
}
