import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from './faultProxy.ts';
import { type WebhookSink, startWebhookSink } from './webhookSink.ts';

let sink: WebhookSink;
let proxy: FaultProxy;
let agent: http.Agent;

beforeEach(async () => {
  sink = await startWebhookSink();
  proxy = await startFaultProxy({ port: Number(new URL(sink.url).port) });
  agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
});

afterEach(async () => {
  agent.destroy();
  await proxy.stop();
  await sink.close();
});

function get(timeoutMs = 5_000): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = { port: proxy.port, agent, signal: AbortSignal.timeout(timeoutMs) };
    http
      .get(options, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      })
      .once('error', reject);
  });
}

test('the proxy passes all traffic at first, on persistent connections', async () => {
  expect([await get(), await get()]).toEqual([200, 200]);
  expect(proxy.connections).toBe(1);
});

test('a black hole drops traffic on old and new connections without closing them', async () => {
  await get();
  proxy.blackHole();
  await expect(get(150)).rejects.toMatchObject({ name: 'AbortError' });
  await expect(get(150)).rejects.toMatchObject({ name: 'AbortError' });
  expect(sink.requests).toHaveLength(1);
});

test('connections in a black hole stay dead after heal', async () => {
  await get();
  proxy.blackHole();
  const old = get(400);
  proxy.heal();
  await expect(old).rejects.toMatchObject({ name: 'AbortError' });
  expect(await get()).toBe(200);
});

test('a cut resets open and new connections until heal', async () => {
  sink.respond([{ silence: 'hang' }, 200]);
  const hung = get();
  await sink.waitFor(1);
  proxy.cut();
  await expect(hung).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(get()).rejects.toMatchObject({ code: 'ECONNRESET' });
  proxy.heal();
  expect(await get()).toBe(200);
});

test('the proxy resets the connection if the server is down', async () => {
  await sink.close();
  await expect(get()).rejects.toMatchObject({ code: 'ECONNRESET' });
  sink = await startWebhookSink();
});

test('the proxy closes a connection that the server closes', async () => {
  sink.respond({ silence: 'close' });
  const request = http.get({ port: proxy.port });
  const [error] = (await once(request, 'error')) as [Error];
  expect(error.message).toBe('socket hang up');
});

test('a delay passes all data later, in order', async () => {
  const delayed = await startFaultProxy({ port: proxy.port, delayMs: 100 });
  const body = 'x'.repeat(200_000);
  const startedAt = performance.now();
  await fetch(`http://127.0.0.1:${delayed.port}/`, { method: 'POST', body });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(199);
  expect(sink.requests.at(-1)!.body).toBe(body);
  await delayed.stop();
});

test('delayed data arrives even if the server closes the connection after it', async () => {
  const closing = http.createServer((_, response) => {
    response.writeHead(200, { connection: 'close' }).end('x'.repeat(100_000));
  });
  closing.listen(0, '127.0.0.1');
  await once(closing, 'listening');
  const { port } = closing.address() as AddressInfo;
  const delayed = await startFaultProxy({ port, delayMs: 100 });
  const response = await fetch(`http://127.0.0.1:${delayed.port}/`);
  expect((await response.text()).length).toBe(100_000);
  await delayed.stop();
  closing.close();
});
