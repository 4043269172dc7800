import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createAbiSource } from './abiSource.ts';

const item = { type: 'event', name: 'Paused', inputs: [], anonymous: false };

test.each([301, 302, 303, 307, 308])('a redirect (%i) is not followed', async (status) => {
  let hits = 0;
  const inside = createServer((_, response) => {
    hits++;
    response.end(JSON.stringify([item]));
  }).listen(0, '127.0.0.1');
  await once(inside, 'listening');
  const location = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/`;
  const named = createServer((_, response) => {
    response.writeHead(status, { location }).end();
  }).listen(0, '127.0.0.1');
  await once(named, 'listening');
  const url = `http://127.0.0.1:${(named.address() as AddressInfo).port}/{address}`;
  await expect(createAbiSource({ '0x1': url }).read('0x1', '0xa')).rejects.toThrow(
    `HTTP ${status}: redirects are not followed. Set --abi-url to the final address`,
  );
  expect(hits).toBe(0);
  inside.close();
  named.close();
});

test('errors name the ABI source without the key in its URL', async () => {
  const source = createAbiSource({ '0x1': 'http://127.0.0.1:1/api?address={address}&apikey=abc' });
  expect([source.chains, source.hostOf('0x1')]).toEqual([['0x1'], '127.0.0.1:1']);
  const failure = source.read('0x1', '0xa').catch(({ message }: Error) => message);
  expect(await failure).toMatch(/^127\.0\.0\.1:1 returned no ABI: /);
  expect(await failure).not.toContain('abc');
});
