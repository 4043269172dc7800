/** Decodes the records of an Aptos webhook for display. */
import {
  amountOf,
  type DecodedRecord,
  createField,
  isObject,
  type Json,
  listOf,
  textOf,
} from '../../body/decodedRecord.ts';

/** Converts the timestamp of a block, in microseconds. */
export const toAptosMs = (timestamp: number): number => timestamp / 1000;

export function decodeAptosRecords(body: Json): DecodedRecord[] {
  const coinName = (record: Json): string =>
    isObject(record['coin']) ? textOf(record['coin']['name']) : '';
  const movements = (list: unknown, title: string): DecodedRecord[] =>
    listOf(list).map((record) => ({
      title,
      about: coinName(record),
      fields: [
        createField('account', record['address']),
        createField('value', record['value'], amountOf(record)),
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
        createField('from', record['from']),
        createField('to', record['to']),
        createField('value', record['value'], amountOf(record)),
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
        createField('sender', record['sender']),
        createField('success', record['success']),
        createField('gas used', record['gasUsed']),
      ],
      place: '',
      txHash: textOf(record['hash']),
      unknown: false,
    })),
  ];
}
