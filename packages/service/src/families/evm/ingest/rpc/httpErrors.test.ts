/** Tests how the client reads the bodies of HTTP errors. */
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHttpClient } from './httpClient.ts';
import type { RpcClient } from './rpcClient.ts';

let client: RpcClient;
let respond: (response: ServerResponse) => void;
let stop: () => Promise<void>;

beforeEach(async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => respond(response));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  client = createHttpClient(new URL(`http://127.0.0.1:${port}`), 'node');
  stop = async () => {
    await client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
});
afterEach(() => stop());

const queryLogs = (): Promise<unknown> => client.request('eth_getLogs', [{}]);

test.each([
  [413, 'eth_getLogs is limited to a 1,000 range', { blocks: 1_000 }],
  [400, 'this block range should work: [0x1, 0xff]', { to: 255 }],
  [500, 'exceed maximum block range: 50', { blocks: 50 }],
])('a JSON-RPC error with HTTP status %i is read: %s', async (status, message, range) => {
  const error = { code: -32614, message };
  respond = (response) => response.writeHead(status).end(JSON.stringify({ id: 1, error }));
  await expect(queryLogs()).rejects.toMatchObject({ kind: 'too-large', range });
});

test('a page with an HTTP error is read as text', async () => {
  const page = '<html><h1>422</h1><p>Block range\n is limited to 800</p></html>';
  respond = (response) => response.writeHead(422, { 'content-type': 'text/html' }).end(page);
  await expect(queryLogs()).rejects.toMatchObject({
    kind: 'too-large',
    range: { blocks: 800 },
    message: 'node: eth_getLogs returned HTTP 422: 422 Block range is limited to 800',
  });
});

test('only the beginning of an endless error is read', async () => {
  let bytes = 0;
  respond = (response) => {
    response.writeHead(500);
    const chunk = 'response too large '.repeat(1_000);
    const write = (): void => {
      while (!response.destroyed) {
        bytes += chunk.length;
        if (!response.write(chunk)) return;
      }
    };
    response.on('drain', write);
    write();
  };
  await expect(queryLogs()).rejects.toMatchObject({ kind: 'too-large' });
  expect(bytes).toBeLessThan(32 * 1024 * 1024);
  respond = (response) => response.end('{"id":1,"result":[]}');
  expect(await queryLogs()).toEqual([]);
});
