/**
 * Compares `toRecords(…, { ids: 'compatible' })` with the unmodified mapping of the hosted SDK, for
 * webhooks of a real chain and generated ones of every kind.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { type EvmWebhook, TEST_WEBHOOK, eventTopic } from '@sluice/kit/contract';
import { type CompatibleRecords, toRecords } from '@sluice/kit/records';
import {
  deployContracts,
  sluiceCollectible,
  sluiceItems,
  sluiceToken,
  startActivity,
  startAnvil,
  startWebhookSink,
} from '@sluice/testkit';
import * as fc from 'fast-check';
import { encodeAbiParameters, encodeEventTopics, parseAbi } from 'viem';
import { expect, test } from 'vitest';
import { API_KEY, serve } from '../serve.ts';

const KINDS = [
  'logs',
  'txs',
  'internalTxs',
  'erc20Transfers',
  'erc20Approvals',
  'nftTransfers',
  'nftApprovals',
] as const;
type Kind = (typeof KINDS)[number];
type Document = Record<string, unknown>;
interface Update {
  readonly collectionName: unknown;
  readonly document: Document;
}
type Batch = Record<Kind, () => readonly Update[]>;

const require = createRequire(new URL('../peers/package.json', import.meta.url));
const { BatchProcessor } = require('@moralisweb3/streams') as {
  BatchProcessor: { create(): { process(webhook: unknown): Batch } };
};

/** Returns the rows of one kind that the hosted SDK creates. */
const theirs = (webhook: EvmWebhook, kind: Kind) =>
  BatchProcessor.create().process(webhook)[kind]();

/** Converts a row to its stored form: NaN becomes null, and undefined is dropped. */
const stored = (row: object): unknown => JSON.parse(JSON.stringify(row));

/** Compares the rows of one kind with the hosted SDK's rows, and returns their number. */
function compare(webhook: EvmWebhook, kind: Kind, ours: CompatibleRecords): number {
  const updates = theirs(webhook, kind);
  expect(ours[kind]).toHaveLength(updates.length);
  for (const [at, row] of ours[kind].entries()) {
    const { collectionName, document } = updates[at]!;
    expect(ours.collectionName).toBe(collectionName);
    expect(stored(row)).toEqual(stored(document));
  }
  return updates.length;
}

function compareAll(webhook: EvmWebhook): number {
  const ours = toRecords(webhook, { ids: 'compatible' });
  return KINDS.reduce((sum, kind) => sum + compare(webhook, kind, ours), 0);
}

test('logs and transactions of real blocks: ERC-20, ERC-721 and ERC-1155, single and batch', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-records-'));
  const anvil = await startAnvil();
  const sink = await startWebhookSink();
  const service = await serve([
    ...['--data', join(folder, 'data')],
    ...['--chain', `0x7a69=${anvil.url},confirmations=2,poll=50`],
  ]);
  const contracts = await deployContracts(anvil);
  const activity = startActivity({ url: anvil.url, contracts, perSecond: 20 });
  try {
    const kit = createClient({ apiKey: API_KEY, baseUrl: service.url });
    for (const [address, { abi }] of [
      [contracts.erc20, sluiceToken],
      [contracts.erc721, sluiceCollectible],
      [contracts.erc1155, sluiceItems],
    ] as const) {
      const events = parseEvents(abi);
      const { id } = await kit.streams.create({
        webhookUrl: `${sink.url}/`,
        description: 'records',
        tag: `records ${address.slice(2, 6)}`,
        chainIds: ['0x7a69'],
        abi: events,
        topic0: events.map(
          ({ name = '', inputs = [] }) => `${name}(${inputs.map(({ type }) => type).join(',')})`,
        ),
        includeContractLogs: true,
        includeNativeTxs: true,
      });
      await kit.streams.addAddress(id, address);
    }
    const names = new Set<unknown>();
    const wanted = ['Transfer', 'Approval', 'TransferSingle', 'TransferBatch'];
    let rows = 0;
    for (let next = 0; rows < 50 || wanted.some((name) => !names.has(name)); next++) {
      const requests = await sink.waitFor(next + 1, { timeoutMs: 20_000 });
      const webhook = JSON.parse(requests[next]!.body) as EvmWebhook;
      rows += compareAll(webhook);
      for (const { name } of toRecords(webhook).logs) names.add(name);
    }
  } finally {
    await activity.stop();
    await service.stop();
    await anvil.stop();
    await sink.close();
    rmSync(folder, { recursive: true });
  }
});

const parseEvents = (abi: readonly { type: string }[]) =>
  abi.filter(({ type }) => type === 'event') as unknown as EvmWebhook['abi'];

const HASH = `0x${'ab'.repeat(32)}`;
const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((it) => `0x${Buffer.from(it).toString('hex')}`);
const address = hex(20);
const transactionHash = fc.oneof(
  hex(32),
  fc.constant(HASH),
  fc.constant(HASH.toUpperCase().replace('X', 'x')),
);
const number = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
const small = fc.nat().map(String);
const orNull = <T>(it: fc.Arbitrary<T>) => fc.option(it, { nil: null });
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
})).value;
const triggers = fc.option(fc.array(fc.record({ name: fc.string(), value }), { maxLength: 3 }), {
  nil: undefined,
});
const ofLog = {
  transactionHash,
  logIndex: small,
  contract: address,
  tokenName: fc.string(),
  tokenSymbol: fc.string(),
};
const ofErc20 = {
  ...ofLog,
  value: number,
  tokenDecimals: fc.oneof(fc.nat(36).map(String), fc.constant('')),
  triggers,
};
const ofNft = { ...ofLog, tokenContractType: fc.constantFrom('ERC721', 'ERC1155', '') };

/**
 * Difficult events: reserved parameter names with and without a prefix, lists, tuples, hashed
 * parameters.
 */
const EVENTS = parseAbi([
  'event Plain(address indexed from, address indexed to, uint256 value)',
  'event Reserved(uint256 id, string name, bool _id, address user, bytes32 confirmed, int64 __id)',
  'event Lists(address[] owners, uint8[2][] pairs, string[] texts, bool[2] flags)',
  'event Nested((address who, (uint256 a, bytes b) inner, address[] more) order, int256 x)',
  'event Hashed(string indexed text, bytes indexed blob, int64 indexed number, address tail)',
  'event Bare()',
]);

const valueOf = (type: string, components?: readonly Parameter[]): fc.Arbitrary<unknown> => {
  const list = /^(.+)\[(\d*)\]$/.exec(type);
  if (list) {
    const length = list[2] ? Number(list[2]) : undefined;
    return fc.array(valueOf(list[1]!, components), {
      minLength: length ?? 0,
      maxLength: length ?? 3,
    });
  }
  if (type === 'tuple') {
    return fc
      .tuple(...components!.map((each) => valueOf(each.type, each.components)))
      .map((values) => Object.fromEntries(values.map((each, at) => [components![at]!.name, each])));
  }
  if (type === 'address') return address;
  if (type === 'bool') return fc.boolean();
  if (type === 'string') return fc.string();
  if (type === 'bytes')
    return fc.uint8Array({ maxLength: 70 }).map((it) => `0x${Buffer.from(it).toString('hex')}`);
  if (type === 'bytes32') return hex(32);
  const bits = Number(/\d+$/.exec(type)![0]);
  const range = type.startsWith('u')
    ? { min: 0n, max: 2n ** BigInt(bits) - 1n }
    : { min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n };
  return fc.bigInt(range).map((it) => (bits <= 48 ? Number(it) : it));
};
interface Parameter {
  readonly name?: string;
  readonly type: string;
  readonly indexed?: boolean;
  readonly components?: readonly Parameter[];
}

const log = fc.constantFrom(...EVENTS).chain((event) => {
  const inputs = event.inputs as readonly Parameter[];
  return fc
    .record({
      values: fc.tuple(...inputs.map(({ type, components }) => valueOf(type, components))),
      transactionHash,
      logIndex: small,
      address,
      triggers,
    })
    .map(({ values, triggers: results, ...rest }) => {
      const at = (indexed: boolean) => (_: unknown, position: number) =>
        (inputs[position]!.indexed ?? false) === indexed;
      const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = encodeEventTopics({
        abi: [event],
        args: values.filter(at(true)),
      } as never) as string[];
      const data = encodeAbiParameters(
        inputs.filter(at(false)) as never,
        values.filter(at(false)) as never,
      );
      return {
        ...rest,
        data,
        topic0,
        topic1,
        topic2,
        topic3,
        ...(results && { triggers: results }),
      };
    });
});

const webhook = fc.record({
  confirmed: fc.boolean(),
  chainId: fc.constantFrom('0x1', '0x89', '0xa4b1', '0x7a69'),
  tag: fc.stringMatching(/^[\w -]*[a-z][\w é-]*$/).filter((it) => !(it in {})),
  block: fc.record({ number: small, hash: hex(32), timestamp: small }),
  logs: fc.array(log, { maxLength: 4 }),
  txs: fc.array(
    fc.record({
      hash: transactionHash,
      gas: orNull(small),
      gasPrice: orNull(small),
      nonce: orNull(small),
      input: orNull(hex(4)),
      transactionIndex: small,
      fromAddress: address,
      toAddress: orNull(address),
      value: orNull(number),
      type: orNull(fc.constantFrom('0', '2')),
      receiptStatus: orNull(fc.constantFrom('0', '1')),
      receiptGasUsed: orNull(small),
      receiptCumulativeGasUsed: orNull(small),
      triggers,
    }),
    { maxLength: 3 },
  ),
  txsInternal: fc.array(
    fc.record({
      from: orNull(address),
      to: orNull(address),
      value: orNull(number),
      gas: orNull(small),
      transactionHash,
    }),
    { maxLength: 3 },
  ),
  erc20Transfers: fc.array(fc.record({ ...ofErc20, from: address, to: address }), { maxLength: 2 }),
  erc20Approvals: fc.array(fc.record({ ...ofErc20, owner: address, spender: address }), {
    maxLength: 2,
  }),
  nftTransfers: fc.array(
    fc.record({
      ...ofNft,
      operator: orNull(address),
      from: address,
      to: address,
      tokenId: number,
      amount: number,
      triggers,
    }),
    { maxLength: 3 },
  ),
  nftTokenApprovals: fc.array(
    fc.record({
      ...ofNft,
      account: address,
      operator: address,
      approvedAll: fc.boolean(),
      tokenId: orNull(number),
    }),
    { maxLength: 2 },
  ),
});

const complete = (parts: object) =>
  ({ ...TEST_WEBHOOK, abi: EVENTS, ...parts }) as unknown as EvmWebhook;

test('rows of generated webhooks of every kind are equal', () => {
  const compared = { rows: 0 };
  fc.assert(
    fc.property(webhook, (parts) => {
      compared.rows += compareAll(complete(parts));
    }),
    { numRuns: 200 },
  );
  expect(compared.rows).toBeGreaterThan(500);
});

// Cases where the SDK fails or returns wrong rows, and the kit does not.

const [sample] = fc.sample(webhook, { numRuns: 1, seed: 1 });
const plain = {
  transactionHash: HASH,
  logIndex: '0',
  address: `0x${'11'.repeat(20)}`,
  data: `0x${'2'.padStart(64, '0')}`,
  topic0: eventTopic(EVENTS[0]),
  topic1: `0x${'3'.padStart(64, '0')}`,
  topic2: `0x${'4'.padStart(64, '0')}`,
  topic3: null,
};
const internal = { from: null, to: null, value: '1', gas: '1', transactionHash: HASH };

test('a log unknown to the ABI: the SDK rejects the batch, the kit keeps both logs', () => {
  const body = complete({ ...sample, logs: [{ ...plain, topic0: HASH, logIndex: '1' }, plain] });
  expect(() => theirs(body, 'logs')).toThrow(/no matching event/);
  const { logs, undecodedLogs } = toRecords(body, { ids: 'compatible' });
  expect(logs.map(({ logIndex }) => logIndex)).toEqual([0]);
  expect(undecodedLogs.map(({ reason }) => reason)).toEqual(['unknown-event']);
});

test('an event with other indexed parameters: the SDK throws, the kit reports the reason', () => {
  const body = complete({ ...sample, logs: [{ ...plain, data: '0x', topic3: HASH }] });
  expect(() => theirs(body, 'logs')).toThrow();
  expect(toRecords(body, { ids: 'compatible' }).undecodedLogs).toMatchObject([
    { reason: 'indexed-mismatch' },
  ]);
});

test('a tag without a Latin letter: the SDK throws, the kit names the collection', () => {
  const body = complete({ tag: '日本', txsInternal: [internal] });
  expect(() => theirs(body, 'internalTxs')).toThrow('Cannot build table name from value "日本"');
  expect(toRecords(body, { ids: 'compatible' }).collectionName).toMatch(/^Tag_[0-9a-f]{8}$/);
});

test('a tag that is a property of every object: the SDK names the collection by a function', () => {
  const body = complete({ tag: 'constructor', txsInternal: [internal] });
  expect(theirs(body, 'internalTxs')[0]?.collectionName).toBeTypeOf('function');
  expect(toRecords(body, { ids: 'compatible' }).collectionName).toBe('Constructor');
});

test('an empty chainId: chain 0 in the SDK, Ethereum in the kit, as elsewhere', () => {
  const body = complete({ tag: 'test', txsInternal: [internal] });
  expect(theirs(body, 'internalTxs')[0]?.document['chainId']).toBe(0);
  const [row] = toRecords(body, { ids: 'compatible' }).internalTxs;
  expect(row?.chainId).toBe(1);
  expect(row?.id).toBe(theirs({ ...body, chainId: '0x1' }, 'internalTxs')[0]?.document['id']);
});

test('unnamed parameters: the SDK keeps only the last, as null, the kit each', () => {
  const abi = [
    {
      type: 'event',
      name: 'Unnamed',
      inputs: [
        { type: 'uint256', name: '' },
        { type: 'uint256', name: '' },
      ],
    },
  ];
  const data = `${plain.data}${'5'.padStart(64, '0')}`;
  const topics = { topic0: eventTopic(abi[0] as never), topic1: null, topic2: null };
  const body = complete({ ...sample, abi, logs: [{ ...plain, ...topics, data }] });
  expect(theirs(body, 'logs')[0]?.document).toMatchObject({ null: '5' });
  expect(toRecords(body, { ids: 'compatible' }).logs[0]).toMatchObject({ arg0: '2', arg1: '5' });
});

test('several internal transactions of one transaction: the SDK merges them, the kit by default does not', () => {
  const body = complete({ ...sample, txsInternal: [internal, internal] });
  const ids = (list: readonly { id?: unknown }[]) => new Set(list.map(({ id }) => id)).size;
  expect(ids(theirs(body, 'internalTxs').map(({ document }) => document))).toBe(1);
  expect(ids(toRecords(body, { ids: 'compatible' }).internalTxs)).toBe(1);
  expect(ids(toRecords(body).internalTxs)).toBe(2);
});
