/**
 * Compares the matching of calls with an independent reader: viem decodes the calls, and a naive
 * implementation of the rules checks every call against every stream.
 */
import fc from 'fast-check';
import {
  type AbiFunction,
  type Hex,
  decodeFunctionData,
  encodeFunctionData,
  parseAbi,
  toFunctionSelector,
  toFunctionSignature,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { type AbiItem, type TransactionStatus, writeFunction } from '@sluice/kit/contract';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
  type StreamOptions,
} from '../../../store/streams/contract.ts';
import { toWireValue } from '../base/wireValue.ts';
import type { CallType, EvmBlock, EvmCall, EvmTransaction } from './block.ts';
import { explainBlock } from './explain.ts';
import { checkRules } from './rules.ts';
import { createStreamIndex, matchBlock, needsOf, searchOf } from './match.ts';
import { toWebhookParts } from './webhook.ts';

/** Runs of each property; more are run by hand. */
const RUNS = Number(process.env['CALL_RUNS'] ?? 1_000);

const ADDRESSES = Array.from({ length: 5 }, (_, n): Hex => `0x${`${n + 1}`.repeat(40)}`);

/**
 * Functions with every kind of type. The selectors of the first two are the same, and those of the
 * next two, whose arguments have different sizes.
 */
const FUNCTIONS = parseAbi([
  'struct Fee { uint24 rate; address payee; bool isOn }',
  'struct Order { bytes32 id; Fee[] fees; string note }',
  'function burn(uint256 amount)',
  'function collate_propagate_storage(bytes16 key)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function many_msg_babbage(bytes1 mark)',
  'function numbers(uint8 a, uint128 b, int8 c, int256 d, int64[] e)',
  'function bits(bytes data, bytes4 mark, bytes32 word, bool flag, bool[3] flags)',
  'function words(string text, string[] list)',
  'function nested(uint256[][2] grid, address[] path)',
  'function order((bytes32 id, (uint24 rate, address payee, bool isOn)[] fees, string note) which)',
  'function nothing()',
  'function unnamed(address, uint256)',
]).filter((item) => item.type === 'function') as AbiFunction[];
const selectorOf = (item: AbiFunction): Hex => toFunctionSelector(item);

const anyAddress = fc.constantFrom(...ADDRESSES);
const bytesOf = (size: number): fc.Arbitrary<Hex> =>
  fc.uint8Array({ minLength: size, maxLength: size }).map(toHexBytes);
const toHexBytes = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;

type Parameter = AbiFunction['inputs'][number];

/** Generates the value of a parameter in viem's form. */
function valueOf(parameter: Parameter): fc.Arbitrary<unknown> {
  const { type } = parameter;
  const [, element = '', length = ''] = /^(.*)\[(\d*)\]$/.exec(type) ?? [];
  if (element !== '') {
    const size = length === '' ? { maxLength: 3 } : exactly(Number(length));
    return fc.array(valueOf({ ...parameter, type: element }), size);
  }
  if ('components' in parameter && type === 'tuple') {
    return fc.record(
      Object.fromEntries(parameter.components.map((each) => [each.name ?? '', valueOf(each)])),
    );
  }
  if (type === 'address') return anyAddress;
  if (type === 'bool') return fc.boolean();
  if (type === 'string') return fc.string({ unit: 'grapheme', maxLength: 40 });
  if (type === 'bytes') return fc.uint8Array({ maxLength: 70 }).map(toHexBytes);
  const [, base, size = ''] = /^(u?int|bytes)(\d+)$/.exec(type)!;
  const bits = BigInt(size);
  if (base === 'bytes') return bytesOf(Number(size));
  const integer =
    base === 'uint'
      ? fc.bigInt({ min: 0n, max: 2n ** bits - 1n })
      : fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n });
  // Small integers often equal the bounds of filters. viem takes small types as numbers.
  const value = fc.oneof(fc.bigInt({ min: 0n, max: 3n }), integer);
  return Number(size) <= 48 ? value.map(Number) : value;
}
const exactly = (length: number) => ({ minLength: length, maxLength: length });

/** Returns the selector with one other bit. */
const flipBit = (selector: Hex, bit: number): Hex =>
  `0x${(BigInt(selector) ^ (1n << BigInt(bit))).toString(16).padStart(8, '0')}`;

/**
 * Generates the input of a call: encoded, truncated, with more data, with a similar selector, or
 * arbitrary.
 */
const anyInput: fc.Arbitrary<Hex> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom(...FUNCTIONS)
      .chain((item) =>
        fc
          .tuple(...item.inputs.map(valueOf))
          .map((args) => encodeFunctionData({ abi: [item], args: args as never } as never)),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...FUNCTIONS), fc.uint8Array({ maxLength: 96 }))
      .map(([item, rest]): Hex => `${selectorOf(item)}${toHexBytes(rest).slice(2)}`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...FUNCTIONS), fc.nat(31))
      .map(([item, bit]) => flipBit(selectorOf(item), bit)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 8 }).map(toHexBytes) },
);

interface CallMade {
  to: Hex;
  from: Hex;
  value: bigint;
  input: Hex;
  type: CallType;
  isFailed: boolean;
  calls: CallMade[];
}

const { call: anyCall } = fc.letrec<{ call: CallMade }>((tie) => ({
  call: fc.record({
    to: anyAddress,
    from: anyAddress,
    value: fc.bigInt({ min: 0n, max: 2n }),
    input: anyInput,
    type: fc.constantFrom('call', 'call', 'delegatecall', 'staticcall', 'callcode'),
    isFailed: fc.constantFrom(false, false, false, true),
    calls: fc.oneof(
      { maxDepth: 3 },
      fc.constant<CallMade[]>([]),
      fc.array(tie('call'), { minLength: 1, maxLength: 2 }),
    ),
  }),
}));

const anyTransaction = fc.record({
  call: anyCall,
  isCreation: fc.constantFrom(false, false, false, true),
  /** Whether the receipt has a status. */
  hasStatus: fc.constantFrom(true, true, true, false),
});
type TransactionMade = typeof anyTransaction extends fc.Arbitrary<infer T> ? T : never;

const anyStatus = fc.constantFrom<TransactionStatus>('success', 'failed', 'any');

/** Generates how a stream names a function. */
const anyName = fc
  .constantFrom(...FUNCTIONS)
  .chain((item) =>
    fc.constantFrom(
      toFunctionSignature(item),
      `function ${item.name}(${item.inputs.map((each) => `${typeOf(each)} ${each.name ?? ''}`).join(',')}) external`,
      selectorOf(item),
      selectorOf(item).toUpperCase().replace('X', 'x'),
    ),
  );
const typeOf = (parameter: Parameter): string =>
  toFunctionSignature({ type: 'function', name: '', inputs: [parameter] } as never).slice(1, -1);

interface FilterMade {
  of: 'sluice_sender' | 'sluice_value' | 'moralis_streams_contract_address';
  operator: 'eq' | 'ne' | 'gte';
  value: string;
}
const anyFilter: fc.Arbitrary<FilterMade | undefined> = fc.option(
  fc.oneof(
    fc.record({
      of: fc.constantFrom('sluice_sender' as const, 'moralis_streams_contract_address' as const),
      operator: fc.constantFrom('eq' as const, 'ne' as const),
      value: anyAddress,
    }),
    fc.record({
      of: fc.constant('sluice_value' as const),
      operator: fc.constantFrom('eq' as const, 'gte' as const),
      value: fc.constantFrom('0', '1', '2'),
    }),
  ),
  { nil: undefined },
);

const anyStream = fc.record({
  addresses: fc.uniqueArray(anyAddress, { maxLength: 3 }),
  allAddresses: fc.boolean(),
  functions: fc.array(fc.oneof({ weight: 8, arbitrary: anyName }, fc.constant('*')), {
    maxLength: 3,
  }),
  options: fc.array(
    fc.record({
      function: fc.oneof({ weight: 8, arbitrary: anyName }, fc.constant('*')),
      filter: anyFilter,
      transactionStatus: fc.option(anyStatus, { nil: undefined }),
    }),
    { maxLength: 2 },
  ),
  transactionStatus: anyStatus,
  includeInternalCalls: fc.boolean(),
  hasAbi: fc.boolean(),
});
type StreamMade = typeof anyStream extends fc.Arbitrary<infer T> ? T : never;

const toOptions = (made: StreamMade): StreamOptions => ({
  ...DEFAULT_OPTIONS,
  allAddresses: made.allAddresses,
  functions: made.functions,
  transactionStatus: made.transactionStatus,
  includeInternalCalls: made.includeInternalCalls,
  abi: made.hasAbi ? (FUNCTIONS as unknown as AbiItem[]) : null,
  advancedOptions: made.options.map(({ function: named, filter, transactionStatus }) => ({
    function: named,
    ...(filter && { filter: { [filter.operator]: [filter.of, filter.value] } }),
    ...(transactionStatus && { transactionStatus }),
  })),
});

const hashOf = (n: number): Hex => `0x${String(n + 1).padStart(64, '0')}`;

function toBlock(made: readonly TransactionMade[]): EvmBlock {
  const transactions = made.map(
    ({ call, isCreation, hasStatus }, transactionIndex): EvmTransaction => ({
      hash: hashOf(transactionIndex),
      transactionIndex,
      from: call.from,
      to: isCreation ? null : call.to,
      value: `0x${call.value.toString(16)}`,
      gas: '0x5208',
      gasPrice: '0x1',
      nonce: '0x0',
      input: call.input,
      type: '0x2',
      v: '0x1',
      r: '0x2',
      s: '0x3',
      receipt: {
        cumulativeGasUsed: '0x5208',
        gasUsed: '0x5208',
        contractAddress: null,
        root: null,
        status: hasStatus ? (call.isFailed ? '0x0' : '0x1') : null,
        fee: null,
      },
    }),
  );
  const calls: EvmCall[] = [];
  const add = (n: number, call: CallMade, at: number[], isUndone: boolean): void => {
    const isFailed = isUndone || call.isFailed;
    if (at.length > 0) {
      calls.push({
        transactionHash: hashOf(n),
        transactionIndex: n,
        traceAddress: at,
        type: call.type,
        from: call.from,
        to: call.to,
        value: `0x${call.value.toString(16)}`,
        input: call.input,
        isFailed,
        ...(call.isFailed && { failure: { error: 'execution reverted', output: '0x' } }),
      });
    }
    for (const [step, each] of call.calls.entries()) add(n, each, [...at, step], isFailed);
  };
  for (const [n, { call }] of made.entries()) add(n, call, [], false);
  const failures = made.flatMap(({ call }, n) =>
    call.isFailed ? [[hashOf(n), { error: 'out of gas', output: '0x' }] as const] : [],
  );
  return {
    number: 7,
    hash: hashOf(99),
    parentHash: hashOf(98),
    timestamp: 1,
    logs: [],
    transactions,
    internalTransactions: [],
    calls,
    failures: new Map(failures),
  };
}

// The independent reader

interface Expected {
  transactionHash: string;
  traceAddress: number[];
  type: string;
  status: 'success' | 'failed' | null;
  function: string | null;
  arguments: { name: string; value: unknown }[] | null;
}

function readWithViem(made: readonly TransactionMade[], stream: StreamMade): Expected[] {
  const named = [...stream.functions, ...stream.options.map((option) => option.function)];
  const keyOf = (text: string): string =>
    text === '*' || /^0x/i.test(text)
      ? text.toLowerCase()
      : selectorOf(FUNCTIONS.find((item) => isNamed(item, text))!);
  const isNamed = (item: AbiFunction, text: string): boolean =>
    text.startsWith(`${item.name}(`) || text.startsWith(`function ${item.name}(`);
  const keys = new Set(named.map(keyOf));
  if (keys.size === 0) return [];

  const decode = (input: Hex): Pick<Expected, 'function' | 'arguments'> => {
    const selector = input.slice(0, 10);
    const texts = named.filter(
      (text) => text !== '*' && !/^0x/i.test(text) && keyOf(text) === selector,
    );
    const ofAbi = FUNCTIONS.filter((item) => selectorOf(item) === selector);
    const known =
      texts.length > 0
        ? texts.map((text) => {
            const item = FUNCTIONS.find((each) => isNamed(each, text))!;
            const hasNames = text.startsWith('function') || stream.hasAbi;
            const inputs = item.inputs.map((each) => ({ ...each, name: '' }));
            return hasNames ? item : { ...item, inputs };
          })
        : stream.hasAbi
          ? ofAbi
          : [];
    for (const item of known) {
      try {
        const { args = [] } = decodeFunctionData({ abi: [item], data: input }) as {
          args?: readonly unknown[];
        };
        return {
          function: toFunctionSignature(item),
          arguments: item.inputs.map(({ name }, n) => ({
            name: name || `arg${n}`,
            value: toPlain(args[n]),
          })),
        };
      } catch {}
    }
    return { function: known[0] ? toFunctionSignature(known[0]) : null, arguments: null };
  };

  const found: Expected[] = [];
  const visit = (
    call: CallMade,
    at: number[],
    n: number,
    { isUndone, hasStatus }: { isUndone: boolean; hasStatus: boolean },
  ): void => {
    const isFailed = isUndone || call.isFailed;
    const selector = call.input.length >= 10 ? call.input.slice(0, 10) : undefined;
    const key = selector !== undefined && keys.has(selector) ? selector : keys.has('*') ? '*' : '';
    const options = stream.options.filter((option) => keyOf(option.function) === key);
    const choices =
      options.length > 0 ? options : [{ filter: undefined, transactionStatus: undefined }];
    const isWanted = choices.some(
      ({ filter, transactionStatus = stream.transactionStatus, ...rest }) => {
        if (transactionStatus !== 'any' && (transactionStatus === 'failed') !== isFailed)
          return false;
        if (filter === undefined) return true;
        const text = 'function' in rest ? rest.function : '*';
        if (!isReadable(text, call.input)) return false;
        if (filter.of === 'sluice_value') {
          const bound = BigInt(filter.value);
          return filter.operator === 'eq' ? call.value === bound : call.value >= bound;
        }
        const actual = filter.of === 'sluice_sender' ? call.from : call.to;
        return (filter.operator === 'eq') === (actual === filter.value);
      },
    );
    const isConcerned = stream.allAddresses || stream.addresses.includes(call.to);
    if (
      key !== '' &&
      isWanted &&
      isConcerned &&
      (at.length === 0 ? !made[n]!.isCreation : stream.includeInternalCalls)
    ) {
      found.push({
        transactionHash: hashOf(n),
        traceAddress: at,
        type: at.length === 0 ? 'call' : call.type,
        status: isFailed ? 'failed' : at.length === 0 && !hasStatus ? null : 'success',
        ...decode(call.input),
      });
    }
    for (const [step, each] of call.calls.entries()) {
      visit(each, [...at, step], n, { isUndone: isFailed, hasStatus });
    }
  };
  /** Returns whether a filter of an option can read the call: viem decodes it, or nothing is known. */
  const isReadable = (text: string, input: Hex): boolean => {
    if (text === '*') return true;
    const selector = keyOf(text);
    const named = FUNCTIONS.filter((item) => isNamed(item, text));
    const texts = stream.functions.filter((each) => each !== '*' && !/^0x/i.test(each));
    const earlier = stream.options
      .slice(
        0,
        stream.options.findIndex((option) => option.function === text),
      )
      .map((option) => option.function)
      .filter((each) => each !== '*' && !/^0x/i.test(each));
    const ofText = [...texts, ...earlier].flatMap((each) =>
      FUNCTIONS.filter((item) => isNamed(item, each) && selectorOf(item) === selector),
    );
    const known = /^0x/i.test(text)
      ? ofText.length > 0
        ? ofText
        : stream.hasAbi
          ? FUNCTIONS.filter((item) => selectorOf(item) === selector)
          : []
      : named;
    return (
      known.length === 0 ||
      known.some((item) => {
        try {
          decodeFunctionData({ abi: [item], data: input });
          return true;
        } catch {
          return false;
        }
      })
    );
  };
  for (const [n, { call, hasStatus }] of made.entries()) {
    visit(call, [], n, { isUndone: false, hasStatus });
  }
  return found;
}

/** Converts viem's values to the webhook's form. */
function toPlain(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return value.startsWith('0x') ? value.toLowerCase() : value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.values(value).map(toPlain);
  }
  return Array.isArray(value) ? value.map(toPlain) : toWireValue(value as bigint | boolean);
}

const recordOf = (options: StreamOptions): EvmStreamRecord => ({
  family: 'evm',
  id: 'stream',
  tag: '',
  description: '',
  webhookUrl: '',
  chainIds: ['0x1'],
  options,
  ...DEFAULT_DELIVERY,
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
});

function indexOf(options: StreamOptions, addresses: readonly string[]) {
  const index = createStreamIndex();
  index.put(recordOf(options));
  index.addAddresses('stream', packAddresses(addresses, 20).bytes);
  return index;
}

const matchWith = (options: StreamOptions, addresses: readonly string[], block: EvmBlock) => {
  const [match] = matchBlock(indexOf(options, addresses), '0x1', block);
  return match && toWebhookParts('0x1', block, match).tail;
};

const anyElementaryType = fc.oneof(
  fc.constantFrom('address', 'bool', 'string', 'bytes'),
  fc
    .tuple(fc.constantFrom('uint', 'int'), fc.integer({ min: 1, max: 32 }))
    .map(([base, size]) => `${base}${8 * size}`),
  fc.integer({ min: 1, max: 32 }).map((size) => `bytes${size}`),
);
/** Generates an input of any type: elementary, or arrays and tuples of any depth. */
const { input: anyParameter } = fc.letrec<{ input: Parameter }>((tie) => ({
  input: fc.oneof(
    { maxDepth: 3 },
    anyElementaryType.map((type): Parameter => ({ name: 'value', type })),
    fc
      .tuple(tie('input'), fc.constantFrom('[]', '[1]', '[3]'))
      .map(([each, suffix]): Parameter => ({ ...each, type: `${each.type}${suffix}` })),
    fc.array(tie('input'), { minLength: 1, maxLength: 3 }).map((components): Parameter => ({
      name: 'value',
      type: 'tuple',
      components: components.map((each, n) => ({ ...each, name: `part${n}` })),
    })),
  ),
}));

describe('calls', () => {
  test('property: viem decodes the same arguments of every type', () => {
    const anyCallOfTypes = fc
      .array(anyParameter, { minLength: 1, maxLength: 3 })
      .map((inputs) => inputs.map((each, n) => ({ ...each, name: `input${n}` })))
      .chain((inputs) => fc.tuple(fc.constant(inputs), fc.tuple(...inputs.map(valueOf))));
    fc.assert(
      fc.property(anyCallOfTypes, ([inputs, args]) => {
        const item = { type: 'function', name: 'take', inputs } as unknown as AbiFunction;
        const input = encodeFunctionData({ abi: [item], args });
        const options = calling({ functions: [writeFunction(item as AbiItem)] });
        const [call] = matchWith(options, [to], toBlock([transaction({ input })]))?.calls ?? [];
        const read = decodeFunctionData({ abi: [item], data: input }).args;
        expect(call?.function).toBe(toFunctionSignature(item));
        expect(call?.arguments?.map(({ value }) => value)).toEqual(read.map(toPlain));
      }),
      { numRuns: RUNS },
    );
  });

  test('property: an independent reader with viem finds the same calls and arguments', () => {
    fc.assert(
      fc.property(fc.array(anyTransaction, { maxLength: 4 }), anyStream, (made, stream) => {
        const block = toBlock(made);
        const found = matchWith(toOptions(stream), stream.addresses, block)?.calls ?? [];
        expect(
          found.map((call) => ({
            transactionHash: call.transactionHash,
            traceAddress: call.traceAddress,
            type: call.type,
            status: call.status,
            function: call.function,
            arguments: call.arguments?.map(({ name, value }) => ({ name, value })) ?? null,
          })),
        ).toEqual(readWithViem(made, stream));
      }),
      { numRuns: RUNS },
    );
  });

  test('property: Explain includes exactly the calls of the webhook', () => {
    fc.assert(
      fc.property(fc.array(anyTransaction, { maxLength: 3 }), anyStream, (made, stream) => {
        const block = toBlock(made);
        const options = toOptions(stream);
        const found = matchWith(options, stream.addresses, block)?.calls ?? [];
        const explained =
          explainBlock(indexOf(options, stream.addresses), '0x1', block, {}).get('stream') ?? [];
        const placeOf = (each: { transactionHash: string; traceAddress?: number[] }) =>
          `${each.transactionHash} ${each.traceAddress?.join()}`;
        const calls = explained.filter(({ kind }) => kind === 'call');
        expect(
          calls
            .filter(({ included }) => included)
            .map(placeOf)
            .toSorted(),
        ).toEqual(found.map(placeOf).toSorted());
        for (const { included, reasons } of calls) {
          expect(reasons.some(({ stage }) => stage === 'along')).toBe(false);
          if (!included) expect(reasons.some(({ outcome }) => outcome === 'stopped')).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

const [to, from, other] = ADDRESSES as [Hex, Hex, Hex];
const transferOf = (amount: bigint): Hex =>
  encodeFunctionData({
    abi: parseAbi(['function transfer(address to, uint256 amount)']),
    args: [other, amount],
  });
const transaction = (changes: Partial<CallMade> = {}): TransactionMade => ({
  call: {
    to,
    from,
    value: 0n,
    input: transferOf(5n),
    type: 'call',
    isFailed: false,
    calls: [],
    ...changes,
  },
  isCreation: false,
  hasStatus: true,
});
const calling = (changes: Partial<StreamOptions> = {}): StreamOptions => ({
  ...DEFAULT_OPTIONS,
  functions: ['transfer(address to, uint256 amount)'],
  ...changes,
});

describe('a filter', () => {
  const filtered = (filter: Record<string, unknown>): boolean => {
    const advancedOptions = [{ function: 'transfer(address to, uint256 amount)', filter }];
    const options = calling({ functions: null, advancedOptions });
    return matchWith(options, [to], toBlock([transaction({ value: 3n })])) !== undefined;
  };

  test.each([
    [{ gte: ['amount', '5'] }, true],
    [{ gt: ['amount', '5'] }, false],
    [{ eq: ['to', other] }, true],
    [{ eq: ['to', from] }, false],
    [{ eq: ['sluice_sender', from.toUpperCase().replace('X', 'x')] }, true],
    [{ eq: ['sluice_sender', to] }, false],
    [{ and: [{ lt: ['sluice_value', '4'] }, { gt: ['sluice_value', 2] }] }, true],
    [{ eq: ['moralis_streams_contract_address', to] }, true],
  ])('%j passes: %s', (filter, passes) => {
    expect(filtered(filter)).toBe(passes);
  });

  test('of a log cannot name the sender or the value', () => {
    const abi: AbiItem[] = [{ type: 'event', name: 'Paid', inputs: [] }];
    const advancedOptions = [{ topic0: 'Paid()', filter: { eq: ['sluice_sender', to] } }];
    const options = { ...DEFAULT_OPTIONS, abi, advancedOptions };
    expect(checkRules(options)).toMatchObject([
      { path: ['advancedOptions', 0, 'filter', 'eq', 0] },
    ]);
  });
});

test('a stream without functions has no calls, and needs no further parts', () => {
  const plain = { ...DEFAULT_OPTIONS, includeNativeTxs: true };
  const block = toBlock([transaction()]);
  expect(matchWith(plain, [to], block)).not.toHaveProperty('calls');
  expect(needsOf(indexOf(plain, [to]), '0x1')).toEqual({
    logs: false,
    transactions: true,
    traces: false,
  });
});

test('a stream with functions needs transactions, and all calls of traces for internal ones', () => {
  const needs = (changes?: Partial<StreamOptions>) =>
    needsOf(indexOf(calling(changes), [to]), '0x1');
  expect(needs()).toMatchObject({ transactions: true, traces: false });
  expect(needs({ includeInternalCalls: true })).toMatchObject({ traces: true, calls: true });
  expect(searchOf(indexOf(calling(), [to]), '0x1', () => [to])).toBeUndefined();
});

/** Returns the log of a transaction, whose index is also that of the transaction. */
const logOf = (transactionIndex: number) => ({
  logIndex: transactionIndex,
  transactionIndex,
  transactionHash: hashOf(transactionIndex),
  address: to,
  topics: [],
  data: '0x',
});

test('a call adds all logs of its transaction, if they are wanted', () => {
  const others = transaction({ input: '0x' });
  const block = toBlock([others, transaction(), others]);
  block.logs = [0, 1, 1, 2].map(logOf);
  const options = calling({ includeAllTxLogs: true });
  expect(matchWith(options, [to], block)?.logs.map((log) => log.logIndex)).toEqual(['1', '1']);
  expect(matchWith(calling(), [to], block)?.logs).toEqual([]);
});

test('each log gets the sender and the decoded call of its transaction', () => {
  const block = toBlock([transaction(), { ...transaction(), isCreation: true }]);
  block.logs = [0, 1, 2].map(logOf);
  const abi: AbiItem[] = [
    {
      type: 'function',
      name: 'transfer',
      inputs: [
        { name: 'to', type: 'address' },
        { name: 'amount', type: 'uint256' },
      ],
    },
  ];
  const options = { ...DEFAULT_OPTIONS, includeContractLogs: true, abi };
  const tail = matchWith({ ...options, includeCaller: true }, [to], block);
  expect(needsOf(indexOf({ ...options, includeCaller: true }, [to]), '0x1').transactions).toBe(
    true,
  );
  expect(tail?.logs.map((each) => each.caller)).toEqual([
    {
      from,
      to,
      selector: '0xa9059cbb',
      function: 'transfer(address,uint256)',
      arguments: [
        { name: 'to', type: 'address', value: other },
        { name: 'amount', type: 'uint256', value: '5' },
      ],
    },
    { from, to: null, selector: null, function: null, arguments: null },
    null,
  ]);
  expect(tail).not.toHaveProperty('calls');
  expect(matchWith(options, [to], block)?.logs[0]).not.toHaveProperty('caller');
});

describe('a failed call', () => {
  const reasonsOf = (made: TransactionMade, options: StreamOptions, hasTraces = true) => {
    const block = toBlock([made]);
    if (!hasTraces) {
      delete block.calls;
      delete block.failures;
    }
    return matchWith(options, [to], block)?.calls?.map(({ status, reason, reasonUnavailable }) => ({
      status,
      reason: reason?.kind,
      reasonUnavailable,
    }));
  };

  test('has its reason from the traces, or states why there is none', () => {
    const failed = transaction({ isFailed: true });
    const options = calling({ transactionStatus: 'failed' });
    expect(reasonsOf(failed, options)).toEqual([
      { status: 'failed', reason: 'out-of-gas', reasonUnavailable: undefined },
    ]);
    expect(reasonsOf(failed, options, false)).toEqual([
      {
        status: 'failed',
        reason: undefined,
        reasonUnavailable: 'the transaction was not traced',
      },
    ]);
    expect(reasonsOf(failed, calling())).toBeUndefined();
  });

  test('inside a successful transaction counts as failed, and so do the calls that it makes', () => {
    const inner = transaction({ to, input: transferOf(1n) }).call;
    const undone = { ...inner, isFailed: true, calls: [{ ...inner, input: transferOf(2n) }] };
    const made = transaction({ to: other, calls: [undone] });
    const options = calling({ includeInternalCalls: true, transactionStatus: 'failed' });
    expect(reasonsOf(made, options)).toEqual([
      { status: 'failed', reason: 'revert', reasonUnavailable: undefined },
      { status: 'failed', reason: 'caller', reasonUnavailable: undefined },
    ]);
    expect(reasonsOf(made, { ...options, transactionStatus: 'success' })).toBeUndefined();
  });
});

test('Explain names a different selector, and an outcome that the stream does not want', () => {
  const reasonsOf = (options: StreamOptions): string[] => {
    const block = toBlock([transaction()]);
    const explained = explainBlock(indexOf(options, [to]), '0x1', block, {}).get('stream') ?? [];
    return explained
      .filter(({ kind }) => kind === 'call')
      .flatMap(({ reasons }) => reasons)
      .filter(({ outcome }) => outcome === 'stopped')
      .map(({ message }) => message);
  };
  expect(reasonsOf(calling({ functions: ['approve(address,uint256)'] }))).toEqual([
    'it calls 0xa9059cbb, but the stream selects approve(address,uint256)',
  ]);
  expect(reasonsOf(calling({ transactionStatus: 'failed' }))).toEqual([
    'the call succeeded, but the stream wants failures',
  ]);
});
