/** Tests blocks of chains that break Ethereum's rules: they are read as what they mean. */
import { afterEach, describe, expect, test } from 'vitest';
import { createLog } from '../../../base/log.ts';
import { bloomOf } from './bloom.ts';
import { createEvmSource } from './evm.ts';
import {
  ALL,
  FULL_BLOOM,
  type FakeNode,
  LOGS,
  address,
  createBlock,
  createBlockLog,
  createReceipt,
  createTransaction,
  fail,
  readAllFrom,
  readFrom,
  startFakeNode,
  toHex,
  word,
} from './fakeNode.test-only.ts';
import type { Json } from '../../../ingest/json.ts';

const nodes: FakeNode[] = [];
const start = async (...given: Parameters<typeof startFakeNode>): Promise<FakeNode> => {
  const node = await startFakeNode(...given);
  nodes.push(node);
  return node;
};
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop();
});

/** Returns the bloom of some logs as a node returns it. */
const bloomText = (logs: readonly Json[]): string =>
  `0x${Buffer.from(bloomOf(logs as never)).toString('hex')}`;

/** Returns a block with two transactions, which have these logs. */
function twoTransactions(logs: [Json[], Json[]], changes: Json = {}) {
  const transactions = [createTransaction(0), createTransaction(1)];
  const block = createBlock(7, { transactions, logsBloom: bloomText(logs.flat()), ...changes });
  const own = logs.map((some) => some.map((log) => ({ ...log, blockHash: block['hash'] })));
  return { block, receipts: own.map((some, n) => createReceipt(block, n, some)) };
}

const plain = createBlock(7);
const two = () => twoTransactions([[createBlockLog(plain, 0, 0)], [createBlockLog(plain, 1, 1)]]);
const EACH_NEED: [string, typeof ALL][] = [
  ['logs', LOGS],
  ['transactions', ALL],
];

describe.each(EACH_NEED)('read for %s', (_, needs) => {
  const indices = ({ logs }: { logs: { logIndex: number; transactionIndex: number }[] }) =>
    logs.map(({ logIndex, transactionIndex }) => [logIndex, transactionIndex]);

  test('a block whose bloom covers the blocks that it settles has its own logs', async () => {
    const foreign = bloomText([{ address: address(0xdd), topics: [word(1)] }]);
    const content = twoTransactions([[createBlockLog(plain, 0, 0)], []], {
      logsBloom: foreign,
      settledHeight: '0x4',
    });
    const node = await start([content]);
    const block = await readFrom([node], 7, needs);
    expect(block.logs).toHaveLength(1);
    expect(block.unverified).toMatchObject({ codes: ['header-hash', 'bloom'], isUncertain: false });
    const empty = twoTransactions([[], []], { logsBloom: foreign, settledHeight: '0x4' });
    expect((await readFrom([await start([empty])], 7, needs)).logs).toEqual([]);
  });

  test.each([
    ['of ones', FULL_BLOOM],
    ['that is missing', undefined],
    ['that is null', null],
    ['that is too short', '0x0'],
    ['of zeros', `0x${'00'.repeat(256)}`],
  ])('a bloom %s promises nothing', async (_bloom, logsBloom) => {
    const content = twoTransactions([[createBlockLog(plain, 0, 0)], []], { logsBloom });
    const block = await readFrom([await start([content])], 7, needs);
    expect(block.logs).toHaveLength(1);
    expect(block.unverified!.codes).toContain('bloom');
    const empty = twoTransactions([[], []], { logsBloom });
    expect((await readFrom([await start([empty])], 7, needs)).logs).toEqual([]);
  });

  test('an empty list of logs is not believed if the bloom promises nothing', async () => {
    const { block, receipts } = twoTransactions([[createBlockLog(plain, 0, 0)], []], {
      logsBloom: `0x${'00'.repeat(256)}`,
    });
    const byNumber = await start([{ block, receipts }], {
      eth_getLogs: ({ blockHash }: { blockHash?: string }) =>
        blockHash === undefined ? receipts.flatMap(({ logs }) => logs as Json[]) : [],
    });
    expect((await readFrom([byNumber], 7, needs)).logs).toHaveLength(1);
    const inReceipts = await start([{ block, receipts, logs: [] }]);
    expect((await readFrom([inReceipts], 7, needs)).logs).toHaveLength(1);
  });

  test('logs of a block without transactions are read from the list of logs', async () => {
    const log = createBlockLog(plain, 0, 0, {
      transactionHash: word(0x99),
      address: address(0x800a),
    });
    const block = createBlock(7, { logsBloom: bloomText([log]) });
    const node = await start([{ block, receipts: [], logs: [log] }]);
    const read = await readFrom([node], 7, needs);
    expect(read.logs).toMatchObject([{ address: address(0x800a), transactionHash: word(0x99) }]);
  });

  test('the transaction hash of a log decides which transaction it belongs to', async () => {
    const logs: [Json[], Json[]] = [
      [createBlockLog(plain, 0, 0, { transactionIndex: '0x1' })],
      [createBlockLog(plain, 1, 1, { transactionIndex: '0x1b' })],
    ];
    const read = await readFrom([await start([twoTransactions(logs)])], 7, needs);
    expect(indices(read)).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(read.unverified!.codes).toEqual(['header-hash', 'log-transactions']);
  });

  test('logs that are counted in each transaction are numbered in block order', async () => {
    const restarted: [Json[], Json[]] = [
      [createBlockLog(plain, 0, 0), createBlockLog(plain, 0, 1)],
      [createBlockLog(plain, 1, 0)],
    ];
    const content = twoTransactions(restarted);
    const read = await readFrom([await start([content])], 7, needs);
    expect(indices(read)).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
    ]);
    expect(read.unverified).toMatchObject({
      codes: ['header-hash', 'log-indices'],
      isUncertain: false,
    });
    // The list of logs may be in another order.
    const logs = content.receipts.flatMap((each) => each['logs'] as Json[]);
    const shuffled = await start([{ ...content, logs: [logs[2]!, logs[0]!, logs[1]!] }]);
    expect((await readFrom([shuffled], 7, needs)).logs).toEqual(read.logs);
  });

  test.each([
    ['the same index', [0, 0], []],
    ['a gap between their indices, which are counted in each transaction', [0, 2], [0]],
  ])('logs of a transaction with %s are all read, and fail a check', async (_, first, second) => {
    const logsAt = (index: number, indices: readonly number[]): Json[] =>
      indices.map((at, n) => createBlockLog(plain, index, at, { data: `0x0${n}` }));
    const node = await start([twoTransactions([logsAt(0, first), logsAt(1, second)])]);
    await expect(readFrom([node], 7, needs)).rejects.toMatchObject({ kind: 'settling' });
    const read = await readFrom([node], 7, needs, { settleMs: 200 });
    expect(read.logs.map(({ data }) => data)).toEqual(
      ['0x00', '0x01', '0x00'].slice(0, first.length + second.length),
    );
    expect(read.unverified).toMatchObject({
      codes: ['header-hash', 'log-indices'],
      isUncertain: true,
    });
  });

  test('logs without indices are numbered in block order', async () => {
    const bare = { logIndex: null, transactionIndex: null };
    const logs: [Json[], Json[]] = [
      [createBlockLog(plain, 0, 0, bare)],
      [createBlockLog(plain, 1, 1, bare)],
    ];
    const read = await readFrom([await start([twoTransactions(logs)])], 7, needs);
    expect(indices(read)).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(read.unverified!.codes).toEqual(['header-hash', 'null-values']);
  });

  test('an address with the prefix xdc is read', async () => {
    const log = createBlockLog(plain, 0, 0, { address: `xdc${'11'.repeat(20)}` });
    const block = createBlock(7, {
      transactions: [createTransaction(0)],
      logsBloom: bloomText([{ ...log, address: `0x${'11'.repeat(20)}` }]),
    });
    const node = await start([{ block, receipts: [createReceipt(block, 0, [log])] }]);
    expect((await readFrom([node], 7, needs)).logs[0]!.address).toBe(`0x${'11'.repeat(20)}`);
  });
});

describe('receipts', () => {
  test('that are listed twice are read once', async () => {
    const { block, receipts } = two();
    const node = await start([{ block, receipts: [...receipts, receipts[0]!] }]);
    const read = await readFrom([node], 7, ALL);
    expect(read.logs).toHaveLength(2);
    expect(read.unverified).toMatchObject({
      codes: ['header-hash', 'repeated-receipts'],
      isUncertain: false,
    });
  });

  test('that differ for one transaction fail a check', async () => {
    const { block, receipts } = two();
    const other = { ...receipts[0]!, gasUsed: '0x1' };
    const node = await start([{ block, receipts: [...receipts, other] }]);
    await expect(readFrom([node], 7, ALL)).rejects.toMatchObject({ kind: 'settling' });
    const read = await readFrom([node], 7, ALL, { settleMs: 200 });
    expect(read.logs).toHaveLength(2);
    expect(read.unverified).toMatchObject({
      codes: ['header-hash', 'receipts'],
      isUncertain: true,
    });
  });

  test('of other blocks are missing, and requested by transaction hash', async () => {
    const { block, receipts } = two();
    const other = { ...receipts[1]!, blockHash: word(0xdead) };
    const node = await start([{ block, receipts }], {
      eth_getBlockReceipts: () => [receipts[0], other],
    });
    const read = await readFrom([node], 7, ALL);
    expect(read.logs).toHaveLength(2);
    expect(read.unverified!.codes).toEqual(['header-hash', 'foreign-receipts']);
    expect(node.calls['eth_getTransactionReceipt']).toBe(1);
  });

  test.each([
    ['an empty list', []],
    ['null', null],
  ])('that are listed as %s are requested by transaction hash', async (_, listed) => {
    const node = await start([two()], { eth_getBlockReceipts: () => listed });
    expect(await readFrom([node], 7, ALL)).toMatchObject({
      logs: [{ logIndex: 0 }, { logIndex: 1 }],
      unverified: { codes: ['header-hash'] },
    });
  });

  test.each([null, undefined])('that have %s as their block are its own', async (blockHash) => {
    const { block, receipts } = two();
    const node = await start([
      { block, receipts: receipts.map((receipt) => ({ ...receipt, blockHash })) },
    ]);
    expect(await readFrom([node], 7, ALL)).toMatchObject({
      logs: [{ logIndex: 0 }, { logIndex: 1 }],
      unverified: { codes: ['header-hash'] },
    });
    expect(node.calls['eth_getTransactionReceipt']).toBeUndefined();
  });

  test('that are null for an empty block are none', async () => {
    const node = await start([{ block: createBlock(7) }], { eth_getBlockReceipts: () => null });
    expect((await readFrom([node], 7, ALL)).unverified!.codes).toEqual(['header-hash']);
  });

  test.each([
    ['-32602 Invalid params', fail(-32602, 'Invalid params')],
    ['a hash that is too long', fail(-32000, 'invalid argument 0: hex number > 64 bits')],
    ['a missing method', fail(-32601, 'the method does not exist')],
    ['a crash', fail(-32000, 'method handler crashed')],
    ['an internal error', fail(-32603, 'internal error')],
    ['a length mismatch', fail(-32000, 'receipts length mismatch: 1 vs 0')],
    ['its size', fail(-32008, 'Response is too big', 'Exceeded max limit of 157286400')],
  ])('that are refused as a list with %s are read in another way', async (_, refuse) => {
    const { block, receipts } = two();
    const node = await start([{ block, receipts }], { eth_getBlockReceipts: refuse });
    expect((await readFrom([node], 7, ALL)).logs).toHaveLength(2);
    expect(node.calls['eth_getTransactionReceipt']).toBe(2);
    const byNumber = await start([{ block, receipts }], {
      eth_getBlockReceipts: (at: string) => (at === toHex(7) ? receipts : refuse()),
    });
    expect((await readFrom([byNumber], 7, ALL)).logs).toHaveLength(2);
    expect(byNumber.calls['eth_getTransactionReceipt']).toBeUndefined();
  });
});

describe('logs', () => {
  test('of no transaction follow those of transactions, whatever index they claim', async () => {
    const { block, receipts } = two();
    const own = receipts.flatMap(({ logs }) => logs as Json[]);
    const other = { ...own[1]!, logIndex: '0x2', transactionHash: word(0x99) };
    const logs = [...own, { ...other, transactionIndex: '0x0' }];
    const read = await readFrom([await start([{ block, receipts, logs }])], 7, LOGS);
    expect(read.logs.map((log) => log.transactionIndex)).toEqual([0, 1, 2]);
  });

  test.each([
    ['a missing method', fail(-32601, 'the method does not exist')],
    ['a missing token', fail(-32602, 'Archive requests require a personal token')],
    ['invalid params', fail(-32602, 'invalid params')],
    ['a limit', fail(-32005, 'limit exceeded')],
    ['its size', fail(-32008, 'Response is too big', 'Exceeded max limit of 157286400')],
    ['an internal error', fail(-32603, 'internal error')],
  ])('that are refused with %s are read from the receipts', async (_, refuse) => {
    const node = await start([two()], { eth_getLogs: refuse });
    expect((await readFrom([node], 7, LOGS)).logs).toHaveLength(2);
  });

  test('are no longer requested by the hash of a block if that list lacked them', async () => {
    const contents = [7, 8].map((number) => {
      const block = createBlock(number, {
        transactions: [createTransaction(0)],
        logsBloom: undefined,
      });
      return { block, receipts: [createReceipt(block, 0, [createBlockLog(block, 0, 0)])] };
    });
    const asked: string[] = [];
    const node = await start(contents, {
      eth_getLogs: ({ fromBlock }: { fromBlock?: string }) => {
        asked.push(fromBlock ?? 'by hash');
        return contents.flatMap(({ block, receipts }) =>
          block['number'] === fromBlock ? receipts.flatMap(({ logs }) => logs as Json[]) : [],
        );
      },
    });
    const blocks = await readAllFrom([node], [7, 8], LOGS);
    expect(blocks.map(({ logs }) => logs.length)).toEqual([1, 1]);
    expect(asked).toEqual(['by hash', '0x7', '0x8']);
  });
});

describe('traces', () => {
  const TRACES = { logs: false, transactions: false, traces: true };
  const FAILS = fail(-32000, 'intrinsic gas too low: have 0, want 21000');
  const { block } = two();
  const frameOf = (n: number): Json => {
    const move = { type: 'CALL', from: address(1), to: address(2), value: toHex(n) };
    return { ...move, value: '0x', calls: [move] };
  };
  const entries = [
    { txHash: word(0x7000), result: frameOf(1) },
    { txHash: word(0x7001), result: null, error: { code: -32000, message: 'execution timeout' } },
  ];
  /** Fails to trace the transaction at this index. */
  const traceAllBut =
    (index: number, refuse = FAILS) =>
    (hash: string) =>
      hash === word(0x7000 + index) ? refuse() : frameOf(1 + Number(hash) - 0x7000);
  const REFUSED = fail(-32601, 'the method does not exist');
  type Methods = NonNullable<Parameters<typeof startFakeNode>[1]>;
  const read = async (...methods: Methods[]) => {
    const own = [];
    for (const each of methods) own.push(await start([{ block }], each));
    const { internalTransactions, unverified } = await readFrom(own, 7, TRACES);
    const values = internalTransactions.map(({ value }) => value);
    return { values, codes: unverified?.codes, isUncertain: unverified?.isUncertain };
  };

  test('of a transaction are requested again, with more time, if the node failed', async () => {
    const asked: unknown[] = [];
    const methods: Methods = {
      debug_traceBlockByHash: () => entries,
      debug_traceTransaction: (...given) => {
        asked.push(given);
        return frameOf(2);
      },
    };
    expect(await read(methods)).toEqual({ values: ['0x1', '0x2'], codes: undefined });
    expect(asked).toEqual([[word(0x7001), { tracer: 'callTracer', timeout: '30s' }]]);
  });

  test.each<[string, Methods]>([
    ['in its block and alone', { debug_traceTransaction: traceAllBut(1) }],
    ['in its block, and the node has no single traces', { debug_traceTransaction: REFUSED }],
  ])('of a transaction that cannot be traced are missing: %s', async (_, methods) => {
    const all = { debug_traceBlockByHash: () => entries, ...methods };
    expect(await read(all)).toEqual({ values: ['0x1'], codes: ['traces'], isUncertain: false });
  });

  test.each<[string, Methods[]]>([
    ['node lags', [{ debug_traceTransaction: fail(-32000, 'transaction not found') }]],
    ['node failed', [{ debug_traceTransaction: fail(-32603, 'internal error') }]],
    [
      'other node failed',
      [
        { debug_traceTransaction: FAILS },
        { debug_traceBlockByHash: fail(-32603, 'internal error') },
      ],
    ],
  ])('that may appear later are missing, and the block is uncertain: the %s', async (_, nodes) => {
    const all = nodes.map((methods) => ({ debug_traceBlockByHash: () => entries, ...methods }));
    const found = await read(...all);
    expect(found).toEqual({ values: ['0x1'], codes: ['traces'], isUncertain: true });
  });

  test.each([
    ['a failure of one transaction', FAILS],
    ['its size', fail(-32008, 'Response is too big', 'Exceeded max limit of 157286400')],
  ])('of a block that is refused because of %s are read one by one', async (_, refuse) => {
    const methods: Methods = { debug_traceBlockByHash: refuse, trace_block: REFUSED };
    const one = { ...methods, debug_traceTransaction: traceAllBut(-1) };
    expect(await read(one)).toEqual({ values: ['0x1', '0x2'], codes: undefined });
    for (const [index, value] of ['0x2', '0x1'].entries()) {
      const partial = { ...methods, debug_traceTransaction: traceAllBut(index, refuse) };
      expect(await read(partial)).toMatchObject({ values: [value], codes: ['traces'] });
      expect(await read(partial, one)).toEqual({ values: ['0x1', '0x2'], codes: undefined });
    }
  });

  test.each([
    ['a pruned state', fail(-32001, 'Resource not found')],
    ['a timeout', fail(-32000, 'execution timeout')],
  ])('that callTracer lacks because of %s are read by trace_block', async (_, refuse) => {
    const lacking = entries.map(({ txHash }) => ({ txHash, error: 'Resource not found' }));
    const traceOf = (n: number, traceAddress: number[], value: string): Json => ({
      blockHash: block['hash'],
      transactionHash: word(0x7000 + n),
      transactionPosition: n,
      traceAddress,
      type: 'call',
      action: { callType: 'call', from: address(1), to: address(2), value },
    });
    const methods: Methods = {
      debug_traceBlockByHash: () => lacking,
      debug_traceTransaction: refuse,
      trace_block: () =>
        [0, 1].flatMap((n) => [traceOf(n, [], '0x0'), traceOf(n, [0], toHex(n + 3))]),
    };
    expect(await read(methods)).toEqual({ values: ['0x3', '0x4'], codes: undefined });
    const withFirst = { ...methods, debug_traceBlockByHash: () => [entries[0], lacking[1]] };
    expect(await read(withFirst)).toEqual({ values: ['0x1', '0x4'], codes: undefined });
  });

  test('of a block that is read again are complete once each node answered', async () => {
    const node = await start([{ block }], { debug_traceBlockByHash: () => entries });
    const source = createEvmSource({
      chain: '0x7a69',
      urls: [node.url],
      pollMs: 10_000,
      log: createLog(() => {}),
    });
    const { header } = (await source.readBlockAt(7, TRACES))!;
    expect(await source.later!.read(header, TRACES)).toMatchObject({ isComplete: true });
    await source.stop();
  });

  test('of a block are awaited if the failure may pass', async () => {
    const missing = fail(-32000, 'transaction not found');
    for (const late of [missing, fail(-32603, 'internal error')]) {
      const methods = { debug_traceBlockByHash: late, trace_block: REFUSED };
      await expect(read({ ...methods, debug_traceTransaction: late })).rejects.toThrow(
        /debug_traceBlockByHash failed/,
      );
    }
  });
});

describe('transactions', () => {
  const readWith = async (changes: Json) => {
    const block = createBlock(7, { transactions: [createTransaction(0, changes)] });
    const node = await start([{ block, receipts: [createReceipt(block, 0)] }]);
    return (await readFrom([node], 7, ALL)).transactions[0]!;
  };

  test.each([
    ['0x', '0x0'],
    ['0', '0x0'],
    ['255', '0xff'],
    [255, '0xff'],
    ['0xff', '0xff'],
    [null, null],
  ])('with the value %j are read', async (value, expected) => {
    expect((await readWith({ value })).value).toBe(expected);
  });

  test('with groups of calls have the first target and input, and the sum of the values', async () => {
    const calls = [
      [
        { to: address(3), value: '0x2', data: '0xaa' },
        { to: address(4), value: '0x' },
      ],
      [{ to: address(5), value: '0x1' }],
    ];
    const changes = { type: '0x7d', calls, to: undefined, value: undefined, input: undefined };
    expect(await readWith(changes)).toMatchObject({
      to: address(3),
      value: '0x3',
      input: '0xaa',
      type: '0x7d',
    });
    expect(await readWith({ ...changes, calls: [[{ to: address(3), data: '0x' }]] })).toMatchObject(
      { to: address(3), value: '0x0', input: '0x' },
    );
  });

  test('of a type with other fields are read', async () => {
    const changes = { type: '0x7e', sender: address(1), queueIndex: '0x1', gasPrice: undefined };
    expect(await readWith(changes)).toMatchObject({ type: '0x7e', gasPrice: null });
  });

  test('with an unreadable value name the node, the block, the field and the value', async () => {
    await expect(readWith({ value: 'plenty' })).rejects.toThrow(
      /^127\.0\.0\.1:\d+: block 7: value is invalid: a string of 6 characters/,
    );
  });
});
