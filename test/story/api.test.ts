/**
 * Tests that the API reports the problem of each invalid request, stores nothing, and still serves
 * other requests.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, type OutgoingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import {
  type CreateEvmStream,
  type Page,
  ROUTES,
  type Route,
  SLUICE_ROUTES,
} from '@sluice/kit/contract';
import {
  findFreePort,
  type Anvil,
  type Postgres,
  type WebhookSink,
  startAnvil,
  startPostgres,
  startWebhookSink,
  until,
} from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';
import { type RawResponse, type RawSending, sendRaw } from './sendRaw.ts';

const CHAIN = '0x7a69';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const ADDRESS = '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e';
const MIB = 1024 * 1024;
const KEY = { 'x-api-key': API_KEY };

interface Problem {
  message: string;
  value?: unknown;
}

interface Sending extends RawSending {
  to?: Served;
}

/** Connections that all reads share, because most requests are reads. */
const kept = new Agent({ keepAlive: true });
afterAll(() => kept.destroy());

interface ErrorResponse {
  message: string;
  details?: Record<string, Problem>;
  fields?: Record<string, Problem>;
}

describe.each(['SQLite', 'PostgreSQL'])('over %s', (engine) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-api-'));
  let postgres: Postgres | undefined;
  let sink: WebhookSink;
  let service: Served;
  let client: Client;
  /**
   * IDs of an EVM stream and of an Aptos stream, each with one address. Both exist during all
   * tests.
   */
  let streamId: string;
  let aptosId: string;

  beforeAll(async () => {
    sink = await startWebhookSink();
    if (engine === 'PostgreSQL') postgres = await startPostgres();
    const database = postgres === undefined ? [] : ['--database-url', postgres.url];
    // The rate limit is off, because the tests send hundreds of wrong keys.
    const flags = ['--data', join(folder, 'data'), '--rate-limit', '0', ...database];
    service = await serve(flags);
    client = createClient({ apiKey: API_KEY, baseUrl: service.url });
    streamId = (await client.streams.create(goodStream())).id;
    await client.streams.addAddress(streamId, ADDRESS);
    aptosId = (await client.streams.create(goodAptosStream())).id;
    await client.streams.addAddress(aptosId, '0x1', { networkType: 'aptos' });
  });
  afterAll(async () => {
    expect(await service?.stop()).toBe(0);
    await postgres?.stop();
    await sink?.close();
    rmSync(folder, { recursive: true });
  });

  const goodStream = () => ({
    webhookUrl: `${sink.url}/good`,
    description: 'a good stream',
    tag: 'good',
    chainIds: [CHAIN],
  });
  const goodAptosStream = () => ({
    networkType: 'aptos' as const,
    webhookUrl: `${sink.url}/good`,
    description: 'a good stream',
    tag: 'good',
    network: ['testnet'] as const,
  });

  const send = (method: string, path: string, { to = service, ...sending }: Sending = {}) =>
    sendRaw(to.url, method, path, { ...sending, headers: { ...KEY, ...sending.headers } });

  /** Returns the error in a response, and checks that the response has a request ID. */
  function errorIn({ headers, text }: RawResponse): ErrorResponse {
    const { requestId, ...error } = JSON.parse(text) as ErrorResponse & { requestId: string };
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers['x-request-id']).toBe(requestId);
    return error;
  }

  /** Reads the settings, and all streams and their addresses. */
  async function stored(to = service): Promise<unknown> {
    const look = async (path: string): Promise<string> =>
      (await send('GET', path, { to, over: kept })).text;
    const readFamily = async (family: string): Promise<unknown[]> => {
      const streams = JSON.parse(await look(`/streams/${family}`)) as Page<{ id: string }>;
      const addresses = streams.result.map(({ id }) => look(`/streams/${family}/${id}/address`));
      return [streams, ...(await Promise.all(addresses))];
    };
    return Promise.all([look('/settings'), readFamily('evm'), readFamily('aptos')]);
  }

  /** The stored rows, which each test must leave unchanged. */
  let before: unknown;

  beforeAll(async () => {
    before = await stored();
  });
  // Tests that store something delete it again.
  afterEach(async () => {
    const [expected, found] = [before, await stored()];
    before = found;
    expect(found).toEqual(expected);
    const health = await send('GET', '/health', { over: kept });
    expect(health.status).toBe(200);
    expect(JSON.parse(health.text)).toMatchObject({ status: 'ok' });
  });

  /** Sends a request that must be rejected with a 422 for one field. */
  async function expectInvalid(
    method: string,
    path: string,
    sending: Sending,
    [field, message, value]: readonly [string, RegExp, unknown?],
  ): Promise<void> {
    const response = await send(method, path, sending);
    expect([response.status, errorIn(response)]).toEqual([
      422,
      {
        message: 'Validation Failed',
        details: {
          [field]: {
            message: expect.stringMatching(message) as unknown,
            ...(value !== undefined && { value }),
          },
        },
      },
    ]);
  }

  /** Replaces parameters of a path with `id`, by default with valid values. */
  const fill = ({ path }: Route, id?: string): string => {
    const own = path.startsWith('/streams/aptos/') ? aptosId : streamId;
    return path
      .replace('{id}', id ?? (path.startsWith('/sluice/chains/') ? CHAIN : own))
      .replace('{streamId}', id ?? streamId)
      .replace('{chainId}', id ?? CHAIN)
      .replace('{blockNumber}', id ?? '1')
      .replace('{destination}', id ?? '1')
      .replace('{name}', id ?? 'my-app');
  };

  const everyRoute: readonly Route[] = [...Object.values(ROUTES), ...Object.values(SLUICE_ROUTES)];

  const event = (name: string | undefined, ...inputs: object[]) => ({
    type: 'event',
    name,
    inputs,
  });

  /** Declares tests of requests that are rejected before the engine is involved, for one engine. */
  const describeOnce = (name: string, tests: () => void): void => {
    if (engine === 'SQLite') describe(name, tests);
  };

  describeOnce('an invalid stream', () => {
    const indexed = { name: 'a', type: 'address', indexed: true };

    /**
     * Name of the problem, stream fields that have it, and the field, message and value that the
     * response should report.
     */
    const cases: [string, object, readonly [string, RegExp, unknown?]][] = [
      [
        'unknown field',
        { webhookURL: 'x' },
        ['webhookURL', /^is not a known field: remove it/, 'x'],
      ],
      [
        'unknown field of another one',
        { advancedOptions: [{ topic0: 'A()', filters: {} }] },
        ['advancedOptions.0.filters', /^is not a known field: remove it/, {}],
      ],
      ['URL not a string', { webhookUrl: 5 }, ['webhookUrl', /^should be a string$/, 5]],
      [
        'URL malformed',
        { webhookUrl: 'nowhere' },
        ['webhookUrl', /http:\/\/ or https:\/\//, 'nowhere'],
      ],
      [
        'URL of another scheme',
        { webhookUrl: 'ftp://a.example/' },
        ['webhookUrl', /http:\/\/ or https:\/\//, 'ftp://a.example/'],
      ],
      ['URL without host', { webhookUrl: 'http://' }, ['webhookUrl', /absolute http/, 'http://']],
      [
        'URL with a NUL',
        { webhookUrl: 'http://127.0.0.1:1/\0' },
        ['webhookUrl', /NUL/, 'http://127.0.0.1:1/\0'],
      ],
      ['description not a string', { description: 5 }, ['description', /^should be a string$/, 5]],
      ['description with a NUL', { description: 'a\0b' }, ['description', /NUL/, 'a\0b']],
      ['tag not a string', { tag: ['a'] }, ['tag', /^should be a string$/, ['a']]],
      ['tag with a NUL', { tag: '\0' }, ['tag', /NUL/, '\0']],
      ['tag too long', { tag: 'a'.repeat(257) }, ['tag', /at most 256 characters/, /^"a+…$/]],
      ['chains not an array', { chainIds: '0x1' }, ['chainIds', /^should be an array/, '0x1']],
      ['chains empty', { chainIds: [] }, ['chainIds', /at least one chain, e\.g\. \["0x1"\]/, []]],
      ['chain eth', { chainIds: ['eth'] }, ['chainIds.0', /in hex, e\.g\. 0x1/, 'eth']],
      ['chain 0', { chainIds: ['0x1', 0] }, ['chainIds.1', /in hex, e\.g\. 0x1/, 0]],
      ['chain 0x0', { chainIds: ['0x0'] }, ['chainIds.0', /in hex, e\.g\. 0x1/, '0x0']],
      ['chain negative', { chainIds: [-1] }, ['chainIds.0', /in hex, e\.g\. 0x1/, -1]],
      ['chain -0x1', { chainIds: ['-0x1'] }, ['chainIds.0', /in hex, e\.g\. 0x1/, '-0x1']],
      ['chain empty', { chainIds: [''] }, ['chainIds.0', /in hex, e\.g\. 0x1/, '']],
      ['chain true', { chainIds: [true] }, ['chainIds.0', /in hex, e\.g\. 0x1/, true]],
      [
        'flag as string',
        { allAddresses: 'true' },
        ['allAddresses', /^should be a boolean$/, 'true'],
      ],
      ['flag as number', { includeNativeTxs: 1 }, ['includeNativeTxs', /^should be a boolean$/, 1]],
      ['ABI a number', { abi: 5 }, ['abi', /^should be a list of ABI items/, 5]],
      ['ABI an empty object', { abi: {} }, ['abi', /an artifact with one in abi/, {}]],
      ['ABI not JSON', { abi: 'Transfer' }, ['abi', /or its JSON text/, 'Transfer']],
      [
        'selected event with an unknown type',
        { topic0: ['B(uint256)'], abi: [event('A'), event('B', { name: 'a', type: 'uint257' })] },
        ['abi.1.inputs.0.type', /^of event B should be a Solidity type, e\.g\. uint256/, 'uint257'],
      ],
      [
        'selected event with a tuple without components',
        { topic0: ['A((uint256)[])'], abi: [event('A', { name: 'a', type: 'tuple[]' })] },
        ['abi.0.inputs.0.components', /^of event A should be a list of parameters/],
      ],
      [
        'selected event with more topics than a log has',
        { topic0: ['A(address)'], abi: [event('A', indexed, indexed, indexed, indexed)] },
        ['abi.0.inputs', /at most 3 indexed/, [indexed, indexed, indexed, indexed]],
      ],
      ['topic0 not an array', { topic0: 'A()' }, ['topic0', /^should be an array$/, 'A()']],
      ['topic0 a name', { topic0: ['Transfer'] }, ['topic0.0', /event signature/, 'Transfer']],
      ['topic0 a short hash', { topic0: ['0xddf2'] }, ['topic0.0', /32-byte hash/, '0xddf2']],
      [
        'topic0 with a wrong type',
        { topic0: ['A()', 'B(uint7)'] },
        ['topic0.1', /event signature, e\.g\. Transfer\(address,address,uint256\)/, 'B(uint7)'],
      ],
      [
        'all addresses without an event',
        { allAddresses: true },
        ['allAddresses', /requires topic0, functions or advancedOptions/, true],
      ],
      [
        'filter without an event',
        { advancedOptions: [{ topic0: 'A' }] },
        ['advancedOptions.0.topic0', /should be an event signature/, 'A'],
      ],
      [
        'filter on an unknown parameter',
        {
          abi: [event('A', indexed)],
          advancedOptions: [{ topic0: 'A(address)', filter: { eq: ['b', 1] } }],
        },
        ['advancedOptions.0.filter.eq.0', /should be one of a, moralis_streams_/, 'b'],
      ],
      [
        'filter with a value of the wrong type',
        {
          abi: [event('A', indexed)],
          advancedOptions: [{ topic0: 'A(address)', filter: { in: ['a', ['0x12']] } }],
        },
        ['advancedOptions.0.filter.in.1.0', /should be an address/, '0x12'],
      ],
      [
        'all transaction logs without records',
        { includeAllTxLogs: true },
        ['includeAllTxLogs', /requires includeNativeTxs, includeContractLogs or functions/, true],
      ],
    ];

    test.each(cases)('%s: rejects create and update', async (_, wrong, [field, ...rest]) => {
      const [message, value] = rest;
      const expected = [
        `requestBody.${field}`,
        message,
        value instanceof RegExp ? (expect.stringMatching(value) as unknown) : value,
      ] as const;
      const created = { body: { ...goodStream(), ...wrong } };
      await expectInvalid('PUT', '/streams/evm', created, expected);
      await expectInvalid('POST', `/streams/evm/${streamId}`, { body: wrong }, expected);
    });

    test.each(['webhookUrl', 'description', 'chainIds'])('%s is required', async (field) => {
      const { [field as 'tag']: _, ...body } = goodStream();
      const type = field === 'chainIds' ? 'an array' : 'a string';
      const message = new RegExp(`^is required and should be ${type}$`);
      await expectInvalid('PUT', '/streams/evm', { body }, [`requestBody.${field}`, message]);
    });

    test.each([[[]], ['"text"'], ['5'], ['null'], ['true']])('a body that is %j', async (body) => {
      const sending = { body };
      const value = typeof body === 'string' ? (JSON.parse(body) as unknown) : body;
      const expected = ['requestBody', /^should be an object$/, value] as const;
      await expectInvalid('PUT', '/streams/evm', sending, expected);
      await expectInvalid('POST', `/streams/evm/${streamId}`, sending, expected);
      await expectInvalid('POST', `/streams/evm/${streamId}/status`, sending, expected);
      await expectInvalid('POST', `/streams/evm/${streamId}/address`, sending, expected);
      await expectInvalid('DELETE', `/streams/evm/${streamId}/address`, sending, expected);
    });

    test('reports all invalid fields at once', async () => {
      const response = await send('PUT', '/streams/evm', {
        body: { webhookUrl: 1, chainIds: ['eth', 'bsc'], surprise: true },
      });
      expect(response.status).toBe(422);
      expect(Object.keys(errorIn(response).details ?? {}).toSorted()).toEqual([
        'requestBody.chainIds.0',
        'requestBody.chainIds.1',
        'requestBody.description',
        'requestBody.surprise',
        'requestBody.webhookUrl',
      ]);
    });

    const balanceOf = {
      type: 'function',
      name: 'balanceOf',
      stateMutability: 'view',
      inputs: [{ name: 'account', type: 'address' }],
      outputs: [{ name: 'balance', type: 'uint256' }],
    };
    const trigger = {
      type: 'erc20transfer',
      contractAddress: '$contract',
      functionAbi: balanceOf,
      inputs: ['$to'],
    };

    test.each<[string, string, unknown[], RegExp, unknown]>([
      [
        'a selector of another record type',
        'triggers.0.inputs.0',
        [{ ...trigger, inputs: ['$toAddress'] }],
        /^should be a field of the record: one of \$contract, .*\$to, /,
        '$toAddress',
      ],
      [
        'a contract that is not an address',
        'triggers.0.contractAddress',
        [{ ...trigger, contractAddress: '$value' }],
        /^should be an address field of the record: one of \$contract, \$from, \$to$/,
        '$value',
      ],
      [
        'a state-changing function',
        'triggers.0.functionAbi.stateMutability',
        [{ ...trigger, functionAbi: { ...balanceOf, stateMutability: 'payable' } }],
        /^should be view or pure/,
        'payable',
      ],
      [
        'an event that is not in the ABI',
        'triggers.0.topic0',
        [
          {
            ...trigger,
            type: 'log',
            contractAddress: '$address',
            inputs: ['$topic1'],
            topic0: 'A()',
          },
        ],
        /^should name an event of the stream's abi/,
        'A()',
      ],
      [
        'a balance of a field without an address',
        'getNativeBalances.0.selectors.1',
        [{ selectors: ['$fromAddress', '$hash'], type: 'tx' }],
        /one of \$fromAddress, \$toAddress, \$receiptContractAddress$/,
        '$hash',
      ],
    ])('rejects %s and lists the valid values', async (_, place, value, message, bad) => {
      const options = { [place.split('.')[0]!]: value };
      const expected = [`requestBody.${place}`, message, bad] as const;
      await expectInvalid(
        'PUT',
        '/streams/evm',
        { body: { ...goodStream(), ...options } },
        expected,
      );
      await expectInvalid('POST', `/streams/evm/${streamId}`, { body: options }, expected);
    });

    test('returns triggers and balances as sent', async () => {
      const options = {
        triggers: [trigger],
        getNativeBalances: [{ selectors: ['$from'], type: 'internalTx' }],
      };
      const created = await send('PUT', '/streams/evm', { body: { ...goodStream(), ...options } });
      expect(created.status).toBe(200);
      expect(JSON.parse(created.text)).toMatchObject(options);
      const { id } = JSON.parse(created.text) as { id: string };
      await client.streams.delete(id);
    });

    test.each(['terminated', 'Paused', '', 1, null, undefined])(
      'a status of %j',
      async (status) => {
        await expectInvalid('POST', `/streams/evm/${streamId}/status`, { body: { status } }, [
          'requestBody.status',
          /^should be one of active, paused/,
          status,
        ]);
      },
    );
  });

  test('5 MB of addresses are added and removed', async () => {
    const { id } = await client.streams.create(goodStream());
    const address = Array.from(
      { length: 115_000 },
      (_, n) => `0x${n.toString(16).padStart(40, '0')}`,
    );
    const body = JSON.stringify({ address });
    expect(body.length).toBeGreaterThan(5_000_000);
    expect((await send('POST', `/streams/evm/${id}/address`, { body })).status).toBe(200);
    expect((await client.streams.get(id)).amountOfAddresses).toBe(address.length);
    expect((await send('DELETE', `/streams/evm/${id}/address`, { body })).status).toBe(200);
    expect((await client.streams.get(id)).amountOfAddresses).toBe(0);
    await client.streams.delete(id);
  });

  describeOnce('an unreadable body', () => {
    const bodiless: readonly Route[] = [
      ROUTES.replayHistory,
      ROUTES.duplicateEvmStream,
      ROUTES.sendEvmBlock,
      SLUICE_ROUTES.stopDelivery,
      SLUICE_ROUTES.releaseDelivery,
      SLUICE_ROUTES.cancelReplay,
    ];
    const writes = everyRoute.filter(
      (route) =>
        (route.method === 'PUT' || route.method === 'POST') &&
        !bodiless.includes(route) &&
        // This route has a smaller body limit, which is tested below.
        route !== SLUICE_ROUTES.createSession &&
        // These routes report an unknown chain or job before they read the body.
        !/\{chainId\}|\{network\}|^\/sluice\/(chains|jobs)\//.test(route.path),
    );

    test.each(writes)('$method $path: malformed JSON', async (route) => {
      for (const body of ['{', '{"a":1,}', "{'a':1}", 'webhookUrl=http', '{"a":1}{', '\u{feff}{']) {
        const response = await send(route.method, fill(route), { body });
        expect(response.status).toBe(400);
        expect(errorIn(response).message).toMatch(/^The request body is not valid JSON: \S/);
      }
    });

    test.each(writes)('$method $path: nested too deeply', async (route) => {
      const levels = 100_000;
      for (const body of [
        '['.repeat(levels) + ']'.repeat(levels),
        `{"abi":${'['.repeat(levels)}${']'.repeat(levels)}}`,
        `{"address":${'['.repeat(levels)}${']'.repeat(levels)}}`,
      ]) {
        const response = await send(route.method, fill(route), { body });
        expect(response.status).toBe(400);
        expect(errorIn(response).message).toMatch(
          /^The request body is nested deeper than \d+ levels/,
        );
      }
    });

    test('accepts 64 levels and rejects 65', async () => {
      const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
      const statuses = [];
      for (const levels of [64, 65]) {
        statuses.push((await send('PUT', '/streams/evm', { body: nested(levels) })).status);
      }
      expect(statuses).toEqual([422, 400]);
    });

    test('accepts 1,000 filter comparisons and rejects 1,001', async () => {
      const abi = [event('Paid', { name: 'value', type: 'uint256' })];
      const gt = (n: number) => ({ gt: ['value', String(n)] });
      const withFilters = (count: number) => ({
        ...goodStream(),
        abi,
        advancedOptions: [
          {
            topic0: 'Paid(uint256)',
            filter: { or: Array.from({ length: count - 1 }, (_, n) => gt(n)) },
          },
          { topic0: 'Paid(uint256)', filter: gt(0) },
        ],
      });
      const { id } = await client.streams.create(withFilters(1_000) as CreateEvmStream);
      await client.streams.delete(id);
      await expectInvalid('PUT', '/streams/evm', { body: withFilters(1_001) }, [
        'requestBody.advancedOptions',
        /^should have at most 1000 comparisons in all/,
        expect.stringMatching(/^\[\{"topic0":"Paid\(uint256\)".{1,200}…$/),
      ]);
    });

    test('an ABI with tuples nested too deeply', async () => {
      const levels = 10_000;
      const body = JSON.stringify({
        ...goodStream(),
        abi: [{ type: 'event', name: 'Deep', inputs: ['here'] }],
      }).replace(
        '"here"',
        '{"name":"a","type":"tuple","components":['.repeat(levels) + ']}'.repeat(levels),
      );
      expect((await send('PUT', '/streams/evm', { body })).status).toBe(400);
    });

    const general = writes.filter(({ path }) => !path.endsWith('/address'));
    const addressRoutes: Route[] = [
      ROUTES.addEvmAddresses,
      ROUTES.removeEvmAddresses,
      ROUTES.replaceEvmAddresses,
      ROUTES.addAptosAddresses,
      ROUTES.removeAptosAddresses,
    ];

    test.each(general)('$method $path: more than 1 MiB', async (route) => {
      for (const chunked of [false, true]) {
        const body = JSON.stringify({ description: 'a'.repeat(MIB) });
        const response = await send(route.method, fill(route), { body, chunked });
        expect([response.status, errorIn(response).message]).toEqual([
          413,
          'The request body exceeds 1 MiB, the limit of this route',
        ]);
      }
    });

    test.each([SLUICE_ROUTES.createSession, SLUICE_ROUTES.deleteSession])(
      '$method $path: more than 4 KiB',
      async (route) => {
        for (const chunked of [false, true]) {
          const body = JSON.stringify({ apiKey: 'a'.repeat(4_096) });
          const response = await send(route.method, fill(route), { body, chunked });
          expect([response.status, errorIn(response).message]).toEqual([
            413,
            'The request body exceeds 4 KiB, the limit of this route',
          ]);
        }
      },
    );

    test.each(addressRoutes)('$method $path: more than 64 MiB', async (route) => {
      for (const chunked of [false, true]) {
        const body = Buffer.alloc(64 * MIB + 1, ' ');
        const response = await send(route.method, fill(route), { body, chunked });
        expect([response.status, errorIn(response).message]).toEqual([
          413,
          'The request body exceeds 64 MiB, the limit of this route',
        ]);
      }
    });
  });

  describe('the body of an address call', () => {
    const other = `0x${'ab'.repeat(20)}`;
    const labeled = async (id: string) =>
      (await client.streams.listAddresses(id)).result.map((row) => [row.address, row.label]);

    test('returns a list byte by byte, with its case and spaces', async () => {
      const { id } = await client.streams.create(goodStream());
      for (const address of [
        `"${ADDRESS}"`,
        `"0X${ADDRESS.slice(2).toUpperCase()}"`,
        ` [ "${ADDRESS}" ,\n\t"${other}", "${ADDRESS}" ] `,
        // A list with escapes is read by the ordinary JSON parser, and returned in its shortest
        // form.
        `["\\u0030x${other.slice(2)}"]`,
      ]) {
        const response = await send('POST', `/streams/evm/${id}/address`, {
          body: `{ "address" :${address}}`,
        });
        expect(response.status).toBe(200);
        expect(JSON.parse(response.text)).toMatchObject({
          streamId: id,
          address: JSON.parse(address) as unknown,
          effectiveFrom: {},
        });
      }
      expect(await labeled(id)).toEqual([
        [other, undefined],
        [ADDRESS, undefined],
      ]);
      await client.streams.delete(id);
    });

    test('accepts labels before or after the addresses, and PATCH replaces all', async () => {
      const { id } = await client.streams.create(goodStream());
      const path = `/streams/evm/${id}/address`;
      const labels = JSON.stringify({ [other.toUpperCase().replace('X', 'x')]: 'Trésor "1"' });
      const body = `{"labels":${labels},"address":["${ADDRESS}","${other}"]}`;
      expect((await send('POST', path, { body })).status).toBe(200);
      expect(await labeled(id)).toEqual([
        [other, 'Trésor "1"'],
        [ADDRESS, undefined],
      ]);
      const replacing = { address: [ADDRESS], labels: { [ADDRESS]: 'Treasury' } };
      expect((await send('PATCH', path, { body: replacing })).status).toBe(200);
      expect(await labeled(id)).toEqual([[ADDRESS, 'Treasury']]);
      expect((await client.streams.get(id)).amountOfAddresses).toBe(1);
      await client.streams.delete(id);
    });

    test.each<[string, unknown, string, RegExp]>([
      ['an invalid address', { [UNKNOWN_ID.padEnd(42, '0')]: 'x' }, 'labels', /an EVM address/],
      ['another address', { [other]: 'x' }, `labels.${other}`, /for an address in this request/],
      ['65 characters', { [ADDRESS]: 'x'.repeat(65) }, `labels.${ADDRESS}`, /be at most 64/],
      ['two lines', { [ADDRESS]: 'a\nb' }, `labels.${ADDRESS}`, /without control characters/],
    ])('rejects a label for or with %s', async (_, labels, field, message) => {
      for (const method of ['POST', 'PATCH']) {
        const body = { address: [ADDRESS], labels };
        const response = await send(method, `/streams/evm/${streamId}/address`, { body });
        expect(response.status).toBe(422);
        const details = Object.entries(errorIn(response).details ?? {});
        expect(details).toHaveLength(1);
        expect(details[0]![0]).toMatch(new RegExp(`^requestBody\\.${field}`));
        expect(details[0]![1].message).toMatch(message);
      }
    });

    test('accepts labels of Aptos addresses in any spelling', async () => {
      const { id } = await client.streams.create(goodAptosStream());
      const path = `/streams/aptos/${id}/address`;
      const framework = `0x${'1'.padStart(64, '0')}`;
      const vault = `0x${'ab'.repeat(32)}`;
      const listed = async () =>
        (await client.streams.listAddresses(id, { networkType: 'aptos' })).result;
      // The first body has the plain shape, which a separate parser reads. The ordinary JSON parser
      // reads the second body.
      const plain = { address: [vault], labels: { [vault.toUpperCase().replace('X', 'x')]: 'v' } };
      const short = { address: ['0x1'], labels: { '0x01': 'framework' } };
      for (const body of [plain, short]) {
        expect((await send('POST', path, { body })).status).toBe(200);
      }
      expect(await listed()).toEqual([
        { address: framework, label: 'framework' },
        { address: vault, label: 'v' },
      ]);
      for (const [labels, message] of [
        [{ [`0x${'2'.repeat(64)}`]: 'x' }, /for an address in this request/],
        [{ '0x2': 'x' }, /for an address in this request/],
        [{ 'greg.apt': 'x' }, /an Aptos address/],
      ] as const) {
        const response = await send('POST', path, { body: { address: [vault], labels } });
        expect(response.status).toBe(422);
        expect(Object.values(errorIn(response).details ?? {})[0]?.message).toMatch(message);
      }
      await client.streams.delete(id, { networkType: 'aptos' });
    });

    test('reads other shapes as ordinary JSON, within its limits', async () => {
      const { id } = await client.streams.create(goodStream());
      const path = `/streams/evm/${id}/address`;
      const spaced = (spaces: number) => `{"address":[${' '.repeat(spaces)}"${ADDRESS}"]}`;
      expect((await send('POST', path, { body: spaced(2_000) })).status).toBe(200);
      const large = await send('POST', path, { body: spaced(MIB) });
      expect([large.status, errorIn(large).message]).toEqual([
        400,
        expect.stringContaining('A body of more than 1048576 bytes should be {"address":[…]}'),
      ]);
      const long = await send('POST', path, { body: `{"address":["${'a'.repeat(MIB)}"]}` });
      expect([long.status, long.text.length < 2_000]).toEqual([400, true]);
      await client.streams.delete(id);

      const aptos = await client.streams.create(goodAptosStream());
      const address = Array.from({ length: 50_001 }, () => '0x1');
      const many = await send('POST', `/streams/aptos/${aptos.id}/address`, {
        body: { address },
      });
      expect([many.status, Object.keys(errorIn(many).details ?? {})]).toEqual([
        422,
        ['requestBody.address'],
      ]);
      await client.streams.delete(aptos.id, { networkType: 'aptos' });
    });

    test('rejects labels in a removal', async () => {
      const body = { address: [ADDRESS], labels: {} };
      const response = await send('DELETE', `/streams/evm/${streamId}/address`, { body });
      expect([response.status, Object.keys(errorIn(response).details ?? {})]).toEqual([
        422,
        ['requestBody.labels'],
      ]);
    });

    test('reports an invalid address by its index', async () => {
      const address = Array.from({ length: 60_000 }, () => ADDRESS);
      address[59_999] = 'vitalik.eth';
      const response = await send('POST', `/streams/evm/${streamId}/address`, {
        body: { address },
      });
      expect([response.status, errorIn(response)]).toEqual([
        400,
        {
          message: 'Invalid address provided',
          fields: {
            'requestBody.address.59999': {
              message: 'should be an EVM address: 0x and 40 hex digits',
              value: 'vitalik.eth',
            },
          },
        },
      ]);
      const odd = JSON.stringify({ address }).replace('"vitalik.eth"', '5');
      const other = await send('POST', `/streams/evm/${streamId}/address`, { body: odd });
      expect([other.status, errorIn(other).message]).toEqual([
        400,
        expect.stringMatching(/^A body of more than 1048576 bytes should be \{"address"/),
      ]);
    });
  });

  describeOnce('invalid addresses', () => {
    const routes: Route[] = [
      ROUTES.addEvmAddresses,
      ROUTES.removeEvmAddresses,
      ROUTES.replaceEvmAddresses,
    ];

    test.each(routes)('$method $path rejects an invalid address', async (route) => {
      for (const bad of [
        'vitalik.eth',
        '',
        '0x',
        ADDRESS.slice(0, -1),
        `${ADDRESS}0`,
        ` ${ADDRESS}`,
      ]) {
        for (const [address, field] of [
          [bad, 'requestBody.address'],
          [[ADDRESS, bad], 'requestBody.address.1'],
        ] as const) {
          const response = await send(route.method, fill(route), { body: { address } });
          expect([response.status, errorIn(response)]).toEqual([
            400,
            {
              message: 'Invalid address provided',
              fields: {
                [field]: { message: 'should be an EVM address: 0x and 40 hex digits', value: bad },
              },
            },
          ]);
        }
      }
    });

    test.each(routes)('$method $path rejects wrong types of addresses', async (route) => {
      const should = /^should be an address or an array of/;
      for (const address of [5, null, true, {}, [5], [[ADDRESS]]]) {
        const expected = ['requestBody.address', should, address] as const;
        await expectInvalid(route.method, fill(route), { body: { address } }, expected);
      }
      await expectInvalid(route.method, fill(route), { body: { address: [] } }, [
        'requestBody.address',
        /^should name at least one address$/,
        [],
      ]);
      await expectInvalid(route.method, fill(route), { body: {} }, ['requestBody.address', should]);
      const body = { address: ADDRESS, addresses: [] };
      await expectInvalid(route.method, fill(route), { body }, [
        'requestBody.addresses',
        /^is not a known field/,
        [],
      ]);
    });
  });

  describe('an unknown resource', () => {
    const bodies: Partial<Record<string, unknown>> = {
      updateEvmStream: { tag: 'x' },
      setEvmStreamStatus: { status: 'paused' },
      addEvmAddresses: { address: ADDRESS },
      removeEvmAddresses: { address: ADDRESS },
      replaceEvmAddresses: { address: ADDRESS },
      updateAptosStream: { tag: 'x' },
      setAptosStreamStatus: { status: 'paused' },
      addAptosAddresses: { address: '0x1' },
      removeAptosAddresses: { address: '0x1' },
    };
    const routes = Object.entries(ROUTES).filter(([, { path }]) =>
      /^\/streams\/(evm|aptos)\/\{id\}/.test(path),
    );

    test.each(routes)('is reported by %s', async (name, route) => {
      const sending = { body: bodies[name] };
      const response = await send(route.method, fill(route, UNKNOWN_ID), sending);
      expect([response.status, errorIn(response)]).toEqual([404, { message: 'Stream not found' }]);

      for (const id of ['1', 'not-a-uuid', `${UNKNOWN_ID}0`, '%00', '..%2f..', 'é']) {
        const path = fill(route, encodeURI(id).replaceAll('%25', '%'));
        await expectInvalid(route.method, path, sending, [
          'path.id',
          /^should be a stream ID, a UUID$/,
          decodeURIComponent(id),
        ]);
      }
    });

    test('includes streams of the other chain family', async () => {
      for (const [name, route] of routes) {
        const id = route.path.startsWith('/streams/aptos') ? streamId : aptosId;
        const response = await send(route.method, fill(route, id), { body: bodies[name] });
        expect([response.status, errorIn(response)]).toEqual([
          404,
          { message: 'Stream not found' },
        ]);
      }
    });

    test('includes history and statistics', async () => {
      for (const [route, param, message] of [
        [ROUTES.replayHistory, 'streamId', 'History not found'],
        [ROUTES.getStreamStats, 'streamId', 'Stat not found'],
      ] as const) {
        const response = await send(route.method, fill(route, UNKNOWN_ID));
        expect([response.status, errorIn(response)]).toEqual([404, { message }]);
        await expectInvalid(route.method, fill(route, 'x'), {}, [
          `path.${param}`,
          /^should be a stream ID, a UUID$/,
          'x',
        ]);
      }
      await expectInvalid('POST', `/history/replay/${streamId}/x`, {}, [
        'path.id',
        /^should be a history ID, a UUID$/,
        'x',
      ]);
    });

    test('includes addresses and deliveries', async () => {
      const body = { address: ['0x0000000000000000000000000000000000000001'] };
      const address = await send('DELETE', `/streams/evm/${streamId}/address`, { body });
      expect([address.status, errorIn(address)]).toEqual([404, { message: 'Address not found' }]);
      const delivery = await send('GET', fill(SLUICE_ROUTES.getDelivery, UNKNOWN_ID));
      expect([delivery.status, errorIn(delivery)]).toEqual([
        404,
        { message: 'Delivery not found' },
      ]);
      const itsBody = await send('GET', fill(SLUICE_ROUTES.getDeliveryBody, UNKNOWN_ID));
      expect([itsBody.status, errorIn(itsBody)]).toEqual([404, { message: 'Delivery not found' }]);
      for (const id of ['x', '%00', '%F0%9F%8C%8A']) {
        for (const route of [SLUICE_ROUTES.getDelivery, SLUICE_ROUTES.getDeliveryBody]) {
          await expectInvalid('GET', fill(route, id), {}, [
            'path.id',
            /^should be a delivery ID, a UUID$/,
            decodeURIComponent(id),
          ]);
        }
      }
    });
  });

  describeOnce('an invalid query', () => {
    test('accepts 500 delivery ids, and rejects 501', async () => {
      const ids = Array.from({ length: 501 }, () => `id=${randomUUID()}`);
      const list = (count: number): Promise<RawResponse> =>
        send('GET', `/sluice/deliveries?${ids.slice(0, count).join('&')}`);
      expect((await list(500)).status).toBe(200);
      const response = await list(501);
      expect([response.status, Object.keys(errorIn(response).details ?? {})]).toEqual([
        422,
        ['query.id'],
      ]);
    });

    const lists: Route[] = [
      ROUTES.listEvmStreams,
      ROUTES.listEvmAddresses,
      ROUTES.listAptosStreams,
      ROUTES.listAptosAddresses,
      ROUTES.listHistory,
      ROUTES.listLogs,
      SLUICE_ROUTES.listDeliveries,
    ];
    const position = (...parts: unknown[]): string =>
      Buffer.from(JSON.stringify(parts)).toString('base64url');

    test.each(lists)('$path rejects invalid limits and cursors', async (route) => {
      const refuse = (query: string, expected: readonly [string, RegExp, unknown?]) =>
        expectInvalid(route.method, `${fill(route)}?${query}`, {}, expected);
      for (const limit of ['0', '101', '-1', '1.5', 'abc', '', '1e3', 'NaN', 'Infinity']) {
        await refuse(`limit=${limit}`, [
          'query.limit',
          /^should be a whole number from 1 to 100$/,
          limit,
        ]);
      }
      for (const cursor of [
        'garbage',
        '%00',
        position(),
        position('a', 1),
        position(1.5, UNKNOWN_ID),
        position(-1, UNKNOWN_ID),
        position(1e300, UNKNOWN_ID),
        position(1, 'a\0b'),
        Buffer.from('{').toString('base64url'),
      ]) {
        await refuse(`cursor=${cursor}`, [
          'query.cursor',
          /^should be the cursor of an earlier response, unchanged$/,
          decodeURIComponent(cursor),
        ]);
      }
      const strayed = await send(route.method, `${fill(route)}?limit=1&offset=5`);
      expect([strayed.status, strayed.headers['x-ignored-query']]).toEqual([200, 'offset']);
    });

    test.each<[string, string, RegExp]>([
      ['streamId', 'x', /^should be a stream ID, a UUID$/],
      ['transactionHash', '0x12', /^should be 0x and 64 hex digits$/],
      ['chainId', 'eth', /^should be a chain ID in hex/],
      ['blockNumber', '-1', /^should be a whole number, 0 or more$/],
      ['fromTimestamp', 'now', /^should be a whole number, 0 or more$/],
      ['toTimestamp', '1.5', /^should be a whole number, 0 or more$/],
    ])('rejects history and logs by a %s of %s', async (field, value, message) => {
      for (const { path } of [ROUTES.listHistory, ROUTES.listLogs]) {
        const inList = field === 'chainId' || field === 'blockNumber';
        await expectInvalid('GET', `${path}?${field}=${value}`, {}, [
          `query.${field}${inList ? '.0' : ''}`,
          message,
          value,
        ]);
      }
    });

    test('rejects unknown filters of logs and history', async () => {
      await expectInvalid('GET', '/history/logs?deliveryStatus=lost', {}, [
        'query.deliveryStatus.0',
        /^should be one of failed, success$/,
        'lost',
      ]);
      await expectInvalid('GET', '/history?excludePayload=1', {}, [
        'query.excludePayload',
        /^should be true or false$/,
        '1',
      ]);
      await expectInvalid('GET', '/history?fromTimestamp=5&toTimestamp=4', {}, [
        'query.toTimestamp',
        /^should not be before fromTimestamp$/,
        '4',
      ]);
    });

    test('rejects unknown states', async () => {
      await expectInvalid('GET', '/streams/evm?status=asleep', {}, [
        'query.status',
        /^should be one of active, paused, error, terminated$/,
        'asleep',
      ]);
      await expectInvalid('GET', '/sluice/deliveries?state=lost', {}, [
        'query.state.0',
        /^should be one of enriching, held, pending, retrying, leased, succeeded, failed, quarantined, cancelled$/,
        'lost',
      ]);
      await expectInvalid('GET', '/sluice/deliveries?streamId=1', {}, [
        'query.streamId.0',
        /^should be a stream ID, a UUID$/,
        '1',
      ]);
    });
  });

  describeOnce('a caller without the key', () => {
    const open: readonly Route[] = [
      SLUICE_ROUTES.createSession,
      SLUICE_ROUTES.deleteSession,
      SLUICE_ROUTES.listPublicKeys,
    ];
    const closed = everyRoute.filter((route) => !open.includes(route));

    test.each(closed)('$method $path rejects a caller without the key', async (route) => {
      const path = fill(route);
      const body = route.method === 'GET' ? undefined : goodStream();
      for (const [key, message] of [
        [undefined, /^No API key: send yours in the x-api-key header$/],
        ['', /^Invalid API key: it does not match a valid key/],
        ['wrong', /^Invalid API key: it does not match a valid key/],
        [`${API_KEY} `.repeat(2), /^Invalid API key/],
        [API_KEY.toUpperCase(), /^Invalid API key/],
      ] as const) {
        const headers = { 'x-api-key': key };
        const response = await send(route.method, path, { body, headers });
        expect(response.status).toBe(401);
        expect(errorIn(response).message).toMatch(message);
        expect(response.text).not.toContain(API_KEY);
      }
    });

    test('is refused without waiting for its megabytes', async () => {
      const body = Buffer.alloc(8 * MIB, ' ');
      const headers = { 'x-api-key': 'wrong' };
      const response = await send('POST', `/streams/evm/${streamId}/address`, { body, headers });
      expect(response.status).toBe(401);
    });
  });

  describeOnce('an unknown route', () => {
    test.each([
      ['PATCH', '/streams/evm', 'GET, PUT'],
      ['POST', '/streams/evm', 'GET, PUT'],
      ['PUT', '/streams/evm/{id}', 'GET, POST, DELETE'],
      ['GET', '/streams/evm/{id}/status', 'POST'],
      ['PUT', '/streams/evm/{id}/address', 'GET, POST, DELETE, PATCH'],
      ['DELETE', '/sluice/deliveries/{id}', 'GET'],
      ['POST', '/health', 'GET'],
    ])('%s %s is not allowed', async (method, path, allowed) => {
      const there = path.replace('{id}', streamId);
      const response = await send(method, there, { body: {} });
      expect([response.status, errorIn(response)]).toEqual([
        405,
        {
          message: `${there} does not support ${method}: use ${allowed.replaceAll(', ', ' or ')}`,
        },
      ]);
      expect(response.headers.allow).toBe(allowed);
    });

    test.each(['/streams', '/streams/evm/', '/streams/solana', '/nowhere', '/streams/evm/a/b/c'])(
      '%s is not found',
      async (path) => {
        const response = await send('GET', path);
        expect([response.status, errorIn(response)]).toEqual([
          404,
          { message: `No route GET ${path}` },
        ]);
      },
    );
  });

  describe('a webhook URL that rejects webhooks', () => {
    afterEach(() => sink.respond(200));

    const cases: [string, () => Promise<string> | string, RegExp][] = [
      ['responds with 500', () => (sink.respond(500), `${sink.url}/500`), /it failed: HTTP 500$/],
      ['responds with 404', () => (sink.respond(404), `${sink.url}/404`), /it failed: HTTP 404$/],
      ['redirects', () => (sink.respond(302), `${sink.url}/302`), /redirects are not followed/],
      [
        'breaks the connection',
        () => (sink.respond({ silence: 'reset' }), `${sink.url}/reset`),
        /it failed: \S/,
      ],
      [
        'refuses connections',
        async () => `http://127.0.0.1:${await findFreePort()}/`,
        /it failed: .*ECONNREFUSED/,
      ],
      ['has no such host', () => 'http://sluice.invalid/', /it failed: .*sluice\.invalid/],
      ['cannot be a login', () => 'http://%zz:b@127.0.0.1/', /it failed: \S/],
    ];

    test.each(cases)('%s', async (_, prepare, why) => {
      const webhookUrl = await prepare();
      const shown = webhookUrl.replace('%zz:b@', '***@');
      for (const [method, path, body] of [
        ['PUT', '/streams/evm', { ...goodStream(), webhookUrl }],
        ['POST', `/streams/evm/${streamId}`, { webhookUrl }],
      ] as const) {
        const response = await send(method, path, { body });
        expect([response.status, errorIn(response)]).toEqual([
          400,
          {
            message: `Could not POST to ${shown}. Please check your webhook URL.`,
            fields: {
              'requestBody.webhookUrl': {
                message: expect.stringMatching(why) as unknown,
                value: shown,
              },
            },
          },
        ]);
      }
    });

    test('a paused stream stays paused', async () => {
      const { id } = await client.streams.create(goodStream());
      await client.streams.setStatus(id, 'paused');
      sink.respond(500);
      const body = { status: 'active' };
      const response = await send('POST', `/streams/evm/${id}/status`, { body });
      expect(response.status).toBe(400);
      expect(errorIn(response).message).toMatch(/^Could not POST to .*\/good\. Please check/);
      expect((await client.streams.get(id)).status).toBe('paused');
      await client.streams.delete(id);
    });
  });

  test('a private webhook URL is refused unless the operator allows it', async () => {
    const strict = await serve(['--data', join(folder, 'strict')], {
      allowPrivateEndpoints: false,
    });
    try {
      const { port } = new URL(sink.url);
      sink.clear();
      const without = await stored(strict);
      for (const host of [
        '127.0.0.1',
        'localhost',
        'LOCALHOST',
        '0x7f000001',
        '[::1]',
        '[::ffff:127.0.0.1]',
        '10.0.0.1',
        '169.254.169.254',
      ]) {
        const webhookUrl = `http://${host}:${port}/private`;
        const body = { ...goodStream(), webhookUrl };
        await expectInvalid('PUT', '/streams/evm', { body, to: strict }, [
          'requestBody.webhookUrl',
          /is private, loopback or reserved; start the service with --allow-cidr/,
          webhookUrl,
        ]);
      }
      expect(sink.requests).toEqual([]);
      expect(await stored(strict)).toEqual(without);
    } finally {
      expect(await strict.stop()).toBe(0);
    }
  });

  describeOnce('a browser', () => {
    test('is refused on every route with a foreign host name', async () => {
      const { port } = new URL(service.url);
      for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example']) {
        for (const { method, path } of [...everyRoute, { method: 'GET', path: '/health' }]) {
          const response = await send(method, path.replace('{id}', streamId), {
            headers: { host },
          });
          expect([response.status, errorIn(response).message]).toEqual([
            403,
            `Host ${JSON.stringify(host)} is not accepted: pass it to --allow-host`,
          ]);
        }
      }
      for (const host of ['localhost', `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
        expect((await send('GET', '/streams/evm', { headers: { host } })).status).toBe(200);
      }
    });

    /** Returns the headers of a request from a page: a cookie, an origin if given, and no key. */
    const withCookie = (cookie: string, origin?: string): OutgoingHttpHeaders => ({
      'x-api-key': undefined,
      cookie,
      ...(origin !== undefined && { origin }),
    });

    test('signs in only with the key, reads, and writes only from the console', async () => {
      const { method, path } = SLUICE_ROUTES.createSession;
      const key = { 'x-api-key': undefined };
      for (const body of [{ apiKey: 'wrong' }, { apiKey: '' }]) {
        const response = await send(method, path, { body, headers: key });
        expect([response.status, errorIn(response)]).toEqual([401, { message: 'Invalid API key' }]);
        expect(response.headers['set-cookie']).toBeUndefined();
      }
      await expectInvalid(method, path, { body: { apiKey: 5 }, headers: key }, [
        'requestBody.apiKey',
        /^should be a string$/,
        5,
      ]);
      const body = { apiKey: API_KEY };
      const foreign = await send(method, path, {
        body,
        headers: { ...key, origin: 'http://evil.example' },
      });
      expect(foreign.status).toBe(403);

      const signedIn = await send(method, path, { body, headers: key });
      expect(signedIn.status).toBe(204);
      const [setCookie = ''] = signedIn.headers['set-cookie'] ?? [];
      expect(setCookie).toMatch(/; HttpOnly/);
      expect(setCookie).toMatch(/; SameSite=Strict/);
      expect(setCookie).not.toContain(API_KEY);
      const cookie = setCookie.split(';')[0]!;

      for (const route of everyRoute.filter(({ method }) => method === 'GET')) {
        const headers = withCookie(cookie, 'http://evil.example');
        const response = await send('GET', fill(route), { headers });
        // Access is granted, whether or not the resource exists.
        expect([401, 403], `${route.path}: ${response.text}`).not.toContain(response.status);
      }

      for (const origin of ['http://evil.example', 'null', `${service.url}.evil.example`, '']) {
        for (const route of everyRoute.filter(({ method }) => method !== 'GET')) {
          if (route === SLUICE_ROUTES.deleteSession || route === SLUICE_ROUTES.createSession)
            continue;
          const headers = withCookie(cookie, origin);
          const sending = { body: goodStream(), headers };
          const response = await send(route.method, fill(route), sending);
          expect([response.status, errorIn(response).message]).toEqual([
            403,
            `Requests from ${origin} are not accepted`,
          ]);
        }
      }

      const own = withCookie(cookie, service.url);
      const created = await send('PUT', '/streams/evm', { body: goodStream(), headers: own });
      expect(created.status).toBe(200);
      const { id } = JSON.parse(created.text) as { id: string };
      expect((await send('DELETE', `/streams/evm/${id}`, { headers: own })).status).toBe(200);
    });
  });

  test('every response has its own request id', async () => {
    const responses = [
      await send('GET', '/health'),
      await send('GET', '/'),
      await send('GET', '/streams/evm'),
      await send('GET', SLUICE_ROUTES.liveEvents.path),
      await send('GET', SLUICE_ROUTES.checkSession.path),
      await send('GET', '/nowhere'),
      await send('PUT', '/streams/evm', { body: '{' }),
      await send('GET', '/streams/evm', { headers: { 'x-api-key': 'wrong' } }),
      await send('PUT', '/streams/evm', { body: 'a'.repeat(MIB + 1) }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 204, 404, 400, 401, 413,
    ]);
    const ids = responses.map(({ headers }) => headers['x-request-id']);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  describe('a node that is down or on the wrong chain', () => {
    interface Health {
      chains: { id: string; state: string; message: string; head: number | null }[];
    }
    const readHealth = async (of: Served): Promise<Health> => {
      const response = await send('GET', '/sluice/chains', { to: of });
      expect(response.status).toBe(200);
      return { chains: (JSON.parse(response.text) as { result: Health['chains'] }).result };
    };
    const chainThat = (of: Served, state: string) =>
      until(`the chain is ${state}`, async () =>
        (await readHealth(of)).chains.find((chain) => chain.state === state),
      );

    test('is reported with the reason, and used again once it recovers', async () => {
      const port = await findFreePort();
      const nodes: Anvil[] = [];
      const watching = await serve([
        ...['--data', join(folder, 'nodes')],
        ...['--chain', `${CHAIN}=http://127.0.0.1:${port},poll=50`],
      ]);
      try {
        const unreachable = await chainThat(watching, 'down');
        expect(unreachable).toMatchObject({ id: CHAIN, head: null });
        expect(unreachable.message).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}.*ECONNREFUSED`));

        // The API works although the node is down.
        const other = createClient({ apiKey: API_KEY, baseUrl: watching.url });
        const stream = await other.streams.create({ ...goodStream(), includeNativeTxs: true });
        expect(stream.status).toBe('active');

        nodes.push(await startAnvil({ port, chainId: 5 }));
        const wrong = await until('the wrong chain is reported', async () =>
          (await readHealth(watching)).chains.find(({ message }) =>
            message.includes('serves chain'),
          ),
        );
        expect(wrong).toMatchObject({ id: CHAIN, state: 'down' });
        expect(wrong.message).toBe(
          `127.0.0.1:${port} serves chain 0x5, not ${CHAIN}. Correct --chain ${CHAIN}=<rpcUrl>`,
        );
        await nodes[0]!.stop();

        const node = await startAnvil({ port });
        nodes.push(node);
        const live = await chainThat(watching, 'live');
        expect(live).toMatchObject({ id: CHAIN, message: '', head: 0 });

        // Webhooks of the recovered chain are delivered.
        const watched = node.accounts[3]!.address;
        await other.streams.addAddress(stream.id, watched);
        await node.request('eth_sendTransaction', [
          { from: node.accounts[0]!.address, to: watched, value: '0x1' },
        ]);
        await sink.waitFor(({ body }) => body.includes(stream.id));

        await node.stop();
        const lost = await chainThat(watching, 'down');
        expect(lost.message).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}`));
      } finally {
        expect(await watching.stop()).toBe(0);
        for (const node of nodes) await node.stop();
      }
    });
  });
});
