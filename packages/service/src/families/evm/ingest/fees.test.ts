/** Tests which fee a transaction and its receipt give, through the normalized block. */
import { expect, test } from 'vitest';
import { toTransactionFee } from '../match/selection.ts';
import type { Json } from '../../../ingest/json.ts';
import { address, createBlock, createReceipt, createTransaction } from './fakeNode.test-only.ts';
import { toHeader } from './header.ts';
import { fromReceipts, sortReceipts } from './normalize.ts';

function feeOf(transaction: Json, receipt: Json): string | null {
  const block = createBlock(1, { transactions: [createTransaction(0, transaction)] });
  const header = toHeader(block);
  const sorted = sortReceipts(block, header, [createReceipt(block, 0, [], receipt)]);
  const { transactions } = fromReceipts(block, header, sorted, false);
  return toTransactionFee(transactions[0]!);
}

const GWEI = '0x3b9aca00';
const HUGE = `0x${'f'.repeat(64)}`;

// The receipts use 21,000 gas.
test.each<[name: string, transaction: Json, receipt: Json, fee: string | null]>([
  ['a legacy transaction', { gasPrice: GWEI }, {}, '0.000021'],
  ['a null price in the receipt', { gasPrice: GWEI }, { effectiveGasPrice: null }, '0.000021'],
  ['EIP-1559', { type: '0x2', gasPrice: '0x1' }, { effectiveGasPrice: GWEI }, '0.000021'],
  ['no price in the transaction', { gasPrice: null }, { effectiveGasPrice: GWEI }, '0.000021'],
  ['no price', { type: '0x2', gasPrice: undefined, maxFeePerGas: GWEI }, {}, null],
  ['a free transaction', { gasPrice: GWEI }, { effectiveGasPrice: '0x0' }, '0'],
  ['an L1 fee', { gasPrice: GWEI }, { l1Fee: '0x1' }, '0.000021000000000001'],
  ['an L1 fee of a free transaction', { gasPrice: '0x0' }, { l1Fee: GWEI }, '0.000000001'],
  ['a null L1 fee', { gasPrice: GWEI }, { l1Fee: null }, '0.000021'],
  ['an L1 fee in decimal digits', { gasPrice: GWEI }, { l1Fee: '1' }, '0.000021000000000001'],
  ['a malformed L1 fee', { gasPrice: GWEI }, { l1Fee: 'free' }, null],
  ['a malformed price', {}, { effectiveGasPrice: {} }, null],
  ['no gas used', { gasPrice: GWEI }, { gasUsed: null }, null],
  ['a price in a token', { gasPrice: GWEI, feeCurrency: address(3) }, {}, null],
  ['no token', { gasPrice: GWEI, feeCurrency: null }, {}, '0.000021'],
  [
    'the largest numbers',
    { gasPrice: HUGE },
    { gasUsed: HUGE, l1Fee: HUGE },
    `${2n ** 256n * (2n ** 256n - 1n)}`.replace(/(?=\d{18}$)/, '.').replace(/\.?0+$/, ''),
  ],
])('the fee is exact, or null if a part is unknown: %s', (_, transaction, receipt, fee) => {
  expect(feeOf(transaction, receipt)).toBe(fee);
});
