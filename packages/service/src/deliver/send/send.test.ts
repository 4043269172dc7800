import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { type WebhookSink, startWebhookSink } from '@sluice/testkit';
import { verifySignature } from '@sluice/kit';
import { signStandardWebhook, signWebhook } from '@sluice/kit/contract';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ALL_NETWORKS, createAddressGuard } from '../destinations/http/guard.ts';
import { createHttpSender } from './httpSender.test-only.ts';
import { type Sender, createSender } from './send.ts';

const SECRET = 'a streams secret';
let sink: WebhookSink;
let sender: Sender;

beforeAll(async () => {
  sink = await startWebhookSink();
  sender = createHttpSender({
    guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
    secret: () => SECRET,
    region: () => 'us-east-1',
    timeoutMs: 500,
  });
});
afterEach(() => {
  sink.clear();
  sink.respond({ status: 200 });
});
afterAll(async () => {
  await sender.close();
  await sink.close();
});

const send = (path = '/hook', body = '{"tag":"é ☕"}') =>
  sender.send({
    url: sink.url + path,
    id: 'id-1',
    body: Buffer.from(body),
    headers: {},
    queueSize: 4,
    recordsCharged: 2,
  });

test("a webhook has the time and the key pairs of the ledger's clock", async () => {
  const asked: number[] = [];
  const signing = createSender({
    destinations: [],
    secret: () => SECRET,
    region: () => '',
    privateKeys(at) {
      asked.push(at);
      return [];
    },
  });
  const webhook = { id: 'id-1', body: Buffer.from('{}'), headers: {} };
  const headers = signing.headersFor(
    { ...webhook, clockSkewMs: 3_600_000, queueSize: 0, recordsCharged: 0 },
    1_000,
  );
  expect(asked).toEqual([3_601_000]);
  expect(headers['webhook-timestamp']).toBe('3601');
  await signing.close();
});

test('an attempt ends at the maximum of the service, whatever its stream sets', async () => {
  const bounded = createHttpSender({
    guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
    secret: () => SECRET,
    region: () => 'us-east-1',
    maxTimeoutMs: 200,
  });
  sink.respond({ silence: 'hang' });
  for (const timeoutMs of [60_000, undefined]) {
    const result = await bounded.send({
      url: sink.url,
      id: 'id-1',
      body: Buffer.from('{}'),
      headers: {},
      timeoutMs,
      queueSize: 0,
      recordsCharged: 0,
    });
    expect(result.error).toBe('no complete response within 0.2 s');
  }
  await bounded.close();
});

/** Starts a tunneling proxy that records targets and credentials. */
async function startProxy(status = 200) {
  const asked: { to: string; login: string | undefined }[] = [];
  const server = createServer();
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push({ to: request.url!, login: request.headers['proxy-authorization'] });
    client.on('error', () => {});
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} Refused\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    target.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { asked, port, stop: () => server.close() };
}

describe('through a proxy', () => {
  const sendThrough = async (egressProxy: string, url: string, allowCidrs: readonly string[]) => {
    const proxied = createHttpSender({
      guard: createAddressGuard({ allowCidrs }),
      secret: () => SECRET,
      region: () => 'us-east-1',
      timeoutMs: 2_000,
      egressProxy,
    });
    try {
      const sending = {
        url,
        id: 'id-1',
        body: Buffer.from('{}'),
        headers: {},
        queueSize: 0,
        recordsCharged: 0,
      };
      return await proxied.send(sending);
    } finally {
      await proxied.close();
    }
  };

  test('a webhook reaches its receiver, and the login reaches only the proxy', async () => {
    const proxy = await startProxy();
    const result = await sendThrough(
      `http://user:pass@127.0.0.1:${proxy.port}`,
      `${sink.url}/through`,
      ALL_NETWORKS,
    );
    expect(result).toMatchObject({
      status: 200,
      error: null,
      // Through a proxy, `connectMs` covers everything until the tunnel is open, and the address of
      // the receiver is unknown.
      transport: {
        parts: { dnsMs: null, connectMs: expect.any(Number) as number, tlsMs: null },
        address: null,
      },
    });
    expect(proxy.asked).toEqual([
      { to: new URL(sink.url).host, login: `Basic ${btoa('user:pass')}` },
    ]);
    expect(sink.requests).toMatchObject([{ path: '/through', body: '{}' }]);
    expect(sink.requests[0]!.headers).not.toHaveProperty('proxy-authorization');
    proxy.stop();
  });

  test('a proxy that opens no tunnel times out without leaking a socket', async () => {
    const open = new Set<Socket>();
    let asked = 0;
    const proxy = createServer()
      .on('connection', (socket: Socket) => {
        open.add(socket);
        socket.once('close', () => open.delete(socket));
      })
      .on('connect', (_, client: Socket) => {
        asked++;
        // After CONNECT, the server leaves its side of a connection open, so this handler closes
        // the connection.
        client
          .on('error', () => {})
          .once('end', () => client.end())
          .resume();
      })
      .listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const proxied = createHttpSender({
      guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
      secret: () => SECRET,
      region: () => 'us-east-1',
      timeoutMs: 600,
      egressProxy: `http://127.0.0.1:${port}`,
    });
    const sending = { url: sink.url, id: 'id-1', body: Buffer.from('{}'), headers: {} };
    const sends = Array.from({ length: 5 }, () =>
      proxied.send({ ...sending, queueSize: 0, recordsCharged: 0 }),
    );
    for (const result of await Promise.all(sends)) {
      expect(result).toMatchObject({
        status: null,
        error: 'the egress proxy did not open a tunnel within 0.4 s',
      });
    }
    expect(asked).toBe(5);
    await expect.poll(() => open.size).toBe(0);
    await proxied.close();
    proxy.close();
  });

  test('a rejection by the proxy is not mistaken for a response of the receiver', async () => {
    const proxy = await startProxy(403);
    const result = await sendThrough(`http://127.0.0.1:${proxy.port}`, sink.url, ALL_NETWORKS);
    expect(result).toMatchObject({
      status: null,
      error: expect.stringContaining('Proxy response (403)') as string,
    });
    expect(sink.requests).toEqual([]);
    proxy.stop();
  });

  test('private addresses in the URL are rejected before the proxy is called', async () => {
    const proxy = await startProxy();
    for (const url of [sink.url, 'http://localhost:8080/', 'http://[::1]:8080/']) {
      const result = await sendThrough(`http://127.0.0.1:${proxy.port}`, url, []);
      expect(result.error).toMatch(/private, loopback or reserved/);
    }
    expect(proxy.asked).toEqual([]);
    proxy.stop();
  });
});

describe('an attempt', () => {
  test('has both signatures over exactly the bytes it sends', async () => {
    const result = await send('/hook?a=1');
    expect(result).toMatchObject({ status: 200, error: null });
    const [request] = sink.requests;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook',
      body: '{"tag":"é ☕"}',
      id: 'id-1',
    });
    const { headers, body } = request!;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-region': 'us-east-1',
      'x-queue-size': '4',
      'x-records-charged': '2',
      'accept-encoding': 'identity',
    });
    expect(
      verifySignature({ body, signature: String(headers['x-signature']), secret: SECRET }),
    ).toBe(true);
    const timestamp = Number(headers['webhook-timestamp']);
    expect(Math.abs(timestamp - Date.now() / 1000)).toBeLessThan(5);
    expect(headers['webhook-signature']).toBe(
      signStandardWebhook({ id: 'id-1', timestamp, body, secret: SECRET }),
    );
  });

  test('succeeds with any 2xx and fails otherwise, keeping the start of the response', async () => {
    sink.respond({ status: 204 });
    expect(await send()).toMatchObject({ status: 204, error: null, responseBody: '' });
    sink.respond({ status: 500, body: 'boom' });
    expect(await send()).toMatchObject({ status: 500, error: 'HTTP 500', responseBody: 'boom' });
    sink.respond({ status: 404 });
    expect(await send()).toMatchObject({ status: 404, error: 'HTTP 404' });
  });

  test('keeps a response without invisible characters and the secrets of the URL', async () => {
    sink.respond({ status: 403, body: 'no \u202e/hook?key=%61bc123x' });
    expect(await send('/hook?key=abc123x')).toMatchObject({ responseBody: 'no /hook?***' });
  });

  test.each([301, 302, 307, 308])('does not follow a %i', async (status) => {
    sink.respond({ status, headers: { location: `${sink.url}/elsewhere` } }, { path: '/moved' });
    expect(await send('/moved')).toMatchObject({
      status,
      error: expect.stringContaining('not followed') as string,
    });
    expect(sink.requests.map((request) => request.path)).toEqual(['/moved']);
  });

  test('ends at its deadline without a response, or with a slow one', async () => {
    sink.respond({ silence: 'hang' });
    expect(await send()).toMatchObject({
      status: null,
      error: 'no complete response within 0.5 s',
    });
    sink.respond({ status: 200, body: 'x'.repeat(1000), drip: { part: 'body', everyMs: 100 } });
    const dripping = await send();
    sink.respond({ status: 200, drip: { part: 'headers', everyMs: 100 } });
    expect(await send()).toMatchObject({
      status: null,
      error: 'no complete response within 0.5 s',
    });
    expect(dripping).toMatchObject({ status: 200, error: null });
    expect(dripping.durationMs).toBeGreaterThanOrEqual(450);
    expect(dripping.durationMs).toBeLessThan(2_000);
  });

  test('reads a huge response only up to the limit', async () => {
    sink.respond({ status: 200, bodyBytes: 50_000_000 });
    const before = process.memoryUsage().rss;
    const result = await send();
    expect(result).toMatchObject({ status: 200, error: null });
    expect(Buffer.byteLength(result.responseBody)).toBe(4 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(30_000_000);
  });

  test('reports the cause of a connection failure', async () => {
    sink.respond({ silence: 'reset' });
    expect(await send()).toMatchObject({
      status: null,
      error: expect.stringMatching(/ECONNRESET|closed|other side/) as string,
    });
    expect(
      await sender.send({
        // No server listens on this port, because the system chooses higher ports for tests.
        url: 'http://127.0.0.1:1024/',
        id: 'x',
        body: Buffer.from('{}'),
        headers: {},
        queueSize: 0,
        recordsCharged: 0,
      }),
    ).toMatchObject({
      status: null,
      error: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  test.each([
    ['me:pass%40word', 'me:pass@word'],
    ['100%zz:x', '100%zz:x'],
  ])('sends the credentials %s of its URL', async (login, expected) => {
    const url = `${sink.url.replace('http://', `http://${login}@`)}/hook`;
    const sending = {
      url,
      id: 'x',
      body: Buffer.from('{}'),
      headers: {},
      queueSize: 0,
      recordsCharged: 0,
    };
    expect(await sender.send(sending)).toMatchObject({ status: 200, error: null });
    expect(sink.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from(expected).toString('base64')}`,
    );
  });

  test("sends custom headers, which never replace the service's own", async () => {
    const headers = { authorization: 'Bearer token', 'x-signature': 'forged', 'x-tenant': '7' };
    const url = sink.url.replace('http://', 'http://me:login@');
    await sender.send({
      url,
      id: 'id-9',
      body: Buffer.from('{}'),
      headers,
      queueSize: 0,
      recordsCharged: 0,
    });
    expect(sink.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer token',
      'x-tenant': '7',
      'x-signature': signWebhook('{}', SECRET),
      'webhook-id': 'id-9',
    });
  });

  test('is not made to an address that the guard rejects', async () => {
    const guarded = createHttpSender({
      guard: createAddressGuard({ allowCidrs: [] }),
      secret: () => SECRET,
      region: () => 'us-east-1',
    });
    const result = await guarded.send({
      url: `${sink.url}/hook`,
      id: 'x',
      body: Buffer.from('{}'),
      headers: {},
      queueSize: 0,
      recordsCharged: 0,
    });
    expect(result).toMatchObject({
      status: null,
      error: expect.stringContaining('--allow-cidr') as string,
      transport: { parts: { dnsMs: null, connectMs: null, waitMs: null }, address: null },
    });
    expect(sink.requests).toEqual([]);
    await guarded.close();
  });
});
