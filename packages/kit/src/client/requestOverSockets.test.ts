/** Failures that need a real socket: silence, broken and refused connections, redirects. */
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createClient } from './client.ts';
import type { ClientOptions } from './client.ts';
import { isSluiceError } from '../errors.ts';
import type { SluiceError } from '../errors.ts';

const STREAM = { webhookUrl: 'https://example.com', description: '', chainIds: ['0x1'] };

async function errorOf(promise: PromiseLike<unknown>): Promise<SluiceError> {
  try {
    await promise;
  } catch (error) {
    if (isSluiceError(error)) return error;
    throw error;
  }
  throw new Error('The call did not reject');
}

let stop = () => {};
afterEach(() => stop());

async function listen(handler: RequestListener): Promise<string> {
  const server = createServer(handler);
  stop = () => {
    server.closeAllConnections();
    server.close();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const clientOf = (baseUrl: string, options: Partial<ClientOptions> = {}) =>
  createClient({ apiKey: 'k', baseUrl, maxRetries: 0, ...options }).streams;

it('the timeout covers the wait for a response', async () => {
  const streams = clientOf(await listen(() => {}), { timeoutMs: 60 });
  expect(await errorOf(streams.get('a'))).toMatchObject({
    code: 'timeout',
    message: 'No complete response within 60 ms',
  });
});

it('the timeout covers the body', async () => {
  const baseUrl = await listen((_, response) => response.write('{"id":'));
  expect(await errorOf(clientOf(baseUrl).get('a', { timeoutMs: 100 }))).toMatchObject({
    code: 'timeout',
  });
});

it('the timeout covers the body of an error response', async () => {
  const baseUrl = await listen((_, response) => {
    response.writeHead(404).write('{"message":');
  });
  expect(await errorOf(clientOf(baseUrl).get('a', { timeoutMs: 100 }))).toMatchObject({
    code: 'timeout',
  });
});

it('a read that timed out is retried; each attempt has its own timeout', async () => {
  let count = 0;
  const baseUrl = await listen((_, response) => {
    count++;
    if (count === 3) response.end('{"id":"a"}');
  });
  const streams = clientOf(baseUrl, { timeoutMs: 100, maxRetries: 2 });
  expect(await streams.get('a')).toMatchObject({ id: 'a' });
  expect(count).toBe(3);
});

it('an aborted call ends at once and closes its connection', async () => {
  const controller = new AbortController();
  const reason = new Error('changed my mind');
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => (close = resolve));
  const baseUrl = await listen((request) => {
    request.on('close', () => close());
    controller.abort(reason);
  });
  const call = clientOf(baseUrl, { maxRetries: 5 }).get('a', { signal: controller.signal });
  expect(await errorOf(call)).toMatchObject({ code: 'aborted', cause: reason });
  await closed;
});

it('an incomplete response is a network error', async () => {
  const baseUrl = await listen((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"id"');
    setTimeout(() => response.destroy(), 20);
  });
  expect(await errorOf(clientOf(baseUrl).get('a'))).toMatchObject({ code: 'network_error' });
});

it('the API key does not follow a redirect', async () => {
  let count = 0;
  const baseUrl = await listen((_, response) => {
    count++;
    response.writeHead(301, { location: 'http://127.0.0.1:1/' }).end();
  });
  expect(await errorOf(clientOf(baseUrl).get('a'))).toMatchObject({ code: 'redirected' });
  expect(count).toBe(1);
});

it('the error for a refused connection names the URL', async () => {
  const baseUrl = await listen(() => {});
  stop();
  const error = await errorOf(clientOf(baseUrl).create(STREAM));
  expect(error).toMatchObject({ code: 'network_error', message: `No response from ${baseUrl}` });
});
