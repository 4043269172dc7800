import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { createClient } from './client.ts';
import type { ClientOptions } from './client.ts';
import type { FieldProblem, SluiceError } from '../errors.ts';
import { isSluiceError } from '../errors.ts';
import { retryWaitMs } from './request.ts';
import type { ReceivedResponse, Retry, SentRequest } from './request.ts';

const KEY = 'very-secret-api-key';
const STREAM = { webhookUrl: 'https://example.com', description: '', chainIds: ['0x1'] };
const ADDRESS = `0x${'1'.repeat(40)}`;

type FakeResponse = Response | Error | (() => Promise<Response>);

/**
 * Creates a client whose `fetch` returns these responses in order, and then repeats the last one.
 */
function fakeClient(given: readonly FakeResponse[], options: Partial<ClientOptions> = {}) {
  const left = [...given];
  const fetch = vi.fn<typeof globalThis.fetch>(async () => {
    const response = left.length > 1 ? left.shift() : left[0];
    if (response instanceof Error) throw response;
    if (typeof response === 'function') return response();
    return response?.clone() ?? Response.error();
  });
  const client = createClient({ apiKey: KEY, baseUrl: 'http://sluice.test', fetch, ...options });
  return { ...client, fetch };
}

const ok = () => Response.json({ id: 'a' });
const failed = (status: number, headers: Record<string, string> = {}, body: unknown = {}) =>
  Response.json(body, { status, headers });

async function errorOf(promise: PromiseLike<unknown>): Promise<SluiceError> {
  try {
    await promise;
  } catch (error) {
    if (isSluiceError(error)) return error;
    throw error;
  }
  throw new Error('The call did not reject');
}

/** Returns every string that is reachable from a value, including non-enumerable properties. */
function textsIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value];
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return [];
  if (seen.has(value)) return [];
  seen.add(value);
  return Object.values(Object.getOwnPropertyDescriptors(value)).flatMap((property) =>
    textsIn(property.value, seen),
  );
}

/** Returns the error that Node's `fetch` throws. */
const fetchFailed = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });

beforeEach(() => {
  // Removes the wait between attempts.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe('retries', () => {
  it.each([408, 429, 500, 502, 503, 504, 599])('a read is retried on %i', async (status) => {
    const { streams, fetch } = fakeClient([failed(status), failed(status), ok()]);
    expect(await streams.get('a')).toMatchObject({ id: 'a' });
    expect(fetch).toHaveBeenCalledTimes(3);
  });

  it.each([400, 401, 403, 404, 409, 413, 422, 418])('nothing is retried on %i', async (status) => {
    const { streams, fetch } = fakeClient([failed(status), ok()]);
    expect(await errorOf(streams.get('a'))).toMatchObject({ status });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('a call is retried twice by default, or maxRetries times', async () => {
    const { streams, fetch } = fakeClient([failed(503)]);
    expect(await errorOf(streams.get('a'))).toMatchObject({ code: 'server_error', status: 503 });
    expect(fetch).toHaveBeenCalledTimes(3);
    await errorOf(streams.get('a', { maxRetries: 0 }));
    expect(fetch).toHaveBeenCalledTimes(4);
    const patient = fakeClient([failed(503)], { maxRetries: 5 });
    await errorOf(patient.streams.get('a'));
    expect(patient.fetch).toHaveBeenCalledTimes(6);
  });

  it('a read or list is retried after a network failure', async () => {
    const page = Response.json({ result: [], total: 0 });
    const { streams, fetch } = fakeClient([new TypeError('fetch failed'), page]);
    expect((await streams.list()).result).toEqual([]);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  type Write = (streams: ReturnType<typeof fakeClient>['streams']) => Promise<unknown>;
  const repeatable: [string, Write][] = [
    ['update', (streams) => streams.update('a', { tag: 'b' })],
    ['setStatus', (streams) => streams.setStatus('a', 'paused')],
    ['addAddress', (streams) => streams.addAddress('a', ADDRESS)],
  ];
  const moreRepeatable: [string, (client: ReturnType<typeof fakeClient>) => Promise<unknown>][] = [
    ['settings.set', (client) => client.settings.set({ region: 'us-east-1' })],
    ['replaceAddresses', (client) => client.streams.replaceAddresses('a', [ADDRESS])],
    [
      'dryRunBlock, which writes nothing',
      (client) => client.streams.dryRunBlock({ chainId: 1, blockNumber: 1 }),
    ],
  ];
  it.each(moreRepeatable)('%s is retried like a read', async (_, write) => {
    const client = fakeClient([failed(500), ok()]);
    await write(client);
    expect(client.fetch).toHaveBeenCalledTimes(2);
  });

  const once: [string, Write][] = [
    ['duplicate', (streams) => streams.duplicate('a')],
    ['sendBlock', (streams) => streams.sendBlock({ chainId: 1, blockNumber: 1, streamId: 'a' })],
    [
      'createHistoricalJob',
      (streams) =>
        streams.createHistoricalJob({ chainId: 1, streamId: 'a', blockFrom: 1, blockTo: 2 }),
    ],
    ['create', (streams) => streams.create(STREAM)],
    ['delete', (streams) => streams.delete('a')],
    ['removeAddress', (streams) => streams.removeAddress('a', ADDRESS)],
  ];

  it.each(repeatable)('%s is idempotent and retried like a read', async (_, write) => {
    for (const problem of [failed(500), failed(408), new TypeError('fetch failed')]) {
      const { streams, fetch } = fakeClient([problem, ok()]);
      await write(streams);
      expect(fetch).toHaveBeenCalledTimes(2);
    }
  });

  it.each(once)('%s is not retried once it may have taken effect', async (_, write) => {
    for (const problem of [
      failed(500),
      failed(503, { 'retry-after': '0' }),
      failed(408),
      new TypeError('fetch failed'),
      fetchFailed('ECONNRESET'),
      fetchFailed('UND_ERR_SOCKET'),
    ]) {
      const { streams, fetch } = fakeClient([problem, ok()]);
      await errorOf(write(streams));
      expect(fetch).toHaveBeenCalledTimes(1);
    }
  });

  it.each([...once, ...repeatable])('%s is retried if it had no effect', async (_, write) => {
    for (const problem of [
      failed(429),
      fetchFailed('ECONNREFUSED'),
      fetchFailed('ENOTFOUND'),
      fetchFailed('UND_ERR_CONNECT_TIMEOUT'),
    ]) {
      const { streams, fetch } = fakeClient([problem, ok()]);
      await write(streams);
      expect(fetch).toHaveBeenCalledTimes(2);
    }
  });

  it('a retry waits as long as Retry-After requests', async () => {
    const { streams } = fakeClient([failed(429, { 'retry-after': '0.3' }), ok()]);
    const started = performance.now();
    await streams.get('a');
    expect(performance.now() - started).toBeGreaterThan(290);
  });

  it('a wait of more than a minute is returned to the caller instead', async () => {
    const { streams, fetch } = fakeClient([failed(429, { 'retry-after': '61' }), ok()]);
    expect(await errorOf(streams.get('a'))).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 61_000,
    });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('a retry waits a random part of a limit that doubles', () => {
    expect([0, 1, 2, 9].map((attempt) => retryWaitMs(attempt, undefined))).toEqual([0, 0, 0, 0]);
    vi.mocked(Math.random).mockReturnValue(0.5);
    expect([0, 1, 2, 9].map((attempt) => retryWaitMs(attempt, undefined))).toEqual([
      250, 500, 1000, 4000,
    ]);
    expect(retryWaitMs(3, 7)).toBe(7);
  });
});

describe('errors', () => {
  it.each([
    [400, 'bad_request'],
    [401, 'unauthorized'],
    [402, 'unexpected_status'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [413, 'payload_too_large'],
    [422, 'validation_failed'],
    [429, 'rate_limited'],
    [500, 'server_error'],
  ])('%i is %s', async (status, code) => {
    const headers = { 'x-request-id': 'req-1' };
    const { streams } = fakeClient([failed(status, headers, { message: 'Why' })]);
    const error = await errorOf(streams.get('a', { maxRetries: 0 }));
    expect(error).toMatchObject({ name: 'SluiceError', code, status, requestId: 'req-1' });
    expect(error.message).toBe('Why');
    expect(error.hint).not.toBe('');
    expect(error.docUrl).toMatch(new RegExp(`^https://.*#${code}$`));
    expect(error.stack).toContain('SluiceError: Why');
  });

  it.each<[unknown, string]>([
    [{ message: 'Stream not found' }, 'Stream not found'],
    [{ message: ['one', 'two'] }, 'one, two'],
    [
      {
        message: 'Validation Failed',
        details: {
          'requestBody.region': { message: 'should be one of a, b', value: 'c' },
          'requestBody.chainIds.0': { message: 'should be hex', value: 'x'.repeat(500) },
          other: 'is odd',
          list: [1],
        },
      },
      `Validation Failed; region should be one of a, b (got "c"); chainIds.0 should be hex (got "${'x'.repeat(99)}…); other: is odd; list: [1]`,
    ],
    [{}, 'The service returned 404 Not Found'],
    [{ message: 7 }, 'The service returned 404 Not Found'],
    [[], 'The service returned 404 Not Found'],
    [null, 'The service returned 404 Not Found'],
  ])('contain the message of the service: %j', async (body, message) => {
    const response = Response.json(body, { status: 404, statusText: 'Not Found' });
    const { streams } = fakeClient([response]);
    const error = await errorOf(streams.get('a'));
    expect(error.message).toBe(message);
    const details = (body as { details?: unknown } | null)?.details;
    expect(error.details).toEqual(details);
  });

  it.each([
    [422, 'details'],
    [400, 'fields'],
  ])('name the invalid fields of a %i, which are in its `%s`', async (status, name) => {
    const problem = { message: 'should be hex', value: 'eth' };
    const body = {
      message: 'Why',
      [name]: { 'requestBody.chainIds.0': problem, 'query.limit': { message: 'is odd' }, other: 7 },
    };
    const { streams } = fakeClient([failed(status, {}, body)]);
    const { fields } = await errorOf(streams.get('a'));
    expect(fields).toEqual({ 'chainIds.0': problem, 'query.limit': { message: 'is odd' } });
    expectTypeOf(fields['chainIds.0']).toEqualTypeOf<FieldProblem | undefined>();
  });

  it('have no fields if the service names none', async () => {
    const { streams } = fakeClient([failed(400, {}, { message: 'Why' })]);
    expect((await errorOf(streams.get('a'))).fields).toEqual({});
  });

  it('do not contain the HTML page of a proxy', async () => {
    const response = new Response('<html>Bad gateway</html>', { status: 502 });
    const { streams } = fakeClient([response], { maxRetries: 0 });
    expect((await errorOf(streams.get('a'))).message).toBe('The service returned 502');
  });

  it('never contain the API key, even if the service echoes it', async () => {
    const body = {
      message: `No such key ${KEY}`,
      details: { key: { message: 'bad', value: KEY } },
    };
    const { streams } = fakeClient([failed(401, {}, body)]);
    const error = await errorOf(streams.get('a'));
    expect(error.message).toBe('No such key [secret]; key bad');
    expect(textsIn(error).join(' ')).toContain('No such key');
    expect(textsIn([error, streams]).join(' ')).not.toContain(KEY);
  });

  it('distinguish a network failure from a response', async () => {
    const cause = fetchFailed('ECONNRESET');
    const { streams } = fakeClient([cause], { maxRetries: 0 });
    const error = await errorOf(streams.get('a'));
    expect(error).toMatchObject({ code: 'network_error', cause, status: undefined });
    expect(error.message).toBe('No response from http://sluice.test');
  });

  it('report a web page as an invalid response', async () => {
    const { streams } = fakeClient([new Response('<!doctype html>')]);
    expect(await errorOf(streams.get('a'))).toMatchObject({
      code: 'invalid_response',
      status: 200,
    });
  });
});

describe('hooks', () => {
  const SECRET = 'the-streams-secret';

  function watched(given: readonly FakeResponse[], options: Partial<ClientOptions> = {}) {
    const requests: SentRequest[] = [];
    const responses: ReceivedResponse[] = [];
    const retries: Retry[] = [];
    const client = fakeClient(given, {
      onRequest: (it) => requests.push(it),
      onResponse: (it) => responses.push(it),
      onRetry: (it) => retries.push(it),
      ...options,
    });
    return { ...client, requests, responses, retries };
  }

  it('receive each attempt, its response and the wait before the next', async () => {
    const headers = { 'x-request-id': 'req-1', 'retry-after': '0' };
    const { streams, requests, responses, retries } = watched([failed(503, headers), ok()]);
    await streams.update('a', { tag: 'b' });

    const url = 'http://sluice.test/streams/evm/a';
    expect(requests).toEqual(
      [1, 2].map((attempt) => ({
        method: 'POST',
        url,
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'x-api-key': '[secret]',
        },
        body: '{"tag":"b"}',
        attempt,
      })),
    );
    expect(responses.map(({ status, requestId }) => [status, requestId])).toEqual([
      [503, 'req-1'],
      [200, undefined],
    ]);
    expect(responses[0]?.request).toBe(requests[0]);
    expect(responses[0]?.headers['retry-after']).toBe('0');
    expect(responses[0]?.durationMs).toBeGreaterThanOrEqual(0);
    expect(retries).toEqual([
      {
        method: 'POST',
        url,
        attempt: 1,
        waitMs: 0,
        error: expect.objectContaining({ code: 'server_error', requestId: 'req-1' }) as unknown,
      },
    ]);
  });

  it('receive a retry after a request without a response', async () => {
    const { streams, responses, retries } = watched([fetchFailed('ECONNRESET'), ok()]);
    await streams.get('a');
    expect(responses).toHaveLength(1);
    expect(retries.map(({ error }) => error.code)).toEqual(['network_error']);
  });

  it('receive no secrets', async () => {
    const { streams, settings, ...seen } = watched(
      [
        failed(500, { 'set-cookie': `session=${SECRET}`, 'x-echo': KEY }),
        Response.json({ id: 'a', secretKey: SECRET }),
      ],
      { headers: { Authorization: `Bearer ${SECRET}`, Cookie: SECRET, 'x-note': `key ${KEY}` } },
    );
    await settings.set({ region: 'us-east-1', secretKey: SECRET });
    await settings.set({ secretKey: 'short' });
    await streams.update('a', { headers: { 'x-tenant': 'short' } });
    await streams.get(KEY);
    const { requests, responses, retries } = seen;
    expect(textsIn({ requests, responses, retries }).join(' ')).not.toMatch(
      new RegExp(`${SECRET}|${KEY}|short`),
    );
    expect(requests[0]?.body).toBe('{"region":"us-east-1","secretKey":"[secret]"}');
    expect(requests.at(-2)?.body).toBe('{"headers":{"x-tenant":"[secret]"}}');
    expect(requests[0]?.headers).toMatchObject({
      authorization: '[secret]',
      'x-note': 'key [secret]',
    });
    expect(requests.at(-1)?.url).toBe('http://sluice.test/streams/evm/[secret]');
  });

  it('hide a secret that the service echoes in an error', async () => {
    const { settings } = watched([failed(422, {}, { message: `Not ${SECRET}` })]);
    const error = await errorOf(settings.set({ secretKey: SECRET }));
    expect(error.message).toBe('Not [secret]');
  });

  it('do not affect the call if they fail', async () => {
    const fail = () => {
      throw new Error('hook');
    };
    const reject = () => Promise.reject(new Error('hook'));
    for (const hook of [fail, reject as () => void]) {
      const options = { onRequest: hook, onResponse: hook, onRetry: hook };
      const { streams } = fakeClient([failed(500), ok()], options);
      expect(await streams.get('a')).toMatchObject({ id: 'a' });
    }
  });
});

describe('timeouts and signals', () => {
  it('a timeout or abort ends even a fetch that ignores its signal', async () => {
    const { streams } = fakeClient([() => new Promise<Response>(() => {})], { maxRetries: 0 });
    expect(await errorOf(streams.get('a', { timeoutMs: 30 }))).toMatchObject({ code: 'timeout' });
    const signal = AbortSignal.timeout(30);
    expect(await errorOf(streams.get('a', { signal }))).toMatchObject({ code: 'aborted' });
  });

  it('a call with an aborted signal sends nothing', async () => {
    const { streams, fetch } = fakeClient([ok()]);
    const signal = AbortSignal.abort();
    expect(await errorOf(streams.get('a', { signal }))).toMatchObject({ code: 'aborted' });
    expect(await errorOf(streams.list({}, { signal }))).toMatchObject({ code: 'aborted' });
    expect(fetch).not.toHaveBeenCalled();
  });

  it('an abort ends the wait before a retry', async () => {
    const { streams, fetch } = fakeClient([failed(429, { 'retry-after': '30' })]);
    const started = performance.now();
    const signal = AbortSignal.timeout(50);
    expect(await errorOf(streams.get('a', { signal }))).toMatchObject({ code: 'aborted' });
    expect(performance.now() - started).toBeLessThan(5000);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it('no listener stays on a signal that outlives its calls', async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    const { streams } = fakeClient([failed(500), ok()]);
    await streams.get('a', { signal });
    expect(add.mock.calls.length).toBeGreaterThan(0);
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
  });
});
