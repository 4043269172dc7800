import fc from 'fast-check';
import {
  type AbiEvent,
  type Hex,
  encodeAbiParameters,
  encodeEventTopics,
  parseAbiItem,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { type AbiItem, keccak256 } from '@sluice/kit/contract';
import type { EvmLog } from './block.ts';
import { FilterError, type RecordContext } from './filter.ts';
import { DEFAULT_OPTIONS } from '../../../store/streams/contract.ts';
import { checkRules } from './rules.ts';
import { checkAbi, createSelection, unreadEvents } from './selection.ts';

const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`;
const CONTRACT = address(0xc0);
const context: RecordContext = { chain: '0x89', possibleSpam: false };

const transfer = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
);
const nftTransfer = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
);
const odd = parseAbiItem(
  'event Odd(bool flag, int64 delta, bytes4 mark, bytes blob, string word, string indexed name, uint8[] list)',
);
const TRANSFER = 'Transfer(address,address,uint256)';
const ODD = 'Odd(bool,int64,bytes4,bytes,string,string,uint8[])';

/** Encodes a log with viem, an independent encoder. */
function logOf(event: AbiEvent, args: Record<string, unknown>): EvmLog {
  const plain = event.inputs.filter((input) => !input.indexed);
  return {
    logIndex: 0,
    transactionHash: '0xabc',
    transactionIndex: 0,
    address: CONTRACT,
    topics: encodeEventTopics({ abi: [event], eventName: event.name, args }).map(String),
    data: encodeAbiParameters(
      plain,
      plain.map((input) => args[input.name!]),
    ),
  };
}

const abi = (...events: AbiEvent[]): AbiItem[] => events as unknown as AbiItem[];

const takes = (
  filter: Record<string, unknown>,
  log: EvmLog,
  where: RecordContext = context,
): boolean => {
  const topic0 = log.topics[0]!;
  const selection = createSelection({
    topic0: null,
    abi: abi(transfer, odd),
    advancedOptions: [{ topic0, filter }],
  });
  return selection.take(log, where) === 'log';
};

const BIG = 10n ** 30n;
const payment = logOf(transfer, { from: address(0xa1), to: address(0xb2), value: BIG });
const strange = logOf(odd, {
  flag: true,
  delta: -5n,
  mark: '0xDEADBEEF',
  blob: '0x0102',
  word: 'Łódź',
  name: 'Zürich',
  list: [1, 2],
});

describe('filters', () => {
  test.each<[Record<string, unknown>, EvmLog, boolean]>([
    [{ eq: ['to', address(0xb2)] }, payment, true],
    [{ eq: ['to', address(0xb2).toUpperCase().replace('0X', '0x')] }, payment, true],
    [{ eq: ['to', address(0xb3)] }, payment, false],
    [{ ne: ['to', address(0xb3)] }, payment, true],
    [{ ne: ['to', address(0xb2)] }, payment, false],
    [{ eq: ['value', BIG.toString()] }, payment, true],
    [{ eq: ['value', `0x${BIG.toString(16)}`] }, payment, true],
    [{ eq: ['value', (BIG + 1n).toString()] }, payment, false],
    [{ gt: ['value', (BIG - 1n).toString()] }, payment, true],
    [{ gt: ['value', BIG.toString()] }, payment, false],
    [{ gte: ['value', BIG.toString()] }, payment, true],
    [{ lt: ['value', (BIG + 1n).toString()] }, payment, true],
    [{ lt: ['value', BIG.toString()] }, payment, false],
    [{ lte: ['value', BIG.toString()] }, payment, true],
    [{ gt: ['value', 1e21] }, payment, true],
    [{ lt: ['value', 5] }, payment, false],
    [{ in: ['from', [address(1), address(0xa1)]] }, payment, true],
    [{ in: ['from', [address(1)]] }, payment, false],
    [{ nin: ['from', [address(1)]] }, payment, true],
    [{ nin: ['from', [address(0xa1)]] }, payment, false],
    [{ in: ['value', ['1', BIG.toString()]] }, payment, true],
    [{ and: [{ gt: ['value', '1'] }, { eq: ['to', address(0xb2)] }] }, payment, true],
    [{ and: [{ gt: ['value', '1'] }, { eq: ['to', address(1)] }] }, payment, false],
    [{ or: [{ lt: ['value', '1'] }, { eq: ['to', address(0xb2)] }] }, payment, true],
    [{ or: [{ lt: ['value', '1'] }, { eq: ['to', address(1)] }] }, payment, false],
    [{ or: [{ eq: ['value', '1'] }, { eq: ['value', BIG.toString()] }] }, payment, true],
    [{ or: [{ eq: ['value', '1'] }, { eq: ['to', address(0xb2)] }] }, payment, true],
    [{ and: [{ ne: ['value', '1'] }, { ne: ['value', BIG.toString()] }] }, payment, false],
    [{ and: [{ ne: ['value', '1'] }, { ne: ['to', address(0xb2)] }] }, payment, false],
    [
      {
        or: [{ and: [{ lt: ['value', '1'] }, { gt: ['value', '0'] }] }, { ne: ['to', address(1)] }],
      },
      payment,
      true,
    ],
    [{ eq: ['moralis_streams_contract_address', CONTRACT] }, payment, true],
    [{ ne: ['moralis_streams_contract_address', CONTRACT] }, payment, false],
    [{ eq: ['moralis_streams_chain_id', '0x89'] }, payment, true],
    [{ in: ['moralis_streams_chain_id', ['0x1', '0x38']] }, payment, false],
    [{ eq: ['moralis_streams_possibleSpam', 'false'] }, payment, true],
    [{ eq: ['moralis_streams_possibleSpam', true] }, payment, false],
    [{}, payment, true],
    [{ eq: ['flag', 'true'] }, strange, true],
    [{ eq: ['flag', false] }, strange, false],
    [{ lt: ['delta', '0'] }, strange, true],
    [{ eq: ['delta', '-5'] }, strange, true],
    [{ eq: ['delta', -5] }, strange, true],
    [{ eq: ['mark', '0xdeadbeef'] }, strange, true],
    [{ eq: ['blob', '0x0102'] }, strange, true],
    [{ eq: ['word', 'Łódź'] }, strange, true],
    [{ ne: ['word', 'Łódź'] }, strange, false],
    [{ eq: ['name', 'Zürich'] }, strange, true],
    [{ eq: ['name', 'Zurich'] }, strange, false],
  ])('%j', (filter, log, expected) => {
    expect(takes(filter, log)).toBe(expected);
  });

  test('possible spam is read from the context', () => {
    const filter = { eq: ['moralis_streams_possibleSpam', 'true'] };
    expect(takes(filter, payment, { chain: '0x1', possibleSpam: true })).toBe(true);
  });

  test('a log that does not decode passes no filter, not even a negative one', () => {
    const broken = { ...payment, data: '0x12' };
    expect(takes({ ne: ['value', '1'] }, broken)).toBe(false);
  });

  let tooDeep: Record<string, unknown> = { eq: ['to', address(1)] };
  for (let n = 0; n < 40; n++) tooDeep = { and: [tooDeep, {}] };
  test.each<[unknown, (string | number)[], RegExp]>([
    [
      { eq: ['too', 1] },
      ['eq', 0],
      /should be one of from, to, value, moralis_streams_contract_address/,
    ],
    [{ eq: ['to', '0x12'] }, ['eq', 1], /an address/],
    [{ gt: ['value', '1.5'] }, ['gt', 1], /an integer/],
    [{ gt: ['value', 1.5] }, ['gt', 1], /an integer/],
    [{ gt: ['value', null] }, ['gt', 1], /an integer/],
    [{ gt: ['to', address(1)] }, ['gt'], /to is not a number/],
    [{ in: ['value', ['1', 'x']] }, ['in', 1, 1], /an integer/],
    [{ in: ['value', '1'] }, ['in', 1], /a list of at least one value/],
    [{ in: ['value', []] }, ['in', 1], /a list of at least one value/],
    [{ eq: 'to' }, ['eq'], /a list of a name and a value/],
    [{ eq: ['to'] }, ['eq'], /a list of a name and a value/],
    [{ eq: [1, 2] }, ['eq'], /a list of a name and a value/],
    [{ and: [{ eq: ['to', address(1)] }] }, ['and'], /at least two filters/],
    [{ and: [{}, {}] }, ['and', 0], /exactly one of the operators/],
    [{ and: [{ eq: ['to', address(1)] }, 5] }, ['and', 1], /an object with one operator/],
    [{ like: ['to', 'x'] }, [], /exactly one of the operators and, or, eq/],
    [{ eq: ['to', address(1)], ne: ['to', address(1)] }, [], /exactly one of the operators/],
    [{ __proto__: null, constructor: ['to', 'x'] }, [], /exactly one of the operators/],
    [{ eq: ['moralis_streams_chain_id', 'eth'] }, ['eq', 1], /a chain ID in hex/],
    [{ eq: ['moralis_streams_possibleSpam', 'yes'] }, ['eq', 1], /true or false/],
    [tooDeep, Array.from({ length: 33 }, () => ['and', 0]).flat(), /at most 32 levels/],
  ])('%j is rejected with its path', (filter, path, message) => {
    try {
      createSelection({
        topic0: null,
        abi: abi(transfer),
        advancedOptions: [{ topic0: TRANSFER, filter: filter as Record<string, unknown> }],
      });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(FilterError);
      expect((error as FilterError).path).toEqual(['advancedOptions', 0, 'filter', ...path]);
      expect((error as FilterError).message).toMatch(message);
    }
  });

  test('an invalid filter is rejected with the position of its option among all options', () => {
    const filter = { eq: ['to', '0x12'] };
    const path = ['advancedOptions', 2, 'filter', 'eq', 1];
    const advancedOptions = [{ topic0: TRANSFER }, { topic0: TRANSFER }];
    const options = { topic0: null, abi: abi(transfer) };
    for (const option of [
      [{ topic0: TRANSFER, filter }, path],
      [{ topic0: 'Transfer' }, ['advancedOptions', 2, 'topic0']],
    ] as const) {
      const found = checkRules({
        ...DEFAULT_OPTIONS,
        ...options,
        advancedOptions: [...advancedOptions, option[0]],
      });
      expect(found.map((each) => each.path)).toEqual([option[1]]);
    }
  });

  test('an array cannot be compared', () => {
    expect(() => takes({ eq: ['list', '1'] }, strange)).toThrow(
      /should be one of flag, delta, mark, blob, word, name, moralis/,
    );
  });

  test('property: integers of any size are compared exactly', () => {
    const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    const pair = fc
      .tuple(uint, fc.oneof(uint, fc.constantFrom(-1n, 0n, 1n)))
      .map(([a, b]) => [a, b < 2n ? (a + b < 0n ? 0n : a + b) % 2n ** 256n : b] as const);
    fc.assert(
      fc.property(pair, ([value, operand]) => {
        const log = logOf(transfer, { from: address(1), to: address(2), value });
        const text = operand.toString();
        expect(takes({ eq: ['value', text] }, log)).toBe(value === operand);
        expect(takes({ lt: ['value', text] }, log)).toBe(value < operand);
        expect(takes({ gte: ['value', text] }, log)).toBe(value >= operand);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a selection', () => {
  const nft = logOf(nftTransfer, { from: address(1), to: address(2), tokenId: 3n });

  test('takes every log when it names no event', () => {
    expect(
      createSelection({ topic0: null, abi: null, advancedOptions: null }).take(payment, context),
    ).toBe('log');
    expect(
      createSelection({ topic0: [], abi: null, advancedOptions: [] }).take(
        { ...payment, topics: [] },
        context,
      ),
    ).toBe('log');
  });

  test('takes only the events of topic0 and of the options', () => {
    const selection = createSelection({
      topic0: [TRANSFER],
      abi: null,
      advancedOptions: [{ topic0: ODD }],
    });
    expect(selection.take(payment, context)).toBe('log');
    expect(selection.take(strange, context)).toBe('log');
    expect(selection.take({ ...payment, topics: [keccak256('Other()')] }, context)).toBe('no');
    expect(selection.take({ ...payment, topics: [] }, context)).toBe('no');
  });

  test('takes no log of an event whose filter cannot be read, even if topic0 names it', () => {
    const filtered = { topic0: TRANSFER, filter: { gt: ['value', '0'] }, includeNativeTxs: true };
    for (const topic0 of [null, [], [TRANSFER]]) {
      for (const its of [null, [], abi(odd)]) {
        const options = { topic0, abi: its, advancedOptions: [filtered] };
        const messages: string[] = [];
        const taken = createSelection(options).take(payment, context, ({ message }) =>
          messages.push(message),
        );
        expect(taken).toBe('no');
        expect(messages.join()).toMatch(/the stream's ABI does not have the event/);
        expect(unreadEvents(options)).toEqual([TRANSFER]);
      }
    }
    // Other options of the event still apply. Filters are readable if the ABI has the event, or if
    // they are empty.
    const open = { topic0: keccak256(TRANSFER), filter: {} };
    const both = { topic0: null, abi: null, advancedOptions: [filtered, open] };
    expect(createSelection(both).take(payment, context)).toBe('log');
    expect(unreadEvents({ abi: abi(transfer), advancedOptions: [filtered] })).toEqual([]);
    expect(unreadEvents({ abi: null, advancedOptions: [open] })).toEqual([]);
  });

  test('describes known events by signature, and known inputs by name', () => {
    const addReason = (topic0: string[], log: EvmLog, events: AbiItem[] | null = null): string => {
      const messages: string[] = [];
      createSelection({ topic0, abi: events, advancedOptions: null }).take(
        log,
        context,
        ({ message }) => messages.push(message),
      );
      return messages.join('; ');
    };
    const other = { ...payment, topics: [keccak256('Other()')] };
    expect(addReason([TRANSFER], payment)).toBe(
      `its event is ${TRANSFER}, which the stream selects`,
    );
    expect(addReason([TRANSFER], other)).toBe(
      `its event is ${keccak256('Other()')}, but the stream selects ${TRANSFER}`,
    );
    expect(addReason([ODD], payment, abi(odd))).toBe(
      `its event is ${TRANSFER}, but the stream selects ${ODD}`,
    );
    expect(addReason([TRANSFER, ODD], other)).toMatch(/, but the stream selects 2 other events$/);
    expect(addReason([TRANSFER], { ...payment, topics: [] })).toMatch(
      /^it has no topic 0, but the stream selects /,
    );

    const selection = createSelection({
      topic0: [TRANSFER],
      abi: abi(transfer, nftTransfer),
      advancedOptions: null,
    });
    expect([1, 2, 3].map((topic) => selection.inputOf(payment, topic))).toEqual([
      'from',
      'to',
      undefined,
    ]);
    expect(selection.inputOf(nft, 3)).toBe('tokenId');
    expect(selection.inputOf(strange, 1)).toBeUndefined();
  });

  test('with options alone takes only their events', () => {
    const selection = createSelection({
      topic0: null,
      abi: null,
      advancedOptions: [{ topic0: TRANSFER }],
    });
    expect(selection.take(strange, context)).toBe('no');
  });

  test('takes a log that passes one of several options, with its transaction if that option includes it', () => {
    const selection = createSelection({
      topic0: [TRANSFER],
      abi: abi(transfer),
      advancedOptions: [
        {
          topic0: TRANSFER,
          filter: { gt: ['value', (10n * BIG).toString()] },
          includeNativeTxs: true,
        },
        { topic0: TRANSFER, filter: { eq: ['to', address(0xb2)] } },
      ],
    });
    const large = logOf(transfer, { from: address(1), to: address(2), value: 20n * BIG });
    expect(selection.take(payment, context)).toBe('log');
    expect(selection.take(large, context)).toBe('log-and-transaction');
    expect(
      selection.take(logOf(transfer, { from: address(1), to: address(2), value: 1n }), context),
    ).toBe('no');
  });

  test('reads ERC-20 and ERC-721 transfers by their own events', () => {
    const both = createSelection({
      topic0: null,
      abi: abi(transfer, nftTransfer),
      advancedOptions: [{ topic0: TRANSFER, filter: { eq: ['from', address(1)] } }],
    });
    expect(both.take(nft, context)).toBe('log');
    const one = createSelection({
      topic0: null,
      abi: abi(transfer),
      advancedOptions: [{ topic0: TRANSFER, filter: { eq: ['from', address(1)] } }],
    });
    expect(one.take(nft, context)).toBe('no');
  });

  test('with an empty filter needs no ABI, and takes logs that do not decode', () => {
    const selection = createSelection({
      topic0: null,
      abi: null,
      advancedOptions: [{ topic0: TRANSFER, filter: {}, includeNativeTxs: true }],
    });
    expect(selection.take(payment, context)).toBe('log-and-transaction');
    expect(selection.take({ ...payment, data: '0x12' }, context)).toBe('log-and-transaction');
  });
});

describe('an event of an ABI without a certain meaning', () => {
  const given = [transfer, { type: 'event', name: 'Sold', inputs: [{ name: 'a', type: 'uint7' }] }];
  const options = { ...DEFAULT_OPTIONS, abi: abi(transfer) };
  const SOLD = 'Sold(uint8)';
  const problem = {
    path: ['abi', 1, 'inputs', 0, 'type'],
    message:
      'of event Sold should be a Solidity type, e.g. uint256, address[] or tuple, not "uint7"',
  };

  test.each([
    ['topic0', { topic0: [SOLD] }],
    ['a filter', { advancedOptions: [{ topic0: SOLD }] }],
  ])('is a problem if %s selects it', (_, selected) => {
    expect(checkAbi({ abi: given }, { ...options, ...selected })).toEqual([problem]);
    expect(checkAbi({ abi: JSON.stringify({ abi: given }) }, { ...options, ...selected })).toEqual([
      problem,
    ]);
  });

  test('is a problem if the hash of a standard event selects it', () => {
    const topic0 = [keccak256('ApprovalForAll(address,address,bool)')];
    const event = { type: 'event', name: 'ApprovalForAll', inputs: [{ type: '' }] };
    expect(checkAbi({ abi: [event] }, { ...options, topic0 })).toMatchObject([
      { path: ['abi', 0, 'inputs', 0, 'type'] },
    ]);
  });

  test('is not a problem if the stream does not select it, or selects another overload', () => {
    for (const topic0 of [null, [TRANSFER], ['Sold2(uint8)'], [keccak256(SOLD)]]) {
      expect(checkAbi({ abi: given }, { ...options, topic0 })).toEqual([]);
    }
    const sold = parseAbiItem('event Sold(uint8 a)');
    const both = { ...options, abi: abi(sold), topic0: [SOLD] };
    expect(checkAbi({ abi: given }, both)).toEqual([]);
    expect(checkAbi({}, { ...options, topic0: [SOLD] })).toEqual([]);
  });
});

test('a filter reads values that are not aligned, as Solidity 0.4 wrote them', () => {
  const word = (n: number): string => n.toString(16).padStart(64, '0');
  const event = parseAbiItem('event E(bytes b1, bytes b2, uint256 u1)');
  const head = [0x60, 0x84, 1, 4].map(word).join('');
  const log = {
    ...logOf(event, { b1: '0x', b2: '0x', u1: 1n }),
    data: `0x${head}aaaaaaaa${word(4)}bbbbbbbb`,
  };
  const takesIf = (filter: Record<string, unknown>): boolean => {
    const advancedOptions = [{ topic0: log.topics[0]!, filter }];
    return (
      createSelection({ topic0: null, abi: abi(event), advancedOptions }).take(log, context) ===
      'log'
    );
  };
  expect(takesIf({ eq: ['b2', '0xbbbbbbbb'] })).toBe(true);
  expect(takesIf({ eq: ['b2', '0xaaaaaaaa'] })).toBe(false);
});
