import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AbiItem, keccak256, selectorOf } from '@sluice/kit/contract';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type StreamOptions,
} from '../../../store/streams/contract.ts';
import type { EvmBlock, EvmTransaction } from './block.ts';
import { matchBlock, createStreamIndex } from './match.ts';
import { findCloseMatches } from './closeMatches.ts';

const CHAIN = '0x1';
const TRANSFER = 'Transfer(address,address,uint256)';
const topic0 = keccak256(TRANSFER);
const word = (n: number | bigint): string => `0x${n.toString(16).padStart(64, '0')}`;
const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const TOKEN = address(900);
const abi: AbiItem[] = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
];

interface Moved {
  to: number;
  value: bigint;
  contract?: string;
}

const blockOf = (moved: readonly Moved[]): EvmBlock => ({
  number: 1,
  hash: word(1),
  parentHash: word(0),
  timestamp: 0,
  transactions: [],
  internalTransactions: [],
  logs: moved.map(({ to, value, contract = TOKEN }, n) => ({
    logIndex: n,
    transactionIndex: n,
    transactionHash: word(1000 + n),
    address: contract,
    topics: [topic0, word(1), word(to)],
    data: word(value),
  })),
});

const indexOf = (
  filters: readonly Record<string, unknown>[],
  options: Partial<StreamOptions> = {},
) => {
  const index = createStreamIndex();
  index.put({
    id: 's',
    tag: 's',
    description: '',
    webhookUrl: 'http://127.0.0.1/',
    chainIds: [CHAIN],
    status: 'active',
    statusMessage: '',
    errorSince: null,
    addressCount: 1,
    childCount: 0,
    createdAt: 0,
    updatedAt: 0,
    family: 'evm',
    ...DEFAULT_DELIVERY,
    options: {
      ...DEFAULT_OPTIONS,
      includeContractLogs: true,
      abi,
      advancedOptions: filters.map((filter) => ({ topic0, filter })),
      ...options,
    },
  });
  index.addAddresses('s', packAddresses([TOKEN]).bytes);
  return index;
};

const closeMatchesOf = (
  filters: readonly Record<string, unknown>[],
  moved: readonly Moved[],
  options = {},
) => findCloseMatches(indexOf(filters, options), CHAIN, blockOf(moved));

const rule = { event: TRANSFER, name: 'value', operator: 'gte', filterValue: '1000' };

test('logs that a single comparison excluded are counted, with the range of their values', () => {
  const moved = [5n, 900n, 999n, 1000n, 2000n].map((value) => ({ to: 7, value }));
  expect(closeMatchesOf([{ gte: ['value', '1000'] }], moved)).toEqual([
    { ...rule, count: 3, min: '5', max: '999' },
  ]);
});

test('logs that another part of the filter excludes are not close, nor are other contracts', () => {
  const both = { and: [{ gte: ['value', '1000'] }, { eq: ['to', address(7)] }] };
  const moved = [
    { to: 7, value: 900n },
    { to: 8, value: 901n },
    { to: 8, value: 1_001n },
    { to: 7, value: 902n, contract: address(901) },
  ];
  expect(closeMatchesOf([both], moved)).toEqual([{ ...rule, count: 1, min: '900', max: '900' }]);
  // A log that two comparisons exclude is not a close match either.
  expect(
    closeMatchesOf(
      [{ and: [{ gte: ['value', '5'] }, { gt: ['value', '3'] }] }],
      [{ to: 7, value: 1n }],
    ),
  ).toEqual([]);
});

test('logs that match by another option or with their transaction are not counted', () => {
  const moved = [{ to: 7, value: 900n }];
  expect(closeMatchesOf([{ gte: ['value', '1000'] }, { lt: ['value', '950'] }], moved)).toEqual([]);
  const one = blockOf([...moved, { to: 7, value: 1_000n }]);
  const together = { ...one, logs: one.logs.map((log) => ({ ...log, transactionIndex: 0 })) };
  const index = indexOf([{ gte: ['value', '1000'] }], { includeAllTxLogs: true });
  expect(findCloseMatches(index, CHAIN, together)).toEqual([]);
});

test('property: with a single comparison, each log is either close or matched', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('lt', 'lte', 'gt', 'gte'),
      fc.bigInt({ min: 0n, max: 30n }),
      fc.array(fc.bigInt({ min: 0n, max: 30n }), { maxLength: 12 }),
      (operator, filterValue, values) => {
        const filters = [{ [operator]: ['value', String(filterValue)] }];
        const moved = values.map((value) => ({ to: 7, value }));
        const taken = matchBlock(indexOf(filters), CHAIN, blockOf(moved))[0]?.logs.length ?? 0;
        const [closeMatches] = closeMatchesOf(filters, moved);
        expect((closeMatches?.count ?? 0) + taken).toBe(values.length);
        if (closeMatches === undefined) return;
        expect(values).toContain(BigInt(closeMatches.min));
        expect(values).toContain(BigInt(closeMatches.max));
      },
    ),
  );
});

const PAY = 'pay(address to, uint256 amount)';
const PAY_SELECTOR = selectorOf(keccak256('pay(address,uint256)'))!;

interface Called {
  amount: bigint;
  value?: bigint;
  isFailed?: boolean;
  contract?: string;
}

const calledBlock = (called: readonly Called[]): EvmBlock => ({
  ...blockOf([]),
  transactions: called.map(
    ({ amount, value = 0n, isFailed = false, contract = TOKEN }, n) =>
      ({
        hash: word(2000 + n),
        transactionIndex: n,
        from: address(1),
        to: contract,
        value: `0x${value.toString(16)}`,
        input: `${PAY_SELECTOR}${word(7).slice(2)}${word(amount).slice(2)}`,
        receipt: { status: isFailed ? '0x0' : '0x1' },
      }) as EvmTransaction,
  ),
});

const closeCallsOf = (
  advancedOptions: NonNullable<StreamOptions['advancedOptions']>,
  called: readonly Called[],
) => findCloseMatches(indexOf([], { advancedOptions }), CHAIN, calledBlock(called));

const payRule = {
  function: 'pay(address,uint256)',
  name: 'amount',
  operator: 'gte',
  filterValue: '1000',
};

test('calls that a single comparison excluded are counted like logs', () => {
  const filter = { and: [{ gte: ['amount', '1000'] }, { lt: ['sluice_value', '5'] }] };
  const called = [
    { amount: 5n },
    { amount: 999n },
    { amount: 1000n },
    { amount: 1000n, value: 7n },
    // Two comparisons, the outcome or the contract exclude these calls.
    { amount: 5n, value: 7n },
    { amount: 998n, isFailed: true },
    { amount: 997n, contract: address(901) },
  ];
  expect(closeCallsOf([{ function: PAY, filter }], called)).toEqual([
    { ...payRule, count: 2, min: '5', max: '999' },
    {
      ...payRule,
      name: 'sluice_value',
      operator: 'lt',
      filterValue: '5',
      count: 1,
      min: '7',
      max: '7',
    },
  ]);
});

test('calls of an option are close only with its outcome, and not if another option takes them', () => {
  const filter = { gte: ['amount', '1000'] };
  const called = [{ amount: 5n }, { amount: 6n, isFailed: true }];
  const failed = { function: PAY, filter, transactionStatus: 'failed' as const };
  expect(closeCallsOf([failed], called)).toEqual([{ ...payRule, count: 1, min: '6', max: '6' }]);
  expect(closeCallsOf([failed, { function: PAY, transactionStatus: 'any' }], called)).toEqual([]);
  const succeeded = { function: PAY, filter: { gt: ['amount', '50'] } };
  const rules = closeCallsOf([succeeded, failed], called);
  expect(rules.map(({ operator, min, max }) => [operator, min, max])).toEqual([
    ['gt', '5', '5'],
    ['gte', '6', '6'],
  ]);
});

test('close matches name a function without a signature by its selector, or *', () => {
  const filter = { gt: ['sluice_value', '10'] };
  const called = [{ amount: 5n, value: 9n }];
  const [unnamed] = closeCallsOf([{ function: PAY_SELECTOR, filter }], called);
  expect(unnamed).toMatchObject({ function: PAY_SELECTOR, name: 'sluice_value', min: '9' });
  const [any] = closeCallsOf([{ function: '*', filter }], called);
  expect(any).toMatchObject({ function: '*', name: 'sluice_value', min: '9' });
});
