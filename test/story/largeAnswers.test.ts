/** Tests that huge responses of a node do not fill `/health` or the log. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { until } from '@sluice/testkit';
import { afterAll, expect, test } from 'vitest';
import { API_KEY, serve } from '../serve.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-large-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HUGE = 'x'.repeat(20_000_000);
/**
 * Maximum length of a `/health` or `/sluice/chains` response with one chain and one node, in
 * characters.
 */
const MAX_HEALTH = 5_000;

interface Call {
  id: number;
  method: string;
}

const toJson = (call: Call, answer: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: call.id, ...answer });
/** Responds to `eth_chainId` with the chain ID, and to other calls with `result`. */
const blockThat = (result: unknown) => (call: Call) =>
  toJson(call, { result: call.method === 'eth_chainId' ? '0x7a69' : result });

async function startNode(toAnswer: (call: Call) => string): Promise<Server> {
  const node = createServer((request, response) => {
    void text(request).then((body) => {
      const call = JSON.parse(body) as Call | Call[];
      response.end(toAnswer([call].flat()[0]!));
    });
  });
  node.listen(0, '127.0.0.1');
  await new Promise((resolve) => node.once('listening', resolve));
  return node;
}

test.each<[string, (call: Call) => string]>([
  ['a block', blockThat({ number: HUGE })],
  ['a block that is a string', blockThat(HUGE)],
  ['an error', (call) => toJson(call, { error: { code: -32_603, message: HUGE } })],
  ['an HTML page', () => `<!doctype html>${HUGE}`],
])('%s of 20 MB fills neither /health nor the log', async (name, toAnswer) => {
  const node = await startNode(toAnswer);
  const { port } = node.address() as AddressInfo;
  const served = await serve([
    ...['--data', join(folder, name.replaceAll(' ', '-'))],
    ...['--chain', `0x7a69=http://127.0.0.1:${port},poll=50`],
  ]);
  const get = async (path: string): Promise<string> =>
    (await fetch(served.url + path, { headers: { 'x-api-key': API_KEY } })).text();
  try {
    await until('the node is reported as down', async () =>
      (await get('/health')).includes('"down"'),
    );
    expect((await get('/health')).length).toBeLessThan(MAX_HEALTH);
    const chains = await get('/sluice/chains');
    expect(chains.length).toBeLessThan(MAX_HEALTH);
    const { result } = JSON.parse(chains) as { result: [{ message: string }] };
    expect(result[0].message.length).toBeGreaterThan(20);
    for (const line of served.output().split('\n')) expect(line.length).toBeLessThan(10_000);
  } finally {
    await served.stop();
    node.close();
  }
});
