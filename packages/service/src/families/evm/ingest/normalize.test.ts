/** Tests each check of a block's parts. No recorded network fails all of them. */
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../ingest/json.ts';
import {
  createBlock,
  createBlockLog,
  createReceipt,
  createTransaction,
  word,
} from './fakeNode.test-only.ts';
import { toHeader } from './header.ts';
import { fromLogs, fromReceipts, sortReceipts } from './normalize.ts';

const BLOCK = createBlock(7, { transactions: [createTransaction(0), createTransaction(1)] });
const HEADER = toHeader(BLOCK);
const log = (transactionIndex: number, logIndex: number, changes: Json = {}): Json =>
  createBlockLog(BLOCK, transactionIndex, logIndex, changes);

/** Returns the codes of the failed checks, except that of the header's bloom, which is empty. */
const failedIn = ({ findings }: ReturnType<typeof fromLogs>): string[] =>
  findings.flatMap(({ code, result }) => (result === 'failed' ? [code] : []));

describe('log indices', () => {
  test.each<[string, Json[], string[]]>([
    ['count up from 0', [log(0, 0), log(1, 1)], []],
    ['start at 1', [log(0, 1), log(1, 2)], ['log-indices']],
    ['skip one', [log(0, 0), log(1, 2)], ['log-indices']],
    ['restart in each transaction', [log(0, 0), log(0, 1), log(1, 0)], []],
    ['repeat in a transaction', [log(0, 0), log(0, 0, { data: '0x01' })], ['log-indices']],
    ['skip one in a transaction', [log(0, 0), log(0, 2), log(1, 0)], ['log-indices']],
  ])('that %s', (_, logs, failed) => {
    const found = fromLogs(BLOCK, HEADER, logs);
    expect(failedIn(found)).toEqual(failed);
    expect(found.logs).toHaveLength(logs.length);
  });
});

describe('a log', () => {
  test.each([
    ['of another block', { blockHash: word(1) }],
    ['without a block', { blockHash: null }],
    ['that was removed', { removed: true }],
  ])('%s is rejected', (_, changes) => {
    expect(() => fromLogs(BLOCK, HEADER, [log(0, 0, changes)])).toThrow(/a log claims to belong/);
  });

  test('of another block in a receipt is a failed check', () => {
    const receipts = [
      createReceipt(BLOCK, 0, [log(0, 0, { blockHash: word(1) })]),
      createReceipt(BLOCK, 1),
    ];
    const sorted = sortReceipts(BLOCK, HEADER, receipts);
    expect(failedIn(fromReceipts(BLOCK, HEADER, sorted, false))).toEqual(['receipts']);
  });

  test.each([
    ['the index of a transaction', '0x0', 2],
    ['no index', null, 2],
    ['an index after the last transaction', '0x5', 5],
  ])('of no transaction with %s comes after all others', (_, transactionIndex, expected) => {
    const own = log(9, 0, { transactionIndex });
    const { logs } = fromLogs(BLOCK, HEADER, [own, log(1, 0)]);
    expect(logs.map((each) => each.transactionIndex)).toEqual([1, expected]);
  });
});

test('a failed check takes precedence over an inapplicable one with the same code', () => {
  // Logs that set bits beside the bloom, and a receipt whose bloom has logs that are missing.
  const bloom = `0x${'00'.repeat(255)}01`;
  const receipts = [
    createReceipt(BLOCK, 0, [log(0, 0)], { logsBloom: bloom }),
    createReceipt(BLOCK, 1),
  ];
  const sorted = sortReceipts(BLOCK, HEADER, receipts);
  const { findings } = fromReceipts(BLOCK, HEADER, sorted, false);
  expect(findings).toEqual([
    {
      code: 'bloom',
      result: 'failed',
      reason: 'the bloom of a receipt covers logs that are missing',
    },
  ]);
});

test.each([
  ['of its receipt', { effectiveGasPrice: '0x7', l1Fee: '0x3' }, { price: '0x7', l1Fee: '0x3' }],
  ['of the transaction if the receipt has none', {}, { price: '0x1', l1Fee: '0x0' }],
  ['unknown if its form is', { effectiveGasPrice: 'seven' }, null],
])('the fee of a transaction is %s', (_, changes, fee) => {
  const receipts = [createReceipt(BLOCK, 0, [], changes), createReceipt(BLOCK, 1)];
  const sorted = sortReceipts(BLOCK, HEADER, receipts);
  const { transactions } = fromReceipts(BLOCK, HEADER, sorted, false);
  expect(transactions[0]!.receipt.fee).toEqual(fee);
});

test.each([
  ['null', null, { price: '0x1', l1Fee: '0x0' }],
  ['a token', `0x${'c'.repeat(40)}`, null],
])('the fee of a transaction whose fee currency is %s', (_, feeCurrency, fee) => {
  const block = createBlock(7, { transactions: [{ ...createTransaction(0), feeCurrency }] });
  const sorted = sortReceipts(block, HEADER, [createReceipt(block, 0)]);
  const { transactions } = fromReceipts(block, HEADER, sorted, false);
  expect(transactions[0]!.receipt.fee).toEqual(fee);
});
