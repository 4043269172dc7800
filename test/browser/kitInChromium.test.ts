/**
 * Tests that the kit returns the same results in Chromium as in Node, and that its calls work with
 * the network stack of the browser. Complements the test suites of the project `chromium`.
 */
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type Page, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHROMIUM_OPTIONS } from './chromium.ts';
import { bundle } from '../runtimes/bundle.ts';
import { runChecks } from '../runtimes/checks.ts';

interface Recorded {
  readonly call: string;
  readonly key: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

let origin: string;
let server: Server;
let browser: Browser;
let page: Page;
const calls: Recorded[] = [];
const eventsClosed = Promise.withResolvers<void>();

beforeAll(async () => {
  const script = await bundle(
    "export * from './checks.ts'; export { createClient } from '@sluice/kit'; export { createSluiceClient } from '@sluice/kit/sluice';",
  );
  server = createServer((request, response) => {
    const { method, url = '', headers } = request;
    if (url === '/' || url === '/kit.js') {
      const isScript = url !== '/';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(
        isScript ? script : '<!doctype html><title>kit</title><link rel="icon" href="data:,">',
      );
      return;
    }
    void request.toArray().then((chunks) => {
      const body = Buffer.concat(chunks).toString();
      const { 'x-api-key': key, 'content-type': type } = headers;
      calls.push({ call: `${method} ${url}`, key: key?.toString(), type, body });
      response.setHeader('x-request-id', `req-${calls.length}`);
      if (url === '/sluice/events') {
        response.on('close', () => eventsClosed.resolve());
        response.setHeader('content-type', 'text/event-stream');
        response.write('id: 1\ndata: {"type":"stream","streamId":"a"}\n\n');
        return;
      }
      response.setHeader('content-type', 'application/json');
      response.end('{"id":"a","result":[],"total":0}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await chromium.launch(CHROMIUM_OPTIONS);
  page = await browser.newPage();
  await page.goto(origin);
});
afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

test('the kit returns the same in Chromium as in Node', async () => {
  const results = await page.evaluate("import('/kit.js').then(({ runChecks }) => runChecks())");
  const expected = await runChecks();
  expect(Object.keys(expected).length).toBeGreaterThan(30);
  expect(results).toEqual(expected);
});

test('calls of every method work with a relative base URL', async () => {
  const results = await page.evaluate(`import('/kit.js').then(async ({ createClient }) => {
    const { streams } = createClient({ baseUrl: '/', apiKey: 'the-key' });
    const address = '0x' + '1'.repeat(40);
    await streams.list({ limit: 5 });
    await streams.create({ webhookUrl: 'http://x', description: 'é', tag: 't', chainIds: [1] });
    await streams.addAddress('a', address);
    await streams.replaceAddresses('a', [address]);
    const { data, response, requestId } = await streams.delete('a').withResponse();
    return [data.id, response.status, requestId];
  })`);
  expect(results).toEqual(['a', 200, 'req-5']);
  const json = { key: 'the-key', type: 'application/json' };
  const address = `0x${'1'.repeat(40)}`;
  expect(calls.splice(0)).toEqual([
    { call: 'GET /streams/evm?limit=5', key: 'the-key', type: undefined, body: '' },
    {
      ...json,
      call: 'PUT /streams/evm',
      body: '{"webhookUrl":"http://x","description":"é","tag":"t","chainIds":["0x1"]}',
    },
    { ...json, call: 'POST /streams/evm/a/address', body: JSON.stringify({ address }) },
    { ...json, call: 'PATCH /streams/evm/a/address', body: JSON.stringify({ address: [address] }) },
    { ...json, call: 'DELETE /streams/evm/a', body: '{}' },
  ]);
});

test('live events arrive, and leaving them closes the connection', async () => {
  const results = await page.evaluate(`import('/kit.js').then(async ({ createSluiceClient }) => {
    const sluice = createSluiceClient({ baseUrl: '/' });
    const { response } = await sluice.listChains().withResponse();
    for await (const received of sluice.liveEvents()) return [response.status, received];
  })`);
  expect(results).toEqual([200, { id: '1', event: { type: 'stream', streamId: 'a' } }]);
  await eventsClosed.promise;
});
