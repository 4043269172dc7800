import * as fc from 'fast-check';
import {
  bytesToHex,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  erc20Abi,
  erc721Abi,
  keccak256,
  parseAbi,
  toEventSelector,
} from 'viem';
import type { AbiParameter as ViemParameter, EncodeEventTopicsParameters, Hex } from 'viem';
import { describe, expect, it, vi } from 'vitest';
import { parameterNames } from '../contract/rules/abi/values.ts';
import { eventTopic } from '../contract/rules/events.ts';
import type { AbiItem, AbiParameter, WebhookLog } from '../contract/shapes.generated.ts';
import { TEST_WEBHOOK } from '../families/evm/testWebhook.ts';
import { isSluiceError } from '../errors.ts';
import { decodeLogs } from './decode.ts';
import type { DecodeOptions } from './decode.ts';

const HASH = `0x${'ab'.repeat(32)}`;
const CONTRACT = '0x514910771af9ca656af840dff83e8264ecf986ca';
const FROM = '0xdfd5293d8e347dfe59e90efd55b2956a1343963d';
const TO = '0xa68b437b38bfa3dad21915fd6513e5d8fda77574';

const word = (hex: string): string => hex.replace(/^0x/, '').padStart(64, '0');

function logOf(topics: readonly (string | null)[], data = '0x', logIndex = '0'): WebhookLog {
  return {
    logIndex,
    transactionHash: HASH,
    address: CONTRACT,
    data,
    topic0: topics[0] ?? null,
    topic1: topics[1] ?? null,
    topic2: topics[2] ?? null,
    topic3: topics[3] ?? null,
  };
}

const event = (name: string, inputs: readonly AbiParameter[], anonymous = false): AbiItem => ({
  type: 'event',
  name,
  inputs,
  anonymous,
});

/**
 * Decodes data as the parameters of an event without indexed parameters. Returns the arguments or
 * the reason.
 */
function decodeData(inputs: readonly AbiParameter[], data: string, options?: DecodeOptions) {
  const item = event('Data', inputs);
  const logs = [logOf([eventTopic(item)], data)];
  const { decoded, undecoded } = decodeLogs({ logs }, [item], options);
  return undecoded[0]?.reason ?? decoded[0]?.args;
}

const TRANSFER_20 = logOf(
  [
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    `0x${word(FROM)}`,
    `0x${word(TO)}`,
  ],
  `0x${word('107464f24d7a3180000')}`,
  '152',
);
const TRANSFER_721 = logOf([
  TRANSFER_20.topic0,
  TRANSFER_20.topic1,
  TRANSFER_20.topic2,
  `0x${word('b83')}`,
]);

describe('decodeLogs', () => {
  it('decodes the captured ERC-20 transfer of the contract', () => {
    expect(decodeLogs({ logs: [TRANSFER_20] }, erc20Abi)).toEqual({
      decoded: [
        {
          name: 'Transfer',
          args: { from: FROM, to: TO, value: 4856560000000000000000n },
          logIndex: 152,
          transactionHash: HASH,
          address: CONTRACT,
        },
      ],
      undecoded: [],
    });
  });

  it('uses the ABI of the webhook', () => {
    const abi = erc20Abi as readonly AbiItem[];
    const { decoded } = decodeLogs({ logs: [TRANSFER_20], abi });
    expect(decoded.map(({ args }) => args['to'])).toEqual([TO]);
  });

  it('distinguishes ERC-20 and ERC-721 transfers by their indexed inputs', () => {
    const both = [...erc721Abi, ...erc20Abi];
    const { decoded } = decodeLogs({ logs: [TRANSFER_20, TRANSFER_721] }, both);
    expect(decoded.map(({ args }) => Object.keys(args))).toEqual([
      ['from', 'to', 'value'],
      ['from', 'to', 'tokenId'],
    ]);
    const { undecoded } = decodeLogs({ logs: [TRANSFER_20] }, erc721Abi);
    expect(undecoded).toEqual([{ log: TRANSFER_20, reason: 'indexed-mismatch' }]);
  });

  it('continues after logs it cannot decode, and keeps the order', () => {
    const stranger = logOf([HASH]);
    const broken = { ...TRANSFER_20, data: '0x12' };
    const nothing = null as unknown as WebhookLog;
    const logs = [stranger, TRANSFER_20, broken, nothing, { ...TRANSFER_20, logIndex: '153' }];
    const { decoded, undecoded } = decodeLogs({ logs }, erc20Abi);
    expect(decoded.map(({ logIndex }) => logIndex)).toEqual([152, 153]);
    expect(undecoded).toEqual([
      { log: stranger, reason: 'unknown-event' },
      { log: broken, reason: 'malformed' },
      { log: nothing, reason: 'malformed' },
    ]);
  });

  it('returns the topic of an indexed value that is hashed', () => {
    const item = event('Named', [
      { name: 'name', type: 'string', indexed: true },
      { name: 'ids', type: 'uint256[]', indexed: true },
      { name: 'pair', type: 'tuple', indexed: true, components: [{ name: 'a', type: 'bool' }] },
    ]);
    const { decoded } = decodeLogs({ logs: [logOf([eventTopic(item), HASH, HASH, HASH])] }, [item]);
    expect(decoded[0]?.args).toEqual({ name: HASH, ids: HASH, pair: HASH });
  });

  it('names unnamed parameters by position, tuple members too', () => {
    const inputs = [
      { name: '', type: 'uint8' },
      { name: 'named', type: 'bool' },
      { name: '', type: 'tuple', components: [{ name: '', type: 'uint8' }] },
    ];
    expect(decodeData(inputs, `0x${word('1')}${word('1')}${word('7')}`)).toEqual({
      arg0: 1n,
      named: true,
      arg2: { arg0: 7n },
    });
  });

  it('makes parameter names unique, in linear time', () => {
    const expected = (given: readonly string[]): string[] => {
      const names: string[] = [];
      for (const [position, each] of given.entries()) {
        let name = each || `arg${position}`;
        while (names.includes(name)) name += '_';
        names.push(name);
      }
      return names;
    };
    const name = fc.constantFrom('', 'a', 'a_', 'a__', 'arg1', 'arg2_', 'b');
    fc.assert(
      fc.property(fc.array(name), (given) => {
        expect(parameterNames(given.map((each) => ({ name: each })))).toEqual(expected(given));
      }),
    );
    const looks = vi.spyOn(Map.prototype, 'get');
    const same = parameterNames(Array.from({ length: 1_000 }, () => ({ name: 'a' })));
    const count = looks.mock.calls.length;
    looks.mockRestore();
    expect(count).toBeLessThan(5_000);
    expect(same).toEqual(Array.from({ length: 1_000 }, (_, n) => `a${'_'.repeat(n)}`));
  });

  it('keeps parameters with equal names, and one named __proto__', () => {
    const inputs = ['a', 'a', 'arg3', '', '__proto__'].map((name) => ({ name, type: 'uint8' }));
    const args = decodeData(inputs, `0x${[1, 2, 3, 4, 5].map((n) => word(`${n}`)).join('')}`);
    expect(Object.entries(args ?? {})).toEqual([
      ['a', 1n],
      ['a_', 2n],
      ['arg3', 3n],
      ['arg3_', 4n],
      ['__proto__', 5n],
    ]);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
  });

  it('decodes overloaded events', () => {
    const abi = parseAbi(['event Set(uint256 value)', 'event Set(string text)']);
    const number = logOf([eventTopic(abi[0])], `0x${word('5')}`);
    const text = logOf(
      [eventTopic(abi[1])],
      encodeAbiParameters([{ type: 'string' }], ['größer ☕']),
    );
    const { decoded } = decodeLogs({ logs: [number, text] }, abi);
    expect(decoded.map(({ name, args }) => [name, args])).toEqual([
      ['Set', { value: 5n }],
      ['Set', { text: 'größer ☕' }],
    ]);
  });

  it('tries anonymous events on logs that no other event claims', () => {
    const anonymous = event(
      'Note',
      [
        { name: 'who', type: 'address', indexed: true },
        { name: 'amount', type: 'uint64' },
      ],
      true,
    );
    const abi = [...(erc20Abi as readonly AbiItem[]), anonymous];
    const note = logOf([`0x${word(FROM)}`], `0x${word('9')}`);
    const { decoded, undecoded } = decodeLogs(
      { logs: [note, TRANSFER_20, logOf([HASH], `0x${word('9')}`), logOf([])] },
      abi,
    );
    expect(decoded.map(({ name }) => name)).toEqual(['Note', 'Transfer']);
    expect(decoded[0]?.args).toEqual({ who: FROM, amount: 9n });
    expect(undecoded.map(({ reason }) => reason)).toEqual(['unknown-event', 'unknown-event']);
  });

  it('decodes an anonymous event with four indexed parameters', () => {
    const inputs = ['a', 'b', 'c', 'd'].map((name) => ({ name, type: 'uint256', indexed: true }));
    const topics = [1, 2, 3, 4].map((n) => `0x${word(`${n}`)}`);
    const { decoded } = decodeLogs({ logs: [logOf(topics)] }, [event('Four', inputs, true)]);
    expect(decoded[0]?.args).toEqual({ a: 1n, b: 2n, c: 3n, d: 4n });
  });

  it('reports logs with a type that it cannot decode', () => {
    for (const type of ['fixed128x18', 'uint8[0]', `uint8${'[]'.repeat(40)}`]) {
      const item = event('Odd', [{ name: 'a', type }]);
      const logs = [logOf([eventTopic(item)], `0x${word('1')}`), TRANSFER_20];
      const { decoded, undecoded } = decodeLogs({ logs }, [
        item,
        ...(erc20Abi as readonly AbiItem[]),
      ]);
      expect(undecoded.map(({ reason }) => reason)).toEqual(['unsupported-type']);
      expect(decoded).toHaveLength(1);
    }
  });

  it('decodes events with the types that old compilers and Vyper wrote', () => {
    const inputs = [
      { name: 'at', type: 'C.Enum' },
      { name: 'token', type: 'IERC20' },
      { name: 'pair', type: '(uint256,uint256)' },
    ];
    const topic = toEventSelector('Stuff(uint8,address,(uint256,uint256))');
    const data = `0x${word('1')}${word(TO)}${word('2')}${word('3')}`;
    const { decoded } = decodeLogs({ logs: [logOf([topic], data)] }, [event('Stuff', inputs)]);
    expect(decoded[0]?.args).toEqual({ at: 1n, token: TO, pair: { arg0: 2n, arg1: 3n } });
  });

  it('skips ABI items that are not events', () => {
    const items: unknown[] = [
      null,
      7,
      'event',
      { type: 'event' },
      { type: 'event', name: 'A', inputs: 'none' },
      { type: 'event', name: 'A', inputs: [null] },
      { type: 'event', name: 'A', inputs: [{ name: 'a' }] },
      { type: 'event', name: 'A', inputs: [{ name: 'a', type: 'uint7' }] },
      ...erc20Abi,
    ];
    expect(decodeLogs({ logs: [TRANSFER_20] }, items as AbiItem[]).decoded).toHaveLength(1);
  });

  it('accepts uppercase hex and returns lowercase', () => {
    const upper = (hex: string | null) => hex && `0x${hex.slice(2).toUpperCase()}`;
    const log = logOf(
      [TRANSFER_20.topic0, TRANSFER_20.topic1, TRANSFER_20.topic2].map(upper),
      upper(TRANSFER_20.data) ?? '',
    );
    const { decoded } = decodeLogs(
      { logs: [{ ...log, address: upper(CONTRACT) ?? '' }] },
      erc20Abi,
    );
    expect(decoded[0]).toMatchObject({ address: CONTRACT, args: { from: FROM, to: TO } });
  });

  it.each([undefined, null, {}, { abi: erc20Abi }, { logs: {} }, 'logs', 7])(
    'rejects %j as a webhook',
    (webhook) => {
      expect(() => decodeLogs(webhook as never)).toThrow(
        'Cannot decode the logs. No logs found in the webhook, or invalid webhook provided.',
      );
    },
  );

  it.each([undefined, null, [], {}])('rejects %j as an ABI', (abi) => {
    try {
      decodeLogs({ logs: [TRANSFER_20], abi: abi as never });
      expect.unreachable();
    } catch (error) {
      expect(isSluiceError(error, 'missing_abi')).toBe(true);
      expect(error).toHaveProperty(
        'message',
        'Cannot decode the logs. No abis found in the provided webhook.',
      );
    }
  });

  it('rejects the test webhook, which has no ABI', () => {
    expect(() => decodeLogs(TEST_WEBHOOK)).toThrow('No abis found');
    expect(decodeLogs(TEST_WEBHOOK, erc20Abi)).toEqual({ decoded: [], undecoded: [] });
  });
});

describe('checksummed addresses', () => {
  const abi = parseAbi([
    'event Deep(address indexed who, (address[] more, address one) tree, address[2] pair)',
  ]);
  const [deep] = abi;
  const at = (digit: string): Hex => `0x${'abcdef'.repeat(6)}${digit.repeat(4)}`;
  const topics = encodeEventTopics({ abi, args: { who: at('1') } }) as string[];
  const log = {
    ...TRANSFER_20,
    address: at('8'),
    topic0: topics[0] ?? null,
    topic1: topics[1] ?? null,
    topic2: null,
    data: encodeAbiParameters(
      deep.inputs.slice(1) as never,
      [{ more: [at('2'), at('3')], one: at('4') }, [at('5'), at('6')]] as never,
    ),
  };
  const expected = (format: (address: Hex) => string) => ({
    address: format(at('8')),
    args: {
      who: format(at('1')),
      tree: { more: [format(at('2')), format(at('3'))], one: format(at('4')) },
      pair: [format(at('5')), format(at('6'))],
    },
  });

  it('are returned on request, at any depth', () => {
    const decode = (addresses?: 'lower' | 'checksummed') =>
      decodeLogs({ logs: [log] }, abi, { addresses }).decoded[0];
    expect(decode()).toMatchObject(expected((address) => address));
    expect(decode('checksummed')).toMatchObject(expected(getAddress));
    expect(getAddress(at('8'))).not.toBe(at('8'));
    expect(decode('lower')).toMatchObject(expected((address) => address));
  });

  it('are returned with the ABI of the webhook, too', () => {
    const { decoded } = decodeLogs({ logs: [log], abi }, undefined, { addresses: 'checksummed' });
    expect(decoded[0]).toMatchObject(expected(getAddress));
  });

  it('leave an invalid contract address unchanged', () => {
    const { decoded } = decodeLogs({ logs: [{ ...log, address: 'X' }] }, abi, {
      addresses: 'checksummed',
    });
    expect(decoded[0]?.address).toBe('X');
  });
});

describe('logs that compilers do not produce', () => {
  const inputsOf = (types: readonly string[]) => types.map((type, n) => ({ name: `a${n}`, type }));

  /** Solidity 0.4 wrote such data for `bytes` parameters of external functions. */
  it('are decoded if their values are not aligned, also in strict mode', () => {
    const words = ['60', '84', '1', '4'].map(word).join('');
    const data = `0x${words}aaaaaaaa${word('4')}bbbbbbbb`;
    const inputs = [
      { name: 'b1', type: 'bytes' },
      { name: 'b2', type: 'bytes' },
      { name: 'u1', type: 'uint256' },
    ];
    const args = { b1: '0xaaaaaaaa', b2: '0xbbbbbbbb', u1: 1n };
    expect(decodeData(inputs, data)).toEqual(args);
    expect(decodeData(inputs, data, { strict: true })).toEqual(args);
  });

  it.each<[string, string, unknown]>([
    ['address', `0x01${'0'.repeat(22)}${FROM.slice(2)}`, FROM],
    ['uint8', `0x${word('100')}`, 256n],
    ['uint64', `0x${'f'.repeat(64)}`, 2n ** 256n - 1n],
    ['int8', `0x${word('80')}`, 128n],
    ['int8', `0x${'f'.repeat(61)}e80`, -384n],
    ['int8', `0x${'f'.repeat(62)}7f`, -129n],
    ['int64', `0x7${'f'.repeat(63)}`, 2n ** 255n - 1n],
    ['bytes3', `0x${'ab'.repeat(4)}${'0'.repeat(56)}`, '0xababab'],
    ['function', `0x${'ab'.repeat(32)}`, `0x${'ab'.repeat(24)}`],
    ['bytes', `0x${word('20')}${word('3')}aabbcc${'ff'.repeat(29)}`, '0xaabbcc'],
    ['bytes', `0x${word('20')}${word('1')}ab${'00'.repeat(30)}01`, '0xab'],
    ['string', `0x${word('20')}${word('1')}61${'ff'.repeat(31)}`, 'a'],
  ])('are decoded like viem if bits beside a %s in %s are not zero', (type, data, value) => {
    expect(decodeData(inputsOf([type]), data)).toEqual({ a0: value });
    expect(decodeData(inputsOf([type]), data, { strict: true })).toBe('dirty');
  });

  it('are decoded if the upper bits of an address topic are not zero', () => {
    const to = `0x${'0'.repeat(23)}1${'6'.padStart(40, '0')}`;
    const log = logOf([TRANSFER_20.topic0, `0x${word('0')}`, to], `0x${word('1')}`);
    const { decoded } = decodeLogs({ logs: [log] }, erc20Abi, { addresses: 'checksummed' });
    expect(decoded[0]).toMatchObject({ args: { to: getAddress(`0x${'6'.padStart(40, '0')}`) } });
    const { undecoded } = decodeLogs({ logs: [log] }, erc20Abi, { strict: true });
    expect(undecoded.map(({ reason }) => reason)).toEqual(['dirty']);
  });

  it.each<[string, string[], string[], unknown[]]>([
    ['an offset to itself', ['uint256[]'], ['0'], [[]]],
    ['two arrays at one offset', ['uint256[]', 'uint256[]'], ['40', '40', '1', '7'], [[7n], [7n]]],
    [
      'an array inside another',
      ['uint256[]', 'uint256[]'],
      ['40', '60', '2', '1', '7'],
      [[1n, 7n], [7n]],
    ],
    ['strings with shared bytes', ['string', 'bytes'], ['40', '41', '0', '0'], ['', '0x']],
  ])('are decoded if they have %s, except in strict mode', (_, types, words, values) => {
    const data = `0x${words.map((each) => word(each)).join('')}`;
    const args = Object.fromEntries(values.map((value, n) => [`a${n}`, value]));
    expect(decodeData(inputsOf(types), data)).toEqual(args);
    expect(decodeData(inputsOf(types), data, { strict: true })).toBe('overlapping');
  });

  it('decode to values of at most four times their size', () => {
    const length = 40;
    const bytesAt = (count: number) =>
      `0x${word('20')}${word(count.toString(16))}${word((32 * count).toString(16)).repeat(count)}${word((32 * length).toString(16))}${word('7').repeat(length)}`;
    const inputs = [{ name: 'a', type: 'bytes[]' }];
    expect(decodeData(inputs, bytesAt(3))).toHaveProperty('a.length', 3);
    expect(decodeData(inputs, bytesAt(50))).toBe('overlapping');
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 200 }),
        fc.constantFrom(
          'bytes[]',
          'string[][]',
          'uint256[][]',
          'bytes[][][][]',
          '(bytes,uint8[])[]',
        ),
        (words, type) => {
          const data = `0x${words.map((n) => word((32 * n).toString(16))).join('')}`;
          const args = decodeData(
            type.startsWith('(')
              ? (parseAbi([`event E(${type} a)`])[0].inputs as readonly AbiParameter[])
              : [{ name: 'a', type }],
            data,
          );
          const size = JSON.stringify(args, (_, each: unknown) =>
            typeof each === 'bigint' ? '0'.repeat(64) : each,
          ).length;
          expect(size).toBeLessThan(10 * data.length);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('text for a database', () => {
  const inputs = [
    { name: 'text', type: 'string' },
    { name: 'list', type: 'tuple[]', components: [{ name: 'text', type: 'string' }] },
  ];
  const data = encodeAbiParameters(inputs as ViemParameter[], ['a\0b', [{ text: '\0' }]]);

  it('has U+FFFD instead of NUL, at any depth', () => {
    expect(decodeData(inputs, data)).toEqual({ text: 'a\0b', list: [{ text: '\0' }] });
    expect(decodeData(inputs, data, { text: 'database' })).toEqual({
      text: 'a\uFFFDb',
      list: [{ text: '\uFFFD' }],
    });
  });
});

describe('malformed logs', () => {
  const ABI: Record<string, readonly AbiParameter[]> = {};
  for (const type of [
    'address',
    'bool',
    'uint8',
    'int8',
    'bytes3',
    'bytes',
    'string',
    'uint256[]',
  ]) {
    ABI[type] = [{ name: 'a', type }];
  }
  const LARGE = 'f'.repeat(64);

  it.each([
    ['bool', `0x${word('2')}`],
    ['bool', `0x1${word('1').slice(1)}`],
    ['uint8', `0x${LARGE}`],
    ['int8', `0x1${word('1').slice(1)}`],
    ['uint8', '0x'],
    ['uint8', `0x${word('1').slice(2)}`],
    ['uint8', `0x${word('1')}f`],
    ['uint8', word('1')],
    ['uint8', `0x${'zz'.repeat(32)}`],
    ['bytes', `0x${word('20')}`],
    ['bytes', `0x${LARGE}`],
    ['bytes', `0x${word('40')}${word('0')}`],
    ['bytes', `0x${word('20')}${LARGE}`],
    ['bytes', `0x${word('20')}${word('21')}${word('0')}`],
    ['bytes', `0x${word('20')}${word('ffffffff')}${word('0')}`],
    ['string', `0x${word('20')}${word('100000000')}`],
    ['uint256[]', `0x${word('20')}${word('2')}${word('1')}`],
    ['uint256[]', `0x${word('20')}${word('7fffffff')}${word('1')}`],
  ])('%s from %s', (type, data) => {
    expect(decodeData(ABI[type] ?? [], data)).toBe('malformed');
  });

  it('do not include data that lacks only its final padding', () => {
    expect(decodeData(ABI['bytes'] ?? [], `0x${word('20')}${word('2')}abcd`)).toEqual({
      a: '0xabcd',
    });
  });

  it.each([[['0x12']], [[TRANSFER_20.topic0, null, `0x${word(TO)}`]]])('topics %j', (topics) => {
    const { undecoded } = decodeLogs({ logs: [logOf(topics, TRANSFER_20.data)] }, erc20Abi);
    expect(undecoded.map(({ reason }) => reason)).toEqual(['malformed']);
  });

  it('cannot expand a few words into a large value', () => {
    // Six lists of 50 offsets to the next list, and a last list of 50 numbers: 50^7 numbers in 358
    // words.
    const list = word('32') + word('640').repeat(50);
    const bomb = `0x${word('20')}${list.repeat(6)}${word('32')}${word('1').repeat(50)}`;
    const started = performance.now();
    expect(decodeData([{ name: 'a', type: `uint256${'[]'.repeat(7)}` }], bomb)).toBe('overlapping');
    for (const type of ['uint8[999999999][999999999]', 'string[4294967295]', 'bytes[][99999999]']) {
      expect(decodeData([{ name: 'a', type }], bomb)).toBe('malformed');
    }
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

// The following tests decode random values of random types, which viem encodes.

interface Sample {
  parameter: AbiParameter;
  /** The value in viem's format. */
  value: unknown;
  /** The value in the format of decodeLogs. */
  expected: unknown;
}

const hexBytes = (minLength: number, maxLength: number) =>
  fc.uint8Array({ minLength, maxLength }).map((bytes) => bytesToHex(bytes));

const same =
  (type: string) =>
  (value: unknown): [string, unknown] => [type, value];

const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8);

const elementary: fc.Arbitrary<[type: string, value: unknown]> = fc.oneof(
  hexBytes(20, 20).map(same('address')),
  fc.boolean().map(same('bool')),
  fc.string({ unit: 'grapheme', maxLength: 80 }).map(same('string')),
  hexBytes(0, 80).map(same('bytes')),
  bits.chain((size) =>
    fc.bigInt({ min: 0n, max: 2n ** BigInt(size) - 1n }).map(same(`uint${size}`)),
  ),
  bits.chain((size) =>
    fc
      .bigInt({ min: -(2n ** BigInt(size - 1)), max: 2n ** BigInt(size - 1) - 1n })
      .map(same(`int${size}`)),
  ),
  fc.integer({ min: 1, max: 32 }).chain((size) => hexBytes(size, size).map(same(`bytes${size}`))),
);

/** A type with a generator of its values, because an array needs several values of one type. */
interface Shape {
  type: string;
  components?: AbiParameter[];
  draw: fc.Arbitrary<{ value: unknown; expected: unknown }>;
}

const drawOf: Record<string, fc.Arbitrary<unknown>> = {
  address: hexBytes(20, 20),
  bool: fc.boolean(),
  string: fc.string({ unit: 'grapheme', maxLength: 80 }),
  bytes: hexBytes(0, 80),
  uint256: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  uint8: fc.bigInt({ min: 0n, max: 255n }),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  int256: fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }),
  bytes4: hexBytes(4, 4),
};

const leafShape: fc.Arbitrary<Shape> = fc.constantFrom(...Object.keys(drawOf)).map((type) => ({
  type,
  draw: (drawOf[type] ?? fc.constant(0)).map((value) => ({ value, expected: value })),
}));

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    leafShape,
    fc.tuple(tie('shape'), fc.option(fc.integer({ min: 1, max: 3 }))).map(([element, length]) => ({
      ...element,
      type: `${element.type}[${length ?? ''}]`,
      draw: fc
        .array(element.draw, { minLength: length ?? 0, maxLength: length ?? 4 })
        .map((items) => ({
          value: items.map(({ value }) => value),
          expected: items.map(({ expected }) => expected),
        })),
    })),
    fc
      .array(fc.tuple(tie('shape'), fc.boolean()), { minLength: 1, maxLength: 4 })
      .map((members) => {
        const components = members.map(([{ type, components }, named], position) => ({
          type,
          components,
          name: named ? `m${position}` : '',
        }));
        return {
          type: 'tuple',
          components,
          draw: fc.tuple(...members.map(([{ draw }]) => draw)).map((items) => ({
            value: items.map(({ value }) => value),
            expected: Object.fromEntries(
              items.map(({ expected }, at) => [components[at]?.name || `arg${at}`, expected]),
            ),
          })),
        };
      }),
  ),
}));

const sample: fc.Arbitrary<Sample> = fc.oneof(
  elementary.map(([type, value]) => ({
    parameter: { name: '', type },
    value,
    expected: value,
  })),
  shape.chain(({ draw, ...parameter }) =>
    draw.map((drawn) => ({ parameter: { name: '', ...parameter }, ...drawn })),
  ),
);

const inputsOf = (samples: readonly Sample[]): AbiParameter[] =>
  samples.map(({ parameter }, position) => ({ ...parameter, name: `p${position}` }));

const encode = (samples: readonly Sample[]): Hex =>
  encodeAbiParameters(
    inputsOf(samples) as ViemParameter[],
    samples.map(({ value }) => value) as never,
  );

/** Converts a value that viem decoded to the format of decodeLogs. */
function fromViem(value: unknown, { type, components = [] }: AbiParameter): unknown {
  if (Array.isArray(value) && type.endsWith(']')) {
    const element = { name: '', type: type.slice(0, type.lastIndexOf('[')), components };
    return value.map((each) => fromViem(each, element));
  }
  if (type === 'tuple') {
    const members: unknown[] = Array.isArray(value) ? value : Object.values(value as object);
    return Object.fromEntries(
      components.map((each, at) => [each.name || `arg${at}`, fromViem(members[at], each)]),
    );
  }
  if (typeof value === 'number') return BigInt(value);
  return type === 'address' ? String(value).toLowerCase() : value;
}

describe('against viem', () => {
  it('decodes what viem encodes', () => {
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 5 }), (samples) => {
        expect(decodeData(inputsOf(samples), encode(samples))).toEqual(
          Object.fromEntries(samples.map(({ expected }, position) => [`p${position}`, expected])),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('decodes topics and data of events', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(sample, fc.boolean()), { minLength: 1, maxLength: 5 }),
        (pairs) => {
          let room = 3;
          const inputs = inputsOf(pairs.map(([it]) => it)).map((input, position) => {
            const wanted = pairs[position]?.[1] && !/tuple|\]/.test(input.type);
            return { ...input, indexed: wanted ? room-- > 0 : false };
          });
          const item = event('Sample', inputs);
          const samples = pairs.map(([it]) => it);
          const args = Object.fromEntries(
            inputs.map(({ name }, position) => [name, samples[position]?.value]),
          );
          const parameters: object = { abi: [item], eventName: 'Sample', args };
          const topics = encodeEventTopics(parameters as EncodeEventTopicsParameters) as string[];
          const data = encode(samples.filter((_, position) => !inputs[position]?.indexed));
          const { decoded } = decodeLogs({ logs: [logOf(topics, data)] }, [item]);
          const expected = inputs.map(({ name, indexed, type }, position) => {
            const it = samples[position];
            if (!indexed || (type !== 'string' && type !== 'bytes')) return [name, it?.expected];
            const bytes =
              type === 'bytes' ? (it?.value as Hex) : new TextEncoder().encode(it?.value as string);
            return [name, keccak256(bytes)];
          });
          expect(decoded[0]?.args).toEqual(Object.fromEntries(expected));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('decodes damaged data as viem does, or reports that values overlap', () => {
    fc.assert(
      fc.property(
        fc.array(sample, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(), fc.constantFrom('0', '1', '2', '4', '8', 'f')), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.nat({ max: 9 }),
        (samples, changes, cut) => {
          let data: string = encode(samples);
          for (const [at, digit] of changes) {
            const position = 2 + (at % Math.max(1, data.length - 2));
            data = data.slice(0, position) + digit + data.slice(position + 1);
          }
          if (cut % 3 === 0) data = data.slice(0, Math.max(2, data.length - 64 * cut));
          const inputs = inputsOf(samples);
          const result = decodeData(inputs, data);
          if (result === 'overlapping') return;
          let values: readonly unknown[] | undefined;
          try {
            values = decodeAbiParameters(inputs as ViemParameter[], data as Hex);
          } catch {
            // viem does not decode the data.
          }
          const args = values && inputs.map((input, at) => [`p${at}`, fromViem(values[at], input)]);
          expect(result).toEqual(args === undefined ? 'malformed' : Object.fromEntries(args));
        },
      ),
      { numRuns: 1000 },
    );
  });
});
