/** Tests each check of a block's parts alone, with data that passes the other checks. */
import { describe, expect, test } from 'vitest';
import { assemble, checkLogs, checkReceipts } from './blockParts.ts';
import { bloomOf } from './bloom.ts';
import type { Json } from '../json.ts';

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

// The last log sets the same bits as the first, so the block's bloom does not reveal that the last
// one is missing.
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
  test('of the block are accepted', () => {
    const found = [...checkReceipts('node', block, header, receipts.toReversed())];
    expect(new Map(found)).toEqual(new Map(receipts.map((each, n) => [`0x${n + 1}`, each])));
  });

  test.each<[string, unknown, RegExp]>([
    ['none at all', null, /2 transactions but no receipts/],
    ['a duplicate', [...receipts, receiptOf(1)], /receipt 2 of block 7 belongs to transaction 0x2/],
    [
      'one of an unknown transaction',
      [receipts[0], change(receipts[1]!, { transactionHash: '0x3' })],
      /receipt 1 of block 7 belongs to transaction 0x3/,
    ],
    [
      'one of another block',
      [receipts[0], change(receipts[1]!, { blockHash: '0xc7' })],
      /receipt 1 .* in block 0xc7/,
    ],
    [
      'the last without its log',
      [receipts[0], change(receipts[1]!, { logs: [] })],
      /receipt 1 of block 7 covers logs that are missing \(0 returned\)/,
    ],
  ])('are rejected: %s', (_, answer, message) => {
    expect(() => checkReceipts('node', block, header, answer)).toThrow(message);
  });

  test('without a bloom are accepted, because not every chain has one', () => {
    const plain = receipts.map((receipt) => change(receipt, { logsBloom: undefined }));
    expect(checkReceipts('node', block, header, plain).size).toBe(2);
  });
});

describe('transactions and their receipts', () => {
  const transactions: Json[] = [1, 2].map((n) => ({
    hash: `0x${n}`,
    transactionIndex: `0x${n - 1}`,
    from: address(1),
    to: null,
    value: '0x0',
    gas: '0x1',
    nonce: '0x0',
    input: '0x',
  }));
  const whole = change(block, { transactions });
  const reasonsOf = (read: ReturnType<typeof assemble>): string[] =>
    read.doubts.map(({ code }) => code);

  test('contain the logs of the block', () => {
    const read = assemble('node', whole, header, receipts);
    expect(read.logs.map(({ logIndex }) => logIndex)).toEqual([0, 1, 2]);
    expect(read.transactions.map(({ hash }) => hash)).toEqual(['0x1', '0x2']);
    expect(read.doubts).toEqual([]);
  });

  test('a missing receipt that the bloom does not prove is a doubt, with null fields', () => {
    const read = assemble('node', whole, header, receipts.slice(0, 1));
    expect(reasonsOf(read)).toEqual(['missing receipt']);
    expect(read.doubts[0]!.message).toMatch(/^node: block 7 has 2 transactions but 1 receipts/);
    expect(read.transactions[1]!.receipt).toEqual({
      cumulativeGasUsed: null,
      gasUsed: null,
      contractAddress: null,
      root: null,
      status: null,
    });
    expect(read.logs).toHaveLength(2);
  });

  test('a missing receipt whose logs are in the bloom is rejected', () => {
    expect(() => assemble('node', whole, header, receipts.slice(1))).toThrow(
      /the bloom of block 7 covers logs that are missing \(1 returned\)/,
    );
  });

  test('a log that counts only transactions with receipts is assigned by hash', () => {
    const bloom = bloomOfRaw([logs[2]!]);
    const counted = change(logs[2]!, { transactionIndex: '0x0', logIndex: '0x0' });
    const only = [change(receipts[1]!, { logs: [counted] })];
    const read = assemble('node', change(whole, { logsBloom: bloom }), header, only);
    expect(read.logs[0]).toMatchObject({ transactionIndex: 1, transactionHash: '0x2' });
    expect(reasonsOf(read)).toEqual(['missing receipt', 'miscounted transactions']);
    const all = [change(receipts[0]!, { logs: [] }), ...only].map((each) =>
      change(each, { logsBloom: undefined }),
    );
    expect(() => assemble('node', change(whole, { logsBloom: bloom }), header, all)).toThrow(
      /claims to belong to transaction 0x2, but the transaction at index 0 is 0x1/,
    );
  });

  test.each(['value', 'gas', 'nonce', 'transactionIndex'])('a null %s is a doubt', (key) => {
    const changed = change(whole, {
      transactions: [change(transactions[0]!, { [key]: null }), transactions[1]],
    });
    const read = assemble('node', changed, header, receipts);
    expect(reasonsOf(read)).toEqual([`null transaction ${key}`]);
    expect(read.transactions[0]).toMatchObject(
      key === 'transactionIndex' ? { transactionIndex: 0 } : { [key]: null },
    );
  });

  test.each(['gasUsed', 'cumulativeGasUsed'])('a null %s of a receipt is a doubt', (key) => {
    const read = assemble('node', whole, header, [
      change(receipts[0]!, { [key]: null }),
      receipts[1],
    ]);
    expect(reasonsOf(read)).toEqual([`null receipt ${key}`]);
    expect(read.transactions[0]!.receipt).toMatchObject({ [key]: null });
  });

  test('a list of calls becomes its first call, with the sum of all values', () => {
    const { to: _to, value: _value, input: _input, ...rest } = transactions[0]!;
    const calls = [
      { to: address(3), value: '0x2', input: '0xaa', data: null },
      { to: address(4), value: '0xff', data: '0xbb' },
    ];
    const changed = change(whole, { transactions: [{ ...rest, calls }, transactions[1]] });
    const read = assemble('node', changed, header, receipts);
    expect(read.transactions[0]).toMatchObject({ to: address(3), value: '0x101', input: '0xaa' });
    expect(read.doubts).toEqual([]);
  });
});

describe('logs', () => {
  const read = (answer: Json[]) => checkLogs('node', block, header, answer, { miscounted: false });

  test('of the block are accepted, in order', () => {
    const taken = read(logs.toReversed());
    expect(taken.logs.map(({ logIndex }) => logIndex)).toEqual([0, 1, 2]);
    expect(taken.doubts).toEqual([]);
  });

  test.each<[string, Json[], RegExp]>([
    ['none at all', [], /the bloom of block 7 covers logs that are missing \(0 returned\)/],
    ['some', logs.slice(0, 1), /covers logs that are missing \(1 returned\)/],
    ['all but a middle one', [logs[0]!, logs[2]!], /covers logs that are missing \(2 returned\)/],
    ['a duplicate', [...logs, logs[2]!], /has two logs with the same index/],
    [
      'one of another block',
      [logs[0]!, logs[1]!, change(logs[2]!, { blockHash: '0xc7' })],
      /claims to belong to block 0xc7/,
    ],
    [
      'one of another transaction',
      [logs[0]!, logs[1]!, change(logs[2]!, { transactionHash: '0x9' })],
      /claims to belong to transaction 0x9, but the transaction at index 1 is 0x2/,
    ],
  ])('are rejected: %s', (_, answer, message) => {
    expect(() => read(answer)).toThrow(message);
  });

  test('with a gap in their indices are a doubt', () => {
    const { logs: taken, doubts } = read(logs.slice(1));
    expect(taken.map(({ logIndex }) => logIndex)).toEqual([1, 2]);
    expect(doubts.map(({ code }) => code)).toEqual(['gap in log indices']);
  });

  test('without indices are numbered, which is a doubt', () => {
    const bare = logs.map((log) => change(log, { logIndex: null, transactionIndex: null }));
    const { logs: taken, doubts } = read(bare);
    expect(taken.map(({ logIndex, transactionIndex }) => [logIndex, transactionIndex])).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
    ]);
    expect(doubts.map(({ code }) => code)).toEqual([
      'null log logIndex',
      'null log transactionIndex',
    ]);
  });

  test('that the chain adds after the last transaction are accepted', () => {
    const added = change(logAt(3, 2, 1), { transactionHash: '0x99' });
    expect(read([...logs, added]).logs).toHaveLength(4);
  });
});
