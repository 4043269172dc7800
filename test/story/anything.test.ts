/**
 * Sends random requests to every route, with valid and invalid credentials. No response may be a
 * 5xx, leak internals, or grant access without valid credentials.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@sluice/kit';
import { eachCall } from '@sluice/kit/calls';
import type { Route } from '@sluice/kit/contract';
import { createSluiceClient } from '@sluice/kit/sluice';
import { type Postgres, type WebhookSink, startPostgres, startWebhookSink } from '@sluice/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';
import { type RawResponse, type RawSending, sendRaw } from './sendRaw.ts';

const CHAIN = '0x7a69';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const ADDRESS = '0xcfdf6aaae9f6b927e3736fbd327853b622c5060e';
const RUNS_PER_ROUTE = 20;

const everyRoute = eachCall.map(([, call]) => call);
const STACK = /\n\s+at |node_modules|\.[jt]s:\d|node:internal|\/packages\//;

/** Requests that caused failures in the past, in Sluice or in other services. */
const KEPT: readonly [string, string, RawSending][] = [
  ['PUT', '/streams/evm', { body: '{"tag":"\\u0000","description":"","chainIds":["0x1"]}' }],
  ['PUT', '/streams/evm', { body: '{"__proto__":{"webhookUrl":1},"constructor":null}' }],
  ['PUT', '/streams/evm', { body: Buffer.from([0xff, 0xfe, 0x00, 0xd8]) }],
  ['PUT', '/sluice/inboxes/%00', { body: { status: 200 } }],
  ['PUT', '/sluice/inboxes/%ED%A0%80', { body: { status: 200 } }],
  ['GET', '/sluice/deliveries?error=%00', {}],
  ['GET', '/sluice/deliveries?blockFrom=9e99&createdTo=-1', {}],
  ['GET', '/history/logs?chainId=%00&transactionHash=%ED%A0%80', {}],
  ['GET', '/history?cursor=WzEsIlx1MDAwMCJd', {}],
  ['GET', '/streams/evm?cursor=WzllOTksIngiXQ', {}],
  ['GET', '/streams/evm/%', {}],
  ['GET', '/console/%', {}],
  ['GET', '/console/..%2f..%2fpackage.json', {}],
  ['GET', '/console/%00.js', {}],
  ['GET', '/sluice/events', { headers: { 'last-event-id': '-'.repeat(5_000) } }],
  ['DELETE', '/sluice/keys/__proto__', {}],
  ['GET', '/stats/%C0%AF', {}],
  ['GET', '/sluice/explain', { headers: { 'accept-encoding': '*' } }],
  ['POST', '/sluice/timelines', { headers: { 'accept-encoding': 'deflate' } }],
  ['POST', '/sluice/replays', { body: '{"createdFrom":1e308,"perSecond":1e-320}' }],
];

const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(ADDRESS, UNKNOWN_ID, CHAIN, 'true', '1', '', '\0', '__proto__', '../..', '%'),
);
const fieldName = fc.constantFrom(
  ...['webhookUrl', 'description', 'tag', 'chainIds', 'topic0', 'abi', 'allAddresses', 'address'],
  ...['triggers', 'advancedOptions', 'getNativeBalances', 'includeAllTxLogs', 'status', 'apiKey'],
  ...['region', 'secretKey', 'network', 'functions', 'events', 'headers', 'maxPerSecond', 'labels'],
  ...['name', 'scopes', 'cidrs', 'expiresAt', 'overlapSeconds', 'from', 'to', 'block', 'version'],
  ...['streamId', 'state', 'error', 'perSecond', 'replayId', 'delayMs', 'body', 'blockFrom'],
  ...['__proto__', 'constructor', 'toString', 'type', 'inputs', 'components', 'filter'],
);
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom([ADDRESS], [CHAIN], ['A(uint256)'], 'event', 'tuple', 'uint256[]', 1e300, -1),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fieldName, word), tie('value'), { maxKeys: 4 }),
  ),
})).value;
const cursor = fc
  .tuple(fc.oneof(fc.double(), fc.integer(), word), word)
  .map((position) => Buffer.from(JSON.stringify(position)).toString('base64url'));
const query = fc.array(
  fc.tuple(
    fc.oneof(
      fc.constantFrom(
        ...['limit', 'cursor', 'status', 'state', 'streamId', 'transactionHash', 'chainId'],
        ...['blockNumber', 'fromTimestamp', 'toTimestamp', 'deliveryStatus', 'excludePayload'],
        ...['phase', 'error', 'blockFrom', 'createdTo', 'attemptsFrom', 'replayId', 'address'],
        ...['txHash', 'hours', 'bucket', 'includeChains'],
      ),
      word,
    ),
    fc.oneof(word, cursor, fc.integer().map(String), fc.constantFrom('active', 'failed', '4xx')),
  ),
  { maxLength: 3 },
);
/** Text that Node allows in a header. */
const headerText = fc.string({ unit: 'binary-ascii', maxLength: 30 }).map((text) =>
  // oxlint-disable-next-line no-control-regex -- a header must not contain these
  text.replaceAll(/[\u0000-\u001f\u007f]/g, ''),
);
const oddHeaders = fc.dictionary(
  fc.constantFrom(
    ...['accept', 'content-type', 'last-event-id', 'x-forwarded-host', 'x-forwarded-for'],
    ...['x-forwarded-proto', 'content-encoding', 'if-none-match', 'range', 'expect', 'forwarded'],
    ...['x-http-method-override', 'host', 'referer', 'user-agent', 'accept-encoding', 'upgrade'],
    ...['sec-fetch-site', 'origin', 'traceparent', 'cookie', 'access-control-request-method'],
  ),
  fc.oneof(headerText, fc.constantFrom('application/json', 'gzip', '127.0.0.1', 'a=b; =;;', '*')),
  { maxKeys: 3 },
);
/** Generates the usual value most of the time, so that requests also get past the first checks. */
const mostly = <T>(arb: fc.Arbitrary<T>, usual: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(usual) }, arb);
const id = fc.oneof(fc.constant('an existing one'), fc.constant(UNKNOWN_ID), word);
/** Encodes text for a URL. Lone surrogates cannot be encoded, so they are replaced. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed());

describe.each(['SQLite', 'PostgreSQL'])('over %s', (engine) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-anything-'));
  let postgres: Postgres | undefined;
  let sink: WebhookSink;
  let service: Served;
  let client: Client;
  /** Headers with valid credentials (`good`), and with missing or invalid ones (`bad`). */
  let good: OutgoingHttpHeaders[];
  let bad: OutgoingHttpHeaders[];

  beforeAll(async () => {
    sink = await startWebhookSink();
    if (engine === 'PostgreSQL') postgres = await startPostgres();
    const database = postgres === undefined ? [] : ['--database-url', postgres.url];
    const flags = ['--data', join(folder, 'data'), '--rate-limit', '100000', ...database];
    service = await serve(flags);
    client = createClient({ apiKey: API_KEY, baseUrl: service.url });
    const admin = createSluiceClient({ apiKey: API_KEY, baseUrl: service.url });
    const [whole, ended, elsewhere] = await Promise.all([
      admin.createApiKey({ name: 'whole' }),
      admin.createApiKey({ name: 'ended' }),
      admin.createApiKey({ name: 'elsewhere', cidrs: ['10.0.0.0/8'] }),
    ]);
    await admin.revokeApiKey(ended.id);
    const { response } = await admin.createSession(whole.key).withResponse();
    const cookie = response.headers.get('set-cookie')!.split(';')[0]!;
    good = [
      { 'x-api-key': API_KEY },
      { 'x-api-key': whole.key },
      { authorization: `Bearer ${whole.key}` },
      { cookie, 'sec-fetch-site': 'same-origin' },
    ];
    bad = [
      {},
      { 'x-api-key': '' },
      { 'x-api-key': ended.key },
      { 'x-api-key': elsewhere.key },
      { 'x-api-key': `${whole.key.slice(0, -1)}~` },
      { 'x-api-key': '\u00ff'.repeat(4_000) },
      { authorization: `Basic ${API_KEY}` },
      { authorization: 'Bearer ' },
      { cookie: `${cookie.slice(0, -2)}~~` },
      { cookie: 'sluice_session=' },
      { cookie: cookie.replace('=', '=%') },
      { cookie, 'x-api-key': whole.key },
    ];
  });
  afterAll(async () => {
    expect(await service?.stop()).toBe(0);
    await postgres?.stop();
    await sink?.close();
    rmSync(folder, { recursive: true });
  });

  const body = fc.oneof(
    fc.constant(undefined),
    fc.dictionary(fieldName, value, { maxKeys: 8 }).map((fields) => JSON.stringify(fields)),
    // Mostly valid streams, so that requests also get past the checks.
    ...[{ chainIds: [CHAIN] }, { network: ['mainnet'] }].map((watched) =>
      fc.dictionary(fieldName, value, { maxKeys: 2 }).map((fields) =>
        JSON.stringify({
          webhookUrl: `${sink.url}/any`,
          description: '',
          tag: 'any',
          ...watched,
          ...fields,
        }),
      ),
    ),
    value.map((it) => JSON.stringify(it)),
    fc.json(),
    word,
    fc.uint8Array({ maxLength: 200 }),
  );

  const own = { evm: '', aptos: '' };
  const makeSureOfStreams = async (): Promise<void> => {
    const common = { webhookUrl: `${sink.url}/own`, description: '', tag: 'own' };
    own.evm = await client.streams.get(own.evm || UNKNOWN_ID).then(
      () => own.evm,
      async () => (await client.streams.create({ ...common, chainIds: [CHAIN] })).id,
    );
    own.aptos = await client.streams.get(own.aptos || UNKNOWN_ID, { networkType: 'aptos' }).then(
      () => own.aptos,
      async () => {
        const network = ['testnet'] as const;
        return (await client.streams.create({ ...common, networkType: 'aptos', network })).id;
      },
    );
  };
  const fill = ({ path }: Route, given: string): string => {
    const there: Record<string, string> = {
      chainId: CHAIN,
      blockNumber: '1',
      network: 'testnet',
      name: 'box',
      keyId: 'none',
      id: path.includes('aptos') ? own.aptos : own.evm,
      streamId: path.includes('aptos') ? own.aptos : own.evm,
    };
    return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encode(given === 'an existing one' ? (there[name] ?? '') : given),
    );
  };

  const expectSound = ({ status, headers, text }: RawResponse): void => {
    expect(status, text).toBeLessThan(500);
    expect(status).toBeGreaterThanOrEqual(200);
    expect(text).not.toMatch(STACK);
    // Node rejects malformed HTTP before the request gets an id.
    if (status < 400 || headers['x-request-id'] === undefined) return;
    const error = JSON.parse(text) as { message: unknown; requestId: unknown };
    expect(error.requestId).toBe(headers['x-request-id']);
    expect(error.message).toEqual(expect.any(String));
  };

  test.each(everyRoute)('$method $path responds soundly to any request', async (route) => {
    const saidBefore = service.output().length;
    await makeSureOfStreams();
    const isSignOut = route.method === 'DELETE' && route.path === '/sluice/session';
    const mayShow = (shown: object): boolean => !isSignOut || !('cookie' in shown);
    const request = fc.record({
      id,
      query,
      body,
      odd: mostly(oddHeaders, {}),
      shown: fc.oneof(
        // Signing out would end the session that the tests of all routes share.
        { weight: 2, arbitrary: fc.constantFrom(...good.filter(mayShow)) },
        fc.constantFrom(...bad.filter(mayShow)),
      ),
      chunked: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ id, query, body, odd, shown, chunked }) => {
        const search = query.map((pair) => pair.map(encode).join('=')).join('&');
        const path = fill(route, id) + (search === '' ? '' : `?${search}`);
        const headers = { ...odd, ...shown };
        const response = await sendRaw(service.url, route.method, path, { body, headers, chunked });
        expectSound(response);
        if (route.scope === 'open') return;
        if (bad.includes(shown))
          expect([400, 401, 403, 404, 405, 417, 429]).toContain(response.status);
        else if (Object.keys(odd).length === 0) expect(response.status).not.toBe(401);
      }),
      { numRuns: RUNS_PER_ROUTE },
    );
    expect((await sendRaw(service.url, 'GET', '/health')).status).toBe(200);
    expect(service.output().slice(saidBefore)).not.toMatch(/ error /);
  });

  test.each(KEPT)(
    '%s %s responds soundly to a request that once failed',
    async (method, path, { headers, ...sending }) => {
      const saidBefore = service.output().length;
      for (const shown of [good[0]!, good[3]!, bad[0]!]) {
        const all = { ...headers, ...shown };
        expectSound(await sendRaw(service.url, method, path, { ...sending, headers: all }));
      }
      expect(service.output().slice(saidBefore)).not.toMatch(/ error /);
    },
  );
});
