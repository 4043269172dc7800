import { APTOS_CHAINS } from '@sluice/kit/contract';
import { describe, expect, test } from 'vitest';
import { FAMILIES } from '../../../families/index.ts';
import { RetryableError } from '../../../base/errors.ts';
import { type PlaceSources, createFindPlace } from './findPlace.ts';

const EVM = '0x1';
const APTOS = APTOS_CHAINS.testnet;
const HASH = `0x${'ab'.repeat(32)}`;
const BLOCK = { number: 7, hash: `0x${'cd'.repeat(32)}` };
const DELIVERY = '0198a6f0-0000-4000-8000-000000000001';

type Answer = Awaited<
  ReturnType<NonNullable<ReturnType<PlaceSources['callsOf']>>['findTransaction']>
>;

/** Creates a finder for a ledger and nodes that have only the given data. */
function finder({
  transaction,
  block,
  delivery,
  nodes = {},
  heightOf,
}: {
  transaction?: object;
  block?: object;
  delivery?: object;
  nodes?: Record<string, (() => Promise<Answer>) | undefined>;
  heightOf?: () => Promise<number>;
} = {}) {
  return createFindPlace({
    store: {
      findTransaction: async () => transaction,
      findBlock: async () => block,
      readDelivery: async (id: string) => (id === DELIVERY ? delivery : undefined),
      listTransactionsOf: async () => [HASH],
    } as never,
    chains: () => Object.keys(nodes).map((id) => ({ id })),
    callsOf(chain) {
      const findTransaction = nodes[chain];
      if (findTransaction === undefined && heightOf === undefined) return undefined;
      return {
        findTransaction: findTransaction ?? nothing,
        explain: nothing,
        ...(heightOf !== undefined && { heightOf }),
      };
    },
    families: FAMILIES,
  });
}

const nothing = async (): Promise<undefined> => undefined;

describe('a hash', () => {
  test('is looked up in the ledger first, in any case; EVM blocks are found by hash', async () => {
    const find = finder({
      transaction: { chain: EVM, block: BLOCK },
      nodes: { [EVM]: async () => ({ at: 'not asked' }) },
    });
    const place = { kind: 'transaction', chain: EVM, at: BLOCK.hash, transactionHash: HASH };
    expect(await find(HASH.toUpperCase().replace('0X', '0x'), undefined)).toEqual(place);
  });

  test('of an Aptos transaction is found by height', async () => {
    const find = finder({ transaction: { chain: APTOS, block: BLOCK } });
    expect(await find(HASH, undefined)).toMatchObject({ chain: APTOS, at: BLOCK.number });
  });

  test('is not found on a chain other than the requested one', async () => {
    const find = finder({
      transaction: { chain: EVM, block: BLOCK },
      block: { chain: EVM, block: BLOCK },
      nodes: { [EVM]: nothing, '0x89': nothing },
    });
    expect(await find(HASH, '0x89')).toBe(`0x89 has no transaction or block ${HASH}`);
  });

  test('is searched on every chain, and failing nodes are reported only if none has it', async () => {
    const failing = () => Promise.reject(new RetryableError('node_failed', 'the node is away'));
    const nodes = { [EVM]: failing, '0x89': async () => ({ at: BLOCK.hash }) };
    expect(await finder({ nodes })(HASH, undefined)).toMatchObject({ chain: '0x89' });
    expect(await finder({ nodes: { [EVM]: failing, '0x89': nothing } })(HASH, undefined)).toBe(
      `No configured chain has a transaction or block ${HASH}. the node is away`,
    );
  });

  test('of a pending transaction is reported as pending', async () => {
    const find = finder({ nodes: { [EVM]: async () => 'pending' } });
    expect(await find(HASH, undefined)).toMatch('not in a block of 0x1 yet');
  });
});

describe('a number', () => {
  test.each(['12,345', '12_345', '12 345', '12345'])(
    '%s is a block of the only chain',
    async (text) => {
      const find = finder({ nodes: { [EVM]: nothing } });
      expect(await find(text, undefined)).toEqual({ kind: 'block', chain: EVM, at: 12_345 });
    },
  );

  test('requires a chain if there are several', async () => {
    const find = finder({ nodes: { [EVM]: nothing, '0x89': nothing } });
    expect(await find('7', undefined)).toMatch('choose one of 0x1, 0x89');
    expect(await find('7', '0x89')).toMatchObject({ chain: '0x89', at: 7 });
  });

  test('is a ledger version on Aptos', async () => {
    const find = finder({ nodes: { [APTOS]: nothing }, heightOf: async () => 3 });
    expect(await find('900', undefined)).toEqual({
      kind: 'version',
      chain: APTOS,
      at: 3,
      version: 900,
    });
  });
});

test('a delivery id is found as its block, with its stream and transactions', async () => {
  const find = finder({
    delivery: { id: DELIVERY, chainId: EVM, blockNumber: 7, blockHash: BLOCK.hash, streamId: 's' },
  });
  expect(await find(DELIVERY.toUpperCase(), undefined)).toEqual({
    kind: 'delivery',
    chain: EVM,
    at: BLOCK.hash,
    delivery: { streamId: 's', transactions: new Set([HASH]) },
  });
  expect(await find(DELIVERY.replace('1', '2'), undefined)).toMatch('No delivery has this ID');
});

test('any other query is not found', async () => {
  expect(await finder()('what', undefined)).toMatch('"what" is not a transaction');
});
