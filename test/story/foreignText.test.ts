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
const LOGIN = Buffer.from(`${SECRETS[0]}:${SECRETS[1]}`).toString('base64');
const PATH = `/v2/${key}/${letters}?apikey=${token}`;

let node: Server;
let host: string;
let served: Served;

interface Call {
  id: number;
  method: string;
}

/** Writes the secrets of a node's URL in some form. */
const forms: readonly ((url: string) => string)[] = [
  (url) => url,
  (url) => encodeURIComponent(url),
  (url) => encodeURIComponent(encodeURIComponent(url)),
  (url) => url.replaceAll('/', '\\/'),
  () => PATH,
  () => SECRETS[2]!,
  () => SECRETS[2]!.toUpperCase(),
  () => Array.from(SECRETS[2]!).join('\u200b'),
  () => SECRETS.join(' '),
  () => LOGIN,
];
/** Responses that contain the text. The last two begin with the correct chain ID. */
const places: readonly ((call: Call, said: string) => string)[] = [
  ({ id }, said) => JSON.stringify({ id, error: { code: -32_000, message: said } }),
  ({ id }, said) => JSON.stringify({ id, error: { code: -32_000, message: 'no', data: { said } } }),
  (_, said) => `<html><body>${said}\u202e</body></html>`,
  (call, said) => afterIdentity(call, { number: said, hash: said }),
  (call, said) => afterIdentity(call, said),
];
const afterIdentity = ({ id, method }: Call, result: unknown): string =>
  JSON.stringify({ id, result: method === 'eth_chainId' ? chainOf.get(id) : result });
const chainOf = new Map<number, string>();

/** The chains of the service, one for each form in each place. */
const chains = places.flatMap((place, p) =>
  forms.map((form, f) => ({ id: `0x${(0x1000 + p * 100 + f).toString(16)}`, place, form })),
);
const urlOf = (id: string): string => `http://${user}:${password}@${host}/${id}${PATH}`;

beforeAll(async () => {
  node = createServer((request, response) => {
    void text(request).then((body) => {
      const call = [JSON.parse(body) as Call].flat()[0]!;
      const chain = chains.find(({ id }) => request.url!.startsWith(`/${id}/`))!;
      chainOf.set(call.id, chain.id);
      response.end(chain.place(call, `failed: ${chain.form(urlOf(chain.id))}, sorry`));
    });
  });
  await new Promise<void>((resolve) => void node.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(node.address() as AddressInfo).port}`;
  served = await serve([
    ...['--data', folder],
    ...chains.flatMap(({ id }) => ['--chain', `${id}=${urlOf(id)},poll=1000`]),
  ]);
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
  const responses = await Promise.all([
    ...['/health', '/ready'].map((path) => read(path)),
    ...paths.map((path) => read(path, API_KEY)),
  ]);
  const ledger = readdirSync(folder)
    .filter((name) => name.startsWith('sluice.db'))
    .map((name) => readFileSync(join(folder, name), 'latin1'));
  return [...responses, served.output(), ...ledger].join('\n');
};

const readChains = async () =>
  (JSON.parse(await read('/sluice/chains', API_KEY)) as { result: { message: string }[] }).result;

test('a node that repeats its URL in any form leaks no secret', async () => {
  await until('every chain has a problem', async () =>
    (await readChains()).every(({ message }) => message !== ''),
  );
  const all = (await readEverything()).toLowerCase();
  for (const secret of [...SECRETS, ...SECRETS.map(encodeURIComponent), LOGIN]) {
    expect(all).not.toContain(secret.toLowerCase());
  }
  expect(all).not.toMatch(/[\u202e\u200b]/);
  // Callers with a key see what the node reported.
  const messages = (await readChains()).map(({ message }) => message);
  expect(messages.filter((message) => message.includes('failed: '))).not.toEqual([]);
});

test('`/health` shows states, and no text of a node', async () => {
  const health = JSON.parse(await read('/health')) as {
    chains: { state: string; providers: { state: string }[] }[];
  };
  expect(health.chains).toHaveLength(chains.length);
  for (const chain of health.chains) {
    expect(chain.state).toMatch(/^[a-z-]+$/);
    for (const each of [chain, ...chain.providers]) expect(each).not.toHaveProperty('message');
  }
  expect(JSON.stringify(health)).not.toMatch(/failed|sorry/);
});
