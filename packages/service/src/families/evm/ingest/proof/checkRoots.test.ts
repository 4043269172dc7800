import { keccak256 } from '@sluice/kit/contract';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../ingest/json.ts';
import { networkOf } from '../networks.ts';
import type { Finding } from '../normalize.ts';
import { checkRoots } from './proveBlock.ts';
import { encodeReceipt } from './receipts.ts';
import { encodeTransaction, typeOf } from './transactions.ts';
import { EMPTY_ROOT, createListTrie } from './trie.ts';

const address = (digit: string): string => `0x${digit.repeat(40)}`;
const word = (digit: string): string => `0x${digit.repeat(64)}`;
const hexOf = (n: number): string => `0x${n.toString(16)}`;

/** Gives a transaction its hash. */
const hashed = (body: Json): Json => ({ ...body, hash: keccak256(encodeTransaction(body)!) });
const transfer = (nonce: number): Json =>
  hashed({
    type: '0x0',
    nonce: hexOf(nonce),
    gasPrice: '0x9',
    gas: '0x5208',
    value: '0x1',
    from: address('a'),
    to: address('b'),
    input: '0x',
    v: '0x1b',
    r: '0x1',
    s: '0x2',
  });
const log = { address: address('c'), topics: [word('d')], data: '0x12' };

interface Made {
  block: Json;
  receipts: Json[];
}
/** Creates a block with a log per transaction, and roots of those transactions that `isInside`. */
function make(bodies: readonly Json[], isInside = (_body: Json) => true): Made {
  let gas = 0;
  const transactions = bodies.map((body, n) => ({ ...body, transactionIndex: hexOf(n) }));
  const receipts = transactions.map((body: Json, n): Json => {
    const gasUsed = isInside(body) ? 21_000 : 0;
    gas += gasUsed;
    return {
      transactionHash: body['hash'],
      status: '0x1',
      contractAddress: null,
      gasUsed: hexOf(gasUsed),
      cumulativeGasUsed: hexOf(isInside(body) ? gas : 0),
      logs: [
        {
          ...log,
          transactionHash: body['hash'],
          transactionIndex: hexOf(n),
          logIndex: hexOf(n),
        },
      ],
    };
  });
  const block = {
    number: '0x10',
    hash: word('e'),
    baseFeePerGas: '0x1',
    transactions,
    ...rootsOf(transactions, receipts, isInside),
  };
  return { block, receipts };
}
function rootsOf(transactions: Json[], receipts: Json[], isInside: (body: Json) => boolean): Json {
  const inside = transactions.filter((each) => isInside(each));
  const encoded = inside.map((each) => {
    const receipt = receipts[transactions.indexOf(each)]!;
    return encodeReceipt(receipt, typeOf(each), new Map())!;
  });
  return {
    transactionsRoot: createListTrie(
      inside.map((each) => encodeTransaction(each) ?? Buffer.from('unknown')),
    ).root,
    receiptsRoot: createListTrie(encoded).root,
  };
}
const check = ({ block, receipts }: Made, chain = '0x64'): Finding[] =>
  checkRoots(block, receipts, networkOf(chain));
const codes = (findings: readonly Finding[]): string[] =>
  findings.map(({ code, result }) => `${code} ${result}`);
const OTHER = '0x64';
const ETHEREUM = '0x1';

describe('a block', () => {
  const made = make([transfer(1), transfer(2), transfer(3)]);

  test('that matches its roots is proven', () => expect(check(made)).toEqual([]));
  test('without transactions is proven', () => expect(check(make([]))).toEqual([]));

  const broken: Record<string, (made: Made) => Made> = {
    'another transactions root': ({ block, receipts }) => ({
      block: { ...block, transactionsRoot: word('1') },
      receipts,
    }),
    'a transaction with the hash of another': ({ block, receipts }) => ({
      block: {
        ...block,
        transactions: (block['transactions'] as Json[]).map((each, n) =>
          n === 0 ? { ...each, value: '0x2' } : each,
        ),
      },
      receipts,
    }),
  };
  test.each(Object.entries(broken))('with %s fails', (_, change) => {
    expect(codes(check(change(made)))).toEqual(['transactions-root failed']);
    expect(codes(check(change(made), ETHEREUM))).toEqual(['transactions-root failed']);
  });

  test.each<[string, (receipts: Json[]) => Json[]]>([
    [
      'with an altered log',
      ([first, ...rest]) => [
        { ...first!, logs: [{ ...(first!['logs'] as Json[])[0], data: '0x13' }] },
        ...rest,
      ],
    ],
    ['with a repeated receipt', (all) => [...all, all[0]!]],
    [
      'with a receipt of another block',
      (all) => [...all, { ...all[0]!, transactionHash: word('7') }],
    ],
    ['with a hidden log', ([first, ...rest]) => [{ ...first!, logs: [] }, ...rest]],
  ])('%s fails', (_, change) => {
    const changed = { ...made, receipts: change(made.receipts) };
    expect(codes(check(changed))).toEqual(['receipts-root failed']);
    expect(codes(check(changed, ETHEREUM))).toEqual(['receipts-root failed']);
  });

  test.each<[string, (made: Made) => Made]>([
    ['a missing receipt', ({ block, receipts }) => ({ block, receipts: receipts.slice(1) })],
    [
      'gas that does not add up',
      ({ block, receipts }) => ({
        block,
        receipts: receipts.map((each) => ({ ...each, gasUsed: '0x1' })),
      }),
    ],
    [
      'an unexpected form',
      ({ block, receipts }) => ({
        block,
        receipts: receipts.map((each) => ({ ...each, status: null })),
      }),
    ],
    [
      'no receipts root',
      ({ block, receipts }) => ({
        block: { ...block, receiptsRoot: EMPTY_ROOT },
        receipts,
      }),
    ],
    [
      'a receipts root of zeros',
      ({ block, receipts }) => ({
        block: { ...block, receiptsRoot: word('0') },
        receipts,
      }),
    ],
  ])('with %s is not applicable, and fails on Ethereum', (_, change) => {
    expect(codes(check(change(made)))).toEqual(['receipts-root not-applicable']);
    expect(codes(check(change(made), ETHEREUM))).toEqual(['receipts-root failed']);
  });

  test('without a transactions root is not applicable, and fails on Ethereum', () => {
    const changed = { ...made, block: { ...made.block, transactionsRoot: EMPTY_ROOT } };
    expect(codes(check(changed))).toEqual(['transactions-root not-applicable']);
    expect(codes(check(changed, ETHEREUM))).toEqual(['transactions-root failed']);
  });

  test.each([
    ['0x2', {}],
    ['0x3', { maxFeePerBlobGas: '0x1', blobVersionedHashes: [word('1')] }],
    ['0x4', { authorizationList: [] }],
  ])('of type %s with another gas price than its fees fails on Ethereum alone', (type, own) => {
    const dynamic = hashed({
      ...own,
      type,
      chainId: '0x1',
      nonce: '0x1',
      maxPriorityFeePerGas: '0x2',
      maxFeePerGas: '0x9',
      gas: '0x5208',
      to: address('b'),
      value: '0x',
      input: '0x',
      accessList: [],
      v: '0x1',
      r: '0x1',
      s: '0x2',
      gasPrice: '0x3',
    });
    expect(check(make([dynamic]), ETHEREUM)).toEqual([]);
    const changed = make([{ ...dynamic, gasPrice: '0x4' }]);
    expect(codes(check(changed))).toEqual(['transactions-root not-applicable']);
    expect(codes(check(changed, ETHEREUM))).toEqual(['transactions-root failed']);
  });

  test('with a transaction of an unknown type is not applicable, also on Ethereum', () => {
    const changed = make([transfer(1), { type: '0x55', hash: word('5') }]);
    const expected = {
      code: 'transactions-root',
      result: 'not-applicable',
      reason: 'this version does not know the encoding of a transaction of type 0x55',
    };
    expect(check(changed)).toEqual([expected]);
    expect(check(changed, ETHEREUM)).toEqual([expected]);
  });

  test('with an odd transaction of a standard type fails on Ethereum alone', () => {
    const odd = { ...transfer(1), r: 'zz' };
    expect(codes(check(make([odd])))).toEqual(['transactions-root not-applicable']);
    expect(codes(check(make([odd]), ETHEREUM))).toEqual(['transactions-root failed']);
  });
});

describe('a block of Avalanche that settles others', () => {
  test('has proven transactions, and receipts to which the root does not apply', () => {
    const { block, receipts } = make([transfer(1)]);
    const settling = { ...block, settledHeight: '0xf', receiptsRoot: word('4') };
    expect(check({ block: settling, receipts }, '0xa86a')).toEqual([
      {
        code: 'receipts-root',
        result: 'not-applicable',
        reason: 'the receipts root covers the blocks that this block settles',
      },
    ]);
  });
});

describe('a transaction outside the roots', () => {
  const stateSync: Json = {
    type: '0x0',
    from: address('0'),
    to: address('0'),
    gas: '0x0',
    gasPrice: '0x0',
    value: '0x0',
    input: '0x',
    nonce: '0x0',
    v: '0x0',
    r: '0x0',
    s: '0x0',
    hash: word('f'),
  };
  const isNoStateSync = (body: Json): boolean => body['from'] !== stateSync['from'];
  const notCovered = ['transactions-root not-applicable', 'receipts-root not-applicable'];

  test.each([
    ['the last of three', [transfer(1), transfer(2), stateSync]],
    ['the only one', [stateSync]],
  ])('on Polygon is skipped: %s', (_, bodies) => {
    const made = make(bodies, isNoStateSync);
    expect(codes(check(made, '0x89'))).toEqual(notCovered);
    expect(new Set(check(made, '0x89').map(({ reason }) => reason))).toEqual(
      new Set(['a transaction of the network is in neither root']),
    );
  });

  test('on Polygon does not hide that the others are wrong', () => {
    const { block, receipts } = make([transfer(1), stateSync], isNoStateSync);
    const roots = { transactionsRoot: word('1'), receiptsRoot: word('2') };
    expect(codes(check({ block: { ...block, ...roots }, receipts }, '0x89'))).toEqual([
      'transactions-root failed',
      'receipts-root failed',
    ]);
  });

  test('on Polygon is recognized by its hash, too', () => {
    const height = Buffer.from('0000000000000010', 'hex');
    const parts = [Buffer.from('matic-bor-receipt-'), height, Buffer.from('e'.repeat(64), 'hex')];
    const other = { ...stateSync, from: address('9'), hash: keccak256(Buffer.concat(parts)) };
    const { block } = make([transfer(1), other], (body) => body['hash'] !== other['hash']);
    const transactions = block['transactions'] as Json[];
    const { isOutsideRoots } = networkOf('0x89');
    expect(transactions.map((each) => isOutsideRoots(each, block))).toEqual([false, true]);
  });

  test('on other networks is in the roots', () => {
    const { block } = make([stateSync]);
    for (const chain of [ETHEREUM, OTHER, '0x3e7']) {
      expect(networkOf(chain).isOutsideRoots(stateSync, block)).toBe(false);
    }
  });

  test('on HyperEVM comes first and uses no gas', () => {
    const system = hashed({ ...transfer(0), gasPrice: '0x0', r: '0x1', s: '0x1' });
    const made = make([system, transfer(1)], (body) => body['gasPrice'] !== '0x0');
    expect(codes(check(made, '0x3e7'))).toEqual(notCovered);
    expect(codes(check(made, OTHER))).toEqual(['transactions-root failed', 'receipts-root failed']);
  });
});

describe('receipts of Celo', () => {
  const cip64 = hashed({
    type: '0x7b',
    chainId: '0xa4ec',
    nonce: '0x1',
    maxPriorityFeePerGas: '0x2',
    maxFeePerGas: '0x9',
    gas: '0x5208',
    to: address('b'),
    value: '0x0',
    input: '0x',
    accessList: [],
    feeCurrency: address('c'),
    v: '0x1',
    r: '0x1',
    s: '0x2',
  });
  /** Creates a block whose receipts root covers the base fee, which the node does not return. */
  const celo = (price: string): Made => {
    const { block, receipts } = make([cip64]);
    const receipt = { ...receipts[0]!, l1Fee: '0x0', effectiveGasPrice: price };
    const encoded = encodeReceipt({ ...receipt, baseFee: '0x5' }, '0x7b', new Map())!;
    const receiptsRoot = createListTrie([encoded]).root;
    return { block: { ...block, receiptsRoot }, receipts: [receipt] };
  };

  test('contain a base fee that follows from the price', () => {
    expect(check(celo('0x7'), '0xa4ec')).toEqual([]);
    expect(codes(check(celo('0x8'), '0xa4ec'))).toEqual(['receipts-root failed']);
  });

  test('are unknown if the price is the maximum or below the tip', () => {
    expect(codes(check(celo('0x9'), '0xa4ec'))).toEqual(['receipts-root not-applicable']);
    expect(codes(check(celo('0x1'), '0xa4ec'))).toEqual(['receipts-root not-applicable']);
  });

  test('had no base fee before Celo was an L2', () => {
    expect(check(make([cip64]), '0xa4ec')).toEqual([]);
  });

  test('may end with the receipt of the block itself', () => {
    const { block, receipts } = make([transfer(1)]);
    const own = { ...receipts[0]!, transactionHash: block['hash'], logs: [] };
    const encoded = [...receipts, own].map((each) => encodeReceipt(each, '0x0', new Map())!);
    const receiptsRoot = createListTrie(encoded).root;
    const made = { block: { ...block, receiptsRoot }, receipts: [...receipts, own] };
    expect(check(made, '0xa4ec')).toEqual([]);
  });
});

test('an odd receipt is unknown, never an error', () => {
  const odd = [{}, { logs: 'x' }, { status: '0x1', root: word('1'), logs: [] }, { logs: [{}] }];
  for (const receipt of odd) expect(encodeReceipt(receipt, '0x0', new Map())).toBeUndefined();
});
