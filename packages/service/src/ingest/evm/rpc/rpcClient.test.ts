import { type RunningScriptedChain, startScriptedChain } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
