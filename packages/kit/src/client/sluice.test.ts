import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isSluiceError } from '../errors.ts';
import { createSluiceClient } from './sluice.ts';
import type { LiveState, ReceivedLiveEvent } from './sluice.ts';

const KEY = 'sixteen-characters';

let requests: { call: string; body: string; headers: NodeJS.Dict<string | string[]> }[] = [];
let respond: (response: ServerResponse, request: IncomingMessage) => void = (response) => {
  response.end('{}');
};
let server: ReturnType<typeof createServer>;
let baseUrl = '';

beforeEach(async () => {
  requests = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      requests.push({ call: `${request.method} ${request.url}`, body, headers: request.headers });
      respond(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  vi.restoreAllMocks();
});

const client = () => createSluiceClient({ baseUrl, apiKey: KEY, maxRetries: 0 });
const calls = () => requests.map(({ call, body }) => (body ? [call, JSON.parse(body)] : [call]));
const respondJson = (body: unknown, status = 200) => {
  respond = (response) => {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body) ?? '');
  };
};
const respondEmpty = (status: number) => {
  respond = (response) => response.writeHead(status).end();
};

describe('each call', () => {
  it('createSession sends the key in the body', async () => {
    respondEmpty(204);
    expect(await createSluiceClient({ baseUrl }).createSession(KEY)).toBeUndefined();
    expect(calls()).toEqual([['POST /sluice/session', { apiKey: KEY }]]);
    expect(requests[0]?.headers).not.toHaveProperty('x-api-key');
  });

  it('inbox calls have the name in the path and the options in the body', async () => {
    respondJson({ result: [] });
    expect(await client().listInboxes()).toEqual([]);
    await client().listInboxRequests('my-app', { limit: 5 });
    await client().setInbox('my-app', { failFirst: 2 });
    await client().setInbox('my-app');
    await client().getInboxRequest('my-app', 'r1');
    respondEmpty(204);
    expect(await client().clearInbox('my-app')).toBeUndefined();
    expect(await client().deleteInbox('my-app')).toBeUndefined();
    expect(calls()).toEqual([
      ['GET /sluice/inboxes'],
      ['GET /sluice/inboxes/my-app/requests?limit=5'],
      ['PUT /sluice/inboxes/my-app', { failFirst: 2 }],
      ['PUT /sluice/inboxes/my-app', {}],
      ['GET /sluice/inboxes/my-app/requests/r1'],
      ['DELETE /sluice/inboxes/my-app/requests'],
      ['DELETE /sluice/inboxes/my-app'],
    ]);
  });

  it('activity, blocks, timelines, changes, addresses, reorgs and gaps have their own paths', async () => {
    respondJson({ result: [] });
    await client().getActivity();
    await client().getActivity({ streamId: 's1', step: 60, points: 24 });
    await client().getActivityBreakdown({ streamId: 's1', step: 60, points: 24 });
    await client().getChainActivity({ step: 60, points: 720 });
    expect(await client().listBlocks({ chain: '0x1', limit: 200 })).toEqual([]);
    expect(await client().listTimelines({ streamIds: ['s1', 's2'] })).toEqual([]);
    expect(await client().listStreamChanges('s1')).toEqual([]);
    const search = { find: '0x28C6…1d60', limit: 5 };
    expect(await client().listAddresses('s1', search)).toMatchObject({ result: [] });
    expect(await client().listAddresses('s1')).toMatchObject({ result: [] });
    expect(await client().listReorgs({ chain: '0x1' })).toEqual([]);
    expect(await client().listGaps({ chain: '0x1' })).toEqual([]);
    expect(calls()).toEqual([
      ['GET /sluice/activity'],
      ['GET /sluice/activity?streamId=s1&step=60&points=24'],
      ['GET /sluice/activity/breakdown?streamId=s1&step=60&points=24'],
      ['GET /sluice/activity/chains?step=60&points=720'],
      ['GET /sluice/blocks?chain=0x1&limit=200'],
      ['POST /sluice/timelines', { streamIds: ['s1', 's2'] }],
      ['GET /sluice/streams/s1/changes'],
      ['GET /sluice/streams/s1/addresses?limit=5&find=0x28C6%E2%80%A61d60'],
      ['GET /sluice/streams/s1/addresses?limit=100'],
      ['GET /sluice/reorgs?chain=0x1'],
      ['GET /sluice/gaps?chain=0x1'],
    ]);
  });

  it('getExpiry returns the expiring deliveries', async () => {
    const expiry = { at: null, deliveries: 0, bodyBytes: 0, isCapped: false };
    respondJson(expiry);
    expect(await client().getExpiry()).toEqual(expiry);
    expect(calls()).toEqual([['GET /sluice/expiry']]);
  });

  it('dryRunEvm has the chain in the path and the block in the body', async () => {
    const result = { webhook: null, closeMatches: [], observed: [] };
    respondJson(result);
    expect(await client().dryRunEvm('0x1', { block: 7, allAddresses: true })).toEqual(result);
    expect(calls()).toEqual([['POST /sluice/evm/0x1/dry-run', { block: 7, allAddresses: true }]]);
  });

  it('dryRunAptos has the network in the path and the version in the body', async () => {
    const result = { webhook: null, observed: [] };
    respondJson(result);
    expect(await client().dryRunAptos('local', { version: 7, addresses: ['0x1'] })).toEqual(result);
    expect(calls()).toEqual([
      ['POST /sluice/aptos/local/dry-run', { version: 7, addresses: ['0x1'] }],
    ]);
  });

  it('explain sends its query, for one chain or all', async () => {
    const explanation = { query: '0x12', kind: 'unknown', streams: [] };
    respondJson(explanation);
    expect(await client().explain('0x12')).toEqual(explanation);
    await client().explain('17 000', { chain: 'aptos:local' });
    expect(calls()).toEqual([
      ['GET /sluice/explain?q=0x12'],
      ['GET /sluice/explain?q=17+000&chain=aptos%3Alocal'],
    ]);
  });

  it('createSession never repeats the key in its error', async () => {
    respondJson({ message: `Unknown key ${KEY}` }, 401);
    const session = createSluiceClient({ baseUrl }).createSession(KEY);
    await expect(session).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'Unknown key [secret]',
    });
  });

  it('checkSession returns whether the session is valid', async () => {
    respondEmpty(204);
    expect(await client().checkSession()).toBe(true);
    respondJson({ message: 'Unauthorized' }, 401);
    expect(await client().checkSession()).toBe(false);
    respondEmpty(503);
    await expect(client().checkSession()).rejects.toMatchObject({ code: 'server_error' });
    expect(requests.map(({ call }) => call)).toEqual(Array(3).fill('GET /sluice/session'));
    expect(requests[0]?.headers['x-api-key']).toBe(KEY);
  });

  it('deleteSession sends no body', async () => {
    respondEmpty(204);
    expect(await client().deleteSession()).toBeUndefined();
    expect(calls()).toEqual([['DELETE /sluice/session']]);
  });

  it('listStreamSummaries and listChains return the rows', async () => {
    respondJson({ result: [{ id: 'a' }] });
    expect(await client().listStreamSummaries()).toEqual([{ id: 'a' }]);
    expect(await client().listChains()).toEqual([{ id: 'a' }]);
    expect(calls()).toEqual([['GET /sluice/streams'], ['GET /sluice/chains']]);
  });

  it.each([undefined, null, {}, { result: {} }])('rejects %j instead of a list', async (body) => {
    respondJson(body);
    const code = 'invalid_response';
    await expect(client().listChains()).rejects.toMatchObject({ code });
    await expect(client().listStreamSummaries()).rejects.toMatchObject({ code });
    await expect(client().listDeliveries()).rejects.toMatchObject({ code });
  });

  it('listDeliveries returns a page, or iterates over every row', async () => {
    respondJson({ result: [{ id: 'a' }] });
    const query = { limit: 5, streamId: 's', state: 'failed', cursor: 'c' } as const;
    expect(await client().listDeliveries(query)).toEqual({ result: [{ id: 'a' }], page: 0 });
    const pages = [{ result: [{ id: 'a' }], cursor: 'c1' }, { result: [{ id: 'b' }] }];
    respond = (response) => response.end(JSON.stringify(pages.shift()));
    const ids: string[] = [];
    for await (const { id } of client().listDeliveries()) ids.push(id);
    expect(ids).toEqual(['a', 'b']);
    expect(calls()).toEqual([
      ['GET /sluice/deliveries?limit=5&cursor=c&streamId=s&state=failed'],
      ['GET /sluice/deliveries?limit=100'],
      ['GET /sluice/deliveries?limit=100&cursor=c1'],
    ]);
  });

  it('stopDelivery and the replay calls have their own paths', async () => {
    const filter = { state: ['failed', 'quarantined'], status: '5xx' } as const;
    respondJson({ id: 'a' });
    await client().stopDelivery('a');
    await client().estimateReplay(filter);
    await client().createReplay({ name: 'n', filter, perSecond: 5 });
    await client().getReplay('a');
    await client().getReplayProgress('a');
    await client().cancelReplay('a');
    respondJson({ result: [{ id: 'a' }] });
    expect(await client().listReplays()).toEqual([{ id: 'a' }]);
    await client().listDeliveries(filter);
    expect(calls()).toEqual([
      ['POST /sluice/deliveries/a/stop'],
      ['POST /sluice/replays/estimate', { filter }],
      ['POST /sluice/replays', { name: 'n', filter, perSecond: 5 }],
      ['GET /sluice/replays/a'],
      ['GET /sluice/replays/a/progress'],
      ['POST /sluice/replays/a/cancel'],
      ['GET /sluice/replays'],
      ['GET /sluice/deliveries?limit=100&state=failed&state=quarantined&status=5xx'],
    ]);
  });

  it('getDelivery returns the delivery', async () => {
    respondJson({ id: 'a/b' });
    expect(await client().getDelivery('a/b')).toEqual({ id: 'a/b' });
    expect(calls()).toEqual([['GET /sluice/deliveries/a%2Fb']]);
  });

  it('getDeliveryBody returns the text unchanged', async () => {
    const body = '{"confirmed":true, "chainId":"0x1"}\n';
    respond = (response) => response.end(body);
    expect(await client().getDeliveryBody('a/b')).toBe(body);
    respond = (response) => response.end('');
    expect(await client().getDeliveryBody('a/b')).toBe('');
    const call = 'GET /sluice/deliveries/a%2Fb/body';
    expect(calls()).toEqual([[call], [call]]);
  });

  it('calls for keys, secrets and the audit log have their own paths', async () => {
    respondJson({ result: [{ id: 'k' }] });
    expect(await client().listApiKeys()).toEqual([{ id: 'k' }]);
    expect((await client().listAudit({ limit: 5 })).result).toEqual([{ id: 'k' }]);
    respondJson({ id: 'k', key: 'sluice_k_s' });
    const wanted = { name: 'deploy', scopes: ['streams:read'] } as const;
    const created = await client().createApiKey({ ...wanted, scopes: [...wanted.scopes] });
    expect(created.key).toBe('sluice_k_s');
    await client().revokeApiKey('k');
    await client().getStreamSecret('s');
    await client().rotateStreamSecret('s');
    await client().rotateStreamSecret('s', { overlapSeconds: 0 });
    expect(calls()).toEqual([
      ['GET /sluice/keys'],
      ['GET /sluice/audit?limit=5'],
      ['POST /sluice/keys', wanted],
      ['DELETE /sluice/keys/k'],
      ['GET /sluice/streams/s/secret'],
      ['POST /sluice/streams/s/secret', {}],
      ['POST /sluice/streams/s/secret', { overlapSeconds: 0 }],
    ]);
  });

  it('is available with its HTTP response', async () => {
    respond = (response, request) => {
      response.setHeader('x-request-id', `req-${requests.length}`);
      if (request.method !== 'GET') return response.writeHead(204).end();
      return response.end(JSON.stringify({ id: 'a', result: [{ id: 'a' }] }));
    };
    const { createSession, deleteSession, checkSession, ...reads } = client();
    const results = [
      await createSession(KEY).withResponse(),
      await deleteSession().withResponse(),
      await checkSession().withResponse(),
      await reads.listStreamSummaries().withResponse(),
      await reads.listChains().withResponse(),
      await reads.getDelivery('a').withResponse(),
      await reads.listDeliveries().withResponse(),
    ];
    expect(
      results.map(({ data, response, requestId }) => [data, response.status, requestId]),
    ).toEqual([
      [undefined, 204, 'req-1'],
      [undefined, 204, 'req-2'],
      [true, 200, 'req-3'],
      [[{ id: 'a' }], 200, 'req-4'],
      [[{ id: 'a' }], 200, 'req-5'],
      [{ id: 'a', result: [{ id: 'a' }] }, 200, 'req-6'],
      [{ id: 'a', result: [{ id: 'a' }], page: 0 }, 200, 'req-7'],
    ]);
  });

  it('checkSession returns the response for an invalid session, too', async () => {
    respondJson({ message: 'Unauthorized' }, 401);
    const { data, response } = await client().checkSession().withResponse();
    expect([data, response.status]).toEqual([false, 401]);
  });

  it.each([0, 101, 1.5])('listDeliveries rejects a limit of %d', async (limit) => {
    await expect(client().listDeliveries({ limit })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    expect(requests).toEqual([]);
  });

  it('sends same-origin cookies if there is no key', async () => {
    const fetch = vi.fn<typeof globalThis.fetch>(async () => new Response(null, { status: 204 }));
    await createSluiceClient({ baseUrl, fetch }).checkSession();
    expect(fetch.mock.calls[0]?.[1]).toMatchObject({ credentials: 'same-origin' });
    await createSluiceClient({ baseUrl, fetch, apiKey: KEY }).checkSession();
    expect(fetch.mock.calls[1]?.[1]).not.toHaveProperty('credentials');
  });

  it('accepts a base URL relative to the origin of the page', async () => {
    vi.stubGlobal('location', { origin: 'http://console.test', href: 'http://console.test/a/b' });
    const fetch = vi.fn<typeof globalThis.fetch>(async () => new Response(null, { status: 204 }));
    for (const relative of ['', '/']) {
      await createSluiceClient({ baseUrl: relative, fetch }).checkSession();
    }
    vi.unstubAllGlobals();
    expect(fetch.mock.calls.map(([url]) => url)).toEqual(
      Array(2).fill('http://console.test/sluice/session'),
    );
  });
});

describe('liveEvents', () => {
  const stream = (response: ServerResponse, text: string) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(text);
  };
  const message = (id: number) =>
    `id: ${id}\ndata: ${JSON.stringify({ type: 'stream', streamId: `s${id}` })}\n\n`;

  async function read(count: number, options: Parameters<typeof watch>[0] = {}) {
    const received: ReceivedLiveEvent[] = [];
    const states: LiveState[] = [];
    for await (const event of watch({ ...options, onState: (state) => states.push(state) })) {
      received.push(event);
      if (received.length === count) break;
    }
    return { received, states: states.map(({ state }) => state) };
  }
  const watch = (options: Parameters<ReturnType<typeof client>['liveEvents']>[0]) =>
    client().liveEvents(options);

  it('yields events as they arrive, and closes the connection when the loop ends', async () => {
    let close = (): void => {};
    const closed = new Promise<void>((resolve) => (close = resolve));
    respond = (response, request) => {
      request.on('close', () => close());
      stream(response, `: hello\n\n${message(1)}`);
      setTimeout(() => response.write(message(2)), 30);
    };
    const { received, states } = await read(2);
    expect(received).toEqual([
      { id: '1', event: { type: 'stream', streamId: 's1' } },
      { id: '2', event: { type: 'stream', streamId: 's2' } },
    ]);
    expect(states).toEqual(['connecting', 'live', 'closed']);
    expect(requests[0]?.headers).toMatchObject({
      accept: 'text/event-stream',
      'x-api-key': KEY,
    });
    expect(requests[0]?.headers).not.toHaveProperty('last-event-id');
    await closed;
  });

  it('is live from the first data, not from the headers', async () => {
    const states: string[] = [];
    let statesAtHeaders: string[] = [];
    respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      setTimeout(() => {
        statesAtHeaders = [...states];
        response.write(`: hello\n\n${message(1)}`);
      }, 50);
    };
    await watch({ onState: ({ state }) => states.push(state) }).next();
    expect(statesAtHeaders).toEqual(['connecting']);
    expect(states).toEqual(['connecting', 'live']);
  });

  it('resumes after a given id', async () => {
    respond = (response) => stream(response, message(8));
    await read(1, { lastEventId: '7' });
    expect(requests[0]?.headers['last-event-id']).toBe('7');
  });

  it('reconnects after the last event', async () => {
    respond = (response) => {
      stream(response, message(requests.length));
      setTimeout(() => response.destroy(), 20);
    };
    const { received, states } = await read(2);
    expect(received.map(({ id }) => id)).toEqual(['1', '2']);
    expect(states).toEqual(['connecting', 'live', 'waiting', 'connecting', 'live', 'closed']);
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1']);
  });

  it('backs off from 1 s to 10 s while connections fail', async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const waits: number[] = [];
    const controller = new AbortController();
    const fetch = async () => {
      if (waits.length < 6) throw new TypeError('fetch failed');
      return new Response(message(1), { headers: { 'content-type': 'text/event-stream' } });
    };
    const onState = (state: LiveState) => {
      if (state.state !== 'waiting') return;
      waits.push(state.retryInMs);
      expect(isSluiceError(state.error, 'network_error')).toBe(true);
      if (waits.length === 8) controller.abort();
    };
    const events = createSluiceClient({ baseUrl, fetch }).liveEvents({
      signal: controller.signal,
      onState,
    });
    const all = (async () => {
      const received: ReceivedLiveEvent[] = [];
      for await (const event of events) received.push(event);
      return received;
    })();
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();
    expect(await all).toHaveLength(2);
    // An event resets the wait.
    expect(waits).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000, 1000, 1000]);
  });

  it('drops a silent connection', async () => {
    vi.useFakeTimers();
    const states: LiveState[] = [];
    const fetch = async () =>
      new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });
    const controller = new AbortController();
    const events = createSluiceClient({ baseUrl, fetch }).liveEvents({
      signal: controller.signal,
      onState: (state) => states.push(state),
    });
    const end = events.next();
    await vi.advanceTimersByTimeAsync(5_500);
    expect(states.at(-1)).toMatchObject({
      state: 'waiting',
      error: { message: 'No data received for 5 s' },
    });
    controller.abort();
    vi.useRealTimers();
    expect(await end).toEqual({ done: true, value: undefined });
  });

  it('ends without an error when aborted in any state', async () => {
    respond = (response) => stream(response, ': hello\n\n');
    const controller = new AbortController();
    const states: string[] = [];
    const onState = ({ state }: LiveState) => {
      states.push(state);
      if (state === 'live') setTimeout(() => controller.abort(), 20);
    };
    const { signal } = controller;
    expect(await watch({ signal, onState }).next()).toEqual({ done: true, value: undefined });
    expect(states).toEqual(['connecting', 'live', 'closed']);
    expect(await watch({ signal }).next()).toEqual({ done: true, value: undefined });
    expect(requests).toHaveLength(1);
  });

  it.each([401, 403, 404])('throws on status %i', async (status) => {
    respondJson({ message: 'No' }, status);
    const states: string[] = [];
    const next = watch({ onState: ({ state }) => states.push(state) }).next();
    await expect(next).rejects.toMatchObject({ status, message: 'No' });
    expect(states).toEqual(['connecting', 'closed']);
  });

  it('throws if the response is not an event stream, or an event is not JSON', async () => {
    respondJson({});
    await expect(watch({}).next()).rejects.toMatchObject({ code: 'invalid_response' });
    respond = (response) => stream(response, 'data: {\n\n');
    await expect(watch({}).next()).rejects.toMatchObject({ code: 'invalid_response' });
  });

  it('passes on an error thrown in the loop, and closes the connection', async () => {
    respond = (response) => stream(response, message(1));
    const states: string[] = [];
    const run = async () => {
      for await (const _ of watch({ onState: ({ state }) => states.push(state) })) {
        throw new Error('mine');
      }
    };
    await expect(run()).rejects.toThrow('mine');
    expect(states).toEqual(['connecting', 'live', 'closed']);
  });
});
