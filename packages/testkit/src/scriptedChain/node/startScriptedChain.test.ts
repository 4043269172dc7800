import { once } from 'node:events';
import {
  type Address,
  type Hex,
  createPublicClient,
  erc20Abi,
  http,
  parseAbiItem,
  webSocket,
} from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { RpcBlock, RpcLog, RpcReceipt } from './rpcShapes.ts';
import type { ScriptedBlock } from '../scriptedBlock.ts';
import { type ScriptedLog, scripted } from '../scriptedTransaction.ts';
import { type RunningScriptedChain, startScriptedChain } from './startScriptedChain.ts';

const alice: Address = `0x${'a1'.repeat(20)}`;
const bob: Address = `0x${'b0'.repeat(20)}`;
const token: Address = `0x${'70'.repeat(20)}`;
const otherToken: Address = `0x${'71'.repeat(20)}`;

let chain: RunningScriptedChain;

beforeEach(async () => {
  chain = await startScriptedChain();
});
afterEach(() => chain.stop());

const pay = (value = 1n, of = token) =>
  scripted.erc20Transfer({ token: of, from: alice, to: bob, value });

interface Answer<Result> {
  id?: unknown;
  result?: Result;
  error?: { code: number; message: string; data?: unknown };
}

function post(body: unknown): Promise<Response> {
  return fetch(chain.url, { method: 'POST', body: JSON.stringify(body) });
}

async function call<Result = unknown>(
  method: string,
  ...params: unknown[]
): Promise<Answer<Result>> {
  const response = await post({ jsonrpc: '2.0', id: 1, method, params });
  return (await response.json()) as Answer<Result>;
}

async function result<Result>(method: string, ...params: unknown[]): Promise<Result> {
  const answer = await call<Result>(method, ...params);
  expect(answer.error).toBeUndefined();
  return answer.result as Result;
}

test('the node adds times in milliseconds to blocks, transactions, receipts and logs on request', async () => {
  const plain = chain;
  const fast = await startScriptedChain({ blockTimeSeconds: 0.2, showsMs: true });
  try {
    for (const each of [plain, fast]) {
      chain = each;
      const { hash, timestampMs } = each.mine({ transactions: [pay()] });
      const shown = each === fast ? `0x${timestampMs.toString(16)}` : undefined;
      const block = await result<Record<string, unknown>>('eth_getBlockByHash', hash, true);
      const [receipt] = await result<RpcReceipt[]>('eth_getBlockReceipts', hash);
      const items = [(block['transactions'] as object[])[0], receipt, receipt!.logs[0]];
      expect(block['timestampMs']).toBe(shown);
      for (const item of items) {
        expect((item as Record<string, unknown>)['blockTimestampMs']).toBe(shown);
      }
    }
  } finally {
    chain = plain;
    await fast.stop();
  }
});

describe('viem reads the chain', () => {
  const client = () => createPublicClient({ transport: http(chain.url, { retryCount: 0 }) });

  test('blocks by number, hash and tag', async () => {
    chain.mineMany(70);
    const mined = chain.mine({ transactions: [pay()] });
    const reader = client();
    expect(await reader.getChainId()).toBe(31337);
    expect(await reader.getBlockNumber()).toBe(71n);
    const latest = await reader.getBlock({ includeTransactions: true });
    expect(latest).toMatchObject({
      number: 71n,
      hash: mined.hash,
      parentHash: mined.parentHash,
      timestamp: mined.timestamp,
      logsBloom: mined.logsBloom,
      gasUsed: mined.gasUsed,
    });
    expect(latest.transactions).toMatchObject([
      {
        hash: mined.transactions[0]?.hash,
        blockHash: mined.hash,
        blockNumber: 71n,
        from: alice,
        to: token,
        type: 'eip1559',
        transactionIndex: 0,
        yParity: 0,
      },
    ]);
    expect(await reader.getBlock({ blockHash: mined.hash })).toMatchObject({
      transactions: [mined.transactions[0]?.hash],
    });
    const numberOf = async (blockTag: 'earliest' | 'finalized' | 'safe') =>
      (await reader.getBlock({ blockTag })).number;
    expect([
      await numberOf('earliest'),
      await numberOf('finalized'),
      await numberOf('safe'),
    ]).toEqual([0n, 7n, 39n]);
    await expect(reader.getBlock({ blockNumber: 72n })).rejects.toThrow('could not be found');
  });

  test('receipts and transactions', async () => {
    const mined = chain.mine({
      transactions: [
        { ...scripted.transfer({ from: alice, to: bob, value: 5n }), type: 'legacy' },
        pay(),
        scripted.reverted(pay()),
        scripted.creation({ from: bob }),
      ],
    });
    const [native, transfer, reverted, creation] = mined.transactions.map(({ hash }) => hash) as [
      Hex,
      Hex,
      Hex,
      Hex,
    ];
    const reader = client();
    expect(await reader.getTransaction({ hash: native })).toMatchObject({
      value: 5n,
      type: 'legacy',
      chainId: 31337,
    });
    expect(await reader.getTransactionReceipt({ hash: native })).toMatchObject({
      status: 'success',
      cumulativeGasUsed: 21_000n,
      logs: [],
      type: 'legacy',
    });
    const receipt = await reader.getTransactionReceipt({ hash: transfer });
    expect(receipt).toMatchObject({
      blockHash: mined.hash,
      cumulativeGasUsed: 52_000n,
      gasUsed: 31_000n,
      transactionIndex: 1,
      logs: [{ address: token, logIndex: 0, transactionHash: transfer, removed: false }],
    });
    expect(await reader.getTransactionReceipt({ hash: reverted })).toMatchObject({
      status: 'reverted',
      logs: [],
    });
    const { contractAddress } = await reader.getTransactionReceipt({ hash: creation });
    expect(contractAddress?.toLowerCase()).toBe(mined.transactions[3]?.contractAddress);

    const ofBlock = await result<RpcReceipt[]>('eth_getBlockReceipts', mined.hash);
    expect(ofBlock).toEqual(await result('eth_getBlockReceipts', '0x1'));
    expect(ofBlock[1]).toEqual(await result('eth_getTransactionReceipt', transfer));
    expect(ofBlock).toHaveLength(4);
  });

  test('logs by range, block, address and topics', async () => {
    const event = parseAbiItem(
      'event Transfer(address indexed from, address indexed to, uint256 value)',
    );
    chain.mine({ transactions: [pay(1n), pay(2n, otherToken)] });
    const second = chain.mine({
      transactions: [scripted.erc20Transfer({ token, from: bob, to: alice, value: 3n })],
    });
    const reader = client();
    const values = async (filter: object) =>
      (await reader.getLogs({ event, fromBlock: 0n, ...filter })).map(({ args }) => args.value);
    expect(await values({})).toEqual([1n, 2n, 3n]);
    expect(await values({ address: token })).toEqual([1n, 3n]);
    expect(await values({ address: [token, otherToken] })).toEqual([1n, 2n, 3n]);
    expect(await values({ args: { from: alice } })).toEqual([1n, 2n]);
    expect(await values({ args: { to: [alice] } })).toEqual([3n]);
    expect(await values({ fromBlock: 2n })).toEqual([3n]);
    expect(await values({ fromBlock: undefined, blockHash: second.hash })).toEqual([3n]);
    expect(await values({ event: parseAbiItem('event Other()') })).toEqual([]);
  });

  test('heads over WebSocket', async () => {
    const socket = createPublicClient({ transport: webSocket(chain.wsUrl) });
    const heads: [bigint, Hex][] = [];
    const unwatch = socket.watchBlocks({
      onBlock: ({ number, hash }) => heads.push([number, hash]),
    });
    await expect.poll(() => chain.calls['eth_subscribe']).toBe(1);
    // Mines one block at a time: viem fetches each announced block by number, and two fetches could
    // end in either order.
    for (let i = 0; i < 2; i += 1) {
      const expected = chain.mine();
      await expect.poll(() => heads.at(-1)).toEqual([expected.number, expected.hash]);
    }
    unwatch();
    await expect.poll(() => chain.calls['eth_unsubscribe']).toBe(1);
    (await socket.transport.getRpcClient()).close();
  });

  test('calls and balances with responses from the test', async () => {
    chain.mineMany(2);
    chain.answerCalls(({ to, data, block }) => {
      if (data !== '0x313ce567') throw new Error(`what is ${data}?`);
      return `0x${(to === token ? block.number : 0n).toString(16).padStart(64, '0')}`;
    });
    chain.answerBalances(({ address, block }) => (address === alice ? block.number * 10n : 0n));
    const reader = client();
    const decimals = { address: token, abi: erc20Abi, functionName: 'decimals' } as const;
    expect(await reader.readContract(decimals)).toBe(2);
    expect(await reader.readContract({ ...decimals, blockNumber: 1n })).toBe(1);
    await expect(reader.readContract({ ...decimals, functionName: 'symbol' })).rejects.toThrow(
      'what is 0x95d89b41?',
    );
    expect(await reader.getBalance({ address: alice })).toBe(20n);
    expect(await result('eth_getBalance', alice, { blockHash: chain.blockAt(1n)?.hash })).toBe(
      '0xa',
    );
  });
});

describe('responds like geth', () => {
  test('to a batch in order, counting each call', async () => {
    const response = await post([
      { jsonrpc: '2.0', id: 'a', method: 'eth_chainId' },
      { jsonrpc: '2.0', id: 2, method: 'eth_nonsense', params: [] },
      { jsonrpc: '2.0', id: 3, method: 'net_version' },
    ]);
    expect(await response.json()).toEqual([
      { jsonrpc: '2.0', id: 'a', result: '0x7a69' },
      {
        jsonrpc: '2.0',
        id: 2,
        error: { code: -32601, message: 'the method eth_nonsense does not exist/is not available' },
      },
      { jsonrpc: '2.0', id: 3, result: '31337' },
    ]);
    expect(chain.calls).toEqual({ eth_chainId: 1, eth_nonsense: 1, net_version: 1 });
  });

  test('with code for an address from its first log on', async () => {
    const nothing = chain.mine();
    const first = chain.mine({
      transactions: [pay()],
    });
    const code = (number: bigint) => result('eth_getCode', token, `0x${number.toString(16)}`);
    expect([await code(nothing.number), await code(first.number)]).toEqual(['0x', '0x00']);
    expect(await result('eth_getCode', alice, 'latest')).toBe('0x');
    expect(await result('eth_getStorageAt', token, '0x0', 'latest')).toBe(`0x${'00'.repeat(32)}`);
  });

  test('with null for unknown blocks, and errors for invalid calls', async () => {
    const nobody = `0x${'00'.repeat(32)}`;
    expect(await result('eth_getBlockByHash', nobody, false)).toBeNull();
    expect(await result('eth_getBlockByNumber', '0x1', false)).toBeNull();
    expect(await result('eth_getBlockReceipts', nobody)).toBeNull();
    expect(await result('eth_getTransactionReceipt', nobody)).toBeNull();
    expect(await result('eth_getTransactionByHash', nobody)).toBeNull();
    expect((await call('eth_getLogs', { blockHash: nobody })).error).toEqual({
      code: -32000,
      message: 'unknown block',
    });
    const backwards = await call('eth_getLogs', { fromBlock: '0x2', toBlock: '0x1' });
    expect(backwards.error?.message).toBe('invalid block range params');
    expect((await call('eth_getBlockByNumber', 'newest', false)).error?.code).toBe(-32602);
    expect((await call('eth_call', { to: token, data: '0x' }, '0x9')).error?.message).toBe(
      'header not found',
    );
    expect(await (await fetch(chain.url, { method: 'POST', body: '{' })).json()).toMatchObject({
      error: { code: -32700 },
    });
  });

  test('with traces and nested calls', async () => {
    const block = chain.mine({
      transactions: [
        {
          ...pay(),
          calls: [
            {
              from: token,
              to: otherToken,
              value: 7n,
              calls: [{ from: otherToken, to: bob, type: 'STATICCALL' }],
            },
          ],
        },
        scripted.reverted(pay()),
      ],
    });
    const traces = await result('debug_traceBlockByHash', block.hash, { tracer: 'callTracer' });
    expect(traces).toMatchObject([
      {
        txHash: block.transactions[0]?.hash,
        result: {
          type: 'CALL',
          from: alice,
          to: token,
          calls: [
            { from: token, to: otherToken, value: '0x7', calls: [{ type: 'STATICCALL', to: bob }] },
          ],
        },
      },
      { result: { error: 'execution reverted' } },
    ]);
    expect(await result('debug_traceBlockByNumber', '0x1', { tracer: 'callTracer' })).toEqual(
      traces,
    );
    expect((await call('debug_traceBlockByHash', block.hash)).error?.code).toBe(-32602);
  });

  test('with an orphaned block by hash, but without its transactions', async () => {
    const orphan = chain.mine({ transactions: [pay()] });
    chain.fork({ depth: 1, blocks: 1 });
    expect(await result('eth_getBlockByHash', orphan.hash, false)).toMatchObject({ number: '0x1' });
    expect(await result<RpcLog[]>('eth_getLogs', { blockHash: orphan.hash })).toHaveLength(1);
    expect(await result('eth_getTransactionReceipt', orphan.transactions[0]?.hash)).toBeNull();
    expect(await result('eth_getLogs', { fromBlock: '0x0' })).toEqual([]);
  });
});

describe('troubles', () => {
  let block: ScriptedBlock;
  beforeEach(() => {
    chain.mineMany(3);
    block = chain.mine({ transactions: [pay(1n), pay(2n)] });
  });

  const logsByRange = () => result<RpcLog[]>('eth_getLogs', { fromBlock: '0x0' });

  test('withhold: known by number, null by hash for a while', async () => {
    chain.trouble({ kind: 'withhold', times: 2 });
    expect(await result('eth_getBlockByNumber', 'latest', false)).toMatchObject({
      hash: block.hash,
    });
    expect(await result('eth_getBlockByHash', block.hash, false)).toBeNull();
    expect(await result('eth_getBlockByHash', block.hash, false)).toBeNull();
    expect(await result('eth_getBlockByHash', block.hash, false)).toMatchObject({
      hash: block.hash,
    });
  });

  test('nullReceipts: receipts are null until heal', async () => {
    chain.trouble({ kind: 'nullReceipts' });
    expect(await result('eth_getBlockReceipts', block.hash)).toBeNull();
    expect(await result('eth_getTransactionReceipt', block.transactions[0]?.hash)).toBeNull();
    chain.heal();
    expect(await result('eth_getBlockReceipts', block.hash)).toHaveLength(2);
  });

  test('emptyLogs counts only responses with logs to hide', async () => {
    chain.trouble({ kind: 'emptyLogs', times: 1 });
    expect(await result('eth_getLogs', { blockHash: chain.blockAt(1n)?.hash })).toEqual([]);
    expect(await logsByRange()).toEqual([]);
    expect(await logsByRange()).toHaveLength(2);
  });

  test('lag: eth_blockNumber is ahead of eth_getLogs', async () => {
    chain.trouble({ kind: 'lag', blocks: 1 });
    expect(await result('eth_blockNumber')).toBe('0x4');
    expect(await logsByRange()).toEqual([]);
    expect((await call('eth_getLogs', { blockHash: block.hash })).error?.message).toBe(
      'unknown block',
    );
    chain.mine();
    expect(await logsByRange()).toHaveLength(2);
  });

  test('lag: other methods', async () => {
    chain.trouble({ kind: 'lag', blocks: 2, methods: ['eth_blockNumber', 'eth_getBlockByHash'] });
    expect(await result('eth_blockNumber')).toBe('0x2');
    expect(await result('eth_getBlockByHash', block.hash, false)).toBeNull();
    expect(await logsByRange()).toHaveLength(2);
  });

  test('rateLimit: calls get a 429 with Retry-After and the error -32005', async () => {
    chain.trouble({ kind: 'rateLimit', retryAfterSeconds: 7, times: 1 });
    const response = await post({ jsonrpc: '2.0', id: 5, method: 'eth_chainId' });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.json()).toMatchObject({ id: 5, error: { code: -32005 } });
    expect((await post({ jsonrpc: '2.0', id: 5, method: 'eth_chainId' })).status).toBe(200);
  });

  test('rangeLimit: wide ranges are rejected, and narrow ones not counted', async () => {
    chain.trouble({ kind: 'rangeLimit', blocks: 2, times: 1 });
    expect(await result('eth_getLogs', { fromBlock: '0x3', toBlock: '0x4' })).toHaveLength(2);
    const wide = await call('eth_getLogs', { fromBlock: '0x2', toBlock: '0x4' });
    expect(wide.error).toEqual({ code: -32005, message: 'query exceeds max block range 2' });
    expect(await result('eth_getLogs', { fromBlock: '0x2', toBlock: '0x4' })).toHaveLength(2);
  });

  test('rangeLimit: the refusal has any code, text, data and HTTP status', async () => {
    const more = { code: -32602, data: { payload: '$blocks' }, status: 413 };
    const message = 'try [$from, $to], $fromNumber-$toNumber';
    chain.trouble({ kind: 'rangeLimit', blocks: 2, message, ...more, times: 1 });
    const wide = {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getLogs',
      params: [{ fromBlock: '0x2', toBlock: '0x4' }],
    };
    const refused = await post(wide);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({
      error: { code: -32602, message: 'try [0x2, 0x3], 2-3', data: { payload: '2' } },
    });
    chain.trouble({ kind: 'rangeLimit', blocks: 2, message, status: 400, isPlain: true });
    const plain = await post(wide);
    expect(plain.status).toBe(400);
    expect(await plain.text()).toBe('try [0x2, 0x3], 2-3');
  });

  test('batchLimit: large batches are rejected, and small ones not counted', async () => {
    chain.trouble({ kind: 'batchLimit', calls: 1, times: 1 });
    const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId' }));
    expect(await (await post(batch[0])).json()).toMatchObject({ result: '0x7a69' });
    expect(await (await post(batch)).json()).toMatchObject({ error: { code: -32600 } });
    expect(await (await post(batch)).json()).toHaveLength(2);
  });

  test('error: one method', async () => {
    chain.trouble({ kind: 'error', methods: ['eth_blockNumber'] });
    expect((await call('eth_blockNumber')).error).toEqual({
      code: -32000,
      message: 'internal error',
    });
    expect((await call('eth_chainId')).error).toBeUndefined();
  });

  test('hang: one method never responds, others do', async () => {
    chain.trouble({ kind: 'hang', methods: ['eth_getLogs'] });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [{}] });
    const hung = fetch(chain.url, { method: 'POST', body, signal: AbortSignal.timeout(200) });
    await expect(hung).rejects.toThrow(expect.objectContaining({ name: 'TimeoutError' }));
    expect(await result('eth_chainId')).toBe('0x7a69');
  });

  test('delay: the response is late', async () => {
    chain.trouble({ kind: 'delay', delayMs: 120 });
    const startedAt = performance.now();
    await call('eth_chainId');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(115);
  });

  test('httpError: the response is an HTML page with the status', async () => {
    chain.trouble({ kind: 'httpError', status: 502 });
    const response = await post({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' });
    expect([response.status, await response.text()]).toEqual([
      502,
      expect.stringContaining('<html>'),
    ]);
  });

  test('malformedJson: the response is not JSON', async () => {
    chain.trouble({ kind: 'malformedJson', times: 1 });
    await expect(call('eth_chainId')).rejects.toThrow(SyntaxError);
    expect(await result('eth_chainId')).toBe('0x7a69');
  });

  test('missingLog: missing from logs and receipts, but in the bloom', async () => {
    chain.trouble({ kind: 'missingLog' });
    expect((await logsByRange()).map(({ logIndex }) => logIndex)).toEqual(['0x0']);
    const receipts = await result<RpcReceipt[]>('eth_getBlockReceipts', block.hash);
    expect(receipts.map(({ logs }) => logs.length)).toEqual([1, 0]);
    const { logsBloom } = await result<RpcBlock>('eth_getBlockByHash', block.hash, false);
    expect(logsBloom).toBe(block.logsBloom);
  });

  test('missingFirstLog: the indices reveal it', async () => {
    chain.trouble({ kind: 'missingFirstLog' });
    expect((await logsByRange()).map(({ logIndex }) => logIndex)).toEqual(['0x1']);
    const receipts = await result<RpcReceipt[]>('eth_getBlockReceipts', block.hash);
    expect(receipts.map(({ logs }) => logs.length)).toEqual([0, 1]);
  });

  test('truncatedReceipts: the last one is missing', async () => {
    chain.trouble({ kind: 'truncatedReceipts' });
    const receipts = await result<RpcReceipt[]>('eth_getBlockReceipts', block.hash);
    expect(receipts.map(({ transactionHash }) => transactionHash)).toEqual(
      block.transactions.slice(0, -1).map(({ hash }) => hash),
    );
  });

  test('emptyBloom and wrongHash: the header differs', async () => {
    chain.trouble({ kind: 'emptyBloom' });
    chain.trouble({ kind: 'wrongHash', methods: ['eth_getBlockByNumber'] });
    const byHash = await result<RpcBlock>('eth_getBlockByHash', block.hash, false);
    expect(byHash).toMatchObject({ hash: block.hash, logsBloom: `0x${'00'.repeat(256)}` });
    const byNumber = await result<RpcBlock>('eth_getBlockByNumber', byHash.number, false);
    expect(byNumber.hash).not.toBe(block.hash);
  });

  test('unknownTags: only finality tags are rejected', async () => {
    chain.trouble({ kind: 'unknownTags' });
    for (const tag of ['finalized', 'safe']) {
      await expect(result('eth_getBlockByNumber', tag, false)).rejects.toThrow();
    }
    await result('eth_getBlockByNumber', 'latest', false);
  });

  test('every: affects every nth call', async () => {
    chain.trouble({ kind: 'withhold', every: 3 });
    const answers: boolean[] = [];
    for (let n = 0; n < 6; n++) {
      answers.push((await result('eth_getBlockByHash', block.hash, false)) === null);
    }
    expect(answers).toEqual([false, false, true, false, false, true]);
  });

  test('foreignLogs: the logs name another block', async () => {
    chain.trouble({ kind: 'foreignLogs' });
    for (const log of await logsByRange()) expect(log.blockHash).not.toBe(block.hash);
    const receipts = await result<RpcReceipt[]>('eth_getBlockReceipts', block.hash);
    expect(receipts[0]?.blockHash).toBe(block.hash);
    expect(receipts[0]?.logs[0]?.blockHash).not.toBe(block.hash);
  });

  test('wrongParentHash: the parent is unknown', async () => {
    chain.trouble({ kind: 'wrongParentHash', methods: ['eth_getBlockByHash'] });
    const lie = await result<RpcBlock>('eth_getBlockByHash', block.hash, false);
    expect(lie.hash).toBe(block.hash);
    expect(lie.parentHash).not.toBe(block.parentHash);
    expect(chain.blockOf(lie.parentHash)).toBeUndefined();
    const truth = await result<RpcBlock>('eth_getBlockByNumber', 'latest', false);
    expect(truth.parentHash).toBe(block.parentHash);
  });

  test('wrongChainId: both methods return the other ID', async () => {
    chain.trouble({ kind: 'wrongChainId', chainId: 137 });
    expect([await result('eth_chainId'), await result('net_version')]).toEqual(['0x89', '137']);
  });

  test('two nodes of one chain may disagree', async () => {
    const other = await startScriptedChain({ chain });
    other.trouble({ kind: 'emptyLogs' });
    const ask = { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [{ fromBlock: '0x0' }] };
    const response = await fetch(other.url, { method: 'POST', body: JSON.stringify(ask) });
    expect(await response.json()).toMatchObject({ result: [] });
    expect(await logsByRange()).toHaveLength(2);
    expect(other.head).toBe(chain.head);
    chain.mine();
    expect(other.head).toBe(chain.head);
    await other.stop();
  });
});

describe('WebSocket', () => {
  const sockets: WebSocket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.terminate();
  });

  async function connect() {
    const socket = new WebSocket(chain.wsUrl);
    sockets.push(socket);
    const messages: { id?: number; result?: unknown; params?: { result: { number: Hex } } }[] = [];
    socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString()) as never));
    await once(socket, 'open');
    const send = (id: number, method: string, ...params: unknown[]) =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const heads = () => messages.flatMap(({ params }) => (params ? [params.result.number] : []));
    const answerTo = async (id: number) => {
      await expect.poll(() => messages.some((message) => message.id === id)).toBe(true);
      return messages.find((message) => message.id === id);
    };
    const subscribe = async () => {
      send(1, 'eth_subscribe', 'newHeads');
      await answerTo(1);
    };
    return { socket, send, heads, answerTo, subscribe };
  }

  test('announces every block of a new branch until unsubscribed', async () => {
    chain.mineMany(3);
    const { send, heads, answerTo, subscribe } = await connect();
    await subscribe();
    chain.mine();
    chain.fork({ depth: 2, blocks: 3 });
    await expect.poll(heads).toEqual(['0x4', '0x3', '0x4', '0x5']);
    const subscription = (await answerTo(1))?.result;
    send(2, 'eth_unsubscribe', subscription);
    expect((await answerTo(2))?.result).toBe(true);
    chain.mine();
    send(3, 'eth_chainId'); // A head would be announced before this response.
    await answerTo(3);
    expect(heads()).toHaveLength(4);
  });

  test('rejects an unknown subscription', async () => {
    const { send, answerTo } = await connect();
    send(1, 'eth_subscribe', 'logs');
    expect(await answerTo(1)).toMatchObject({ error: { code: -32601 } });
    send(2, 'eth_unsubscribe', '0x99');
    expect(await answerTo(2)).toMatchObject({ error: { message: 'subscription not found' } });
  });

  test('silentHeads: responds, but sends no heads', async () => {
    const { send, heads, answerTo, subscribe } = await connect();
    await subscribe();
    chain.trouble({ kind: 'silentHeads', times: 2 });
    chain.mineMany(2);
    send(2, 'eth_blockNumber');
    expect((await answerTo(2))?.result).toBe('0x2');
    expect(heads()).toEqual([]);
    chain.mine();
    await expect.poll(heads).toEqual(['0x3']);
  });

  test('dropWebSockets: open and new connections until heal', async () => {
    const { socket } = await connect();
    const closed = once(socket, 'close');
    chain.trouble({ kind: 'dropWebSockets' });
    await closed;
    const again = await connect();
    await once(again.socket, 'close');
    chain.heal();
    const { send, answerTo } = await connect();
    send(1, 'eth_chainId');
    expect((await answerTo(1))?.result).toBe('0x7a69');
  });

  test('dropWebSockets: with `times: 0` only open connections', async () => {
    const { socket } = await connect();
    const closed = once(socket, 'close');
    chain.trouble({ kind: 'dropWebSockets', times: 0 });
    await closed;
    const { send, answerTo } = await connect();
    send(1, 'eth_chainId');
    expect((await answerTo(1))?.result).toBe('0x7a69');
  });
});

test('the node finds no logs in blocks that an old chain does not have', async () => {
  const old = await startScriptedChain({ firstNumber: 100n });
  try {
    old.mine();
    const response = await fetch(old.url, {
      method: 'POST',
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_getLogs',
        params: [{ fromBlock: '0x0', toBlock: 'latest' }],
      }),
    });
    expect(await response.json()).toMatchObject({ result: [] });
  } finally {
    await old.stop();
  }
});

test('the node serves a block of 50,000 logs completely', { timeout: 60_000 }, async () => {
  const topic: Hex = `0x${'11'.repeat(32)}`;
  const log: ScriptedLog = { address: token, topics: [topic], data: `0x${'22'.repeat(200)}` };
  const transactions = Array.from({ length: 500 }, () => ({
    to: token,
    logs: Array.from({ length: 100 }, () => log),
  }));
  const block = chain.mine({ transactions });
  const logs = await result<RpcLog[]>('eth_getLogs', { blockHash: block.hash });
  expect(logs).toHaveLength(50_000);
  expect(logs.at(-1)?.logIndex).toBe('0xc34f');
  expect(await result<RpcLog[]>('eth_getLogs', { fromBlock: '0x0' })).toHaveLength(50_000);
});
