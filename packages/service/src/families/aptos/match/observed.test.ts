import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toAccount, normalizeType } from './moveNames.ts';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  type AptosStreamRecord,
  DEFAULT_APTOS_OPTIONS,
  DEFAULT_DELIVERY,
} from '../../../store/streams/contract.ts';
import type { AptosBlock, AptosTransaction } from './block.ts';
import { type AptosStreams, createAptosIndex } from './streamIndex.ts';
import { matchAptosBlock } from './match.ts';
import { countObservedPaths } from './observed.ts';

const CHAIN = 'aptos:local';
const ALICE = toAccount('0xa11ce');
const BOB = toAccount('0xb0b');

interface Made {
  signer?: string;
  function?: string | null;
  events?: readonly string[];
}

const toTransaction = ({ signer = ALICE, function: called = null, events = [] }: Made) =>
  ({
    version: 0,
    success: true,
    signers: [signer],
    function: called && normalizeType(called),
    typeArguments: [],
    arguments: [],
    events: events.map((type) => ({ type: normalizeType(type), account: null, data: {} })),
    changed: [],
    stores: new Map(),
    coinHandles: new Map(),
  }) as unknown as AptosTransaction;

const toBlock = (made: readonly Made[]): AptosBlock =>
  ({ number: 1, transactions: made.map(toTransaction) }) as unknown as AptosBlock;

type Options = Partial<AptosStreamRecord['options']>;

function indexOf(options: Options, addresses: readonly string[] = [ALICE]): AptosStreams {
  const index = createAptosIndex();
  index.put({
    id: 's',
    tag: 's',
    description: '',
    webhookUrl: 'http://127.0.0.1/',
    ...DEFAULT_DELIVERY,
    status: 'active',
    statusMessage: '',
    errorSince: null,
    addressCount: 1,
    childCount: 0,
    createdAt: 0,
    updatedAt: 0,
    family: 'aptos',
    chainIds: [CHAIN],
    options: { ...DEFAULT_APTOS_OPTIONS, ...options },
  });
  index.addAddresses('s', packAddresses(addresses, 32).bytes);
  return index;
}

const observedOf = (made: readonly Made[], options: Options = {}): string[] =>
  countObservedPaths(indexOf(options), CHAIN, toBlock(made)).map(
    ({ kind, path, count }) => `${count} ${kind} ${path}`,
  );

const transfer = '0x1::aptos_account::transfer';
const withdraw = '0x1::coin::WithdrawEvent';
const paid = (coin: string) => `0x5::shop::Paid<${coin}>`;

test('all functions and events of its addresses are counted, whatever the stream selects', () => {
  const made: Made[] = [
    { function: transfer, events: [withdraw, withdraw, paid('0x1::a::B')] },
    { function: transfer, events: [paid('0x1::a::C')] },
    { function: '0x22::shop::pay' },
    { events: [withdraw] },
    { signer: BOB, function: transfer, events: [withdraw] },
  ];
  const long = `0x${'0'.repeat(62)}22`;
  const expected = [
    `3 event ${withdraw}`,
    `2 function ${transfer}`,
    '2 event 0x5::shop::Paid',
    `1 function ${long}::shop::pay`,
  ];
  expect(observedOf(made)).toEqual(expected);
  expect(observedOf(made, { functions: ['0x1::coin::transfer'], includeEvents: false })).toEqual(
    expected,
  );
  expect(observedOf(made, { allAddresses: true })).toEqual([
    `4 event ${withdraw}`,
    `3 function ${transfer}`,
    ...expected.slice(2),
  ]);
});

test('a type that is selected with its arguments is also counted separately', () => {
  const made: Made[] = [{ events: [paid('0x1::a::B'), paid('0x1::a::C'), paid('0x1::a::C')] }];
  const events = [`0x0005::shop::Paid< 0x1::a::C >`, paid('0x1::a::D')];
  expect(observedOf(made, { events })).toEqual([
    '3 event 0x5::shop::Paid',
    `2 event ${paid('0x1::a::C')}`,
  ]);
});

test('the 20 most frequent of each kind are listed, and all that are selected', () => {
  // Function `f<n>` and event `E<n>` occur n times.
  const made = Array.from({ length: 25 }, (_, n) => n + 1).flatMap((n) =>
    Array.from({ length: n }, () => ({ function: `0x1::m::f${n}`, events: [`0x1::m::E${n}`] })),
  );
  const counts = (kind: string, options: Options = {}) =>
    countObservedPaths(indexOf(options), CHAIN, toBlock(made))
      .filter((each) => each.kind === kind)
      .map(({ count }) => count);
  const most = Array.from({ length: 20 }, (_, n) => 25 - n);
  expect(counts('function')).toEqual(most);
  expect(counts('event')).toEqual(most);
  const functions = ['0x1::m::f3', '0x1::m::f1', '0x1::m::f25'];
  expect(counts('function', { functions })).toEqual([...most, 5, 3, 1]);
  expect(counts('event', { functions })).toEqual(most);
});

test('property: counts equal what a stream that selects only this path gets, and nothing it gets is missing', () => {
  const FUNCTIONS = ['0x1::m::f', '0x1::m::g', '0x22::m::f'];
  const TYPES = ['0x1::m::E', '0x1::m::E<u8>', '0x1::m::E<0x22::m::T>', '0x22::m::E', '0x1::m::F'];
  const ADDRESSES = [ALICE, BOB, toAccount('0xca401')];
  const someOf = (values: string[]) => fc.array(fc.constantFrom(...values), { maxLength: 4 });
  const made = fc.record({
    signer: fc.constantFrom(...ADDRESSES),
    function: fc.option(fc.constantFrom(...FUNCTIONS)),
    events: someOf(TYPES),
  });
  const stream = fc.record({
    allAddresses: fc.boolean(),
    functions: fc.uniqueArray(fc.constantFrom(...FUNCTIONS), { maxLength: 2 }),
    events: fc.uniqueArray(fc.constantFrom(...TYPES), { maxLength: 3 }),
  });
  const isOf = (type: string, path: string): boolean =>
    type === path || type.startsWith(`${path}<`);
  const had = { paths: 0, unchosen: 0 };
  fc.assert(
    fc.property(
      fc.array(made, { maxLength: 6 }),
      stream,
      fc.uniqueArray(fc.constantFrom(...ADDRESSES)),
      (transactions, options, addresses) => {
        const block = toBlock(transactions);
        const taken = (changes: Options): AptosTransaction[] =>
          matchAptosBlock(indexOf({ ...options, ...changes }, addresses), CHAIN, block).flatMap(
            (match) => match.transactions.map(({ transaction }) => transaction),
          );
        const observed = countObservedPaths(indexOf(options, addresses), CHAIN, block);
        for (const { kind, path, count } of observed) {
          const alone =
            kind === 'function'
              ? taken({ functions: [path], events: [] }).length
              : taken({ functions: [], events: [path] })
                  .flatMap(({ events }) => events)
                  .filter(({ type }) => isOf(type, normalizeType(path))).length;
          expect(count).toBe(alone);
        }
        had.paths += observed.length;

        const paths = (kind: string) =>
          new Set(
            observed.filter((each) => each.kind === kind).map(({ path }) => normalizeType(path)),
          );
        const [functions, events] = [paths('function'), paths('event')];
        const all = taken({ functions: [], events: [] });
        for (const { function: called, events: emitted } of all) {
          if (called !== null) expect(functions).toContain(called);
          for (const { type } of emitted) expect(events).toContain(type.replace(/<.*/, ''));
        }
        // A selected type is listed as it was selected, if and only if an event of that type
        // occurred.
        for (const type of options.events.map(normalizeType)) {
          const isThere = all.some((each) => each.events.some((event) => isOf(event.type, type)));
          expect(events.has(type)).toBe(isThere);
        }
        had.unchosen += all.length - taken({}).length;
      },
    ),
    { numRuns: 500 },
  );
  expect(Math.min(...Object.values(had))).toBeGreaterThan(100);
});
