import { expect, test } from 'vitest';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
  type StreamOptions,
} from '../../../store/streams/contract.ts';
import type { EvmBlock, EvmLog, EvmTransaction } from './block.ts';
import { createStreamIndex, matchBlock } from './match.ts';
import { splitMatch, toWebhookParts } from './webhook.ts';

const CHAIN = '0x1';
const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const word = (n: number): string => n.toString(16).padStart(64, '0');
const TRANSFER = 'transfer(address to, uint256 amount)';
const transferOf = (amount: number): string => `0xa9059cbb${word(9)}${word(amount)}`;

const transaction = (n: number, to: number, input: string): EvmTransaction => ({
  hash: `0x${word(n)}`,
  transactionIndex: n,
  from: address(99),
  to: address(to),
  value: '0x0',
  gas: '0x0',
  gasPrice: '0x0',
  nonce: '0x0',
  input,
  type: '0x2',
  v: '0x0',
  r: '0x0',
  s: '0x0',
  receipt: {
    cumulativeGasUsed: '0x0',
    gasUsed: '0x0',
    contractAddress: null,
    root: null,
    status: '0x1',
    fee: null,
  },
});

const blockOf = (transactions: EvmTransaction[], logs: EvmLog[] = []): EvmBlock => ({
  number: 1,
  hash: `0x${word(1)}`,
  parentHash: `0x${word(0)}`,
  timestamp: 1,
  logs,
  transactions,
  internalTransactions: [],
});

function indexOf(options: Partial<StreamOptions>, listed: readonly number[]) {
  const index = createStreamIndex();
  const record: EvmStreamRecord = {
    family: 'evm',
    id: 's',
    tag: '',
    description: '',
    webhookUrl: '',
    chainIds: [CHAIN],
    options: { ...DEFAULT_OPTIONS, includeMatched: true, ...options },
    ...DEFAULT_DELIVERY,
    status: 'active',
    statusMessage: '',
    errorSince: null,
    addressCount: 0,
    childCount: 0,
    createdAt: 0,
    updatedAt: 0,
  };
  index.put(record);
  index.addAddresses('s', packAddresses(listed.map(address)).bytes);
  return index;
}

function matchOf(options: Partial<StreamOptions>, listed: readonly number[], block: EvmBlock) {
  const [match] = matchBlock(indexOf(options, listed), CHAIN, block);
  return match!;
}

/** Returns the matched addresses with their rules, as text. */
const matchedIn = (block: EvmBlock, match: ReturnType<typeof matchOf>) =>
  toWebhookParts(CHAIN, block, match).tail.matched?.map(({ address: its, rules }) => [
    its === null ? null : Number(its),
    ...rules.map(({ field, index }) => (index === null ? field : `${field} ${index}`)),
  ]);

test('calls name each option of their function that passes, or else the entry of the function', () => {
  const block = blockOf([
    transaction(0, 1, transferOf(5)),
    transaction(1, 2, transferOf(50)),
    transaction(2, 2, '0x12345678'),
    transaction(3, 1, '0x'),
  ]);
  const filters = [
    { function: TRANSFER, filter: { gte: ['amount', '10'] } },
    { function: TRANSFER, filter: { gte: ['amount', '1'] } },
    { function: TRANSFER, transactionStatus: 'failed' as const },
  ];
  const match = (options: Partial<StreamOptions>) =>
    matchedIn(block, matchOf(options, [1, 2], block));
  expect(match({ functions: ['0x12345678', TRANSFER, '0xa9059cbb'] })).toEqual([
    [1, 'functions 1'],
    [2, 'functions 1', 'functions 0'],
  ]);
  expect(match({ functions: [TRANSFER, '*', '0x12345678'], advancedOptions: filters })).toEqual([
    [1, 'advancedOptions 1', 'functions 1'],
    [2, 'advancedOptions 0', 'advancedOptions 1', 'functions 2'],
  ]);
  expect(match({ allAddresses: true, functions: [TRANSFER] })).toEqual([[null, 'functions 0']]);
});

test('a body has no entries unless the stream includes them', () => {
  const block = blockOf([transaction(0, 1, '0x')]);
  const match = matchOf({ includeNativeTxs: true, includeMatched: false }, [1], block);
  expect(toWebhookParts(CHAIN, block, match).tail).not.toHaveProperty('matched');
  expect(match.watched.creators.size).toBe(0);
});

test('each part of a large match has the addresses of its own records', () => {
  const block = blockOf([1, 2, 3, 1].map((to, n) => transaction(n, to, '0x')));
  const match = matchOf({ includeNativeTxs: true }, [1, 2, 3], block);
  const parts = splitMatch(match, 100, ({ transactions }) => transactions.length * 30);
  expect(parts.map(({ part }) => matchedIn(block, part))).toEqual([
    [
      [1, 'includeNativeTxs'],
      [2, 'includeNativeTxs'],
    ],
    [
      [3, 'includeNativeTxs'],
      [1, 'includeNativeTxs'],
    ],
  ]);
});

test.each([
  [0, 1],
  [1, 0],
])(
  'a child of several factories names the first one, unless the stream lists it: %s, %s',
  (...order) => {
    const event = 'Created(address child)';
    const factories = [7, 8].map((n) => ({ address: address(n), event, parameter: 'child' }));
    const index = indexOf({ includeNativeTxs: true, factories }, [2]);
    const { factories: compiled } = index.streams(CHAIN)[0]!.selection;
    for (const n of order) {
      const list = index.openChildren({ streamId: 's', chain: CHAIN, factory: compiled[n]!.key });
      list.add(packAddresses([1, 2, 3 + n].map(address)).bytes);
      list.finish();
    }
    const block = blockOf([1, 2, 3, 4].map((to, n) => transaction(n, to, '0x')));
    const [match] = matchBlock(index.following, CHAIN, block);
    const { matched } = toWebhookParts(CHAIN, block, match!).tail;
    expect(matched!.map((each) => [Number(each.address), each.factory])).toEqual([
      [1, 0],
      [2, null],
      [3, 0],
      [4, 1],
    ]);
  },
);
