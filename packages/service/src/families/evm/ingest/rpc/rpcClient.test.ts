import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RunningScriptedChain, startScriptedChain } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createRpcClient } from './createRpcClient.ts';
import type { RpcClient } from './rpcClient.ts';

let chain: RunningScriptedChain;
beforeAll(async () => {
  chain = await startScriptedChain();
  chain.answerCalls(({ data }) => `0x${'5a'.repeat(Number(data))}`);
});
afterAll(() => chain.stop());

describe.each(['HTTP', 'WebSocket'])('over %s', (transport) => {
  let client: RpcClient;
  beforeAll(() => {
    client = createRpcClient(transport === 'HTTP' ? chain.url : chain.wsUrl, 'node');
  });
  afterAll(() => client.close());

  const call = (bytes: number, maxBytes?: number) =>
    client.request('eth_call', [{ to: `0x${'c0'.repeat(20)}`, data: bytes }, 'latest'], maxBytes);

  test('a response over its limit is aborted as too large, and the next one is read', async () => {
    await expect(call(2_000_000, 1_000_000)).rejects.toMatchObject({
      name: 'SourceError',
      kind: 'too-large',
      message: 'node: eth_call failed: the response exceeds 1000000 bytes',
    });
    expect(await call(2, 1_000_000)).toBe('0x5a5a');
  });

  test('a response of exactly its limit is read', async () => {
    const bytes = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x5a' }).length;
    expect(await call(1, bytes)).toBe('0x5a');
    await expect(call(1, bytes - 1)).rejects.toMatchObject({ kind: 'too-large' });
  });
});

test('a WebSocket is closed after a timeout only if it had no message since the request', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const client = createRpcClient(chain.wsUrl, 'node');
  const messageOf = (method: string): Promise<unknown> =>
    client.request(method, []).catch(({ message }: Error) => message);
  try {
    chain.trouble({ kind: 'hang', methods: ['eth_call'] });
    const first = messageOf('eth_call');
    expect(await messageOf('eth_chainId')).toBe('0x7a69');
    await vi.advanceTimersByTimeAsync(8_001);
    expect(await first).toBe('node: eth_call timed out after 8000 ms');
    expect(await messageOf('eth_chainId')).toBe('0x7a69');
    const second = messageOf('eth_call');
    await vi.advanceTimersByTimeAsync(1_000);
    const third = messageOf('eth_call');
    await vi.advanceTimersByTimeAsync(7_001);
    expect(await second).toBe('node: eth_call timed out after 8000 ms');
    expect(await third).toBe('node: the connection was closed');
  } finally {
    vi.useRealTimers();
    chain.heal();
    await client.close();
  }
});

test('a response without an end is aborted at its limit', async () => {
  const server = createServer((_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write('5'.repeat(65_536)));
    };
    response.on('drain', more);
    response.writeHead(200);
    more();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createRpcClient(`http://127.0.0.1:${port}`, 'node');
  await expect(client.request('eth_call', [], 1_000_000)).rejects.toMatchObject({
    kind: 'too-large',
  });
  await client.close();
  server.closeAllConnections();
  server.close();
});
