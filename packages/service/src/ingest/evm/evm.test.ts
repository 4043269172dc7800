/** A source over scripted nodes: who is asked, what is believed, and what the health says. */
import {
  type RunningScriptedChain,
  type Trouble,
  scripted,
  startScriptedChain,
} from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EvmBlock } from '../../match/evm/block.ts';
import type { BlockHeader } from '../../store/blocks/contract.ts';
import { createEvmSource } from './evm.ts';
import type { Source } from '../source.ts';

const CHAIN = '0x7a69';
const ALL = { logs: true, transactions: true, traces: true };
const LOGS = { logs: true, transactions: false, traces: false };
const BLOCKS = ['eth_getBlockByHash', 'eth_getBlockByNumber'];
const silent = { info() {}, warn() {}, error() {} };

let one: RunningScriptedChain;
let two: RunningScriptedChain;
let source: Source;
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
    ['receipts', 'eth_getBlockReceipts', ALL],
    ['traces', 'debug_traceBlockByHash', ALL],
    ['logs', 'eth_getLogs', LOGS],
  ] as const)('%s come from the next that knows the block', async (_, method, needs) => {
    const header = mine();
    await source.readHead();
    one.trouble({ kind: 'error', methods: [method] });
    const block = await source.readBlock(header, needs);
    expect(block.logs).toHaveLength(2);
    expect(two.calls[method]).toBe(1);
    expect(two.calls['eth_getBlockByHash'] ?? 0).toBe(0);
  });

  test('no other node is asked while the first has all', async () => {
    const header = mine();
    await source.readHead();
    await source.readBlock(header, ALL);
    expect(two.calls['eth_getBlockByHash'] ?? 0).toBe(0);
    expect(two.calls['eth_getBlockReceipts'] ?? 0).toBe(0);
  });
});

describe('what a node leaves out', () => {
  test('of logs is taken from the receipts', async () => {
    const header = mine();
    one.trouble({ kind: 'emptyLogs' });
    expect((await source.readBlock(header, LOGS)).logs).toHaveLength(2);
    expect(two.calls['eth_getLogs'] ?? 0).toBe(0);
    expect(health(0).failures).toBe(0);
  });

  test.each([
    ['transactions', ALL],
    ['logs', LOGS],
  ])('of receipts is requested by transaction hash, for %s', async (_, needs) => {
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

describe('a block that breaks the rules although nothing proves it wrong', () => {
  const receiptsOf = (block: EvmBlock) => block.transactions.map(({ receipt }) => receipt.status);
  const lackReceipt = (node: RunningScriptedChain): void => {
    node.trouble({ kind: 'truncatedReceipts' });
    node.trouble({ kind: 'nullReceipts', methods: ['eth_getTransactionReceipt'] });
  };
  const gap = { kind: 'gappedIndices', by: 3 } as const;
  const both = (trouble: Trouble): void => {
    one.trouble(trouble);
    two.trouble(trouble);
  };

  test('lacks a receipt on both nodes: it is accepted, and says so', async () => {
    const header = mine();
    lackReceipt(one);
    lackReceipt(two);
    const block = await source.readBlock(header, ALL);
    expect(receiptsOf(block)).toEqual(['0x1', null]);
    expect(block.logs).toHaveLength(1);
    expect(block.unverified).toBe('missing receipt (2 nodes agree)');
    expect([health(0).failures, health(1).failures]).toEqual([0, 0]);
  });

  test('lacks a receipt whose logs are in the bloom: no number of nodes makes up for them', async () => {
    const { hash, parentHash, number, timestamp } = one.mine({
      transactions: ['a', 'd'].map((to) =>
        scripted.erc20Transfer({ token, from, to: `0x${to.repeat(40)}`, value: 1n }),
      ),
    });
    lackReceipt(one);
    lackReceipt(two);
    await expect(
      source.readBlock(
        { hash, parentHash, number: Number(number), timestamp: Number(timestamp) },
        ALL,
      ),
    ).rejects.toThrow(/the bloom of block 1 covers logs that are missing/);
  });

  test.each([
    ['transactions', ALL],
    ['logs', LOGS],
  ])('has a gap between log indices, read for %s: it is accepted', async (_, needs) => {
    const header = mine();
    both(gap);
    const block = await source.readBlock(header, needs);
    expect(block.logs.map(({ logIndex }) => logIndex)).toEqual([0, 4]);
    expect(block.unverified).toBe('gap in log indices (2 nodes agree)');
  });

  test('has null where Ethereum has a number: it is accepted', async () => {
    const header = mine();
    both({ kind: 'nullFields', fields: ['gas', 'cumulativeGasUsed'] });
    const { transactions, unverified } = await source.readBlock(header, ALL);
    expect(transactions[0]).toMatchObject({ gas: null, receipt: { cumulativeGasUsed: null } });
    expect(unverified).toBe('null transaction gas, null receipt cumulativeGasUsed (2 nodes agree)');
  });

  test('is held where the nodes differ about it', async () => {
    const header = mine();
    one.trouble(gap);
    two.trouble({ ...gap, by: 4 });
    await expect(source.readBlock(header, ALL)).rejects.toThrow(
      /block 1 has 2 logs with indices up to 4: no two of 2 nodes agree about it/,
    );
  });

  test('is read from the node that has it without a doubt', async () => {
    const header = mine();
    one.trouble(gap);
    const block = await source.readBlock(header, ALL);
    expect(block.logs.map(({ logIndex }) => logIndex)).toEqual([0, 1]);
    expect(block.unverified).toBeUndefined();
    expect(health(0).failures).toBe(1);
  });

  test('is not accepted once it is no longer at its height', async () => {
    const header = mine();
    both(gap);
    one.fork({ depth: 1, blocks: 1 });
    await expect(source.readBlock(header, ALL)).rejects.toThrow(/is not the block at its height/);
  });

  test('is held with a single node, which names the way on', async () => {
    const header = mine();
    one.trouble(gap);
    const alone = createEvmSource({ chain: CHAIN, urls: [one.url], pollMs: 5, log: silent });
    await expect(alone.readBlock(header, ALL)).rejects.toThrow(
      /indices up to 4: .*accept it with --chain 0x7a69=<rpcUrl>,accept=unverified/,
    );
    await alone.stop();
    const accepting = createEvmSource({
      chain: CHAIN,
      urls: [one.url],
      pollMs: 5,
      acceptUnverified: true,
      log: silent,
    });
    const block = await accepting.readBlock(header, ALL);
    expect(block.unverified).toBe('gap in log indices (accept=unverified)');
    await accepting.stop();
  });

  test('is never accepted where Ethereum proves its blocks', async () => {
    const nodes = [await startScriptedChain({ chainId: 1 })];
    nodes.push(await startScriptedChain({ chain: nodes[0]! }));
    const mainnet = createEvmSource({
      chain: '0x1',
      urls: nodes.map(({ url }) => url),
      pollMs: 5,
      acceptUnverified: true,
      log: silent,
    });
    nodes[0]!.mine({
      transactions: [1n, 2n].map((value) =>
        scripted.erc20Transfer({ token, from, to: `0x${'a'.repeat(40)}`, value }),
      ),
    });
    const header = await mainnet.readHead();
    expect((await mainnet.readBlock(header, ALL)).logs).toHaveLength(2);
    for (const node of nodes) node.trouble(gap);
    await expect(mainnet.readBlock(header, ALL)).rejects.toThrow(/indices up to 4$/);
    await mainnet.stop();
    await Promise.all(nodes.map((node) => node.stop()));
  });
});

describe('too large an answer', () => {
  test.each([
    ['an error', { kind: 'error', code: -32005, message: 'query returned more than 1 results' }],
    ['HTTP 413', { kind: 'httpError', status: 413 }],
  ] as const)('of logs, as %s: they are taken from the receipts', async (_, trouble) => {
    const header = mine();
    for (const node of [one, two]) node.trouble({ ...trouble, methods: ['eth_getLogs'] });
    expect((await source.readBlock(header, LOGS)).logs).toHaveLength(2);
    expect(health(0).failures).toBe(0);
  });

  test('of receipts: they are taken one by one', async () => {
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

  test('goes to a node that knows it', async () => {
    const header = mine();
    one.trouble({ kind: 'lag', blocks: 1, methods: BLOCKS });
    one.answerBalances(() => 1n);
    two.answerBalances(() => 2n);
    expect(await balanceAt(header)).toBe('0x2');
    expect(one.calls['eth_getBalance'] ?? 0).toBe(0);
  });

  test('of a block that nobody has is missing', async () => {
    const nobodys = { number: 1, hash: `0x${'12'.repeat(32)}` };
    await expect(source.requestAt(nobodys, 'eth_call', [])).rejects.toMatchObject({
      kind: 'missing',
    });
  });

  test('that a contract refuses is asked of no other node', async () => {
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
  test('is shown to a second node, which is given a moment to have it', async () => {
    const header = mine();
    two.trouble({ kind: 'lag', blocks: 1, methods: BLOCKS, times: 4 });
    expect(await source.readHead()).toEqual(header);
    expect(two.calls['eth_getBlockByNumber']).toBeGreaterThan(4);
  });

  test('is taken from the node that has it, when the other does not get it in time', async () => {
    const header = mine();
    two.trouble({ kind: 'lag', blocks: 1, methods: BLOCKS });
    expect(await source.readHead()).toEqual(header);
    expect(health(1).disagreements).toBe(0);
  });

  test('that both had, and that one of them still has after a reorg, is not taken again', async () => {
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

  test('below the head is waited for by nobody', async () => {
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

describe('the health of providers', () => {
  test('lagging, limited and down are told apart, and pass', async () => {
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
    // It is left alone for a second and longer, while the other is read.
    for (let n = 0; n < 20; n++) {
      mine();
      await source.readHead();
    }
    expect(two.calls['eth_getBlockByNumber']).toBe(calls['eth_getBlockByNumber']);
    expect(health(0).state).toBe('good');
    two.heal();
    await until('it is back', () => health(1).state === 'good');
  });

  test('a slow node is left for a fast one', async () => {
    one.trouble({ kind: 'delay', delayMs: 150 });
    mine();
    await source.readHead();
    await until('both were measured', () => (health(1).latencyMs ?? 0) > 0);
    await until('the slow one is known', () => (health(0).latencyMs ?? 0) > 100);
    const before = two.calls['eth_getBlockByNumber'] ?? 0;
    const start = Date.now();
    for (let n = 0; n < 20; n++) await source.readHead();
    expect(two.calls['eth_getBlockByNumber']! - before).toBeGreaterThanOrEqual(20);
    expect(Date.now() - start).toBeLessThan(20 * 150);
  });

  test('two of one host are told apart', async () => {
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
  test('a node that hides logs in header and answer is found out alone', async () => {
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
