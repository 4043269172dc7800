/**
 * Tests an EVM source with scripted nodes: which nodes it queries, which data it accepts, and their
 * health.
 */
import { type RunningScriptedChain, scripted, startScriptedChain } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BlockHeader } from '../../../store/blocks/contract.ts';
import { createEvmSource } from './evm.ts';
import type { EvmSource } from './source.ts';

const CHAIN = '0x7a69';
const ALL = { logs: true, transactions: true, traces: true };
const LOGS = { logs: true, transactions: false, traces: false };
const BLOCKS = ['eth_getBlockByHash', 'eth_getBlockByNumber'];
const silent = { info() {}, warn() {}, error() {} };

let one: RunningScriptedChain;
let two: RunningScriptedChain;
let source: EvmSource;
let stopWatching: () => void;

beforeEach(async () => {
  one = await startScriptedChain();
  two = await startScriptedChain({ chain: one });
  source = createEvmSource({ chain: CHAIN, urls: [one.url, two.url], pollMs: 5, log: silent });
  stopWatching = source.watchHeads(() => {});
});
afterEach(async () => {
  stopWatching();
  await source.stop();
  await Promise.all([one.stop(), two.stop()]);
});

const from = `0x${'c'.repeat(40)}` as const;
const token = `0x${'b'.repeat(40)}` as const;
const mine = (): BlockHeader => {
  const { number, hash, parentHash, timestamp } = one.mine({
    transactions: [1n, 2n].map((value) =>
      scripted.erc20Transfer({ token, from, to: `0x${'a'.repeat(40)}`, value }),
    ),
  });
  return { number: Number(number), hash, parentHash, timestamp: Number(timestamp) };
};
const health = (n: number) => source.providers()[n]!;
async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`${what}: ${JSON.stringify(source.providers())}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe('a part that one node lacks', () => {
  test.each([
    ['receipts', ['eth_getBlockReceipts', 'eth_getTransactionReceipt'], ALL],
    [
      'traces',
      ['debug_traceBlockByHash', 'trace_block', 'debug_traceTransaction'],
      { ...ALL, transactions: false, logs: false },
    ],
  ] as const)('%s are read from the next node that has the block', async (_, methods, needs) => {
    const header = mine();
    await source.readHead();
    one.trouble({ kind: 'error', methods });
    await source.readBlock(header, needs);
    expect(two.calls[methods[0]]).toBe(1);
  });

  test('traces are missing once no node supports them', async () => {
    const TRACES = { ...ALL, transactions: false, logs: false };
    const unsupported = {
      kind: 'error',
      code: -32601,
      methods: ['debug_traceBlockByHash', 'trace_block', 'debug_traceTransaction'],
    } as const;
    one.trouble(unsupported);
    await source.readHead();
    await source.readBlock(mine(), TRACES);
    expect(source.lacksTraces).toBe(false);
    two.trouble(unsupported);
    await source.readBlock(mine(), TRACES);
    expect(source.lacksTraces).toBe(true);
  });

  test('no other node is queried while the first has all parts', async () => {
    const header = mine();
    await source.readHead();
    await source.readBlock(header, ALL);
    expect(two.calls['eth_getBlockByHash'] ?? 0).toBe(0);
    expect(two.calls['eth_getBlockReceipts'] ?? 0).toBe(0);
  });
});

describe('a tagged block of all nodes', () => {
  const tagged = async () => (await source.readTagged('safe', 'all'))?.number;

  // The safe block of a scripted chain is 32 blocks below its head.
  test.each([0, 1])('is the lowest one, here of node %i', async (lagging) => {
    for (let n = 0; n < 100; n++) one.mine();
    expect(await tagged()).toBe(68);
    [one, two][lagging]!.trouble({ kind: 'lag', blocks: 10, methods: BLOCKS });
    expect(await tagged()).toBe(58);
  });

  test('does not depend on nodes that report none, or fail', async () => {
    for (let n = 0; n < 100; n++) one.mine();
    one.trouble({ kind: 'unknownTags' });
    expect(await tagged()).toBe(68);
    two.trouble({ kind: 'unknownTags' });
    expect(await tagged()).toBeUndefined();
    one.heal();
    two.trouble({ kind: 'httpError', status: 502 });
    expect(await tagged()).toBe(68);
    one.trouble({ kind: 'httpError', status: 502 });
    await expect(tagged()).rejects.toMatchObject({ kind: 'unreachable' });
  });
});

describe('data that a node omits', () => {
  test('from logs is read from the receipts', async () => {
    const header = mine();
    one.trouble({ kind: 'emptyLogs' });
    expect((await source.readBlock(header, LOGS)).logs).toHaveLength(2);
    expect(two.calls['eth_getLogs'] ?? 0).toBe(0);
    expect(health(0).failures).toBe(0);
  });

  test.each([
    ['transactions', ALL],
    ['logs', LOGS],
  ])('from receipts is read by transaction hash, for %s', async (_, needs) => {
    const header = mine();
    one.trouble({ kind: 'truncatedReceipts' });
    one.trouble({ kind: 'emptyLogs' });
    const block = await source.readBlock(header, needs);
    expect(block.logs).toHaveLength(2);
    expect(block.transactions.every(({ receipt }) => receipt.status === '0x1')).toBe(true);
    expect(block.unverified).toBeUndefined();
    expect(one.calls['eth_getTransactionReceipt']).toBe(1);
    expect(two.calls['eth_getBlockReceipts'] ?? 0).toBe(0);
  });
});

describe('a response that is too large', () => {
  test.each([
    ['an error', { kind: 'error', code: -32005, message: 'query returned more than 1 results' }],
    ['HTTP 413', { kind: 'httpError', status: 413 }],
  ] as const)('for logs, as %s: they are read from the receipts', async (_, trouble) => {
    const header = mine();
    one.trouble({ ...trouble, methods: ['eth_getLogs'] });
    const alone = createEvmSource({ chain: CHAIN, urls: [one.url], pollMs: 5, log: silent });
    expect((await alone.readBlock(header, LOGS)).logs).toHaveLength(2);
    expect(alone.providers()[0]!.failures).toBe(0);
    await alone.stop();
  });

  test('for receipts: they are read one by one', async () => {
    const header = mine();
    for (const node of [one, two]) {
      node.trouble({ kind: 'httpError', status: 413, methods: ['eth_getBlockReceipts'] });
    }
    const block = await source.readBlock(header, ALL);
    expect(block.transactions).toHaveLength(2);
    expect(one.calls['eth_getTransactionReceipt']).toBe(2);
  });
});

describe('a request at a block', () => {
  const balanceAt = ({ number, hash }: BlockHeader): Promise<unknown> =>
    source.requestAt({ number, hash }, 'eth_getBalance', [from, { blockHash: hash }]);

  test('goes to a node that has the block', async () => {
    const header = mine();
    one.trouble({ kind: 'lag', blocks: 1, methods: BLOCKS });
    one.answerBalances(() => 1n);
    two.answerBalances(() => 2n);
    expect(await balanceAt(header)).toBe('0x2');
    expect(one.calls['eth_getBalance'] ?? 0).toBe(0);
  });

  test('for a block that no node has fails as missing', async () => {
    const nobodys = { number: 1, hash: `0x${'12'.repeat(32)}` };
    await expect(source.requestAt(nobodys, 'eth_call', [])).rejects.toMatchObject({
      kind: 'missing',
    });
  });

  test('without a response does not count against the node', async () => {
    const header = mine();
    for (const node of [one, two]) {
      node.trouble({ kind: 'httpError', status: 504, methods: ['eth_getBalance'] });
    }
    await expect(balanceAt(header)).rejects.toMatchObject({ kind: 'unreachable' });
    expect([health(0).state, health(1).state]).toEqual(['good', 'good']);
    expect(health(0).failures).toBe(0);
    for (const node of [one, two]) node.trouble({ kind: 'httpError', status: 504 });
    await expect(source.readHead()).rejects.toMatchObject({ kind: 'unreachable' });
    expect(health(0).state).toBe('down');
  });

  test('that a contract reverts is sent to no other node', async () => {
    const header = mine();
    one.answerCalls(() => {
      throw new Error('no');
    });
    const call = source.requestAt(header, 'eth_call', [{ to: token, data: '0x' }, 'latest']);
    await expect(call).rejects.toMatchObject({ kind: 'refused', rpcCode: 3, data: '0x' });
    expect(two.calls['eth_call'] ?? 0).toBe(0);
    expect(health(0).failures).toBe(0);
  });
});

describe('a new block', () => {
  test('is checked against a second node, which gets a moment to receive it', async () => {
    const header = mine();
    two.trouble({ kind: 'lag', blocks: 1, methods: BLOCKS, times: 4 });
    expect(await source.readHead()).toEqual(header);
    expect(two.calls['eth_getBlockByNumber']).toBeGreaterThan(4);
  });

  test('is accepted from one node if the other does not receive it in time', async () => {
    const header = mine();
    two.trouble({ kind: 'lag', blocks: 1, methods: BLOCKS });
    expect(await source.readHead()).toEqual(header);
    expect(health(1).disagreements).toBe(0);
  });

  test('that left the chain is not accepted again from a node that still has it', async () => {
    const stuck = await startScriptedChain();
    const alive = await startScriptedChain();
    const both = createEvmSource({
      chain: CHAIN,
      urls: [stuck.url, alive.url],
      pollMs: 1_000,
      log: silent,
    });
    for (const each of [stuck, alive]) each.mine();
    expect(stuck.head.hash).toBe(alive.head.hash);
    expect((await both.readHead()).hash).toBe(stuck.head.hash);
    stuck.trouble({ kind: 'error', times: 20 });
    alive.fork({ depth: 1, blocks: 2 });
    expect((await both.readHead()).hash).toBe(alive.head.hash);
    stuck.heal();
    alive.trouble({ kind: 'error', methods: ['eth_getBlockByNumber'], times: 1 });
    const next = await both.readHead().catch((error: unknown) => error);
    expect(next).not.toMatchObject({ hash: stuck.head.hash });
    await both.stop();
    await Promise.all([stuck.stop(), alive.stop()]);
  });

  test('below the head is read without waiting for the second node', async () => {
    const header = mine();
    mine();
    two.trouble({ kind: 'lag', blocks: 2, methods: BLOCKS });
    await source.readHead();
    const before = two.calls['eth_getBlockByNumber']!;
    stopWatching();
    expect(await source.readHeader(1)).toEqual(header);
    expect(two.calls['eth_getBlockByNumber']! - before).toBeLessThanOrEqual(2);
  });
});

describe('a head that a node pushes', () => {
  /** A node that only `pushing` reads. */
  let node: RunningScriptedChain;
  let pushing: EvmSource;
  let pushes: number;
  let stop: () => void;
  const counts = () => node.calls['eth_getBlockByNumber'] ?? 0;
  const push = async (): Promise<BlockHeader> => {
    const before = pushes;
    const header = mine();
    await until('it is pushed', () => pushes > before);
    return header;
  };

  beforeEach(async () => {
    pushes = 0;
    node = await startScriptedChain({ chain: one });
    const options = { urls: [node.wsUrl], pollMs: 60_000, trust: 'strict' as const, log: silent };
    pushing = createEvmSource({ chain: CHAIN, ...options });
    stop = pushing.watchHeads(() => (pushes += 1));
    await until('it subscribes', () => node.calls['eth_subscribe'] === 1);
    await pushing.readHead();
  });
  afterEach(async () => {
    stop();
    await pushing.stop();
    await node.stop();
  });

  test('is the head without a request, once', async () => {
    const header = await push();
    const before = counts();
    expect(await pushing.readHead()).toEqual(header);
    expect(counts()).toBe(before);
    expect((await pushing.readBlock(header, ALL)).logs).toHaveLength(2);
    expect(await pushing.readHead()).toEqual(header);
    expect(counts()).toBe(before + 1);
  });

  test('is only a hint if it does not match its hash', async () => {
    node.trouble({ kind: 'wrongParentHash', methods: ['newHeads'] });
    const header = await push();
    const before = counts();
    expect(await pushing.readHead()).toEqual(header);
    expect(counts()).toBe(before + 1);
  });

  test('is only a hint after one whose block the node could not return', async () => {
    node.trouble({ kind: 'withhold', times: 2 });
    const early = await push();
    await pushing.readHead();
    await expect(pushing.readBlock(early, ALL)).rejects.toThrow();
    await push();
    const before = counts();
    await pushing.readHead();
    expect(counts()).toBe(before + 1);
  });
});

describe('the health of providers', () => {
  test('distinguishes lagging, limited and down, and recovers from each', async () => {
    await source.readHead();
    for (let n = 0; n < 10; n++) mine();
    two.trouble({ kind: 'lag', blocks: 5, methods: BLOCKS });
    await until('it lags', () => health(1).state === 'lagging' && health(1).head === 5);
    two.heal();
    await until('it caught up', () => health(1).state === 'good' && health(1).head === 10);
    two.trouble({ kind: 'rateLimit', retryAfterSeconds: 1, times: 1 });
    await until('it is limited', () => health(1).state === 'limited');
    expect(health(1).message).toMatch(/HTTP 429/);
    await until('the limit passes', () => health(1).state === 'good');
    two.trouble({ kind: 'httpError', status: 503 });
    await until('it is down', () => health(1).state === 'down');
    const failures = health(1).failures;
    const calls = { ...two.calls };
    expect(failures).toBeGreaterThan(1);
    // For at least a second, only the node that is up is queried.
    for (let n = 0; n < 20; n++) {
      mine();
      await source.readHead();
    }
    expect(two.calls['eth_getBlockByNumber']).toBe(calls['eth_getBlockByNumber']);
    expect(health(0).state).toBe('good');
    two.heal();
    await until('it is back', () => health(1).state === 'good');
  });

  test('prefers a fast node to a slow one', async () => {
    one.trouble({ kind: 'delay', delayMs: 150 });
    mine();
    await source.readHead();
    await until('both were measured', () => (health(1).latencyMs ?? 0) > 0);
    await until('the slow one is measured as slow', () => (health(0).latencyMs ?? 0) > 100);
    const before = two.calls['eth_getBlockByNumber'] ?? 0;
    const start = Date.now();
    for (let n = 0; n < 20; n++) await source.readHead();
    expect(two.calls['eth_getBlockByNumber']! - before).toBeGreaterThanOrEqual(20);
    expect(Date.now() - start).toBeLessThan(20 * 150);
  });

  test('names two providers of one host differently', async () => {
    const same = createEvmSource({
      chain: CHAIN,
      urls: [`${one.url}/a-key`, `${one.url}/another`],
      pollMs: 1_000,
      log: silent,
    });
    const host = new URL(one.url).host;
    expect(same.providers().map(({ name }) => name)).toEqual([host, `${host}#2`]);
    await same.stop();
  });
});

describe('on a chain whose headers can be proved', () => {
  test('a node that hides logs in header and response is detected without a second one', async () => {
    const ethereum = await startScriptedChain({ chainId: 1 });
    const proving = createEvmSource({
      chain: '0x1',
      urls: [ethereum.url],
      pollMs: 1_000,
      log: silent,
    });
    ethereum.mine({
      transactions: [scripted.erc20Transfer({ token, from, to: from, value: 1n })],
    });
    ethereum.trouble({ kind: 'emptyBloom' });
    ethereum.trouble({ kind: 'emptyLogs' });
    await expect(proving.readHead()).rejects.toThrow(/does not match its hash/);
    await proving.stop();
    await ethereum.stop();
  });
});
