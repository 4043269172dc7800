import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifySignature } from '@sluice/kit';
import { type AbiItem, type DeliveryPhase, keccak256, signWebhook } from '@sluice/kit/contract';
import { joinBody, splitBody, splitFinalBody } from '../../../store/blocks/body.ts';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type StreamOptions,
  type EvmStreamRecord,
} from '../../../store/streams/contract.ts';
import type { EvmBlock, EvmInternalTransaction, EvmLog, EvmTransaction } from './block.ts';
import { explainBlock } from './explain.ts';
import { matchBlock, createStreamIndex, needsOf } from './match.ts';
import { toWebhookParts } from './webhook.ts';

const CHAIN = '0x1';
const TRANSFER = 'Transfer(address,address,uint256)';
const transferTopic = keccak256(TRANSFER);
const approvalTopic = keccak256('Approval(address,address,uint256)');

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;
const topicOf = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

const stream = (
  id: string,
  options: Partial<StreamOptions>,
  chainIds = [CHAIN],
): EvmStreamRecord => ({
  id,
  tag: `tag-${id}`,
  description: '',
  webhookUrl: 'http://127.0.0.1/',
  chainIds,
  status: 'active',
  statusMessage: '',
  errorSince: null,
  addressCount: 0,
  childCount: 0,
  createdAt: 0,
  updatedAt: 0,
  options: { ...DEFAULT_OPTIONS, ...options },
  family: 'evm',
  ...DEFAULT_DELIVERY,
});

const log = (logIndex: number, transactionIndex: number, from: Partial<EvmLog>): EvmLog => ({
  logIndex,
  transactionIndex,
  transactionHash: topicOf(1000 + transactionIndex),
  address: address(900),
  topics: [],
  data: '0x',
  ...from,
});

const transaction = (
  transactionIndex: number,
  from: number,
  to: number | null,
): EvmTransaction => ({
  hash: topicOf(1000 + transactionIndex),
  transactionIndex,
  from: address(from),
  to: to === null ? null : address(to),
  value: '0xde0b6b3a7640000',
  gas: '0x5208',
  gasPrice: '0x1',
  nonce: '0x0',
  input: '0x',
  type: '0x2',
  v: '0x1',
  r: '0x2',
  s: '0x3',
  receipt: {
    cumulativeGasUsed: '0x5208',
    gasUsed: '0x5208',
    contractAddress: null,
    root: null,
    status: '0x1',
    fee: { price: '0x1', l1Fee: '0x0' },
  },
});

const internal = (transactionIndex: number, from: number, to: number): EvmInternalTransaction => ({
  transactionHash: topicOf(1000 + transactionIndex),
  transactionIndex,
  index: 0,
  from: address(from),
  to: address(to),
  value: '0x64',
  gas: '0x5208',
});

/**
 * A block with three transactions: address 1 calls token 50, address 3 calls address 4, and address
 * 5 creates a contract. The first two transactions have two logs each.
 */
const block: EvmBlock = {
  number: 7,
  hash: topicOf(7),
  parentHash: topicOf(6),
  timestamp: 1_700_000_000,
  logs: [
    log(0, 0, {
      address: address(50),
      topics: [transferTopic, topicOf(1), topicOf(2)],
      data: topicOf(5),
    }),
    log(1, 0, { address: address(50), topics: [approvalTopic, topicOf(1), topicOf(9)] }),
    log(2, 1, {
      address: address(60),
      topics: [transferTopic, topicOf(3), topicOf(2), topicOf(77)],
    }),
    log(3, 1, { address: address(61), topics: [] }),
  ],
  transactions: [transaction(0, 1, 50), transaction(1, 3, 4), transaction(2, 5, null)],
  internalTransactions: [internal(0, 50, 70), internal(1, 70, 71), internal(0, 71, 72)],
};

const packed = (...addresses: number[]): Uint8Array => packAddresses(addresses.map(address)).bytes;

function indexOf(...streams: { record: EvmStreamRecord; addresses: number[] }[]) {
  const index = createStreamIndex();
  for (const { record, addresses } of streams) {
    index.put(record);
    index.addAddresses(record.id, packed(...addresses));
  }
  return index;
}

function run(streams: { record: EvmStreamRecord; addresses: number[] }[]) {
  const index = indexOf(...streams);
  return Object.fromEntries(
    matchBlock(index, CHAIN, block).map((match) => [
      match.stream.record.id,
      {
        logs: match.logs.map((each) => each.logIndex),
        txs: match.transactions.map((each) => each.transactionIndex),
      },
    ]),
  );
}

const erc20: AbiItem = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256', indexed: false },
  ],
};

describe('matchBlock', () => {
  test.each<
    [string, Partial<StreamOptions>, number[], { logs: number[]; txs: number[] } | undefined]
  >([
    ['logs of a watched contract', { includeContractLogs: true }, [50], { logs: [0, 1], txs: [] }],
    [
      'logs with a watched address in a topic',
      { includeContractLogs: true },
      [2],
      { logs: [0, 2], txs: [] },
    ],
    [
      'only the selected events',
      { includeContractLogs: true, topic0: [TRANSFER] },
      [50],
      { logs: [0], txs: [] },
    ],
    [
      'an event selected by its hash',
      { includeContractLogs: true, topic0: [approvalTopic] },
      [1],
      { logs: [1], txs: [] },
    ],
    [
      'only ERC-20 transfers, by the ABI',
      { includeContractLogs: true, topic0: [TRANSFER], abi: [erc20] },
      [2],
      { logs: [0], txs: [] },
    ],
    ['transactions of a sender', { includeNativeTxs: true }, [3], { logs: [], txs: [1] }],
    ['transactions to a receiver', { includeNativeTxs: true }, [4], { logs: [], txs: [1] }],
    ['a contract creation by its sender', { includeNativeTxs: true }, [5], { logs: [], txs: [2] }],
    [
      'both kinds',
      { includeNativeTxs: true, includeContractLogs: true },
      [1],
      { logs: [0, 1], txs: [0] },
    ],
    [
      'all logs of matched transactions',
      { includeNativeTxs: true, includeAllTxLogs: true },
      [4],
      { logs: [2, 3], txs: [1] },
    ],
    [
      'all logs of the transaction of a matched log',
      { includeContractLogs: true, topic0: [TRANSFER], includeAllTxLogs: true },
      [50],
      { logs: [0, 1], txs: [] },
    ],
    [
      'every address',
      { includeContractLogs: true, allAddresses: true, topic0: [TRANSFER] },
      [],
      { logs: [0, 2], txs: [] },
    ],
    [
      'every address with its transactions',
      { includeContractLogs: true, includeNativeTxs: true, allAddresses: true, topic0: [TRANSFER] },
      [],
      { logs: [0, 2], txs: [0, 1] },
    ],
    ['nothing without a flag', {}, [1, 50], undefined],
    [
      'nothing for other addresses',
      { includeNativeTxs: true, includeContractLogs: true },
      [12345],
      undefined,
    ],
  ])('takes %s', (_, options, addresses, expected) => {
    expect(run([{ record: stream('s', options), addresses }])['s']).toEqual(expected);
  });

  test('matches only the chains of a stream', () => {
    expect(
      run([{ record: stream('s', { includeContractLogs: true }, ['0x2']), addresses: [50] }]),
    ).toEqual({});
  });

  test('no longer matches a removed address, a removed stream, or a cleared index', () => {
    const index = indexOf(
      { record: stream('s', { includeContractLogs: true }), addresses: [50, 60] },
      { record: stream('t', { includeContractLogs: true }), addresses: [50] },
    );
    const logs = () =>
      matchBlock(index, CHAIN, block).map((match) => [
        match.stream.record.id,
        match.logs.map((each) => each.logIndex),
      ]);
    expect(Object.fromEntries(logs())).toEqual({ s: [0, 1, 2], t: [0, 1] });
    index.removeAddresses('s', packed(50));
    expect(Object.fromEntries(logs())).toEqual({ s: [2], t: [0, 1] });
    index.delete('t');
    expect(logs()).toEqual([['s', [2]]]);
    index.clear();
    expect(logs()).toEqual([]);
    expect(needsOf(index, CHAIN)).toEqual({ logs: false, transactions: false, traces: false });
  });

  test('keeps the addresses of a changed stream, and gives none of a deleted one to a new one', () => {
    const index = indexOf({ record: stream('s', {}), addresses: [50] });
    expect(matchBlock(index, CHAIN, block)).toEqual([]);
    index.put(stream('s', { includeContractLogs: true }));
    expect(matchBlock(index, CHAIN, block)).toHaveLength(1);
    index.delete('s');
    // Before the sweep, the index still has the addresses of the deleted stream, but they match no
    // stream.
    index.put(stream('new', { includeContractLogs: true }));
    expect(matchBlock(index, CHAIN, block)).toEqual([]);
    expect(index.addresses.size).toBe(1);
    while (index.sweep());
    expect(index.addresses).toMatchObject({ size: 0, sizeBytes: 0 });
    // Stream `newer` gets the number of the deleted stream.
    index.put(stream('newer', { includeContractLogs: true }));
    expect(matchBlock(index, CHAIN, block)).toEqual([]);
  });
});

describe('possible spam', () => {
  const spam = new Set([address(50)]);
  const matchOf = (options: Partial<StreamOptions>, addresses: number[]) => {
    const index = indexOf({ record: stream('s', options), addresses });
    return matchBlock(index, CHAIN, block, spam)[0];
  };
  const all = { includeContractLogs: true, includeNativeTxs: true, includeInternalTxs: true };

  test('is excluded from a stream that requests it', () => {
    const match = matchOf({ ...all, filterPossibleSpamAddresses: true }, [1, 2, 70]);
    expect(match?.logs.map((each) => each.logIndex)).toEqual([2]);
    expect(match?.transactions).toEqual([]);
    expect(match?.internalTransactions.map((each) => each.to)).toEqual([address(71)]);
  });

  test('causes no webhook if nothing else matched', () => {
    expect(matchOf({ ...all, filterPossibleSpamAddresses: true }, [1])).toBeUndefined();
  });

  test('is marked in the decoded arrays of other streams', () => {
    const match = matchOf(all, [2]);
    const { tail } = toWebhookParts(CHAIN, block, match!, { spam });
    expect(tail.erc20Transfers.map(({ possibleSpam }) => possibleSpam)).toEqual([true]);
    expect(tail.nftTransfers.map(({ possibleSpam }) => possibleSpam)).toEqual([false]);
  });
});

describe('internal transactions', () => {
  test.each<[string, Partial<StreamOptions>, number[], string[] | undefined]>([
    ['match by sender or receiver', { includeInternalTxs: true }, [70], ['50→70', '70→71']],
    ['do not match without the flag', { includeNativeTxs: true }, [70], undefined],
    [
      'match with the logs of a stream of all addresses',
      {
        includeInternalTxs: true,
        includeContractLogs: true,
        allAddresses: true,
        topic0: [TRANSFER],
        abi: [erc20],
      },
      [],
      ['50→70', '71→72'],
    ],
  ])('%s', (_, options, addresses, expected) => {
    const index = indexOf({ record: stream('s', options), addresses });
    const [match] = matchBlock(index, CHAIN, block);
    expect(
      match?.internalTransactions.map(({ from, to }) => `${Number(from)}→${Number(to)}`),
    ).toEqual(expected);
    if (expected === undefined) return;
    const { tail } = toWebhookParts(CHAIN, block, match!);
    expect(tail.txsInternal[0]).toEqual({
      from: address(50),
      to: address(70),
      value: '100',
      gas: '21000',
      transactionHash: topicOf(1000),
      internalTransactionIndex: '0',
    });
  });
});

describe('logs whose meaning depends on their contract', () => {
  const KITTIES = '0x06012c8cf97bead5deae237070f9587f8e7a266d';
  const NATIVE = '0xfffffffffffffffffffffffffffffffffffffffe';
  const native = log(4, 0, {
    address: NATIVE,
    topics: [transferTopic, topicOf(1), topicOf(50)],
    data: '0x0000000000000000000000000000000000000000000000000de0b6b3a7640000',
  });
  const kitty = log(5, 1, {
    address: KITTIES,
    topics: [transferTopic],
    data: `0x${[3, 8, 0x3a5b].map((n) => topicOf(n).slice(2)).join('')}`,
  });
  const withBoth = { ...block, logs: [...block.logs, native, kitty] };
  const matchOf = (options: Partial<StreamOptions>, ...addresses: string[]) => {
    const index = createStreamIndex();
    index.put(stream('s', { includeContractLogs: true, ...options }));
    index.addAddresses('s', packAddresses(addresses).bytes);
    const [match] = matchBlock(index, CHAIN, withBoth);
    return match && toWebhookParts(CHAIN, withBoth, match).tail;
  };
  const logsOf = (tail: ReturnType<typeof matchOf>) =>
    tail?.logs.map((each) => Number(each.logIndex));

  test('a wallet in the data of a CryptoKitties transfer matches', () => {
    const tail = matchOf({}, address(8));
    expect(logsOf(tail)).toEqual([5]);
    expect(tail?.nftTransfers).toMatchObject([{ to: address(8), tokenId: '14939' }]);
    expect(matchOf({ topic0: [TRANSFER] }, address(8))?.logs).toHaveLength(1);
    expect(matchOf({ topic0: ['Paused()'] }, address(8))).toBeUndefined();
  });

  test('a native transfer does not match by its parties, nor with all addresses', () => {
    expect(logsOf(matchOf({}, address(1)))).toEqual([0, 1]);
    const all = matchOf({ allAddresses: true, topic0: [TRANSFER] });
    expect(logsOf(all)).toEqual([0, 2, 5]);
    expect(all?.erc20Transfers).toHaveLength(1);
    const payment = matchOf({ includeNativeTxs: true }, address(1));
    expect(payment?.txs).toHaveLength(1);
    expect(payment?.erc20Transfers).toHaveLength(1);
  });

  test('a native transfer matches streams that watch its emitter, and is labeled', () => {
    const tail = matchOf({}, NATIVE);
    expect(logsOf(tail)).toEqual([4]);
    expect(tail?.erc20Transfers).toMatchObject([
      { contract: NATIVE, tokenSymbol: 'ETH', tokenDecimals: '18', valueWithDecimals: '1' },
    ]);
  });

  test('a native transfer is not listed next to the transaction that made it', () => {
    const tail = matchOf({ includeNativeTxs: true }, NATIVE, address(1));
    expect(logsOf(tail)).toEqual([0, 1, 4]);
    expect(tail?.txs).toHaveLength(1);
    expect(tail?.erc20Transfers.map(({ contract }) => contract)).toEqual([address(50)]);
    // The log of another payment in the same transaction is listed.
    const twice = { ...withBoth, logs: [...withBoth.logs, { ...native, logIndex: 6 }] };
    const index = createStreamIndex();
    index.put(stream('s', { includeContractLogs: true, includeNativeTxs: true }));
    index.addAddresses('s', packAddresses([NATIVE, address(1)]).bytes);
    const [match] = matchBlock(index, CHAIN, twice);
    const { erc20Transfers } = toWebhookParts(CHAIN, twice, match!).tail;
    expect(erc20Transfers.map(({ logIndex }) => logIndex)).toEqual(['0', '6']);
  });

  test('a native transfer next to another match is only in logs', () => {
    const tail = matchOf({ includeAllTxLogs: true }, address(9));
    expect(logsOf(tail)).toEqual([0, 1, 4]);
    expect(tail?.erc20Transfers).toHaveLength(1);
  });

  test('an explanation says why a native transfer does not match', () => {
    const index = createStreamIndex();
    index.put(stream('s', { includeContractLogs: true }));
    index.addAddresses('s', packed(1));
    const reasons = explainBlock(index, CHAIN, { ...block, logs: [native] }, {}).get('s')?.[0]
      ?.reasons;
    expect(reasons).toMatchObject([{ stage: 'address', outcome: 'stopped' }]);
    expect(reasons?.[0]?.message).toContain('it is the log of a native transfer');
  });
});

/** Any character, often one that some programs escape in JSON, or half of a surrogate pair. */
const anyCharacter = fc.oneof(
  fc.constantFrom(...Array.from('\u2028\u2029\u007f\u0000"\\/<>&\'é😀'), '\ud83d', '\ude00'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);

describe('the body', () => {
  test('has the keys of the contract in wire order, and numbers as decimal text', () => {
    const record = stream('s', { includeContractLogs: true, includeNativeTxs: true, abi: [erc20] });
    const index = indexOf({ record, addresses: [1] });
    const [match] = matchBlock(index, CHAIN, block);
    const { head, tail } = toWebhookParts(CHAIN, block, match!);
    const text = joinBody({ ...splitBody(head, tail), phase: 'unconfirmed', retries: 3 });
    const body = JSON.parse(text) as Record<string, unknown>;
    expect(Object.keys(body)).toEqual([
      'confirmed',
      'chainId',
      'abi',
      'streamId',
      'tag',
      'retries',
      'block',
      'logs',
      'txs',
      'txsInternal',
      'erc20Transfers',
      'erc20Approvals',
      'nftTokenApprovals',
      'nftApprovals',
      'nftTransfers',
      'nativeBalances',
    ]);
    expect(body).toMatchObject({
      confirmed: false,
      chainId: '0x1',
      abi: [erc20],
      tag: 'tag-s',
      retries: 3,
      block: { number: '7', timestamp: '1700000000' },
      logs: [{ logIndex: '0', topic3: null }, { logIndex: '1' }],
      txs: [
        {
          value: '1000000000000000000',
          gas: '21000',
          receiptStatus: '1',
          receiptRoot: null,
          transactionIndex: '0',
        },
      ],
    });
    expect(JSON.stringify(body)).toBe(text);
  });

  test('property: any webhook of the service verifies, as raw text and as a parsed body', () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 40 });
    const anyAbi = fc.array(
      fc.record({
        type: fc.constant('event'),
        name: text,
        inputs: fc.array(fc.record({ name: text, type: fc.constant('uint256') })),
      }),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(
        text,
        text,
        anyAbi,
        fc.nat(9),
        fc.constantFrom<DeliveryPhase>('unconfirmed', 'confirmed', 'removed'),
        (tag, secret, abi, retries, phase) => {
          fc.pre(secret.trim() !== '');
          const record = {
            ...stream('s', { includeContractLogs: true, includeNativeTxs: true, abi }),
            tag,
          };
          const index = indexOf({ record, addresses: [1] });
          const [match] = matchBlock(index, CHAIN, block);
          const { head, tail } = toWebhookParts(CHAIN, block, match!);
          const body = joinBody({
            ...splitBody(head, tail),
            phase,
            retries,
          });
          const signature = signWebhook(body, secret);
          expect(JSON.stringify(JSON.parse(body))).toBe(body);
          expect(verifySignature({ body, signature, secret })).toBe(true);
          expect(verifySignature({ body: JSON.parse(body) as object, signature, secret })).toBe(
            true,
          );
        },
      ),
    );
  });

  test('property: any body is a fixed point of parse-then-stringify, and its phases differ only at the start', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter }),
        fc.string({ unit: anyCharacter }),
        fc.nat(),
        (tag, description, retries) => {
          const head = { chainId: '0x1', abi: [{ type: 'event', name: description }], tag };
          const tail = { logs: [{ data: tag }] };
          const final = joinBody({ ...splitFinalBody(head, tail), phase: 'confirmed', retries });
          expect(final).toBe(JSON.stringify({ ...head, retries, ...tail }));
          const inPhase = (phase: DeliveryPhase) =>
            joinBody({ ...splitBody(head, tail), phase, retries });
          const rest = final.slice(1);
          expect(inPhase('unconfirmed')).toBe(`{"confirmed":false,${rest}`);
          expect(inPhase('confirmed')).toBe(`{"confirmed":true,${rest}`);
          expect(inPhase('removed')).toBe(`{"confirmed":false,"removed":true,${rest}`);
        },
      ),
    );
  });
});
