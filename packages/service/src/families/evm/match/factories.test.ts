import { type Abi, encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import type { AbiItem } from '@sluice/kit/contract';
import { withChildren } from '../../../match/children.ts';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamRecord,
  type StreamOptions,
} from '../../../store/streams/contract.ts';
import type { EvmBlock, EvmLog } from './block.ts';
import { findChildren } from './children.ts';
import { compileFactories } from './factories.ts';
import { createStreamIndex, matchBlock, needsOf, searchOf } from './match.ts';

const CHAIN = '0x1';
const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const FACTORY = address(1);
const CREATED = 'Created(address child)';

function logOf(event: string, emitter: string, values: Record<string, unknown>): EvmLog {
  const abi: Abi = parseAbi([`event ${event}`] as readonly string[]);
  const [item] = abi;
  if (item?.type !== 'event') throw new Error('not an event');
  const data = item.inputs.filter((input) => input.indexed !== true);
  const args = Object.fromEntries(
    item.inputs.flatMap(({ name, indexed }) => (indexed === true ? [[name, values[name!]]] : [])),
  );
  return {
    logIndex: 0,
    transactionIndex: 0,
    transactionHash: '0x07',
    address: emitter,
    topics: encodeEventTopics({ abi, eventName: item.name, args }).map(String),
    data: encodeAbiParameters(
      data,
      data.map(({ name }) => values[name!]),
    ),
  };
}

const created = (child: number, emitter = FACTORY): EvmLog =>
  logOf(CREATED, emitter, { child: address(child) });
const other = (emitter: number): EvmLog => ({
  ...created(0, address(emitter)),
  topics: [`0x${'0e'.repeat(32)}`],
});

const blockOf = (logs: readonly EvmLog[], rest: Partial<EvmBlock> = {}): EvmBlock => ({
  number: 1,
  hash: '0x01',
  parentHash: '0x00',
  timestamp: 1,
  logs: logs.map((log, logIndex) => ({ ...log, logIndex })),
  transactions: [],
  internalTransactions: [],
  ...rest,
});

function indexOf(options: Partial<StreamOptions>, listed: readonly number[] = []) {
  const index = createStreamIndex();
  const record: EvmStreamRecord = {
    family: 'evm',
    id: 's',
    tag: '',
    description: '',
    webhookUrl: '',
    chainIds: [CHAIN],
    options: { ...DEFAULT_OPTIONS, includeContractLogs: true, ...options },
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

/** Matches a block for a stream whose children are not known yet. Returns the positions of its logs. */
function matchedIn(index: ReturnType<typeof createStreamIndex>, block: EvmBlock): number[] {
  const found = findChildren(index, CHAIN, block, () => false);
  const matches = matchBlock(withChildren(index.following, found), CHAIN, block);
  return matches.flatMap(({ logs }) => logs.map(({ logIndex }) => logIndex));
}

const rule = { address: FACTORY, event: CREATED, parameter: 'child' };

describe('a block', () => {
  test('matches events of a child before the log of its factory', () => {
    const index = indexOf({ factories: [rule] });
    expect(matchedIn(index, blockOf([other(8), other(9), created(8)]))).toEqual([0]);
  });

  test('matches children of children, in any order of their logs', () => {
    const index = indexOf({
      factories: [
        rule,
        { childrenOf: 0, event: CREATED, parameter: 'child' },
        { childrenOf: 1, event: CREATED, parameter: 'child' },
      ],
    });
    const logs = [other(4), created(4, address(3)), created(3, address(2)), created(2), other(5)];
    expect(matchedIn(index, blockOf(logs))).toEqual([0, 1, 2]);
  });

  test('adds 500 children, each once', () => {
    const index = indexOf({ factories: [rule] });
    const logs = Array.from({ length: 500 }, (_, n) => created(n + 10));
    const found = findChildren(index, CHAIN, blockOf([...logs, ...logs]), () => false);
    expect(found).toHaveLength(500);
  });

  test('adds no zero address, and nothing from other contracts or other events', () => {
    const index = indexOf({ factories: [rule] });
    const logs = [created(0), created(8, address(2)), { ...other(1), data: created(8).data }];
    expect(findChildren(index, CHAIN, blockOf(logs), () => false)).toEqual([]);
  });

  test('matches a call to a listed address once if it is also a child', () => {
    const index = indexOf({ factories: [rule], functions: ['*'] }, [8]);
    const list = index.openChildren({
      streamId: 's',
      chain: CHAIN,
      factory: index.missingChildren(CHAIN)!.factory,
    });
    list.add(packAddresses([address(8)]).bytes);
    list.finish();
    const block = blockOf([], {
      transactions: [
        {
          hash: '0x07',
          transactionIndex: 0,
          from: address(5),
          to: address(8),
          input: '0x',
          receipt: { status: '0x1' },
        } as never,
      ],
    });
    const [match] = matchBlock(index.following, CHAIN, block);
    expect(match?.calls).toHaveLength(1);
    // The address is also found in the block itself.
    const found = findChildren(index, CHAIN, blockOf([created(8)]), () => false);
    expect(matchBlock(withChildren(index.following, found), CHAIN, block)[0]?.calls).toHaveLength(
      1,
    );
  });

  test('of another chain does not match the children of this chain', () => {
    const index = indexOf({ factories: [rule] });
    const list = index.openChildren(index.missingChildren(CHAIN)!);
    list.add(packAddresses([address(8)]).bytes);
    list.finish();
    expect(matchBlock(index.following, CHAIN, blockOf([other(8)]))).toHaveLength(1);
    expect(matchBlock(index.following, '0x89', blockOf([other(8)]))).toEqual([]);
  });

  test('needs logs, and is not searched by range', () => {
    const index = indexOf({
      factories: [rule],
      includeContractLogs: false,
      includeNativeTxs: true,
    });
    expect(needsOf(index, CHAIN).logs).toBe(true);
    const logged = indexOf({ factories: [rule] });
    expect(searchOf(logged, CHAIN, () => [])).toBeUndefined();
  });
});

test('the children of a factory that a stream no longer has do not match', () => {
  const index = indexOf({ factories: [rule] });
  const list = index.openChildren(index.missingChildren(CHAIN)!);
  list.add(packAddresses([address(8)]).bytes);
  list.finish();
  const { record } = index.streams(CHAIN)[0]!;
  index.put({ ...record, tag: 'changed' });
  expect(matchBlock(index.following, CHAIN, blockOf([other(8)]))).toHaveLength(1);
  index.put({ ...record, options: { ...record.options, factories: null } });
  expect(matchBlock(index.following, CHAIN, blockOf([other(8)]))).toEqual([]);
});

describe('a factory', () => {
  const childrenOf = (event: string, parameter: string, log: EvmLog, abi: AbiItem[] = []) =>
    compileFactories({ factories: [{ address: FACTORY, event, parameter }], abi })[0]!.childrenIn(
      log,
    );

  test.each([
    ['Created(address indexed child)', 'child', { child: address(8) }, [8]],
    ['Created(uint256 n, address child)', 'child', { n: 1n, child: address(8) }, [8]],
    [
      'Created(string name, address[] children)',
      'children',
      { name: 'x', children: [address(8), address(9)] },
      [8, 9],
    ],
    [
      'Created((uint256 n, (address a, address b) inner) pool, bytes rest)',
      'pool.inner.b',
      { pool: { n: 1n, inner: { a: address(7), b: address(8) } }, rest: '0x12' },
      [8],
    ],
    [
      'Created((address a, uint256 n)[] pools)',
      'pools.a',
      {
        pools: [
          { a: address(8), n: 1n },
          { a: address(9), n: 2n },
        ],
      },
      [8, 9],
    ],
  ])('reads the children of %s', (event, parameter, values, expected) => {
    expect(childrenOf(event, parameter, logOf(event, FACTORY, values))).toEqual(
      expected.map(address),
    );
  });

  test('reads nothing from a log that is not of its event', () => {
    const log = { ...created(8), data: '0x' };
    expect(childrenOf(CREATED, 'child', log)).toEqual([]);
    expect(childrenOf('Created(address indexed child)', 'child', created(8))).toEqual([]);
  });

  test('names an event of the ABI, with the parameters and their indices from there', () => {
    const abi = parseAbi(['event Created(address indexed child)']) as unknown as AbiItem[];
    const log = logOf('Created(address indexed child)', FACTORY, { child: address(8) });
    for (const event of ['Created', 'Created(address)']) {
      expect(childrenOf(event, 'child', log, abi)).toEqual([address(8)]);
    }
  });

  test('keeps its key if only the names of its parameters change', () => {
    const keyOf = (event: string, parameter: string, factory = FACTORY) =>
      compileFactories({ factories: [{ address: factory, event, parameter }], abi: null })[0]!.key;
    const key = keyOf('Made(address a, address b)', 'a');
    expect(keyOf('Made(address x, address y)', 'x')).toBe(key);
    expect(keyOf('Made(address a, address b)', 'b')).not.toBe(key);
    expect(keyOf('Made(address a, address b)', 'a', address(2))).not.toBe(key);
  });

  test.each([
    ['Created', 'child', ['event'], /event signature/],
    ['Created(', 'child', ['event'], /event signature/],
    [CREATED, 'pool', ['parameter'], /should name one of child/],
    ['Created(uint256 child)', 'child', ['parameter'], /not uint256/],
    ['Created(address[] indexed child)', 'child', ['parameter'], /only its hash/],
  ])('with event %s and parameter %s is refused', (event, parameter, path, message) => {
    const options = { factories: [{ address: FACTORY, event, parameter }], abi: null };
    expect(() => compileFactories(options)).toThrow(
      expect.objectContaining({
        path: ['factories', 0, ...path],
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
  });
});
