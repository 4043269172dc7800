import { describe, expect, test } from 'vitest';
import { toWebhookInternalTransaction } from '../match/selection.ts';
import { SourceError } from '../../../ingest/source.ts';
import { type Frame, type Transactions, framesOfBlock, framesOfTraceBlock } from './frames.ts';
import { joinTraces, readTrace } from './traces.ts';

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const hashes = ['0xaa', '0xbb', '0xcc'];
const transactions = { hashes, blockHash: '0xb10c' };

const read = (frames: readonly (Iterable<Frame> | undefined)[], hasCalls = true) =>
  frames.map((each) => each && readTrace(each, hasCalls));
const readCallTracer = (answer: unknown, of: Transactions = transactions) =>
  joinTraces(read(framesOfBlock(answer, of)), of.hashes, true);
const readTraceBlock = (answer: unknown, of: Transactions = transactions) =>
  joinTraces(read(framesOfTraceBlock(answer, of)), of.hashes, true);
const fromCallTracer = (...answer: Parameters<typeof readCallTracer>) =>
  readCallTracer(...answer).internalTransactions;
const fromTraceBlock = (...answer: Parameters<typeof readTraceBlock>) =>
  readTraceBlock(...answer).internalTransactions;

/**
 * Transaction aa: 1 calls 2 with 100 wei, which
 *   - sends 10 to 3, which sends 4 on to 4;
 *   - delegates to 5, which sends 6 to 6;
 *   - sends 7 to 7, which fails after sending 8 to 8: both are undone;
 *   - calls 9 with nothing;
 *   - runs the code of 11 with 12 wei, which stay where they are;
 *   - creates 10 with 11 wei;
 *   - destroys itself, which sends 13 to 12.
 *
 * Transaction bb fails completely after sending 1 to 3. Transaction cc is a plain transfer.
 */
const callTracer = [
  {
    txHash: '0xaa',
    result: {
      type: 'CALL',
      from: address(1),
      to: address(2),
      value: '0x64',
      gas: '0x5208',
      calls: [
        {
          type: 'CALL',
          from: address(2),
          to: address(3),
          value: '0xa',
          gas: '0x1',
          calls: [{ type: 'CALL', from: address(3), to: address(4), value: '0x4', gas: '0x2' }],
        },
        {
          type: 'DELEGATECALL',
          from: address(2),
          to: address(5),
          value: '0x64',
          gas: '0x3',
          calls: [{ type: 'CALL', from: address(2), to: address(6), value: '0x6', gas: '0x4' }],
        },
        {
          type: 'CALL',
          from: address(2),
          to: address(7),
          value: '0x7',
          gas: '0x5',
          error: 'execution reverted',
          calls: [{ type: 'CALL', from: address(7), to: address(8), value: '0x8', gas: '0x6' }],
        },
        { type: 'STATICCALL', from: address(2), to: address(9), gas: '0x7' },
        { type: 'CALLCODE', from: address(2), to: address(11), value: '0xc', gas: '0x9' },
        { type: 'CREATE', from: address(2), to: address(10), value: '0xb', gas: '0x8' },
        { type: 'SELFDESTRUCT', from: address(2), to: address(12), value: '0xd', gas: '0x0' },
      ],
    },
  },
  {
    txHash: '0xbb',
    result: {
      type: 'CALL',
      from: address(1),
      to: address(2),
      value: '0x0',
      gas: '0x1',
      error: 'out of gas',
      calls: [{ type: 'CALL', from: address(2), to: address(3), value: '0x1', gas: '0x1' }],
    },
  },
  {
    txHash: '0xcc',
    result: { type: 'CALL', from: address(1), to: address(3), value: '0x1', gas: '0x1' },
  },
];

const trace = (
  transactionPosition: number,
  traceAddress: number[],
  rest: Record<string, unknown>,
): Record<string, unknown> => ({
  blockHash: '0xb10c',
  transactionHash: hashes[transactionPosition],
  transactionPosition,
  traceAddress,
  type: 'call',
  ...rest,
});
const call = (from: number, to: number, value: string, gas: string, callType = 'call') => ({
  action: { callType, from: address(from), to: address(to), value, gas },
});

const traceBlock = [
  trace(0, [], call(1, 2, '0x64', '0x5208')),
  trace(0, [0], call(2, 3, '0xa', '0x1')),
  trace(0, [0, 0], call(3, 4, '0x4', '0x2')),
  trace(0, [1], call(2, 5, '0x64', '0x3', 'delegatecall')),
  trace(0, [1, 0], call(2, 6, '0x6', '0x4')),
  trace(0, [2], { ...call(2, 7, '0x7', '0x5'), error: 'Reverted' }),
  trace(0, [2, 0], call(7, 8, '0x8', '0x6')),
  trace(0, [3], call(2, 9, '0x0', '0x7', 'staticcall')),
  trace(0, [4], call(2, 11, '0xc', '0x9', 'callcode')),
  trace(0, [5], {
    type: 'create',
    action: { from: address(2), value: '0xb', gas: '0x8' },
    result: { address: address(10) },
  }),
  trace(0, [6], {
    type: 'suicide',
    action: { address: address(2), refundAddress: address(12), balance: '0xd' },
  }),
  trace(1, [], { ...call(1, 2, '0x0', '0x1'), error: 'out of gas' }),
  trace(1, [0], call(2, 3, '0x1', '0x1')),
  trace(2, [], call(1, 3, '0x1', '0x1')),
  {
    blockHash: '0xb10c',
    type: 'reward',
    action: { author: address(99), value: '0x1' },
    traceAddress: [],
  },
];

const expected = [
  [2, 3, '0xa', '0x1'],
  [3, 4, '0x4', '0x2'],
  [2, 6, '0x6', '0x4'],
  [2, 10, '0xb', '0x8'],
  [2, 12, '0xd', '0x0'],
].map(([from, to, value, gas], index) => ({
  transactionHash: '0xaa',
  transactionIndex: 0,
  index,
  from: address(Number(from)),
  to: address(Number(to)),
  value,
  gas,
}));

describe('internal transactions', () => {
  test('from callTracer are the calls that moved value and were not reverted', () => {
    expect(fromCallTracer(callTracer)).toEqual(expected);
  });

  test('from trace_block are the same', () => {
    expect(fromTraceBlock(traceBlock)).toEqual(expected);
  });

  test('below several reverted calls are omitted, in any order that lists a call before its own', () => {
    const reverted = (n: number) =>
      trace(0, [n], { ...call(2, 7, '0x7', '0x5'), error: 'Reverted' });
    const below = (n: number) => trace(0, [n, 0], call(7, 8, '0x8', '0x6'));
    const top = trace(0, [], call(1, 2, '0x64', '0x5208'));
    for (const order of [
      [reverted(1), below(1), reverted(12), below(12)],
      [reverted(1), reverted(12), below(1), below(12)],
    ]) {
      expect(fromTraceBlock([top, ...order])).toEqual([]);
    }
    const other = trace(0, [12], call(2, 9, '0x9', '0x7'));
    expect(fromTraceBlock([top, reverted(1), other])).toMatchObject([{ value: '0x9' }]);
  });

  test.each([
    ['CALL', true],
    ['CREATE', true],
    ['CREATE2', true],
    ['SELFDESTRUCT', true],
    ['CALLCODE', false],
    ['DELEGATECALL', false],
  ])('by %s from callTracer move value: %s', (type, moves) => {
    const frame = { type, from: address(2), to: address(3), value: '0x5' };
    const result = { type: 'CALL', from: address(1), to: address(2), calls: [frame] };
    const found = fromCallTracer([{ result }], { ...transactions, hashes: ['0xaa'] });
    expect(found.map(({ value }) => value)).toEqual(moves ? ['0x5'] : []);
  });

  test('at any depth below a reverted call are omitted', () => {
    const sends = (from: number, calls: object[] = []) => ({
      type: 'CALL',
      from: address(from),
      to: address(from + 1),
      value: '0x1',
      calls,
    });
    const reverted = { ...sends(2, [sends(3, [sends(4)])]), error: 'execution reverted' };
    const result = sends(1, [reverted, sends(2)]);
    const found = fromCallTracer([{ result }], { ...transactions, hashes: ['0xaa'] });
    expect(found).toMatchObject([{ from: address(2) }]);
    const traces = [[], [0], [0, 0], [0, 0, 0], [1]].map((at, n) =>
      trace(0, at, { ...call(n + 1, n + 2, '0x1', '0x1'), ...(n === 1 && { error: 'Reverted' }) }),
    );
    expect(fromTraceBlock(traces)).toMatchObject([{ from: address(5) }]);
  });

  test('from an older node without transaction hashes are the same', () => {
    const unnamed = callTracer.map(({ result }) => ({ result }));
    expect(fromCallTracer(unnamed)).toEqual(expected);
  });

  test('have no gas if the trace omits it', () => {
    const frame = { type: 'CALL', from: address(2), to: address(3), value: '0xa' };
    const result = { type: 'CALL', from: address(1), to: address(2), calls: [frame] };
    const calls = fromCallTracer([{ result }], { ...transactions, hashes: ['0xaa'] });
    const action = { callType: 'call', from: address(2), to: address(3), value: '0xa' };
    const traces = fromTraceBlock([trace(0, [0], { action })]);
    for (const each of [calls, traces]) {
      expect(each).toMatchObject([{ from: address(2), to: address(3), gas: null }]);
      expect(toWebhookInternalTransaction(each[0]!)).toMatchObject({ value: '10', gas: null });
    }
  });

  test.each([
    ['0x', '0xd', '13'],
    ['0', '0xd', '13'],
    [null, 13, '13'],
  ])('have values in the forms that nodes use: %j and %j', (nothing, some, expectedValue) => {
    const values = [nothing, some];
    const calls = values.map((value) => ({
      type: 'CALL',
      from: address(2),
      to: address(3),
      value,
    }));
    const result = { type: 'CALL', from: address(1), to: address(2), value: '0x', calls };
    const own = { ...transactions, hashes: ['0xaa'] };
    const traces = values.map((value, n) => {
      const action = { callType: 'call', from: address(2), to: address(3), value: value ?? '0x' };
      return trace(0, [n], { action });
    });
    for (const found of [fromCallTracer([{ result }], own), fromTraceBlock(traces, own)]) {
      expect(found.map((each) => toWebhookInternalTransaction(each).value)).toEqual([
        expectedValue,
      ]);
    }
  });

  test('have their types in any case', () => {
    const lower = JSON.parse(JSON.stringify(callTracer), (key, value: unknown) =>
      key === 'type' ? String(value).toLowerCase() : value,
    ) as unknown;
    expect(fromCallTracer(lower)).toEqual(expected);
  });

  test('inside of a creation that failed are undone with it', () => {
    const inner = { type: 'CALL', from: address(10), to: address(3), value: '0x1' };
    const created = { type: 'CREATE', from: address(2), value: '0x5', error: 'out of gas' };
    const outer = { type: 'CALL', from: address(1), to: address(2), value: '0x0' };
    const result = { ...outer, calls: [{ ...created, calls: [inner] }] };
    const own = { ...transactions, hashes: ['0xaa'] };
    expect(fromCallTracer([{ result }], own)).toEqual([]);
    const action = { from: address(2), value: '0x5', gas: '0x1' };
    const traces = [
      trace(0, [], call(1, 2, '0x0', '0x1')),
      trace(0, [0], { type: 'create', action, result: null, error: 'Out of gas' }),
      trace(0, [0, 0], call(10, 3, '0x1', '0x1')),
    ];
    expect(fromTraceBlock(traces, own)).toEqual([]);
  });

  test('of a transaction are missing if its trace is, or has an unknown form', () => {
    const [first, second, third] = callTracer;
    const missing = { internalTransactions: [], isPartial: true };
    const failed = { txHash: '0xaa', result: null, error: { code: -32000, message: 'gas' } };
    for (const odd of [failed, { txHash: '0xaa', error: 'execution timeout' }]) {
      expect(readCallTracer([odd, second, third])).toMatchObject(missing);
    }
    expect(readCallTracer([second, third])).toMatchObject(missing);
    expect(readCallTracer([])).toMatchObject({ ...missing, calls: [] });
    const move = { type: 'CALL', from: address(1), to: address(2), value: 'much' };
    const malformed = { ...first, result: { ...first!.result, calls: [move] } };
    expect(readCallTracer([malformed, second, third])).toMatchObject(missing);
    for (const odd of [{ action: { callType: 'call', value: 'much' } }, { traceAddress: null }]) {
      const all = traceBlock.map((each, n) => (n === 2 ? { ...each, ...odd } : each));
      expect(readTraceBlock(all)).toMatchObject(missing);
    }
    const withoutPlain = traceBlock.filter((each) => each['transactionPosition'] !== 2);
    for (const odd of [withoutPlain, []]) {
      expect(readTraceBlock(odd).isPartial).toBe(true);
    }
    expect(readCallTracer(callTracer).isPartial).toBe(false);
    expect(readCallTracer([third, second, first])).toEqual(readCallTracer(callTracer));
    expect(readTraceBlock(traceBlock).isPartial).toBe(false);
  });

  test('of the other transactions are read if one has an unknown form', () => {
    const odd = traceBlock.map((each) =>
      'transactionHash' in each && each['transactionHash'] === '0xbb'
        ? { ...each, traceAddress: null }
        : each,
    );
    expect(readTraceBlock(odd)).toMatchObject({ internalTransactions: expected, isPartial: true });
    const [first, , third] = callTracer;
    expect(readCallTracer([first, third])).toMatchObject({
      internalTransactions: expected,
      isPartial: true,
    });
  });

  test.each<[string, () => unknown]>([
    ['too few traces without hashes', () => fromCallTracer([{ result: callTracer[0]!.result }])],
    ['no list', () => fromCallTracer(null)],
    ['another transaction', () => fromCallTracer([{ ...callTracer[0], txHash: '0xdd' }])],
    ['another block', () => fromTraceBlock([{ ...traceBlock[1], blockHash: '0x1' }])],
    [
      'a transaction at another index',
      () => fromTraceBlock([{ ...traceBlock[1], transactionPosition: 2 }]),
    ],
  ])('are rejected: %s', (_, read) => {
    expect(read).toThrow(SourceError);
  });
});

describe('calls', () => {
  const input = '0xa9059cbb';
  const data = `0x08c379a0${'0'.repeat(64)}`;
  /** The traces with an input for each call, and the revert data of the failed call. */
  const geth = callTracer.map((entry) => ({
    ...entry,
    result: JSON.parse(JSON.stringify(entry.result), (_, value: unknown) =>
      typeof value === 'object' && value !== null && 'from' in value
        ? { ...value, input, ...('error' in value && { output: data }) }
        : value,
    ) as unknown,
  }));
  const parity = traceBlock.map((each) => ({
    ...each,
    ...('action' in each && { action: { ...(each['action'] as object), input } }),
    ...('error' in each && { result: { output: data } }),
  }));
  const called = (at: number[], type: string, from: number, to: number, value: string) => ({
    transactionHash: '0xaa',
    transactionIndex: 0,
    traceAddress: at,
    type,
    from: address(from),
    to: address(to),
    value,
    input,
    isFailed: false,
  });
  const calls = (error: string) => [
    called([0], 'call', 2, 3, '0xa'),
    called([0, 0], 'call', 3, 4, '0x4'),
    called([1], 'delegatecall', 2, 5, '0x64'),
    called([1, 0], 'call', 2, 6, '0x6'),
    {
      ...called([2], 'call', 2, 7, '0x7'),
      isFailed: true,
      failure: { error, output: data },
    },
    { ...called([2, 0], 'call', 7, 8, '0x8'), isFailed: true },
    called([3], 'staticcall', 2, 9, '0x0'),
    called([4], 'callcode', 2, 11, '0xc'),
    {
      ...called([0], 'call', 2, 3, '0x1'),
      transactionHash: '0xbb',
      transactionIndex: 1,
      isFailed: true,
    },
  ];

  test('from callTracer are all but creations, self-destructs and those of transactions', () => {
    const found = readCallTracer(geth);
    expect(found.calls).toEqual(calls('execution reverted'));
    expect([...found.failures!]).toEqual([['0xbb', { error: 'out of gas', output: data }]]);
    expect(found.internalTransactions).toEqual(expected);
  });

  test('from trace_block are the same', () => {
    const found = readTraceBlock(parity);
    expect(found.calls).toEqual(calls('Reverted'));
    expect([...found.failures!]).toEqual([['0xbb', { error: 'out of gas', output: data }]]);
    expect(found.internalTransactions).toEqual(expected);
  });

  test('are left out unless they are needed', () => {
    const traces = read(framesOfTraceBlock(parity, transactions), false);
    expect(joinTraces(traces, hashes, false)).toEqual({
      internalTransactions: expected,
      traced: hashes,
      isPartial: false,
    });
  });
});
