/**
 * Compares the requests that the official client and the kit send for each call to one recording
 * server: method, path, query and body. Both requests must equal the request in the contract, which
 * is the only reference for calls that the official client does not have.
 */
import { type Client, createClient } from '@sluice/kit';
import { ROUTES } from '@sluice/kit/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startOfficialClient } from './officialClient.ts';
import {
  HISTORY_ID,
  type RecordedRequest,
  type RecordingServer,
  STREAM_ID as id,
  startRecordingServer,
} from './recordingServer.ts';

const API_KEY = 'a-key-of-both';

/**
 * The methods of the official client. They make 25 calls, because nine of them also have an Aptos
 * form.
 */
type Official = Record<
  | 'add'
  | 'update'
  | 'delete'
  | 'getAll'
  | 'getById'
  | 'updateStatus'
  | 'addAddress'
  | 'deleteAddress'
  | 'getAddresses'
  | 'getHistory'
  | 'getLogs'
  | 'retry'
  | 'getStats'
  | 'getStatsById'
  | 'setSettings'
  | 'readSettings',
  (options?: unknown) => Promise<unknown>
>;

interface Case {
  readonly route: keyof typeof ROUTES;
  readonly what?: string;
  official?(streams: Official): Promise<unknown>;
  kit(client: Client): PromiseLike<unknown>;
  /** Values of path parameters. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: RecordedRequest['query'];
  readonly body?: unknown;
}

let server: RecordingServer;
let official: Official;
let kit: Client;

beforeAll(async () => {
  server = await startRecordingServer();
  const { url: baseUrl } = server;
  const started = await startOfficialClient({ baseUrl, apiKey: API_KEY, streamsSecret: 'unused' });
  official = started.streams as unknown as Official;
  kit = createClient({ baseUrl, apiKey: API_KEY });
});
afterAll(() => server?.close());

const LOWER = '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e';
const CHECKSUMMED = '0xCFDF6Aaae9f6B927E3736FBD327853B622c5060E';
const OTHER_LOWER = '0xab5801a7d398351b8be11c439e05c5b3259aec9b';
const OTHER_CHECKSUMMED = '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B';
const APTOS_ONE = `0x${'1'.padStart(64, '0')}`;
const APTOS_WALLET = '0x54ad3d30af77b60d939ae356e6606de9a4da67583f02b962d2d3f2e481484e90';

const minimal = { webhookUrl: 'https://example.com/hook', description: 'minimal', tag: 'min' };
const transferAbi = [
  {
    type: 'event',
    name: 'Transfer',
    anonymous: false,
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256', indexed: false },
    ],
  },
];
const balanceOf = {
  type: 'function',
  name: 'balanceOf',
  stateMutability: 'view',
  inputs: [{ name: 'owner', type: 'address' }],
  outputs: [{ name: 'balance', type: 'uint256' }],
};
/** Every EVM stream option of the official client except chains and triggers. */
const everything = {
  ...minimal,
  topic0: ['Transfer(address,address,uint256)'],
  allAddresses: true,
  includeNativeTxs: true,
  includeContractLogs: true,
  includeInternalTxs: true,
  includeAllTxLogs: false,
  getNativeBalances: [{ selectors: ['$fromAddress', '$toAddress'], type: 'tx' as const }],
  abi: transferAbi,
  advancedOptions: [
    {
      topic0: 'Transfer(address,address,uint256)',
      filter: { and: [{ gt: ['value', '1000000000000000000'] }, { ne: ['from', LOWER] }] },
      includeNativeTxs: true,
    },
  ],
  demo: true,
};
const triggers = (addresses: { contract: string; caller: string }) => [
  {
    type: 'tx' as const,
    contractAddress: addresses.contract,
    functionAbi: balanceOf,
    inputs: ['$fromAddress'],
    callFrom: addresses.caller,
  },
  {
    type: 'erc20transfer' as const,
    contractAddress: '$contract',
    functionAbi: balanceOf,
    inputs: ['$to'],
    callFrom: '$from',
  },
];
const given = triggers({ contract: CHECKSUMMED, caller: OTHER_CHECKSUMMED });
const sent = triggers({ contract: LOWER, caller: OTHER_LOWER });

const aptosStream = {
  ...minimal,
  network: ['mainnet', 'testnet'] as const,
  functions: ['0x1::aptos_account::transfer'],
  events: ['0x1::coin::WithdrawEvent'],
  includePayload: true,
  includeEvents: false,
  includeChanges: true,
  demo: false,
  allAddresses: true,
};
const aptos = { networkType: 'aptos' } as const;
const place = { limit: 10, cursor: 'a/b=' };
const placeQuery = [
  ['cursor', 'a/b='],
  ['limit', '10'],
] as const;

const cases: readonly Case[] = [
  {
    route: 'createEvmStream',
    what: 'only required fields',
    official: (it) => it.add({ ...minimal, chains: ['0x1'] }),
    kit: (it) => it.streams.create({ ...minimal, chainIds: ['0x1'] }),
    body: { ...minimal, chainIds: ['0x1'] },
  },
  {
    route: 'createEvmStream',
    what: 'every option, and every notation of a chain',
    official: (it) =>
      it.add({
        ...everything,
        triggers: given,
        chains: ['0x1', 137, '56'],
        networkType: 'evm',
      }),
    kit: (it) =>
      it.streams.create({
        ...everything,
        triggers: given,
        chainIds: ['0x1', 137, '56'],
        networkType: 'evm',
      }),
    body: { ...everything, triggers: sent, chainIds: ['0x1', '0x89', '0x38'] },
  },
  {
    route: 'updateEvmStream',
    what: 'one field',
    official: (it) => it.update({ id, webhookUrl: minimal.webhookUrl }),
    kit: (it) => it.streams.update(id, { webhookUrl: minimal.webhookUrl }),
    path: { id },
    body: { webhookUrl: minimal.webhookUrl },
  },
  {
    route: 'updateEvmStream',
    what: 'every field',
    official: (it) => it.update({ id, ...everything, triggers: given, chains: [10] }),
    kit: (it) => it.streams.update(id, { ...everything, triggers: given, chainIds: [10] }),
    path: { id },
    body: { ...everything, triggers: sent, chainIds: ['0xa'] },
  },
  {
    route: 'listEvmStreams',
    official: (it) => it.getAll(place),
    kit: (it) => it.streams.list(place),
    query: placeQuery,
  },
  {
    route: 'getEvmStream',
    official: (it) => it.getById({ id }),
    kit: (it) => it.streams.get(id),
    path: { id },
  },
  {
    route: 'deleteEvmStream',
    official: (it) => it.delete({ id }),
    kit: (it) => it.streams.delete(id),
    path: { id },
    body: {},
  },
  {
    route: 'setEvmStreamStatus',
    official: (it) => it.updateStatus({ id, status: 'paused' }),
    kit: (it) => it.streams.setStatus(id, 'paused'),
    path: { id },
    body: { status: 'paused' },
  },
  {
    route: 'addEvmAddresses',
    what: 'one',
    official: (it) => it.addAddress({ id, address: LOWER }),
    kit: (it) => it.streams.addAddress(id, LOWER),
    path: { id },
    body: { address: CHECKSUMMED },
  },
  {
    route: 'addEvmAddresses',
    what: 'a list',
    official: (it) => it.addAddress({ id, address: [LOWER, OTHER_CHECKSUMMED] }),
    kit: (it) => it.streams.addAddress(id, [LOWER, OTHER_CHECKSUMMED]),
    path: { id },
    body: { address: [CHECKSUMMED, OTHER_CHECKSUMMED] },
  },
  {
    route: 'removeEvmAddresses',
    what: 'one',
    official: (it) => it.deleteAddress({ id, address: CHECKSUMMED }),
    kit: (it) => it.streams.removeAddress(id, CHECKSUMMED),
    path: { id },
    body: { address: LOWER },
  },
  {
    route: 'removeEvmAddresses',
    what: 'a list',
    official: (it) => it.deleteAddress({ id, address: [CHECKSUMMED, OTHER_LOWER] }),
    kit: (it) => it.streams.removeAddress(id, [CHECKSUMMED, OTHER_LOWER]),
    path: { id },
    body: { address: [LOWER, OTHER_LOWER] },
  },
  {
    route: 'listEvmAddresses',
    official: (it) => it.getAddresses({ id, ...place }),
    kit: (it) => it.streams.listAddresses(id, place),
    path: { id },
    query: placeQuery,
  },
  {
    route: 'createAptosStream',
    what: 'only required fields',
    official: (it) => it.add({ ...aptos, ...minimal, network: ['mainnet'] }),
    kit: (it) => it.streams.create({ ...aptos, ...minimal, network: ['mainnet'] }),
    body: { ...minimal, network: ['mainnet'] },
  },
  {
    route: 'createAptosStream',
    what: 'every option',
    official: (it) => it.add({ ...aptos, ...aptosStream }),
    kit: (it) => it.streams.create({ ...aptos, ...aptosStream }),
    body: aptosStream,
  },
  {
    route: 'createAptosStream',
    what: 'networks by chain id',
    official: (it) => it.add({ ...aptos, ...minimal, network: ['1', '2', 'devnet'] }),
    kit: (it) => it.streams.create({ ...aptos, ...minimal, network: ['1', '2', 'devnet'] }),
    body: { ...minimal, network: ['mainnet', 'testnet', 'devnet'] },
  },
  {
    route: 'updateAptosStream',
    // The official client throws without a network, although the field is optional in the contract.
    official: (it) => it.update({ ...aptos, id, network: ['testnet'], tag: 'new' }),
    kit: (it) => it.streams.update(id, { ...aptos, network: ['testnet'], tag: 'new' }),
    path: { id },
    body: { network: ['testnet'], tag: 'new' },
  },
  {
    route: 'listAptosStreams',
    official: (it) => it.getAll({ ...aptos, ...place }),
    kit: (it) => it.streams.list({ ...aptos, ...place }),
    query: placeQuery,
  },
  {
    route: 'getAptosStream',
    official: (it) => it.getById({ ...aptos, id }),
    kit: (it) => it.streams.get(id, aptos),
    path: { id },
  },
  {
    route: 'deleteAptosStream',
    official: (it) => it.delete({ ...aptos, id }),
    kit: (it) => it.streams.delete(id, aptos),
    path: { id },
    body: {},
  },
  {
    route: 'setAptosStreamStatus',
    official: (it) => it.updateStatus({ ...aptos, id, status: 'active' }),
    kit: (it) => it.streams.setStatus(id, 'active', aptos),
    path: { id },
    body: { status: 'active' },
  },
  {
    route: 'addAptosAddresses',
    what: 'one',
    official: (it) => it.addAddress({ ...aptos, id, address: '0x1' }),
    kit: (it) => it.streams.addAddress(id, '0x1', aptos),
    path: { id },
    body: { address: APTOS_ONE },
  },
  {
    route: 'addAptosAddresses',
    what: 'a list, with and without 0x',
    official: (it) => it.addAddress({ ...aptos, id, address: ['1', '0xAbC', APTOS_WALLET] }),
    kit: (it) => it.streams.addAddress(id, ['1', '0xAbC', APTOS_WALLET], aptos),
    path: { id },
    body: { address: [APTOS_ONE, `0x${'AbC'.padStart(64, '0')}`, APTOS_WALLET] },
  },
  {
    route: 'removeAptosAddresses',
    what: 'one',
    official: (it) => it.deleteAddress({ ...aptos, id, address: '0x1' }),
    kit: (it) => it.streams.removeAddress(id, '0x1', aptos),
    path: { id },
    body: { address: APTOS_ONE },
  },
  {
    route: 'removeAptosAddresses',
    what: 'a list',
    official: (it) => it.deleteAddress({ ...aptos, id, address: ['0x1', APTOS_WALLET] }),
    kit: (it) => it.streams.removeAddress(id, ['0x1', APTOS_WALLET], aptos),
    path: { id },
    body: { address: [APTOS_ONE, APTOS_WALLET] },
  },
  {
    route: 'listAptosAddresses',
    official: (it) => it.getAddresses({ ...aptos, id, ...place }),
    kit: (it) => it.streams.listAddresses(id, { ...aptos, ...place }),
    path: { id },
    query: placeQuery,
  },
  {
    route: 'listHistory',
    what: 'the first page',
    official: (it) => it.getHistory({ limit: 100 }),
    kit: (it) => it.history.list({ limit: 100 }),
    query: [['limit', '100']],
  },
  {
    route: 'listHistory',
    what: 'every parameter of the official client',
    official: (it) => it.getHistory({ ...place, excludePayload: true }),
    kit: (it) => it.history.list({ ...place, excludePayload: true }),
    query: [placeQuery[0], ['excludePayload', 'true'], placeQuery[1]],
  },
  {
    route: 'replayHistory',
    official: (it) => it.retry({ streamId: id, id: HISTORY_ID }),
    kit: (it) => it.history.replay({ streamId: id, id: HISTORY_ID }),
    path: { streamId: id, id: HISTORY_ID },
    body: {},
  },
  {
    route: 'listLogs',
    official: (it) => it.getLogs(place),
    kit: (it) => it.history.logs(place),
    query: placeQuery,
  },
  {
    route: 'readSettings',
    official: (it) => it.readSettings(),
    kit: (it) => it.settings.read(),
  },
  {
    route: 'setSettings',
    official: (it) => it.setSettings({ region: 'eu-central-1' }),
    kit: (it) => it.settings.set({ region: 'eu-central-1' }),
    body: { region: 'eu-central-1' },
  },
  {
    route: 'getStats',
    official: (it) => it.getStats(),
    kit: (it) => it.stats.all(),
  },
  {
    route: 'getStreamStats',
    official: (it) => it.getStatsById({ streamId: id }),
    kit: (it) => it.stats.stream(id),
    path: { streamId: id },
  },

  // Requests that the official client cannot send
  {
    route: 'setSettings',
    what: 'the secret',
    kit: (it) => it.settings.set({ secretKey: 'a-new-streams-secret' }),
    body: { secretKey: 'a-new-streams-secret' },
  },
  {
    route: 'updateAptosStream',
    what: 'without a network',
    kit: (it) => it.streams.update(id, { ...aptos, tag: 'new' }),
    path: { id },
    body: { tag: 'new' },
  },
  {
    route: 'listEvmStreams',
    what: 'by status',
    kit: (it) => it.streams.list({ status: 'error' }),
    query: [
      ['limit', '100'],
      ['status', 'error'],
    ],
  },
  {
    route: 'listHistory',
    what: 'filtered',
    kit: (it) =>
      it.history.list({
        streamId: id,
        transactionHash: `0x${'a'.repeat(64)}`,
        chainId: [1, '0x89'],
        blockNumber: [7, 8],
        fromTimestamp: 1,
        toTimestamp: 2,
      }),
    query: [
      ['blockNumber', '7'],
      ['blockNumber', '8'],
      ['chainId', '0x1'],
      ['chainId', '0x89'],
      ['fromTimestamp', '1'],
      ['limit', '100'],
      ['streamId', id],
      ['toTimestamp', '2'],
      ['transactionHash', `0x${'a'.repeat(64)}`],
    ],
  },
  {
    route: 'listLogs',
    what: 'filtered',
    kit: (it) => it.history.logs({ streamId: id, deliveryStatus: ['failed', 'success'] }),
    query: [
      ['deliveryStatus', 'failed'],
      ['deliveryStatus', 'success'],
      ['limit', '100'],
      ['streamId', id],
    ],
  },
  {
    route: 'duplicateEvmStream',
    kit: (it) => it.streams.duplicate(id),
    path: { id },
  },
  {
    route: 'replaceEvmAddresses',
    kit: (it) => it.streams.replaceAddresses(id, [LOWER, OTHER_LOWER]),
    path: { id },
    body: { address: [CHECKSUMMED, OTHER_CHECKSUMMED] },
  },
  {
    route: 'dryRunEvmBlock',
    kit: (it) =>
      it.streams.dryRunBlock({
        chainId: 1,
        blockNumber: 23835000,
        tag: 'try',
        topic0: everything.topic0,
        includeContractLogs: true,
        abi: transferAbi,
        advancedOptions: everything.advancedOptions,
        addresses: [CHECKSUMMED],
      }),
    path: { chainId: '0x1', blockNumber: '23835000' },
    body: {
      tag: 'try',
      topic0: everything.topic0,
      includeContractLogs: true,
      abi: transferAbi,
      advancedOptions: everything.advancedOptions,
      addresses: [LOWER],
    },
  },
  {
    route: 'sendEvmBlock',
    kit: (it) => it.streams.sendBlock({ chainId: '137', blockNumber: 0, streamId: id }),
    path: { chainId: '0x89', blockNumber: '0', streamId: id },
  },
  {
    route: 'createHistoricalJob',
    kit: (it) =>
      it.streams.createHistoricalJob({ chainId: 1, streamId: id, blockFrom: 5, blockTo: 9 }),
    body: { chainId: '0x1', streamId: id, blockFrom: 5, blockTo: 9 },
  },
];

function expected({ route, path = {}, query = [], body }: Case): RecordedRequest {
  return {
    method: ROUTES[route].method,
    path: ROUTES[route].path.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name] ?? 'none'),
    query,
    body,
    contentType: body === undefined ? undefined : 'application/json',
    apiKey: API_KEY,
  };
}

const titled = cases.map((it): [string, Case] => [
  `${ROUTES[it.route].method} ${ROUTES[it.route].path}${it.what ? `: ${it.what}` : ''}`,
  it,
]);

describe('both clients send', () => {
  test.each(titled.filter(([, it]) => it.official))('%s', async (_, it) => {
    await it.official?.(official);
    const [theirs, ...more] = server.take();
    expect(more).toEqual([]);
    await it.kit(kit);
    expect(server.take()).toEqual([theirs]);
    expect(theirs).toEqual(expected(it));
  });
});

describe('only the kit sends', () => {
  test.each(titled.filter(([, it]) => !it.official))('%s', async (_, it) => {
    await it.kit(kit);
    expect(server.take()).toEqual([expected(it)]);
  });
});

test('the list has each of the 25 calls for both clients, and each route for the kit', () => {
  const withBoth = new Set(cases.filter((it) => it.official).map(({ route }) => route));
  expect(withBoth.size).toBe(25);
  expect(new Set(cases.map(({ route }) => route))).toEqual(new Set(Object.keys(ROUTES)));
});

describe('the page size, which the contract requires', () => {
  test('is always sent by the kit, and by the official client only if set', async () => {
    await official.getAll({});
    expect(server.take()[0]?.query).toEqual([]);
    for (const list of [
      kit.streams.list(),
      kit.streams.list(aptos),
      kit.streams.listAddresses(id),
      kit.history.list(),
      kit.history.logs(),
    ]) {
      await list;
      expect(server.take()[0]?.query).toEqual([['limit', '100']]);
    }
  });
});

describe('neither client sends', () => {
  const refused: [
    string,
    (it: Official) => Promise<unknown>,
    (it: Client) => PromiseLike<unknown>,
  ][] = [
    [
      'an unknown network type',
      (it) => it.getAll({ networkType: 'solana' }),
      (it) => it.streams.list({ networkType: 'solana' as 'evm' }),
    ],
    [
      'a chain name',
      (it) => it.add({ ...minimal, chains: ['eth'] }),
      (it) => it.streams.create({ ...minimal, chainIds: ['eth'] }),
    ],
    [
      'an invalid EVM address',
      (it) => it.addAddress({ id, address: '0x1' }),
      (it) => it.streams.addAddress(id, '0x1'),
    ],
    [
      'an invalid Aptos address',
      (it) => it.addAddress({ ...aptos, id, address: `0x${'1'.repeat(66)}` }),
      (it) => it.streams.addAddress(id, `0x${'1'.repeat(66)}`, aptos),
    ],
    [
      'an unknown Aptos network',
      (it) => it.add({ ...aptos, ...minimal, network: ['premainnet'] }),
      (it) => it.streams.create({ ...aptos, ...minimal, network: ['premainnet' as 'devnet'] }),
    ],
    [
      'a trigger on neither an address nor a selector',
      (it) =>
        it.add({
          ...minimal,
          chains: [1],
          triggers: [{ type: 'tx', contractAddress: 'contract', functionAbi: balanceOf }],
        }),
      (it) =>
        it.streams.create({
          ...minimal,
          chainIds: [1],
          triggers: [{ type: 'tx', contractAddress: 'contract', functionAbi: balanceOf }],
        }),
    ],
  ];

  test.each(refused)('%s', async (_, theirs, ours) => {
    await expect((async () => theirs(official))()).rejects.toThrow();
    await expect(ours(kit)).rejects.toMatchObject({ name: 'SluiceError', status: undefined });
    expect(server.take()).toEqual([]);
  });
});
