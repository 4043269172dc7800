import { expect, test } from 'vitest';
import type { EvmBlock, EvmCall, EvmInternalTransaction, EvmTransaction } from '../match/block.ts';
import { EVM_RECORDS } from './recordIds.ts';

const call = { transactionHash: '0xa', traceAddress: [0] as readonly number[] } as EvmCall;
const move = { transactionHash: '0xa' } as EvmInternalTransaction;
const block = {
  logs: [],
  transactions: [{ hash: '0xa' }, { hash: '0xb' }] as EvmTransaction[],
  internalTransactions: [move, { ...move, transactionHash: '0xb' }],
  calls: [call, { ...call, transactionHash: '0xb' }],
  traced: ['0xa', '0xb'],
} as unknown as EvmBlock;
const [a, b, traceOfA, traceOfB] = EVM_RECORDS.of(block);
const nothing = { logs: [], txs: [], txsInternal: [] };
const known = (body: object) => [...EVM_RECORDS.ofWebhooks([JSON.stringify(body)])];

test('the transactions and traces of calls in a webhook are known, once', () => {
  const own = { transactionHash: '0xb', traceAddress: [] };
  expect(known({ ...nothing, txs: [{ hash: '0xa' }], calls: [own, own] })).toEqual([a, b]);
  expect(known({ ...nothing, calls: [call, call] })).toEqual([a, traceOfA]);
  expect(known({ ...nothing, txsInternal: [{ transactionHash: '0xb' }] })).toEqual([traceOfB]);
});

test('a part of a block has the records of its traces', () => {
  const part = EVM_RECORDS.pick(block, (id) => id === traceOfA);
  expect(part).toMatchObject({ transactions: [], calls: [call], internalTransactions: [move] });
  const rest = EVM_RECORDS.pick(block, (id) => id !== traceOfA);
  expect(rest.transactions).toHaveLength(2);
  expect(rest.calls).toMatchObject([{ transactionHash: '0xb' }]);
  expect(EVM_RECORDS.of(rest)).toEqual(new Set([a, b, traceOfB]));
});

test('a block without a trace does not show that its records are gone', () => {
  expect([a, b, traceOfA].map((id) => EVM_RECORDS.canVanish(id!))).toEqual([true, true, false]);
});
