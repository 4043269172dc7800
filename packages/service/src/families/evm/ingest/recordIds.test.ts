import { expect, test } from 'vitest';
import type { EvmBlock, EvmCall, EvmTransaction } from '../match/block.ts';
import { EVM_RECORDS } from './recordIds.ts';

const call = { transactionHash: '0xa' } as EvmCall;
const block = {
  logs: [],
  transactions: [{ hash: '0xa' }, { hash: '0xb' }] as EvmTransaction[],
  internalTransactions: [],
  calls: [call, { ...call, transactionHash: '0xb' }],
} as unknown as EvmBlock;

test('the transaction of a call in a webhook is known, once', () => {
  const body = JSON.stringify({ logs: [], txs: [{ hash: '0xa' }], calls: [call, call] });
  const known = EVM_RECORDS.ofWebhooks([body]);
  const [first, second] = EVM_RECORDS.of(block);
  expect([...known]).toEqual([first]);
  const alone = JSON.stringify({ logs: [], txs: [], calls: [{ transactionHash: '0xb' }] });
  expect([...EVM_RECORDS.ofWebhooks([alone])]).toEqual([second]);
});

test('a part of a block has the calls of its transactions', () => {
  const [first] = EVM_RECORDS.of(block);
  const part = EVM_RECORDS.pick(block, (id) => id === first);
  expect(part.transactions).toHaveLength(1);
  expect(part.calls).toEqual([call]);
});
