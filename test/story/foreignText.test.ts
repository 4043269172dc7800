/** Tests that no form of a node's URL that the node repeats leaves the service. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_KEY, type Served, serve } from '../serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-foreign-'));
const SECRETS = ['nodeuser7', 'p4ss/word', 'Key-0f3a_9Zq', 'onlyletterskey', 'tok+en42x'];
const [user, password, key, letters, token] = SECRETS.map(encodeURIComponent);
const PATH = `/v2/${key}/${letters}?apikey=${token}`;

let node: Server;
let url: string;
let served: Served;
/** Body of the node's response to a call, and the number of calls that got it. */
let respond: (id: number, method: string) => string;
let calls = 0;

beforeAll(async () => {
  node = createServer((request, response) => {
    void text(request).then((body) => {
      const call = [JSON.parse(body) as { id: number; method: string }].flat()[0]!;
      calls++;
      response.end(respond(call.id, call.method));
    });
  });
  respond = (id) => JSON.stringify({ id, result: null });
  await new Promise<void>((resolve) => void node.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(node.address() as AddressInfo).port}`;
  url = `http://${user}:${password}@${host}${PATH}`;
  served = await serve(['--data', folder, '--chain', `0x7a69=${url},poll=50`]);
});
afterAll(async () => {
  await served.stop();
  node.closeAllConnections();
  node.close();
  rmSync(folder, { recursive: true });
});

const read = async (path: string, apiKey?: string): Promise<string> =>
  (await fetch(served.url + path, { headers: apiKey ? { 'x-api-key': apiKey } : {} })).text();

/** Returns all that callers, the operator and a thief of the disk can read. */
const readEverything = async (): Promise<string> => {
  const paths = ['/sluice/chains', '/metrics', '/sluice/overview', '/sluice/gaps', '/streams/evm'];
  const answers = await Promise.all([
    ...['/health', '/ready'].map((path) => read(path)),
    ...paths.map((path) => read(path, API_KEY)),
  ]);
  const ledger = readdirSync(folder)
    .filter((name) => name.startsWith('sluice.db'))
    .map((name) => readFileSync(join(folder, name), 'latin1'));
  return [...answers, served.output(), ...ledger].join('\n');
};

const forms: readonly (readonly [string, () => string])[] = [
  ['the whole URL', () => url],
  ['the percent-encoded URL', () => encodeURIComponent(url)],
  ['the URL encoded twice', () => encodeURIComponent(encodeURIComponent(url))],
  ['the URL with escaped slashes', () => url.replaceAll('/', '\\/')],
  ['the path', () => PATH],
  ['the key', () => SECRETS[2]!],
  ['the key in capitals', () => SECRETS[2]!.toUpperCase()],
  ['the key with invisible characters', () => Array.from(SECRETS[2]!).join('\u200b')],
  ['each secret', () => SECRETS.join(' ')],
  ['the login of its header', () => Buffer.from(`${SECRETS[0]}:${SECRETS[1]}`).toString('base64')],
];
const places: readonly (readonly [string, (id: number, said: string) => string])[] = [
  ['an error', (id, said) => JSON.stringify({ id, error: { code: -32_000, message: said } })],
  [
    'the data of an error',
    (id, said) => JSON.stringify({ id, error: { code: -32_000, message: 'no', data: { said } } }),
  ],
  ['a page', (_, said) => `<html><body>${said}\u202e</body></html>`],
  ['a block', (id, said) => JSON.stringify({ id, result: { number: said, hash: said } })],
  ['a result', (id, said) => JSON.stringify({ id, result: said })],
];

test('a node that repeats its URL in any form leaks no secret', async () => {
  for (const [, place] of places) {
    for (const [, form] of forms) {
      // The chain identifies the node first.
      for (const chainId of ['0x7a69', undefined]) {
        respond = (id, method) =>
          method === 'eth_chainId' && chainId !== undefined
            ? JSON.stringify({ id, result: chainId })
            : place(id, `failed: ${form()}, sorry`);
        const before = calls;
        await until('the node was queried', () => Promise.resolve(calls > before + 1));
      }
    }
  }
  await until('the node is reported as down', async () =>
    (await read('/health')).includes('"down"'),
  );
  const all = (await readEverything()).toLowerCase();
  const hidden = [
    ...SECRETS.flatMap((secret) => [secret, encodeURIComponent(secret)]),
    ...forms.slice(9).map(([, form]) => form()),
  ];
  for (const secret of hidden) expect(all).not.toContain(secret.toLowerCase());
  expect(all).not.toMatch(/[\u202e\u200b]/);
  // The texts themselves are shown, with a key.
  expect(await read('/sluice/chains', API_KEY)).toMatch(/"message":"127/);
});

test('`/health` shows states, and no text of a node', async () => {
  respond = (id) => JSON.stringify({ id, error: { code: -32_000, message: 'a text of the node' } });
  await until('the text is reported', async () =>
    (await read('/sluice/chains', API_KEY)).includes('a text of the node'),
  );
  const health = JSON.parse(await read('/health')) as {
    chains: { state: string; providers: { state: string }[] }[];
  };
  expect(health.chains[0]).toMatchObject({ id: '0x7a69', state: 'down' });
  expect(health.chains[0]).not.toHaveProperty('message');
  expect(health.chains[0]!.providers[0]).not.toHaveProperty('message');
  expect(health.chains[0]!.providers[0]!.state).toMatch(/^[a-z-]+$/);
});
