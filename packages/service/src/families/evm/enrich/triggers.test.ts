import type { AbiItem, AbiParameter, RecordKind, StreamTrigger } from '@sluice/kit/contract';
import { answers } from '@sluice/testkit';
import fc from 'fast-check';
import { type Hex, decodeFunctionData, encodeAbiParameters, toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { toAbiValue, unnamed } from './abiValues.ts';
import { checkPlan } from './plan.ts';
import type { AnyRecord } from './records.ts';
import type { SelectorProblem } from './selectors.ts';
import { checkTriggers, compileTrigger } from './triggers.ts';

const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;
const CONTRACT = address(0xc0);

const parameter = (type: string, name = '', components?: AbiParameter[]): AbiParameter => ({
  name,
  type,
  ...(components && { components }),
});

const view = (
  inputs: AbiParameter[],
  outputs: AbiParameter[] = [parameter('uint256')],
): AbiItem => ({
  type: 'function',
  name: 'look',
  stateMutability: 'view',
  inputs,
  outputs,
});

const trigger = (more: Partial<StreamTrigger> = {}): StreamTrigger => ({
  type: 'erc20transfer',
  contractAddress: '$contract',
  functionAbi: view([parameter('address', 'account')]),
  inputs: ['$from'],
  ...more,
});

const transferEvent: AbiItem = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
};

const transfer: AnyRecord = {
  transactionHash: `0x${'ab'.repeat(32)}`,
  logIndex: '3',
  contract: CONTRACT,
  from: address(1),
  to: address(2),
  value: '1000',
  tokenName: 'A',
  tokenSymbol: 'B',
  tokenDecimals: '18',
  possibleSpam: false,
};

describe('a stream is checked', () => {
  const problemsOf = (more: Partial<StreamTrigger>, abi: AbiItem[] = []): SelectorProblem[] =>
    checkTriggers([trigger(more)], abi);

  test('and accepted if its triggers are valid', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ type: 'log', contractAddress: '$address', inputs: ['$topic1'] })).toEqual(
      [],
    );
    expect(
      problemsOf(
        {
          type: 'log',
          topic0: 'Transfer(address,address,uint256)',
          contractAddress: '$to',
          inputs: ['$value'],
          callFrom: '$from',
          functionAbi: view([parameter('uint256')]),
        },
        [transferEvent],
      ),
    ).toEqual([]);
    // Older ABIs have `constant` instead of `stateMutability`.
    const { stateMutability: _, ...old } = view([]);
    expect(problemsOf({ functionAbi: { ...old, constant: true }, inputs: [] })).toEqual([]);
  });

  test.each<[string, Partial<StreamTrigger>, SelectorProblem['path'], RegExp]>([
    [
      'a selector of another kind of record',
      { inputs: ['$fromAddress'] },
      ['inputs', 0],
      /^should be a field of the record: one of \$contract, .*\$from, \$to/,
    ],
    [
      'a contract that is not an address',
      { contractAddress: '$value' },
      ['contractAddress'],
      /^should be an address field of the record: one of \$contract, \$from, \$to$/,
    ],
    [
      'a sender that is not an address',
      { callFrom: '$transactionHash' },
      ['callFrom'],
      /^should be an address field of the record: one of \$contract, \$from, \$to$/,
    ],
    [
      'a name for a contract',
      { contractAddress: 'vitalik.eth' },
      ['contractAddress'],
      /^should be an address, 0x/,
    ],
    ['missing inputs', { inputs: undefined }, ['inputs'], /: address account$/],
    [
      'inputs that the function does not have',
      { functionAbi: view([]) },
      ['inputs'],
      /^should be left out/,
    ],
    ['too many inputs', { inputs: ['$from', '$to'] }, ['inputs'], /: address account$/],
    [
      'a function that writes',
      { functionAbi: { ...view([parameter('address')]), stateMutability: 'nonpayable' } },
      ['functionAbi', 'stateMutability'],
      /^should be view or pure/,
    ],
    ['an event', { functionAbi: transferEvent }, ['functionAbi', 'type'], /^should be function$/],
    [
      'a type that calls do not support',
      { functionAbi: view([parameter('fixed128x18')]), inputs: ['1'] },
      ['functionAbi', 'inputs', 0, 'type'],
      /^should be a supported type/,
    ],
    [
      'a type of endlessly nested arrays',
      { functionAbi: view([parameter(`uint8${'[]'.repeat(100_000)}`)]), inputs: [[]] },
      ['functionAbi', 'inputs', 0, 'type'],
      /nested at most 16 levels deep$/,
    ],
    [
      'an event outside logs',
      { topic0: 'Transfer(address,address,uint256)' },
      ['topic0'],
      /^should be left out: only triggers of type log/,
    ],
    [
      'an event that is not in the ABI',
      { type: 'log', contractAddress: '$address', inputs: ['$topic1'], topic0: 'Gone()' },
      ['topic0'],
      /^should name an event of the stream's abi/,
    ],
    [
      'an invalid event signature',
      { type: 'log', contractAddress: '$address', inputs: ['$topic1'], topic0: '!' },
      ['topic0'],
      /^should be an event signature/,
    ],
    [
      'a parameter of an event that is not named',
      { type: 'log', contractAddress: '$address', inputs: ['$from'] },
      ['inputs', 0],
      /one of \$logIndex, \$transactionHash, \$address/,
    ],
    [
      'a literal that does not fit',
      { functionAbi: view([parameter('uint8')]), inputs: ['300'] },
      ['inputs', 0],
      /^should be an integer that fits uint8/,
    ],
    [
      'a literal deep in an array',
      { functionAbi: view([parameter('address[]')]), inputs: [['$from', 'nobody']] },
      ['inputs', 0, 1],
      /^should be an address/,
    ],
    [
      'an array of the wrong length',
      { functionAbi: view([parameter('bool[2]')]), inputs: [[true]] },
      ['inputs', 0],
      /^should be an array of 2/,
    ],
    [
      'inputs that are too long',
      { functionAbi: view([parameter('string')]), inputs: ['x'.repeat(20_000)] },
      ['inputs'],
      /^should be at most 16384 characters/,
    ],
  ])('and rejected for %s', (_, more, path, message) => {
    const problems = problemsOf(more);
    const found = problems.find(
      (each) => each.path.join('.') === ['triggers', 0, ...path].join('.'),
    );
    expect(found?.message).toMatch(message);
  });

  test.each<[RecordKind, string[], string | undefined]>([
    ['tx', ['$fromAddress', '$toAddress', '$receiptContractAddress'], undefined],
    ['log', ['$address'], undefined],
    ['erc20transfer', ['$contract', '$from', '$to'], undefined],
    ['erc20approval', ['$contract', '$owner', '$spender'], undefined],
    ['nfttransfer', ['$contract', '$operator', '$from', '$to'], undefined],
    ['internalTx', ['$from', '$to'], undefined],
    ['internalTx', ['$fromAddress'], 'one of $from, $to'],
    ['tx', ['$value'], 'one of $fromAddress, $toAddress, $receiptContractAddress'],
    ['log', ['$topic1'], 'one of $address'],
    ['tx', ['fromAddress'], 'one of $fromAddress, $toAddress, $receiptContractAddress'],
    ['tx', [], 'should name at least one of $fromAddress, $toAddress, $receiptContractAddress'],
  ])('for balances of %s by %j: %s', (type, selectors, expected) => {
    const problems = checkPlan({
      triggers: null,
      getNativeBalances: [{ type, selectors }],
      abi: null,
    });
    if (expected === undefined) expect(problems).toEqual([]);
    else expect(problems[0]?.message).toContain(expected);
  });
});

describe('a call', () => {
  test('is built from the fields that selectors name', () => {
    const compiled = compileTrigger(
      trigger({ functionAbi: { ...view([parameter('address', 'account')]), name: 'balanceOf' } }),
      [],
    );
    expect(compiled.prepare(transfer)).toEqual({
      to: CONTRACT,
      data: `0x70a08231${address(1).slice(2).padStart(64, '0')}`,
      maxBytes: 4096,
    });
  });

  test.each([
    [[parameter('uint256'), parameter('uint8[200]')], 201 * 32],
    [[parameter('uint256[3000]')], 65_536],
    [[parameter('uint256'), parameter('string')], 65_536],
    [[], 4096],
  ])('limits the size of its response (%#)', (outputs, maxBytes) => {
    const compiled = compileTrigger(trigger({ functionAbi: view([], outputs), inputs: [] }), []);
    expect(compiled.prepare(transfer)).toMatchObject({ maxBytes });
  });

  test('carries structs and arrays, with selectors anywhere in them', () => {
    const echo = answers.abi.find((item) => item.type === 'function' && item.name === 'echo')!;
    const compiled = compileTrigger(
      trigger({
        functionAbi: echo as unknown as AbiItem,
        inputs: [
          [
            '$tokenName',
            [
              ['$value', -1],
              ['0x10', '2'],
            ],
            true,
          ],
          ['$logIndex', '7'],
        ],
        callFrom: '$to',
      }),
      [],
    );
    const call = compiled.prepare(transfer) as { to: string; data: Hex; from: string };
    expect({ to: call.to, from: call.from }).toEqual({ to: CONTRACT, from: address(2) });
    expect(decodeFunctionData({ abi: answers.abi, data: call.data })).toEqual({
      functionName: 'echo',
      args: [
        {
          label: 'A',
          points: [
            { x: 1000n, y: -1 },
            { x: 16n, y: 2 },
          ],
          closed: true,
        },
        [3n, 7n],
      ],
    });
  });

  test('of a log reads the parameters of its event, including structs, and of no other event', () => {
    const drawn = answers.abi.find((item) => item.type === 'event' && item.name === 'Drawn')!;
    const echo = answers.abi.find((item) => item.type === 'function' && item.name === 'echo')!;
    const compiled = compileTrigger(
      trigger({
        type: 'log',
        topic0: 'Drawn(address,(string,(uint256,int8)[],bool),uint256)',
        contractAddress: '$address',
        functionAbi: echo as unknown as AbiItem,
        inputs: ['$shape', ['$points', '$logIndex']],
        callFrom: '$artist',
      }),
      [drawn],
    );
    const shape = { label: 'S', points: [{ x: 5n, y: -6 }], closed: false };
    const inputs = drawn.inputs.filter((input) => !input.indexed);
    const log: AnyRecord = {
      logIndex: '9',
      transactionHash: '0xabc',
      address: CONTRACT,
      data: encodeAbiParameters(inputs, [shape, 1n]),
      topic0: toEventSelector(drawn),
      topic1: `0x${address(5).slice(2).padStart(64, '0')}`,
      topic2: null,
      topic3: null,
    };
    const call = compiled.prepare(log) as { data: Hex; from: string };
    expect(call.from).toBe(address(5));
    expect(decodeFunctionData({ abi: answers.abi, data: call.data }).args).toEqual([
      shape,
      [1n, 9n],
    ]);
    expect(compiled.prepare({ ...log, topic0: `0x${'12'.repeat(32)}` })).toBe(undefined);
    expect(compiled.prepare({ ...log, data: '0x1234' })).toEqual({
      error: 'echo was not called: the record has no $artist',
    });
  });

  test('that repeats a long parameter is not built beyond the maximum size', () => {
    const event: AbiItem = {
      type: 'event',
      name: 'Said',
      inputs: [
        { name: 'what', type: 'bytes', indexed: false },
        { name: 'list', type: 'uint256[]', indexed: false },
      ],
    };
    const log: AnyRecord = {
      logIndex: '1',
      transactionHash: '0xabc',
      address: CONTRACT,
      data: encodeAbiParameters(
        event.inputs as never,
        [`0x${'5a'.repeat(60_000)}`, Array<bigint>(2_000).fill(1n)] as never,
      ),
      topic0: toEventSelector('Said(bytes,uint256[])'),
      topic1: null,
      topic2: null,
      topic3: null,
    };
    const prepare = (type: string, input: unknown) =>
      compileTrigger(
        trigger({
          type: 'log',
          topic0: 'Said(bytes,uint256[])',
          contractAddress: '$address',
          functionAbi: view([parameter(type)]),
          inputs: [input],
        }),
        [event],
      ).prepare(log);
    expect(prepare('bytes', '$what')).toMatchObject({ to: CONTRACT });
    expect(prepare('bytes[]', Array(2_000).fill('$what'))).toEqual({
      error: 'look was not called: $what makes the call larger than 65536 bytes',
    });
    expect(prepare('uint256[]', '$list')).toMatchObject({ to: CONTRACT });
    expect(prepare('uint256[][]', Array(2_000).fill('$list'))).toEqual({
      error: 'look was not called: $list makes the call larger than 65536 bytes',
    });
  });

  test('without an address in the record is not made, with a reason', () => {
    const compiled = compileTrigger(
      trigger({ type: 'tx', contractAddress: '$toAddress', inputs: ['$fromAddress'] }),
      [],
    );
    expect(compiled.prepare({ fromAddress: address(1), toAddress: null })).toEqual({
      error: 'look was not called: the record has no $toAddress',
    });
  });

  test('reads an address from a topic', () => {
    const compiled = compileTrigger(
      trigger({ type: 'log', contractAddress: '$address', inputs: ['$topic1'] }),
      [],
    );
    const topic1 = `0x${address(7).slice(2).padStart(64, '0')}`;
    const call = compiled.prepare({ address: CONTRACT, topic1 }) as { data: string };
    expect(call.data.endsWith(topic1.slice(2))).toBe(true);
    expect(compiled.prepare({ address: CONTRACT, topic1: `0x${'ff'.repeat(32)}` })).toEqual({
      error: 'look was not called: $topic1 should be an address: 0x and 40 hex digits',
    });
  });
});

describe('a response', () => {
  const several = [parameter('uint256', 'count'), parameter('string'), parameter('bool', 'isLast')];
  const compiled = compileTrigger(trigger({ functionAbi: view([], several), inputs: [] }), []);

  test('becomes one entry for each output, by name or position', () => {
    const value = encodeAbiParameters(several, [2n ** 256n - 1n, 'deux é', true]);
    expect(compiled.read({ outcome: 'read', value })).toEqual([
      { name: 'count', value: (2n ** 256n - 1n).toString() },
      { name: 'output2', value: 'deux é' },
      { name: 'isLast', value: true },
    ]);
  });

  test('has structs and arrays as arrays, and addresses in lowercase', () => {
    const shape = parameter('tuple', 'shape', [
      parameter('address', 'artist'),
      parameter('tuple[]', 'points', [parameter('int8', 'x'), parameter('bytes', 'x')]),
    ]);
    const value = encodeAbiParameters(
      unnamed([shape]) as never,
      [['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', [[-3, '0xAB']]]] as never,
    );
    const { read } = compileTrigger(trigger({ functionAbi: view([], [shape]), inputs: [] }), []);
    expect(read({ outcome: 'read', value })).toEqual([
      {
        name: 'shape',
        value: ['0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', [['-3', '0xab']]],
      },
    ]);
  });

  test.each([
    [{ outcome: 'failed', message: 'execution reverted: no' } as const, 'execution reverted: no'],
    [
      { outcome: 'refused', message: 'no node has the state of block 9' } as const,
      'no node has the state of block 9',
    ],
    [
      { outcome: 'read', value: '0x' } as const,
      'look returned no data: the address has no such function',
    ],
    [
      { outcome: 'read', value: '0x1234' } as const,
      "the data returned by look can't be decoded as its outputs",
    ],
    [
      { outcome: 'failed', message: 'more than 65536 bytes were returned' } as const,
      'more than 65536 bytes were returned',
    ],
  ])('without data becomes one error entry (%#)', (answer, message) => {
    expect(compiled.read(answer)).toEqual([{ name: 'error', value: message }]);
  });

  test('of a function without outputs becomes no entry', () => {
    const { read } = compileTrigger(trigger({ functionAbi: view([], []), inputs: [] }), []);
    expect(read({ outcome: 'read', value: '0x' })).toEqual([]);
  });
});

const anyType = fc.letrec<{ type: AbiParameter }>((tie) => ({
  type: fc.oneof(
    { depthSize: 'small' },
    fc
      .constantFrom(
        'uint8',
        'uint256',
        'int48',
        'int256',
        'bool',
        'address',
        'string',
        'bytes',
        'bytes32',
      )
      .map((name) => parameter(name)),
    tie('type').map((element) => ({ ...element, type: `${element.type}[]` })),
    tie('type').map((element) => ({ ...element, type: `${element.type}[2]` })),
    fc
      .array(tie('type'), { minLength: 1, maxLength: 3 })
      .map((components) => parameter('tuple', '', components)),
  ),
})).type;

const wordOf = (n: number): string => n.toString(16).padStart(64, '0');

describe('a response that claims more than its size', () => {
  const readAs = (output: AbiParameter, value: string) =>
    compileTrigger(trigger({ functionAbi: view([], [output]), inputs: [] }), []).read({
      outcome: 'read',
      value,
    });
  const undecoded = [
    { name: 'error', value: "the data returned by look can't be decoded as its outputs" },
  ];

  test('with values that share their data does not decode', () => {
    const count = 1_000;
    const shared = [
      ...[32, count, ...Array<number>(count).fill(count * 32), 32 * count].map(wordOf),
      '5a'.repeat(32 * count),
    ].join('');
    expect(readAs(parameter('bytes[]'), `0x${shared}`)).toEqual(undecoded);
    expect(readAs(parameter('string[]'), `0x${shared}`)).toEqual(undecoded);
  });

  test('with overlapping arrays that begin at different bytes does not decode', () => {
    const bytes = Buffer.alloc(65_536, 0x5a);
    const put = (at: number, n: number): void => void bytes.write(wordOf(n), at, 'hex');
    put(0, 32);
    put(32, 32);
    for (let n = 31; n >= 0; n--) {
      const start = 64 + 32 * 32 + 33 * n;
      put(64 + 32 * n, start - 64);
      put(start, Math.floor((bytes.length - start - 32) / 32));
    }
    const value = `0x${bytes.toString('hex')}`;
    expect(readAs(parameter('uint256[][]'), value)).toEqual(undecoded);
    expect(readAs(parameter('bytes32[][]'), value)).toEqual(undecoded);
  });

  test('with members without data does not decode, and such a type is rejected', () => {
    const value = `0x${[32, 8_000, 0, 0].map(wordOf).join('')}`;
    const components = Array.from({ length: 5_000 }, () => parameter('uint256[0]'));
    for (const output of [
      parameter('tuple[]', '', components),
      parameter('tuple[]', '', []),
      parameter('uint256[0][]'),
    ]) {
      expect(readAs(output, value)).toEqual(undecoded);
      expect(checkTriggers([trigger({ functionAbi: view([], [output]), inputs: [] })], [])).toEqual(
        [
          {
            path: ['triggers', 0, 'functionAbi', 'outputs', 0, 'type'],
            message: expect.stringMatching(/^should be a supported type/),
          },
        ],
      );
    }
  });

  test('property: decodes to at most three characters per digit, for any type and offsets', () => {
    const words = fc.array(
      fc.oneof(
        fc.nat({ max: 24 }).map((n) => wordOf(32 * n)),
        fc.nat({ max: 40 }).map(wordOf),
        fc.constant('5a'.repeat(32)),
        fc.constant('00'.repeat(32)),
      ),
      { minLength: 1, maxLength: 40 },
    );
    fc.assert(
      fc.property(anyType, words, (output, some) => {
        const value = `0x${some.join('')}`;
        const entries = readAs(output, value);
        if (entries[0]?.name === 'error') return;
        expect(JSON.stringify(entries).length).toBeLessThanOrEqual(3 * value.length + 100);
      }),
      { numRuns: 2_000 },
    );
  });
});

test('property: a value in a webhook is the input that encodes to it, for any type', () => {
  const withValue = anyType.chain((each) => fc.tuple(fc.constant(each), valueOf(each)));
  fc.assert(
    fc.property(withValue, ([each, value]) => {
      const encoded = encodeAbiParameters(
        unnamed([each]) as never,
        [toAbiValue(each, value, { bytes: Infinity })] as never,
      );
      const { read } = compileTrigger(trigger({ functionAbi: view([], [each]), inputs: [] }), []);
      expect(read({ outcome: 'read', value: encoded })).toEqual([{ name: 'output1', value }]);
    }),
  );
});

/** Generates values of a type in the form that webhooks contain. */
function valueOf({ type, components }: AbiParameter): fc.Arbitrary<unknown> {
  const array = /^(.*)\[(\d*)\]$/.exec(type);
  if (array !== null) {
    const element = valueOf({ name: '', type: array[1]!, ...(components && { components }) });
    return array[2] === ''
      ? fc.array(element, { maxLength: 3 })
      : fc.array(element, { minLength: Number(array[2]), maxLength: Number(array[2]) });
  }
  if (type === 'tuple') return fc.tuple(...components!.map(valueOf));
  if (type === 'bool') return fc.boolean();
  if (type === 'string') return fc.string({ unit: 'grapheme' });
  if (type === 'address') return fc.nat().map((n) => address(n));
  if (type.startsWith('bytes')) {
    const size = type === 'bytes32' ? { minLength: 32, maxLength: 32 } : { maxLength: 70 };
    return fc.uint8Array(size).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
  }
  const bits = BigInt(/\d+$/.exec(type)![0]);
  const [min, max] = type.startsWith('u')
    ? [0n, 2n ** bits - 1n]
    : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  return fc.bigInt({ min, max }).map(String);
}
