import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type WebhookSink, startWebhookSink } from './webhookSink.ts';

let sink: WebhookSink;

beforeEach(async () => {
  sink = await startWebhookSink();
});

afterEach(() => sink.close());

const send = (path = '/', init: RequestInit = {}) =>
  fetch(sink.url + path, { method: 'POST', body: '{"a": 1}', redirect: 'manual', ...init });

async function statusesOf(times: number, path = '/'): Promise<number[]> {
  const statuses = [];
  for (let i = 0; i < times; i += 1) statuses.push((await send(path)).status);
  return statuses;
}

describe('recording', () => {
  test('records id, headers, raw body, path and time', async () => {
    const before = Date.now();
    const body = '{"amount": 1.0,\n "text": "\\u00e9 é"}';
    await send('/hook?x=1', { body, headers: { 'webhook-id': 'msg_1', 'x-signature': '0xab' } });
    expect(sink.requests).toHaveLength(1);
    const [request] = sink.requests;
    expect(request).toMatchObject({ id: 'msg_1', method: 'POST', path: '/hook', body });
    expect(request?.headers['x-signature']).toBe('0xab');
    expect(request?.receivedAt).toBeGreaterThanOrEqual(before);
    expect(request?.receivedAt).toBeLessThanOrEqual(Date.now());
  });

  test('clear removes requests and keeps behaviors', async () => {
    sink.respond(503);
    await send();
    sink.clear();
    expect(sink.requests).toEqual([]);
    expect(await statusesOf(1)).toEqual([503]);
  });

  test('waitFor a count resolves once it is reached', async () => {
    const waiting = sink.waitFor(2);
    await send('/one');
    await send('/two');
    expect((await waiting).map(({ path }) => path)).toEqual(['/one', '/two']);
    expect(await sink.waitFor(2)).toHaveLength(2);
  });

  test('waitFor a predicate finds earlier and later requests', async () => {
    await send('/early');
    expect((await sink.waitFor(({ path }) => path === '/early')).path).toBe('/early');
    const later = sink.waitFor(({ path }) => path === '/late');
    await send('/other');
    await send('/late');
    expect((await later).path).toBe('/late');
  });

  test('waitFor times out with the requests so far', async () => {
    await send('/one', { headers: { 'webhook-id': 'msg_1' } });
    await expect(sink.waitFor(2, { timeoutMs: 20 })).rejects.toThrow(
      'The sink did not get 2 requests in 20 ms; it got 1: POST /one msg_1',
    );
  });

  test('a request of a sender that disconnects is not recorded', async () => {
    const socket = net.connect(Number(new URL(sink.url).port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
    await once(socket, 'connect');
    socket.resetAndDestroy();
    await send('/whole');
    expect(sink.requests.map(({ path }) => path)).toEqual(['/whole']);
  });
});

describe('behaviors', () => {
  test('a status, by default 200', async () => {
    expect(await statusesOf(1)).toEqual([200]);
    sink.respond(410);
    expect(await statusesOf(2)).toEqual([410, 410]);
  });

  test('a sequence whose last behavior repeats', async () => {
    sink.respond([500, { status: 429, headers: { 'retry-after': '120' } }, 200]);
    expect(await statusesOf(4)).toEqual([500, 429, 200, 200]);
  });

  test('a behavior for each path, or one from a function', async () => {
    sink.respond(500);
    sink.respond(201, { path: '/fine' });
    sink.respond(({ body }) => (body.includes('bad') ? 400 : 204), { path: '/judge' });
    expect(await statusesOf(1, '/')).toEqual([500]);
    expect(await statusesOf(1, '/fine')).toEqual([201]);
    expect(await statusesOf(1, '/judge')).toEqual([204]);
    expect((await send('/judge', { body: 'bad' })).status).toBe(400);
  });

  test('headers and body', async () => {
    sink.respond({ status: 302, headers: { location: 'http://169.254.169.254/' }, body: 'moved' });
    const response = await send();
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe('http://169.254.169.254/');
    expect(await response.text()).toBe('moved');
  });

  test('a header of a megabyte', async () => {
    sink.respond({ headers: { 'x-large': 'x'.repeat(1_000_000) } });
    const request = http.get(sink.url, { maxHeaderSize: 2_000_000 });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    expect(response.headers['x-large']).toHaveLength(1_000_000);
    response.destroy();
  });

  test('a delay before the response', async () => {
    sink.respond({ delayMs: 150 });
    const startedAt = performance.now();
    await send();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(145);
  });

  test('silence: hang', async () => {
    sink.respond({ silence: 'hang' });
    await expect(send('/', { signal: AbortSignal.timeout(300) })).rejects.toThrow(
      expect.objectContaining({ name: 'TimeoutError' }),
    );
    expect(sink.requests).toHaveLength(1);
  });

  test.each([
    ['close', 'socket hang up'],
    ['reset', 'read ECONNRESET'],
  ] as const)('silence: %s', async (silence, message) => {
    sink.respond({ silence });
    const request = http.get(sink.url);
    const [error] = (await once(request, 'error')) as [Error];
    expect(error.message).toBe(message);
  });

  test('headers that drip byte by byte still form a complete response', async () => {
    sink.respond({ status: 202, body: 'late', drip: { part: 'headers', everyMs: 5 } });
    const startedAt = performance.now();
    const response = await send();
    // The head has 21 bytes: "HTTP/1.1 202 Slow" and two line breaks.
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(20 * 5);
    expect(response.status).toBe(202);
    expect(await response.text()).toBe('late');
  });

  test('a body drips byte by byte after immediate headers', async () => {
    sink.respond({ body: 'drop by drop', drip: { part: 'body', everyMs: 20 } });
    const response = await send();
    const startedAt = performance.now();
    expect(await response.text()).toBe('drop by drop');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(10 * 20);
  });

  test('a huge body streams without filling memory', async () => {
    const bytes = 256 * 1024 * 1024;
    sink.respond({ bodyBytes: bytes });
    const before = process.memoryUsage().rss;
    const response = await send();
    let read = 0;
    for await (const chunk of response.body ?? []) read += chunk.length;
    expect(read).toBe(bytes);
    expect(process.memoryUsage().rss - before).toBeLessThan(0.75 * bytes);
  });

  test('a reader can abandon a huge body', async () => {
    sink.respond([{ bodyBytes: 2 ** 30 }, 200]);
    const response = await send();
    await response.body?.cancel();
    expect(await statusesOf(1)).toEqual([200]);
  });

  test('the response shows the error of a responder', async () => {
    sink.respond(() => {
      throw new Error('mistake in the test');
    });
    const response = await send();
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('mistake in the test');
  });
});

test('the sink records thousands of requests without loss', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
  const post = (id: number) =>
    new Promise<void>((resolve, reject) => {
      const headers = { 'webhook-id': String(id) };
      http
        .request(sink.url, { method: 'POST', agent, headers }, (response) => {
          response.resume().once('end', resolve);
        })
        .once('error', reject)
        .end('{}');
    });
  await Promise.all(Array.from({ length: 5_000 }, (_, id) => post(id)));
  agent.destroy();
  expect(new Set(sink.requests.map(({ id }) => id)).size).toBe(5_000);
});

test('close resets hanging connections and frees the port', async () => {
  const { port } = new URL(sink.url);
  sink.respond({ silence: 'hang' });
  const hung = send().catch((error: unknown) => error);
  await sink.waitFor(1);
  await sink.close();
  expect(await hung).toBeInstanceOf(TypeError);
  sink = await startWebhookSink({ port: Number(port) });
  expect(await statusesOf(1)).toEqual([200]);
});
