/** Each check by itself: what the others would have caught too is left right. */
import { describe, expect, test } from 'vitest';
import { assemble, checkLogs, checkReceipts } from './blockParts.ts';
import { bloomOf } from './bloom.ts';
import type { Json } from './json.ts';

const header = { number: 7, hash: '0xb7', parentHash: '0xb6', timestamp: 1 };
const address = (n: number): string => `0x${String(n).repeat(40)}`;
const topic = (n: number): string => `0x${String(n).repeat(64)}`;
const toHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

const logAt = (logIndex: number, transactionIndex: number, of: number): Json => ({
  blockHash: header.hash,
  logIndex: `0x${logIndex}`,
  transactionHash: `0x${transactionIndex + 1}`,
  transactionIndex: `0x${transactionIndex}`,
  address: address(of),
  topics: [topic(of)],
  data: '0x',
});
const bloomOfRaw = (logs: Json[]): string =>
  toHex(bloomOf(logs as { address: string; topics: string[] }[]));

// The last log sets no bit that the first does not set: the block's own bloom does not miss it.
const logs = [logAt(0, 0, 1), logAt(1, 0, 2), logAt(2, 1, 1)];
const receiptOf = (n: number): Json => {
  const own = logs.filter(({ transactionIndex }) => transactionIndex === `0x${n}`);
  return {
    transactionHash: `0x${n + 1}`,
    blockHash: header.hash,
    logs: own,
    logsBloom: bloomOfRaw(own),
    cumulativeGasUsed: '0x1',
    gasUsed: '0x1',
    status: '0x1',
  };
};
const block: Json = {
  hash: header.hash,
  transactions: ['0x1', '0x2'],
  logsBloom: bloomOfRaw(logs),
};
const receipts = [receiptOf(0), receiptOf(1)];
const change = (item: Json, changes: Json): Json => ({ ...item, ...changes });

describe('receipts', () => {
  test('of the block are taken', () => {
    expect(checkReceipts('node', block, header, receipts)).toEqual(receipts);
  });

  test.each<[string, unknown, RegExp]>([
    ['none', null, /2 transactions but no receipts/],
    ['too few', receipts.slice(0, 1), /2 transactions but 1 receipts/],
    ['too many', [...receipts, receiptOf(1)], /2 transactions but 3 receipts/],
    ['one that is null', [receipts[0], null], /receipt 1 of block 7 came as null/],
    ['in another order', receipts.toReversed(), /receipt 0 of block 7 belongs to transaction 0x2/],
    [
      'of another block',
      [receipts[0], change(receipts[1]!, { blockHash: '0xc7' })],
      /receipt 1 .* in block 0xc7/,
    ],
    [
      'the last without its log',
      [receipts[0], change(receipts[1]!, { logs: [] })],
      /receipt 1 of block 7 names logs that did not come \(0 did\)/,
    ],
  ])('%s are refused', (_, answer, message) => {
    expect(() => checkReceipts('node', block, header, answer)).toThrow(message);
  });

  test('without a bloom of their own are taken: not every chain gives one', () => {
    const plain = receipts.map((receipt) => change(receipt, { logsBloom: undefined }));
    expect(checkReceipts('node', block, header, plain)).toHaveLength(2);
  });

  test('bring the logs of the block', () => {
    const transactions = [1, 2].map((n) => ({
      hash: `0x${n}`,
      transactionIndex: `0x${n - 1}`,
      from: address(1),
      to: null,
      value: '0x0',
      gas: '0x1',
      nonce: '0x0',
      input: '0x',
    }));
    const whole = assemble('node', change(block, { transactions }), header, receipts);
    expect(whole.logs.map(({ logIndex }) => logIndex)).toEqual([0, 1, 2]);
    expect(whole.transactions.map(({ hash }) => hash)).toEqual(['0x1', '0x2']);
  });
});

describe('logs', () => {
  test('of the block are taken, in their order', () => {
    const taken = checkLogs('node', block, header, logs.toReversed());
    expect(taken.map(({ logIndex }) => logIndex)).toEqual([0, 1, 2]);
  });

  test.each<[string, Json[], RegExp]>([
    ['none', [], /the bloom of block 7 names logs that did not come \(0 did\)/],
    ['some', logs.slice(0, 1), /names logs that did not come \(1 did\)/],
    ['all but the first', logs.slice(1), /have a hole/],
    ['all but one between', [logs[0]!, logs[2]!], /have a hole/],
    ['one twice', [...logs, logs[2]!], /have a hole/],
    [
      'one of another block',
      [logs[0]!, logs[1]!, change(logs[2]!, { blockHash: '0xc7' })],
      /says it is of block 0xc7/,
    ],
    [
      'one of another transaction',
      [logs[0]!, logs[1]!, change(logs[2]!, { transactionHash: '0x9' })],
      /says it is of transaction 0x9, but at index 1 stands 0x2/,
    ],
  ])('%s are refused', (_, answer, message) => {
    expect(() => checkLogs('node', block, header, answer)).toThrow(message);
  });

  test('that the chain itself adds after the last transaction are taken', () => {
    const added = change(logAt(3, 2, 1), { transactionHash: '0x99' });
    expect(checkLogs('node', block, header, [...logs, added])).toHaveLength(4);
  });
});
