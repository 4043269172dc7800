import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createAptosRest } from './rest.ts';

test('the size of a response is its size in bytes', async () => {
  const json = '{"name":"α → 🪙"}';
  const server = createServer((_, response) => response.end(json)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const rest = createAptosRest(`http://127.0.0.1:${port}/v1`, 'node');
  expect(await rest.get('')).toEqual({
    value: { name: 'α → 🪙' },
    sizeBytes: Buffer.byteLength(json),
  });
  await rest.close();
  server.close();
});
