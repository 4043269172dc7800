import { expect, test } from 'vitest';
import { type AbiItem, keccak256 } from '@sluice/kit/contract';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type StreamOptions,
} from '../../../store/streams/contract.ts';
import type { EvmBlock } from './block.ts';
import { countObservedEvents } from './observed.ts';
import { createStreamIndex } from './match.ts';

const CHAIN = '0x1';
const TRANSFER = 'Transfer(address,address,uint256)';
const TRANSFER_TOPIC = keccak256(TRANSFER);
const word = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;
const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const WATCHED = address(900);

const blockOf = (logs: readonly { topics: string[]; address?: string }[]): EvmBlock => ({
  number: 1,
  hash: word(1),
  parentHash: word(0),
  timestamp: 0,
  transactions: [],
  internalTransactions: [],
  logs: logs.map((log, n) => ({
    logIndex: n,
    transactionIndex: n,
    transactionHash: word(1000 + n),
    address: WATCHED,
    data: '0x',
    ...log,
  })),
});

const observedOf = (
  logs: readonly { topics: string[]; address?: string }[],
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
    options: { ...DEFAULT_OPTIONS, ...options },
  });
  index.addAddresses('s', packAddresses([WATCHED]).bytes);
  return countObservedEvents(index, CHAIN, blockOf(logs));
};

const transfer = { topics: [TRANSFER_TOPIC, word(1), word(2)] };
const nftTransfer = { topics: [TRANSFER_TOPIC, word(1), word(2), word(3)] };
const paid = { topics: [keccak256('Paid(uint256)'), word(7)] };

test('events are counted whatever the stream selects, by indexed inputs, most frequent first', () => {
  const elsewhere = { ...transfer, address: address(901) };
  const toIt = { topics: [TRANSFER_TOPIC, word(1), word(900)], address: address(901) };
  const logs = [paid, transfer, nftTransfer, elsewhere, toIt, { topics: [] }, transfer];
  const observed = [
    { topic0: TRANSFER_TOPIC, signature: TRANSFER, indexed: 2, count: 3 },
    { topic0: paid.topics[0], signature: null, indexed: 1, count: 1 },
    { topic0: TRANSFER_TOPIC, signature: TRANSFER, indexed: 3, count: 1 },
  ];
  expect(observedOf(logs)).toEqual(observed);
  expect(observedOf(logs, { includeContractLogs: false, includeNativeTxs: true })).toEqual(
    observed,
  );
});

test('an event is named by the ABI of the stream or by its selection', () => {
  const abi: AbiItem[] = [
    { type: 'event', name: 'Paid', inputs: [{ name: 'n', type: 'uint256', indexed: true }] },
  ];
  expect(observedOf([paid], { abi })).toMatchObject([{ signature: 'Paid(uint256)' }]);
  expect(observedOf([paid], { topic0: ['event Paid(uint indexed n)'] })).toMatchObject([
    { signature: 'Paid(uint256)' },
  ]);
  const byHash = { topic0: [paid.topics[0]!] };
  expect(observedOf([paid], byHash)).toMatchObject([{ signature: null }]);
  const advancedOptions = [{ topic0: 'Paid(uint256)' }];
  expect(observedOf([paid], { ...byHash, advancedOptions })).toMatchObject([
    { signature: 'Paid(uint256)' },
  ]);
});

test('the 20 most frequent events are listed, and all that are selected', () => {
  // Event n occurs n times.
  const topics = Array.from({ length: 25 }, (_, n) => word(n + 1));
  const logs = topics.flatMap((topic0, n) =>
    Array.from({ length: n + 1 }, () => ({ topics: [topic0] })),
  );
  const counts = (options: Partial<StreamOptions>) =>
    observedOf(logs, { ...options, allAddresses: true }).map(({ count }) => count);
  const most = Array.from({ length: 20 }, (_, n) => 25 - n);
  expect(counts({})).toEqual(most);
  expect(counts({ topic0: [topics[2]!, topics[0]!, topics[24]!] })).toEqual([...most, 5, 3, 1]);
});
