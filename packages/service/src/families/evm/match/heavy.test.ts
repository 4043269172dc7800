/**
 * Tests streams that are expensive to match, with many addresses, values or nested filters. Checks
 * the matches. The times are only printed, because they depend on the machine.
 */
import { expect, test } from 'vitest';
import type { AbiItem } from '@sluice/kit/contract';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type StreamOptions,
} from '../../../store/streams/contract.ts';
import type { EvmBlock } from './block.ts';
import { matchBlock, createStreamIndex } from './match.ts';

const CHAIN = '0x1';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const BLOCKS = 100;
const LOGS = 500;
const WARM_UP = 20;

const transfer: AbiItem = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
};

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const word = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

/** Creates a block whose transfers all have different recipients. */
const blockOf = (number: number): EvmBlock => ({
  number,
  hash: word(number),
  parentHash: word(number - 1),
  timestamp: 1_700_000_000,
  logs: Array.from({ length: LOGS }, (_, logIndex) => ({
    logIndex,
    transactionIndex: logIndex,
    transactionHash: word(logIndex),
    address: address(0xc0ffee),
    topics: [TRANSFER, word(0xfeed), word(number * LOGS + logIndex)],
    data: word(logIndex),
  })),
  transactions: [],
  internalTransactions: [],
});

/**
 * Returns `count` addresses: ten recipients in each block, and others that receive no transfer.
 */
const wanted = (count: number): string[] => {
  const hits = Array.from({ length: BLOCKS }, (_, number) =>
    Array.from({ length: 10 }, (_, n) => address(number * LOGS + n)),
  ).flat();
  const misses = Array.from({ length: count - hits.length }, (_, n) => address(2 ** 40 + n));
  return [...misses, ...hits];
};

const filtered = (filter: Record<string, unknown>): Partial<StreamOptions> => ({
  allAddresses: true,
  abi: [transfer],
  advancedOptions: [{ topic0: TRANSFER, filter }],
});
const nested = (depth: number): Record<string, unknown> =>
  depth === 0
    ? { lt: ['value', '10'] }
    : { [depth % 2 === 0 ? 'and' : 'or']: [nested(depth - 1), { eq: ['value', '3'] }] };

test.each<[string, Partial<StreamOptions>, string[], number]>([
  ['100,000 addresses', {}, wanted(100_000), 10],
  ['in of 10,000 values', filtered({ in: ['to', wanted(10_000)] }), [], 10],
  ['nin of 10,000 values', filtered({ nin: ['to', wanted(10_000)] }), [], LOGS - 10],
  [
    'or of 10,000 filters',
    filtered({ or: wanted(10_000).map((each) => ({ eq: ['to', each] })) }),
    [],
    10,
  ],
  ['and, or nested 31 levels deep', filtered(nested(31)), [], 1],
  [
    '1,000 options for one event',
    {
      ...filtered({}),
      advancedOptions: wanted(1_000).map((each) => ({
        topic0: TRANSFER,
        filter: { eq: ['to', each] },
      })),
    },
    [],
    10,
  ],
])('%s', (name, options, addresses, taken) => {
  const index = createStreamIndex();
  index.put({
    id: 'heavy',
    tag: 'heavy',
    description: '',
    webhookUrl: '',
    chainIds: [CHAIN],
    status: 'active',
    statusMessage: '',
    errorSince: null,
    addressCount: 0,
    childCount: 0,
    createdAt: 0,
    updatedAt: 0,
    options: { ...DEFAULT_OPTIONS, includeContractLogs: true, ...options },
    family: 'evm',
    ...DEFAULT_DELIVERY,
  });
  index.addAddresses('heavy', packAddresses(addresses).bytes);

  for (let n = 0; n < WARM_UP; n++) matchBlock(index, CHAIN, blockOf(0));
  const took: number[] = [];
  for (let number = 0; number < BLOCKS; number++) {
    const block = blockOf(number);
    const start = performance.now();
    const [match] = matchBlock(index, CHAIN, block);
    took.push(performance.now() - start);
    expect(match?.logs.length).toBe(taken);
  }
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): string => sorted[Math.floor(BLOCKS * share)]!.toFixed(1);
  process.stderr.write(`${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms for ${LOGS} logs\n`);
});
