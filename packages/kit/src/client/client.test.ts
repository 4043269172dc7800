import { beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { erc20Abi } from 'viem';
import { createClient } from './client.ts';
import type { Stream } from '../families/evm/client.ts';
import type {
  AptosStream,
  AptosStreamStatus,
  DeliveryLog,
  HistoryRecord,
  Settings,
  Stats,
  StreamAddress,
  StreamStats,
} from '../contract/shapes.generated.ts';
import { ROUTES } from '../contract/routes.generated.ts';
import type { Page } from '../contract/generic.ts';
import { isSluiceError } from '../errors.ts';
import type { ListedPage } from './pages.ts';
import type { CallResult, WithResponse } from './request.ts';

interface Recorded {
  call: string;
  body?: unknown;
  headers: Record<string, string>;
}

const requests: Recorded[] = [];
let bodies: unknown[] = [];
const baseUrl = 'http://sluice.test';

/** Records each request and returns the next prepared response, by default a stream. */
const fetch: typeof globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const { pathname, search } = new URL(request.url);
  const text = await request.text();
  requests.push({
    call: `${request.method} ${pathname}${search}`,
    ...(text && { body: JSON.parse(text) as unknown }),
    headers: Object.fromEntries(request.headers),
  });
  return Response.json(bodies.shift() ?? { id: ID, chainIds: ['0x1'] }, {
    headers: { 'x-request-id': `req-${requests.length}` },
  });
};

beforeEach(() => {
  requests.length = 0;
  bodies = [];
});

const ID = '6c86e9ed-0a93-4f8f-af4d-929ee8918bbb';
const LOWER = '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e';
const CHECKSUMMED = '0xCFDF6Aaae9f6B927E3736FBD327853B622c5060E';
const STREAM = { webhookUrl: 'https://example.com/hook', description: 'minimal', tag: 'min' };

const client = () => createClient({ apiKey: 'test-key', baseUrl, fetch });
const streams = () => client().streams;
const aptos = { networkType: 'aptos' } as const;
const APTOS_ONE = `0x${'1'.padStart(64, '0')}`;
const DRY_RUN = { tag: 'try', topic0: ['A(uint256)'], includeContractLogs: true };
const sent = () => requests.map(({ headers: _headers, ...request }) => request);

describe('each call', () => {
  it.each<[name: string, run: () => PromiseLike<unknown>, call: string, body?: unknown]>([
    [
      'create',
      () => streams().create({ ...STREAM, chainIds: ['0x1'] }),
      'PUT /streams/evm',
      { ...STREAM, chainIds: ['0x1'] },
    ],
    [
      'create with networkType and chain ids in every form',
      () =>
        streams().create({ ...STREAM, networkType: 'evm', chainIds: [137, '56', '0X0A', '0x1'] }),
      'PUT /streams/evm',
      { ...STREAM, chainIds: ['0x89', '0x38', '0xa', '0x1'] },
    ],
    [
      'create with integers beyond 2^53',
      () =>
        streams().create({
          ...STREAM,
          chainIds: [1],
          advancedOptions: [{ topic0: 'A(uint256)', filter: { gt: ['value', 10n ** 18n] } }],
        }),
      'PUT /streams/evm',
      {
        ...STREAM,
        chainIds: ['0x1'],
        advancedOptions: [
          { topic0: 'A(uint256)', filter: { gt: ['value', '1000000000000000000'] } },
        ],
      },
    ],
    ['list', () => streams().list(), 'GET /streams/evm?limit=100'],
    [
      'list with every option',
      () => streams().list({ limit: 10, cursor: 'a/b', status: 'paused', networkType: 'evm' }),
      'GET /streams/evm?limit=10&cursor=a%2Fb&status=paused',
    ],
    ['get', () => streams().get(ID), `GET /streams/evm/${ID}`],
    [
      'get with an id that needs escaping',
      () => streams().get('a/b?c'),
      'GET /streams/evm/a%2Fb%3Fc',
    ],
    [
      'update',
      () => streams().update(ID, { tag: 'new' }),
      `POST /streams/evm/${ID}`,
      { tag: 'new' },
    ],
    [
      'update of the chains',
      () => streams().update(ID, { chainIds: [10] }),
      `POST /streams/evm/${ID}`,
      { chainIds: ['0xa'] },
    ],
    ['delete', () => streams().delete(ID), `DELETE /streams/evm/${ID}`, {}],
    [
      'setStatus',
      () => streams().setStatus(ID, 'paused'),
      `POST /streams/evm/${ID}/status`,
      { status: 'paused' },
    ],
    [
      'addAddress',
      () => streams().addAddress(ID, LOWER),
      `POST /streams/evm/${ID}/address`,
      { address: CHECKSUMMED },
    ],
    [
      'addAddress with a list',
      () => streams().addAddress(ID, [LOWER, CHECKSUMMED]),
      `POST /streams/evm/${ID}/address`,
      { address: [CHECKSUMMED, CHECKSUMMED] },
    ],
    [
      'addAddress with labels',
      () => streams().addAddress(ID, [LOWER], { labels: { [LOWER]: 'Treasury' } }),
      `POST /streams/evm/${ID}/address`,
      { address: [CHECKSUMMED], labels: { [CHECKSUMMED]: 'Treasury' } },
    ],
    [
      'removeAddress',
      () => streams().removeAddress(ID, CHECKSUMMED),
      `DELETE /streams/evm/${ID}/address`,
      { address: LOWER },
    ],
    [
      'removeAddress with a list',
      () => streams().removeAddress(ID, [CHECKSUMMED]),
      `DELETE /streams/evm/${ID}/address`,
      { address: [LOWER] },
    ],
    [
      'listAddresses',
      () => streams().listAddresses(ID, { limit: 10, cursor: 'c1' }),
      `GET /streams/evm/${ID}/address?limit=10&cursor=c1`,
    ],
    [
      'create with selectors and triggers',
      () =>
        streams().create({
          ...STREAM,
          chainIds: ['0x1'],
          getNativeBalances: [{ selectors: ['$fromAddress'], type: 'tx' }],
          triggers: [
            {
              type: 'log',
              contractAddress: CHECKSUMMED,
              functionAbi: { type: 'function', name: 'f' },
              callFrom: '$address',
            },
          ],
        }),
      'PUT /streams/evm',
      {
        ...STREAM,
        chainIds: ['0x1'],
        getNativeBalances: [{ selectors: ['$fromAddress'], type: 'tx' }],
        triggers: [
          {
            type: 'log',
            contractAddress: LOWER,
            functionAbi: { type: 'function', name: 'f' },
            callFrom: '$address',
          },
        ],
      },
    ],

    [
      'Aptos: create',
      () =>
        streams().create({
          ...aptos,
          ...STREAM,
          network: ['1', 'testnet'],
          functions: ['0x1::aptos_account::transfer'],
          includePayload: true,
        }),
      'PUT /streams/aptos',
      {
        ...STREAM,
        network: ['mainnet', 'testnet'],
        functions: ['0x1::aptos_account::transfer'],
        includePayload: true,
      },
    ],
    ['Aptos: list', () => streams().list(aptos), 'GET /streams/aptos?limit=100'],
    ['Aptos: get', () => streams().get(ID, aptos), `GET /streams/aptos/${ID}`],
    [
      'Aptos: update',
      () => streams().update(ID, { ...aptos, tag: 'new' }),
      `POST /streams/aptos/${ID}`,
      { tag: 'new' },
    ],
    ['Aptos: delete', () => streams().delete(ID, aptos), `DELETE /streams/aptos/${ID}`, {}],
    [
      'Aptos: setStatus',
      () => streams().setStatus(ID, 'active', aptos),
      `POST /streams/aptos/${ID}/status`,
      { status: 'active' },
    ],
    [
      'Aptos: addAddress',
      () => streams().addAddress(ID, '0x1', aptos),
      `POST /streams/aptos/${ID}/address`,
      { address: APTOS_ONE },
    ],
    [
      'Aptos: removeAddress',
      () => streams().removeAddress(ID, ['1', APTOS_ONE], aptos),
      `DELETE /streams/aptos/${ID}/address`,
      { address: [APTOS_ONE, APTOS_ONE] },
    ],
    [
      'Aptos: listAddresses',
      () => streams().listAddresses(ID, { ...aptos, limit: 5 }),
      `GET /streams/aptos/${ID}/address?limit=5`,
    ],

    ['history.list', () => client().history.list(), 'GET /history?limit=100'],
    [
      'history.list with every option',
      () =>
        client().history.list({
          limit: 1,
          cursor: 'c',
          excludePayload: true,
          streamId: ID,
          transactionHash: '0x1',
          chainId: [1, '0x89'],
          blockNumber: [7, 8],
          fromTimestamp: 1,
          toTimestamp: 2,
        }),
      `GET /history?limit=1&cursor=c&excludePayload=true&streamId=${ID}&transactionHash=0x1&chainId=0x1&chainId=0x89&blockNumber=7&blockNumber=8&fromTimestamp=1&toTimestamp=2`,
    ],
    [
      'history.logs',
      () => client().history.logs({ deliveryStatus: ['failed', 'success'] }),
      'GET /history/logs?limit=100&deliveryStatus=failed&deliveryStatus=success',
    ],
    [
      'history.replay',
      () => client().history.replay({ streamId: ID, id: 'b' }),
      `POST /history/replay/${ID}/b`,
      {},
    ],

    ['settings.read', () => client().settings.read(), 'GET /settings'],
    [
      'settings.set',
      () => client().settings.set({ region: 'us-west-2', secretKey: 'the-new-secret' }),
      'POST /settings',
      { region: 'us-west-2', secretKey: 'the-new-secret' },
    ],
    ['stats.all', () => client().stats.all(), 'GET /stats'],
    ['stats.stream', () => client().stats.stream(ID), `GET /stats/${ID}`],

    ['duplicate', () => streams().duplicate(ID), `POST /streams/evm/${ID}/duplicate`],
    [
      'replaceAddresses',
      () => streams().replaceAddresses(ID, [LOWER]),
      `PATCH /streams/evm/${ID}/address`,
      { address: [CHECKSUMMED] },
    ],
    [
      'replaceAddresses with labels',
      () => streams().replaceAddresses(ID, [LOWER], { labels: { [LOWER]: 'Treasury' } }),
      `PATCH /streams/evm/${ID}/address`,
      { address: [CHECKSUMMED], labels: { [CHECKSUMMED]: 'Treasury' } },
    ],
    [
      'dryRunBlock',
      () => streams().dryRunBlock({ ...DRY_RUN, chainId: 1, blockNumber: 5, addresses: [LOWER] }),
      'POST /streams/evm/0x1/block/5',
      { ...DRY_RUN, addresses: [LOWER] },
    ],
    [
      'sendBlock',
      () => streams().sendBlock({ chainId: '137', blockNumber: 0, streamId: ID }),
      `POST /streams/evm/0x89/block-to-webhook/0/${ID}`,
    ],
    [
      'createHistoricalJob',
      () =>
        streams().createHistoricalJob({ chainId: '0x1', streamId: ID, blockFrom: 1, blockTo: 2 }),
      'POST /historicalJobs/createJob',
      { chainId: '0x1', streamId: ID, blockFrom: 1, blockTo: 2 },
    ],
  ])('%s', async (_, run, call, body) => {
    await run();
    expect(sent()).toEqual([body === undefined ? { call } : { call, body }]);
    expect(requests[0]?.headers).toMatchObject({
      'x-api-key': 'test-key',
      accept: 'application/json',
    });
    expect(requests[0]?.headers['content-type']).toBe(body && 'application/json');
  });

  it('has its own route: 25 official calls and five newer ones', () => {
    const routes = Object.values(ROUTES).map(({ method, path }) => `${method} ${path}`);
    expect(routes).toHaveLength(25 + 5);
    expect(new Set(routes).size).toBe(routes.length);
  });

  it('sends an `as const` ABI', async () => {
    await streams().create({ ...STREAM, chainIds: ['0x1'], abi: erc20Abi });
    expect(requests[0]?.body).toMatchObject({ abi: erc20Abi });
  });

  it('extends the path of baseUrl, with or without a trailing slash', async () => {
    for (const end of ['/prefix', '/prefix/', '/prefix//?a=b#c']) {
      await createClient({ apiKey: 'k', baseUrl: baseUrl + end, fetch }).streams.get('x');
    }
    expect(sent().map(({ call }) => call)).toEqual(Array(3).fill('GET /prefix/streams/evm/x'));
  });

  it('sends the headers of the client and the call, but always its own key', async () => {
    const client = createClient({
      apiKey: 'test-key',
      baseUrl,
      fetch,
      headers: { 'x-a': 'client', 'x-b': 'client', 'X-API-Key': 'other' },
    });
    await client.streams.get(ID, { headers: { 'x-b': 'call' } });
    expect(requests[0]?.headers).toMatchObject({
      'x-a': 'client',
      'x-b': 'call',
      'x-api-key': 'test-key',
    });
  });
});

describe('results', () => {
  it('get defaults for missing fields and keep extra fields', async () => {
    bodies = [{ id: ID, chainIds: ['0x1'], includeNativeTxs: true, allAddresses: null, extra: 1 }];
    expect(await streams().get(ID)).toMatchObject({
      id: ID,
      chainIds: ['0x1'],
      allAddresses: false,
      includeNativeTxs: true,
      includeContractLogs: false,
      includeInternalTxs: false,
      includeAllTxLogs: false,
      filterPossibleSpamAddresses: false,
      demo: false,
      topic0: null,
      getNativeBalances: [],
      abi: null,
      advancedOptions: null,
      triggers: null,
      unverified: 'send',
      notifyRemoved: false,
      includeProofs: false,
      deliver: 'both',
      headers: {},
      maxInFlight: null,
      maxPerSecond: null,
      maxWebhookBytes: null,
      oauth2: null,
      strictOrder: false,
      isErrorSince: null,
      description: '',
      tag: '',
      statusMessage: '',
      extra: 1,
    });
  });

  it('get defaults for Aptos streams', async () => {
    bodies = [{ id: ID, network: ['mainnet'], includeEvents: true }];
    expect(await streams().get(ID, aptos)).toMatchObject({
      id: ID,
      network: ['mainnet'],
      allAddresses: false,
      includePayload: false,
      includeEvents: true,
      includeChanges: false,
      demo: false,
      functions: [],
      events: [],
      isErrorSince: null,
      headers: {},
      maxInFlight: null,
      maxPerSecond: null,
      maxWebhookBytes: null,
      oauth2: null,
      strictOrder: false,
      description: '',
      tag: '',
      statusMessage: '',
    });
    bodies = [{ result: [{ id: ID }], total: 1 }];
    expect((await streams().list(aptos)).result[0]).toMatchObject({ includeChanges: false });
  });

  it('of delete and setStatus on Aptos are returned unchanged', async () => {
    bodies = [true];
    expect(await streams().delete(ID, aptos)).toBe(true);
    bodies = [{ status: 'paused', statusMessage: 'Stream was paused by the user' }];
    expect(await streams().setStatus(ID, 'paused', aptos)).toEqual({
      status: 'paused',
      statusMessage: 'Stream was paused by the user',
    });
  });

  it('get defaults for a duplicated stream', async () => {
    bodies = [{ id: 'b' }];
    expect(await streams().duplicate(ID)).toMatchObject({ id: 'b', demo: false });
  });

  it('come with their HTTP response', async () => {
    bodies = [{ id: 'a' }];
    const call = streams().get('a');
    const { data, response, requestId } = await call.withResponse();
    expect(data).toMatchObject({ id: 'a', allAddresses: false });
    expect(data).toEqual(await call);
    expect([response.status, requestId]).toEqual([200, 'req-1']);
    // Bun adds the character set.
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    expect(requests).toHaveLength(1);
  });

  it('of a list come with the HTTP response of the first page', async () => {
    bodies = [{ result: [{ id: 'a' }], total: 2, cursor: 'c' }];
    const list = streams().list();
    const { data, response, requestId } = await list.withResponse();
    expect([data.total, data.cursor, requestId]).toEqual([2, 'c', 'req-1']);
    expect(response.status).toBe(200);
    expect(await list).toBe(data);
    expect(requests).toHaveLength(1);
  });

  it('a failed call rejects withResponse, too', async () => {
    const failing = createClient({ apiKey: 'k', baseUrl, fetch: () => Promise.reject(Error('x')) });
    const options = { maxRetries: 0 };
    await expect(failing.stats.all(options).withResponse()).rejects.toMatchObject({
      code: 'network_error',
    });
    await expect(failing.history.list({}, options).withResponse()).rejects.toMatchObject({
      code: 'network_error',
    });
  });

  it('get defaults for listed streams', async () => {
    bodies = [{ result: [{ id: ID }], total: 1 }];
    const { result, total, cursor } = await streams().list();
    expect(result[0]).toMatchObject({ id: ID, allAddresses: false });
    expect([total, cursor]).toEqual([1, undefined]);
  });

  it('of address changes are returned unchanged', async () => {
    const body = { streamId: ID, address: LOWER, effectiveFrom: { '0x1': 7 } };
    bodies = [body];
    expect(await streams().addAddress(ID, LOWER)).toEqual(body);
  });

  it.each(['text', 7, true, [], {}])('with %j instead of a stream are rejected', async (body) => {
    bodies = [body];
    await expect(streams().get(ID)).rejects.toMatchObject({ code: 'invalid_response' });
  });
});

describe('invalid arguments are not sent', () => {
  it.each(['solana', 'EVM', ''])('networkType %j', async (networkType) => {
    const message = `Incorrect network provided. Got "${networkType}", Valid values are: "aptos", "evm"`;
    const options = { networkType: networkType as 'evm' };
    await expect(
      streams().create({ ...STREAM, chainIds: ['0x1'], ...options }),
    ).rejects.toMatchObject({ code: 'invalid_network', message });
    for (const call of [
      streams().list(options),
      streams().get(ID, options),
      streams().update(ID, { tag: 'a', ...options }),
      streams().delete(ID, options),
      streams().setStatus(ID, 'paused', options),
      streams().addAddress(ID, LOWER, options),
      streams().removeAddress(ID, LOWER, options),
      streams().listAddresses(ID, options),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'invalid_network', message });
    }
    expect(requests).toEqual([]);
  });

  it.each<[string, () => PromiseLike<unknown>, RegExp]>([
    ['a chain name', () => streams().create({ ...STREAM, chainIds: ['eth'] }), /chainIds: "eth"/],
    ['chain 0', () => streams().update(ID, { chainIds: [0] }), /chainIds: 0/],
    ['chains as a string', () => streams().update(ID, { chainIds: '0x1' as never }), /array/],
    [
      'an invalid address',
      () => streams().addAddress(ID, '0x1'),
      /Invalid address provided: "0x1"/,
    ],
    [
      'an invalid address in a list',
      () => streams().removeAddress(ID, [LOWER, 'x']),
      /address provided: "x"/,
    ],
    ['a missing address', () => streams().addAddress(ID, undefined as never), /Invalid address/],
    ['an empty id', () => streams().get(''), /Param id is required/],
    ['an id that leaves the path', () => streams().delete('..'), /Param id is required/],
    ['a missing id', () => streams().get(undefined as never), /Param id is required/],
    ['limit 0', () => streams().list({ limit: 0 }), /limit should be/],
    ['limit 101', () => streams().listAddresses(ID, { limit: 101 }), /limit should be/],
    [
      'a header with a line break',
      () => streams().get(ID, { headers: { 'x-a': 'line\nbreak' } }),
      /header "x-a"/,
    ],
    [
      'a negative block number',
      () => streams().dryRunBlock({ chainId: 1, blockNumber: -1 }),
      /blockNumber/,
    ],
    [
      'a fractional block number',
      () => streams().createHistoricalJob({ chainId: 1, streamId: ID, blockFrom: 0.5, blockTo: 1 }),
      /blockFrom should be a block number/,
    ],
    [
      'an invalid chain in sendBlock',
      () => streams().sendBlock({ chainId: 'eth', blockNumber: 1, streamId: ID }),
      /chainId: "eth" is not a chain ID/,
    ],
    [
      'an invalid chain in history.list',
      () => client().history.list({ chainId: ['eth'] }),
      /chainIds: "eth"/,
    ],
    [
      'an unknown Aptos network',
      () => streams().create({ ...aptos, ...STREAM, network: ['solana' as '1'] }),
      /^Aptos network is not supported: solana$/,
    ],
    [
      'an Aptos network as a string',
      () => streams().update(ID, { ...aptos, network: 'mainnet' as never }),
      /network should be an array/,
    ],
    [
      'an invalid Aptos address',
      () => streams().addAddress(ID, '0xg', aptos),
      /Invalid address provided: "0xg" is not 0x and up to 64 hex digits/,
    ],
    [
      'a trigger with an invalid contract address',
      () =>
        streams().update(ID, {
          triggers: [{ type: 'tx', contractAddress: '0x1', functionAbi: { type: 'function' } }],
        }),
      /Invalid address provided: "0x1"/,
    ],
    [
      'history.replay without a stream',
      () => client().history.replay({ streamId: '', id: 'a' }),
      /streamId/,
    ],
    [
      'stats.stream without a stream',
      () => client().stats.stream(''),
      /Param streamId is required/,
    ],
    ['a timeout of 0', () => streams().get(ID, { timeoutMs: 0 }), /timeoutMs should be/],
    [
      'an infinite timeout',
      () => streams().get(ID, { timeoutMs: Infinity }),
      /timeoutMs should be/,
    ],
    ['negative retries', () => streams().get(ID, { maxRetries: -1 }), /maxRetries should be/],
  ])('%s', async (_, run, message) => {
    await expect(run()).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(message) as string,
    });
    expect(requests).toEqual([]);
  });

  it.each(['fromAddress', '', 7])('selector %j', async (selector) => {
    const getNativeBalances = [{ selectors: [selector as string], type: 'tx' as const }];
    await expect(streams().update(ID, { getNativeBalances })).rejects.toMatchObject({
      code: 'invalid_selector',
      message: 'Invalid selector string provided',
    });
    expect(requests).toEqual([]);
  });

  it.each([
    ['an empty key', { apiKey: '' }],
    ['a missing key', { apiKey: undefined as never }],
    ['a key with a line break', { apiKey: 'secret-key\n' }],
    ['a key with umlauts', { apiKey: 'schlüssel-key' }],
    ['a missing URL', { baseUrl: undefined as never }],
    ['another protocol', { baseUrl: 'ftp://example.com' }],
    ['a URL with credentials', { baseUrl: 'https://user:secret-key@example.com' }],
    ['an invalid timeout', { timeoutMs: Number.NaN }],
    ['negative retries', { maxRetries: -1 }],
  ])('createClient rejects %s', (_, change) => {
    let thrown: unknown;
    try {
      createClient({ apiKey: 'test-key', baseUrl: 'http://localhost', ...change });
    } catch (error) {
      thrown = error;
    }
    expect(isSluiceError(thrown, 'invalid_argument')).toBe(true);
    expect(String(thrown)).not.toContain('secret-key');
  });
});

it('createClient accepts a relative URL only in a page', () => {
  const create = () => createClient({ apiKey: 'k', baseUrl: '/api' });
  // In Deno, the global exists, but is undefined.
  if (Reflect.get(globalThis, 'location') !== undefined) expect(create).not.toThrow();
  else expect(create).toThrow(/baseUrl should be/);
});

describe('lists', () => {
  const page = (ids: string[], cursor?: string | null, total = 5) => ({
    result: ids.map((id) => ({ id })),
    total,
    ...(cursor !== undefined && { cursor }),
  });
  const idsOf = async (list: AsyncIterable<Stream>) => {
    const ids: string[] = [];
    for await (const { id } of list) ids.push(id);
    return ids;
  };

  it('number their pages from 0, even after a given cursor', async () => {
    bodies = [page(['a', 'b'], 'c1'), page(['c', 'd'], 'c2'), page(['e'])];
    const numbers: number[] = [];
    for await (const { page: number } of streams().list({ limit: 2 }).pages()) numbers.push(number);
    expect(numbers).toEqual([0, 1, 2]);
    bodies = [page(['c'])];
    expect((await streams().list({ cursor: 'c1' })).page).toBe(0);
  });

  it('iterate over every row, requesting each page once', async () => {
    bodies = [page(['a', 'b'], 'c1'), page(['c', 'd'], 'c2'), page(['e'])];
    expect(await idsOf(streams().list({ limit: 2 }))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(sent().map(({ call }) => call)).toEqual([
      'GET /streams/evm?limit=2',
      'GET /streams/evm?limit=2&cursor=c1',
      'GET /streams/evm?limit=2&cursor=c2',
    ]);
  });

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['null', null],
  ])('stop if the cursor is %s, whatever the total', async (_, cursor) => {
    bodies = [page(['a'], 'c1'), page(['b'], cursor, 99)];
    expect(await idsOf(streams().list())).toEqual(['a', 'b']);
  });

  it('stop at an empty page after all rows, even if it has a cursor', async () => {
    bodies = [page(['a', 'b'], 'c1', 2), page([], 'c2', 2)];
    expect(await idsOf(streams().list())).toEqual(['a', 'b']);
  });

  it('continue after an empty page before all rows', async () => {
    bodies = [page([], 'c1', 1), page(['a'], undefined, 1)];
    expect(await idsOf(streams().list())).toEqual(['a']);
  });

  it('continue a search after an empty page', async () => {
    bodies = [{ ...page([], 'c1', 0), searchedTo: 5 }, page(['a'], undefined, 0)];
    expect(await idsOf(streams().list())).toEqual(['a']);
  });

  it('fail if the service repeats a cursor', async () => {
    bodies = [page(['a'], 'c1'), page(['b'], 'c1')];
    await expect(idsOf(streams().list())).rejects.toMatchObject({ code: 'invalid_response' });
  });

  it('iterate over pages', async () => {
    bodies = [page(['a'], 'c1'), page(['b'])];
    const totals: number[] = [];
    for await (const { result, total } of streams().list().pages()) {
      totals.push(total, result.length);
    }
    expect(totals).toEqual([5, 1, 5, 1]);
  });

  it('continue after a given cursor', async () => {
    bodies = [page(['b'], 'c2'), page(['c'])];
    expect(await idsOf(streams().list({ cursor: 'c1' }))).toEqual(['b', 'c']);
    expect(sent().map(({ call }) => call)).toEqual([
      'GET /streams/evm?limit=100&cursor=c1',
      'GET /streams/evm?limit=100&cursor=c2',
    ]);
  });

  it('send nothing before use, and one request however often they are awaited', async () => {
    const list = streams().list();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(requests).toEqual([]);
    bodies = [page(['a'])];
    expect(await list).toEqual(await list);
    await list.finally(() => {});
    expect(requests).toHaveLength(1);
  });

  it('send nothing after the loop ends early', async () => {
    bodies = [page(['a', 'b'], 'c1'), page(['c'])];
    for await (const { id } of streams().list()) {
      expect(id).toBe('a');
      break;
    }
    expect(requests).toHaveLength(1);
  });

  it('can be caught like a promise', async () => {
    const caught = await streams()
      .list({ limit: 0 })
      .catch((error: unknown) => error);
    expect(isSluiceError(caught, 'invalid_argument')).toBe(true);
  });

  it('are empty if the response has no rows', async () => {
    bodies = [{}];
    expect(await streams().list()).toEqual({ result: [], total: 0, page: 0 });
  });

  it('of addresses continue after a cursor, too', async () => {
    bodies = [
      { result: [{ address: LOWER }], total: 2, cursor: 'c1' },
      { result: [{ address: CHECKSUMMED }], total: 2, page_size: 2 },
    ];
    const addresses: string[] = [];
    for await (const { address } of streams().listAddresses(ID)) addresses.push(address);
    expect(addresses).toEqual([LOWER, CHECKSUMMED]);
  });
});

describe('types', () => {
  it('are those of the contract', () => {
    const client = createClient({ apiKey: 'k', baseUrl });
    const get = () => client.streams.get(ID);
    expectTypeOf(get).returns.resolves.toEqualTypeOf<Stream>();
    const list = () => client.streams.list();
    expectTypeOf(list).returns.resolves.toEqualTypeOf<ListedPage<Page<Stream>>>();
    expectTypeOf<Awaited<ReturnType<typeof client.streams.listAddresses>>>().toEqualTypeOf<
      ListedPage<Page<StreamAddress>>
    >();
    // `tag` is optional, and `chainIds` is required.
    expectTypeOf({ webhookUrl: '', description: '', chainIds: [1, '0x1'] as const }).toExtend<
      Parameters<typeof client.streams.create>[0]
    >();
    expectTypeOf({ webhookUrl: '', description: '' }).not.toExtend<
      Parameters<typeof client.streams.create>[0]
    >();
  });

  it('depend on the network type', () => {
    const { streams, history, settings, stats } = client();
    const network = 'aptos' as 'aptos' | 'evm';
    const get = () => streams.get(ID, aptos);
    const getAny = () => streams.get(ID, { networkType: network });
    const list = () => streams.list({ ...aptos, limit: 1 });
    const listEvm = () => streams.list({ limit: 1 });
    const remove = () => streams.delete(ID, aptos);
    const removeEvm = () => streams.delete(ID, { maxRetries: 0 });
    const setStatus = () => streams.setStatus(ID, 'active', aptos);
    const update = () => streams.update(ID, { ...aptos, events: [] });
    const updateEvm = () => streams.update(ID, { abi: erc20Abi });
    expectTypeOf(get).returns.toEqualTypeOf<CallResult<AptosStream>>();
    expectTypeOf(getAny).returns.resolves.toEqualTypeOf<AptosStream | Stream>();
    expectTypeOf(list).returns.resolves.toEqualTypeOf<ListedPage<Page<AptosStream>>>();
    expectTypeOf(listEvm).returns.resolves.toEqualTypeOf<ListedPage<Page<Stream>>>();
    expectTypeOf(remove).returns.resolves.toEqualTypeOf<true>();
    expectTypeOf(removeEvm).returns.resolves.toEqualTypeOf<Stream>();
    expectTypeOf(setStatus).returns.resolves.toEqualTypeOf<AptosStreamStatus>();
    expectTypeOf(update).returns.resolves.toEqualTypeOf<AptosStream>();
    expectTypeOf(updateEvm).returns.resolves.toEqualTypeOf<Stream>();

    const common = { webhookUrl: '', description: '', tag: '' };
    // @ts-expect-error -- an Aptos stream has networks, not chains
    void (() => streams.create({ ...common, ...aptos, chainIds: [1] }));
    // @ts-expect-error -- an EVM stream has chains, not networks
    void (() => streams.create({ ...common, network: ['mainnet'] }));
    // @ts-expect-error -- not a chain family
    void (() => streams.get(ID, { networkType: 'solana' }));

    expectTypeOf<Awaited<ReturnType<typeof history.list>>>().toEqualTypeOf<
      ListedPage<Page<HistoryRecord>>
    >();
    expectTypeOf<Awaited<ReturnType<typeof history.logs>>>().toEqualTypeOf<
      ListedPage<Page<DeliveryLog>>
    >();
    expectTypeOf(history.replay).returns.resolves.toEqualTypeOf<HistoryRecord>();
    expectTypeOf(settings.read).returns.resolves.toEqualTypeOf<Settings>();
    expectTypeOf(stats.all).returns.resolves.toEqualTypeOf<Stats>();
    expectTypeOf(stats.stream).returns.resolves.toEqualTypeOf<StreamStats>();
    const withResponse = () => streams.list().withResponse();
    expectTypeOf(withResponse).returns.resolves.toEqualTypeOf<
      WithResponse<ListedPage<Page<Stream>>>
    >();
  });
});
