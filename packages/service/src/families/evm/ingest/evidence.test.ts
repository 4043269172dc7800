/** Tests which blocks are accepted, by how many nodes return them and what their checks say. */
import { afterEach, describe, expect, test } from 'vitest';
import { createLog } from '../../../base/log.ts';
import { bloomOf } from './bloom.ts';
import { type EvmSourceOptions, createEvmSource } from './evm.ts';
import {
  ALL,
  type FakeNode,
  LOGS,
  createBlock,
  createBlockLog,
  createReceipt,
  createTransaction,
  readFrom,
  startFakeNode,
} from './fakeNode.test-only.ts';
import type { Json } from '../../../ingest/json.ts';

const nodes: FakeNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.stop();
});

const plain = createBlock(7);
const logs = [createBlockLog(plain, 0, 0), createBlockLog(plain, 1, 1)];
const block = createBlock(7, {
  transactions: [createTransaction(0), createTransaction(1)],
  logsBloom: `0x${Buffer.from(bloomOf(logs as never)).toString('hex')}`,
});
const receipts = logs.map((log, n) => createReceipt(block, n, [log]));

/** What a node returns for the block. */
type Version = { receipts: Json[]; logs?: Json[] };
const TRUE: Version = { receipts };
const LACKING: Version = { receipts: receipts.slice(0, 1), logs: logs.slice(0, 1) };
/** The data of a log differs, which neither bloom nor indices reveal. */
const ALTERED: Version = {
  receipts: [createReceipt(block, 0, [{ ...logs[0]!, data: '0xff' }]), receipts[1]!],
};

async function read(
  versions: readonly Version[],
  options: Partial<EvmSourceOptions> = {},
  needs = ALL,
) {
  const own: FakeNode[] = [];
  for (const {
    receipts: some,
    logs: listed = some.flatMap((each) => each['logs'] as Json[]),
  } of versions) {
    own.push(await startFakeNode([{ block, receipts: some, logs: listed }]));
  }
  nodes.push(...own);
  const operators = Object.fromEntries(
    Object.entries(options.operators ?? {}).map(([n, name]) => [own[Number(n)]!.url, name]),
  );
  return { own, block: await readFrom(own, 7, needs, { ...options, operators }) };
}

const data = ({ block: found }: { block: { logs: { data: string }[] } }): string[] =>
  found.logs.map((log) => log.data);

describe('a block that passes its checks but is not proven', () => {
  test('is accepted at once from the only node, and marked', async () => {
    const found = await read([TRUE]);
    expect(found.block.unverified).toEqual({
      codes: ['header-hash'],
      witnesses: 1,
      isUncertain: false,
    });
  });

  test('is read again later only for streams that hold unverified blocks', async () => {
    const later = { readAgainAfterMs: [7] };
    expect((await read([TRUE], later)).block.unverified!.reading).toBeUndefined();
    const needs = { ...ALL, holds: true };
    const { unverified } = (await read([TRUE], later, needs)).block;
    expect(unverified!.reading).toMatchObject({ needs, dueInMs: 7 });
  });

  test.each([
    ['logs', LOGS],
    ['transactions', ALL],
  ])('is accepted from two nodes that agree on its %s', async (_, needs) => {
    const found = await read([TRUE, TRUE], {}, needs);
    expect(found.block.unverified).toMatchObject({ codes: ['header-hash'], witnesses: 2 });
    expect(data(found)).toEqual(['0x', '0x']);
  });

  test.each([
    ['first', [ALTERED, TRUE]],
    ['second', [TRUE, ALTERED]],
  ])('is not accepted if the %s of two nodes alters it', async (_, versions) => {
    await expect(read(versions)).rejects.toMatchObject({
      kind: 'disagreement',
      message: expect.stringMatching(/different content for block 7: .* has 2 logs/),
    });
    await expect(read(versions, {}, LOGS)).rejects.toMatchObject({ kind: 'disagreement' });
  });

  test('is accepted from the majority of three nodes', async () => {
    const found = await read([ALTERED, TRUE, TRUE]);
    expect(data(found)).toEqual(['0x', '0x']);
    expect(found.block.unverified).toMatchObject({ witnesses: 2 });
  });

  test('is not accepted from half of four nodes', async () => {
    await expect(read([ALTERED, TRUE, ALTERED, TRUE])).rejects.toMatchObject({
      kind: 'disagreement',
    });
  });

  test('is not accepted from the majority of nodes of one operator', async () => {
    const versions = [ALTERED, ALTERED, TRUE];
    const one = { 0: 'same', 1: 'same' };
    await expect(read(versions, { operators: one })).rejects.toMatchObject({
      kind: 'disagreement',
    });
    expect(data(await read(versions))).toEqual(['0xff', '0x']);
  });

  test('is never accepted with trust=strict', async () => {
    await expect(read([TRUE, TRUE], { trust: 'strict' })).rejects.toThrow(
      /does not match its hash/,
    );
  });

  test('is accepted from any node with trust=node, without a mark', async () => {
    const found = await read([ALTERED, TRUE], { trust: 'node' });
    expect(data(found)).toEqual(['0xff', '0x']);
    expect(found.block.unverified).toBeUndefined();
    expect(found.own[1]!.calls['eth_getBlockReceipts']).toBeUndefined();
  });

  test('is not reported as proven with trust=node', async () => {
    const node = await startFakeNode([{ block, receipts }]);
    nodes.push(node);
    const source = createEvmSource({
      chain: '0x7a69',
      urls: [node.url],
      pollMs: 10_000,
      trust: 'node',
      log: createLog(() => {}),
    });
    await source.readBlockAt(7, ALL);
    expect(source.proof!()).toEqual({ isProven: false, reason: 'trust=node' });
    await source.stop();
  });
});

describe('a block that fails a check', () => {
  test('settles with a single node, and is marked', async () => {
    await expect(read([LACKING])).rejects.toMatchObject({ kind: 'settling' });
    const found = await read([LACKING], { settleMs: 200 });
    expect(found.block.unverified).toMatchObject({
      codes: ['header-hash', 'bloom', 'receipts'],
      witnesses: 1,
      isUncertain: true,
    });
    expect(found.block.logs).toHaveLength(1);
  });

  test('settles with two nodes of one operator', async () => {
    const operators = { 0: 'same', 1: 'same' };
    await expect(read([LACKING, LACKING], { operators })).rejects.toMatchObject({
      kind: 'settling',
    });
  });

  test('is accepted from two nodes that agree', async () => {
    const found = await read([LACKING, LACKING]);
    expect(found.block.unverified).toMatchObject({ witnesses: 2, isUncertain: true });
  });

  test('is read from the node that has what the other one lacks', async () => {
    expect((await read([LACKING, TRUE], { settleMs: 100 })).block.logs).toHaveLength(2);
    expect((await read([TRUE, LACKING], { settleMs: 100 })).block.logs).toHaveLength(2);
  });

  test.each([
    ['two nodes that agree', 2, {}],
    ['a node with trust=node', 1, { trust: 'node' }],
  ] as const)('is read again before %s is believed', async (_name, count, options) => {
    // New blocks can lack receipts for a moment.
    const until = performance.now() + 500;
    const isLate = () => performance.now() < until;
    const own: FakeNode[] = [];
    for (let n = 0; n < count; n++) {
      const node = await startFakeNode([{ block, receipts }], {
        eth_getBlockReceipts: () => (isLate() ? LACKING.receipts : receipts),
        eth_getTransactionReceipt: (hash: string) =>
          (isLate() ? LACKING.receipts : receipts).find(
            (each) => each['transactionHash'] === hash,
          ) ?? null,
        eth_getLogs: () => (isLate() ? LACKING.logs : logs),
      });
      own.push(node);
    }
    nodes.push(...own);
    expect((await readFrom(own, 7, ALL, options)).logs).toHaveLength(2);
  });

  test('that stays incomplete is accepted with trust=node', async () => {
    const found = await read([LACKING], { trust: 'node' });
    expect(found.block.logs).toHaveLength(1);
  });
});

describe('on a chain of standard rules', () => {
  test('a header that does not match its hash is rejected', async () => {
    const node = await startFakeNode([{ block, receipts }], { eth_chainId: () => '0x1' });
    nodes.push(node);
    await expect(readFrom([node], 7, ALL, { chain: '0x1' })).rejects.toThrow(
      /header of block 7 does not match its hash/,
    );
  });

  test('a header with unknown fields settles with a single node, and two nodes decide', async () => {
    const later = createBlock(7, { ...block, fieldOfAFork: '0x1' });
    const start = async (): Promise<FakeNode> => {
      const node = await startFakeNode([{ block: later, receipts }], { eth_chainId: () => '0x1' });
      nodes.push(node);
      return node;
    };
    const one = await start();
    await expect(readFrom([one], 7, ALL, { chain: '0x1' })).rejects.toMatchObject({
      kind: 'settling',
    });
    const accepted = await readFrom([one, await start()], 7, ALL, { chain: '0x1' });
    expect(accepted.unverified).toMatchObject({ codes: ['header-hash'], witnesses: 2 });
  });
});
