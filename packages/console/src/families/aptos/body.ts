/** Decodes the records of an Aptos webhook for display. */
import {
  amountOf,
  type DecodedRecord,
  field,
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
        field('account', record['address']),
        field('value', record['value'], amountOf(record)),
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
        field('value', record['value'], amountOf(record)),
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
