/**
 * Tests batched requests over HTTP, including nodes that reject batches or return incomplete or
 * malformed responses.
 */
import { createServer } from 'node:http';
import { type RunningScriptedChain, startScriptedChain } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHttpClient } from './httpClient.ts';
import type { RpcClient } from './rpcClient.ts';

const BLOCKS = 16;

let chain: RunningScriptedChain;
let client: RpcClient;
/** Number of calls in each request that the node received. */
let sizes: number[];
/** Returns a replacement for the text of a response; undefined to keep the text. */
let garble: (text: string, sent: unknown) => string | undefined;
let stop: () => Promise<void>;

beforeEach(async () => {
  chain = await startScriptedChain();
  for (let number = 1; number <= BLOCKS; number++) chain.mine({});
  sizes = [];
  garble = () => undefined;
  const proxy = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const sent = JSON.parse(body) as unknown;
      sizes.push(Array.isArray(sent) ? sent.length : 1);
      const answer = await fetch(chain.url, { method: 'POST', body });
      const text = await answer.text();
      const retryAfter = answer.headers.get('retry-after');
      if (retryAfter !== null) response.setHeader('retry-after', retryAfter);
      response.writeHead(answer.status).end(garble(text, sent) ?? text);
    })();
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { port: number };
  client = createHttpClient(new URL(`http://127.0.0.1:${port}`), 'node');
  stop = async () => {
    await client.close();
    await new Promise((resolve) => proxy.close(resolve));
    await chain.stop();
  };
});
afterEach(() => stop());

const hexOf = (number: number): string => `0x${number.toString(16)}`;

/** Requests all blocks in one turn of the event loop, and returns their numbers or errors. */
const readAll = async (): Promise<unknown[]> => {
  const numbers = Array.from({ length: BLOCKS }, (_, n) => n + 1);
  const read = numbers.map((number) =>
    client.request('eth_getBlockByNumber', [hexOf(number), true]),
  );
  const results = await Promise.allSettled(read);
  return results.map((each) =>
    each.status === 'fulfilled' ? Number((each.value as { number: string }).number) : each.reason,
  );
};
const everyNumber = Array.from({ length: BLOCKS }, (_, n) => n + 1);

test('requests of one turn are sent in batches, and other requests alone', async () => {
  expect(await readAll()).toEqual(everyNumber);
  expect(sizes).toEqual([8, 8]);
  await Promise.all([client.request('eth_chainId', []), client.request('eth_chainId', [])]);
  await client.request('eth_getBlockByNumber', ['0x1', true]);
  expect(sizes.slice(2)).toEqual([1, 1, 1]);
});

test('an error in a batch affects only its call', async () => {
  chain.trouble({ kind: 'error', times: 1, code: -32000, message: 'oh no' });
  const [first, ...others] = await readAll();
  expect(first).toMatchObject({ kind: 'refused', message: expect.stringContaining('oh no') });
  expect(others).toEqual(everyNumber.slice(1));
  expect(sizes).toEqual([8, 8]);
});

describe('a node', () => {
  test('that refuses batches is read by single requests from then on', async () => {
    chain.trouble({ kind: 'batchLimit', calls: 1 });
    expect(await readAll()).toEqual(everyNumber);
    sizes = [];
    expect(await readAll()).toEqual(everyNumber);
    expect(sizes).toEqual(Array.from({ length: BLOCKS }, () => 1));
  });

  test('that limits requests is not queried again immediately', async () => {
    chain.trouble({ kind: 'rateLimit', retryAfterSeconds: 7 });
    const limited = { kind: 'rate-limited', retryAfterMs: 7_000 };
    expect(await readAll()).toEqual(everyNumber.map(() => expect.objectContaining(limited)));
    expect(sizes).toEqual([8, 8]);
    chain.heal();
    await readAll();
    expect(sizes).toEqual([8, 8, 8, 8]);
  });

  test('that limits requests with one error for a batch is not queried again immediately', async () => {
    garble = () => '{"id": null, "error": {"code": -32005, "message": "rate limit exceeded"}}';
    const limited = { kind: 'rate-limited' };
    expect(await readAll()).toEqual(everyNumber.map(() => expect.objectContaining(limited)));
    expect(sizes).toEqual([8, 8]);
  });

  test('that is down does not lose its batches', async () => {
    chain.trouble({ kind: 'httpError', status: 502 });
    expect(await readAll()).toEqual(
      everyNumber.map(() => expect.objectContaining({ kind: 'unreachable' })),
    );
    chain.heal();
    sizes = [];
    expect(await readAll()).toEqual(everyNumber);
    expect(sizes).toEqual([8, 8]);
  });

  test('that omits responses is queried for them again, with smaller batches later', async () => {
    garble = (text, sent) =>
      Array.isArray(sent) ? JSON.stringify((JSON.parse(text) as unknown[]).slice(0, 5)) : undefined;
    expect(await readAll()).toEqual(everyNumber);
    sizes = [];
    expect(await readAll()).toEqual(everyNumber);
    expect(sizes).toEqual([4, 4, 4, 4]);
  });

  test('that responds in another order gets each response to its call', async () => {
    garble = (text) => JSON.stringify((JSON.parse(text) as unknown[]).toReversed());
    expect(await readAll()).toEqual(everyNumber);
  });

  test.each(['[]', '[null, 1, "x", []]', 'null', '7', '<html>', '{"result": []}'])(
    'that responds to batches with %s is read by single requests',
    async (answer) => {
      garble = (_, sent) => (Array.isArray(sent) ? answer : undefined);
      expect(await readAll()).toEqual(everyNumber);
    },
  );

  test('that rejects a call as too large in a batch returns it alone', async () => {
    garble = (text, sent) => {
      if (!Array.isArray(sent)) return undefined;
      const error = { code: -32003, message: 'response too large' };
      const answers = JSON.parse(text) as { id: number }[];
      return JSON.stringify(answers.map((each, n) => (n < 3 ? each : { id: each.id, error })));
    };
    expect(await readAll()).toEqual(everyNumber);
  });
});
