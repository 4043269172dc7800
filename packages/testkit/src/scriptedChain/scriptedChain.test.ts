import fc from 'fast-check';
import { type Address, type Hex, encodeFunctionData, erc20Abi, getContractAddress } from 'viem';
import { describe, expect, test } from 'vitest';
import { bloomMayHold } from './bloom.ts';
import { fromHex } from './keccak.ts';
import type { ScriptedBlock } from './scriptedBlock.ts';
import { type ScriptedChain, createScriptedChain } from './scriptedChain.ts';
import { scripted } from './scriptedTransaction.ts';

const alice: Address = `0x${'a1'.repeat(20)}`;
const bob: Address = `0x${'b0'.repeat(20)}`;
const token: Address = `0x${'70'.repeat(20)}`;

const payment = (value = 1n) => scripted.erc20Transfer({ token, from: alice, to: bob, value });
const hashesOf = (blocks: readonly ScriptedBlock[]) => blocks.map(({ hash }) => hash);

describe('mining', () => {
  test('begins with block 0 and continues from the head', () => {
    const chain = createScriptedChain();
    expect(chain.head.number).toBe(0n);
    const [first, second] = chain.mineMany(2);
    expect(second?.parentHash).toBe(first?.hash);
    expect(chain.canonical()).toHaveLength(3);
    expect(chain.head).toBe(second);
  });

  test('derives the hashes from seed and script', () => {
    const build = (seed: string) => {
      const chain = createScriptedChain({ seed });
      chain.mine({ transactions: [payment()] });
      chain.fork({ depth: 1, blocks: 2 });
      return hashesOf(chain.canonical());
    };
    expect(build('one')).toEqual(build('one'));
    expect(build('one')).not.toEqual(build('two'));
  });

  test('numbers logs and sums up gas across the block', () => {
    const chain = createScriptedChain();
    const { transactions, gasUsed } = chain.mine({
      transactions: [payment(), scripted.transfer({ from: bob, to: alice, value: 1n }), payment()],
    });
    expect(transactions.map(({ transactionIndex }) => transactionIndex)).toEqual([0, 1, 2]);
    expect(transactions.flatMap(({ logs }) => logs.map(({ logIndex }) => logIndex))).toEqual([
      0, 1,
    ]);
    expect(transactions.map((transaction) => transaction.cumulativeGasUsed)).toEqual([
      31_000n,
      52_000n,
      83_000n,
    ]);
    expect(gasUsed).toBe(83_000n);
  });

  test('uses the given timestamp, or adds the block time', () => {
    const chain = createScriptedChain({ genesisTimestamp: 1_000n, blockTimeSeconds: 2 });
    expect(chain.mine().timestamp).toBe(1_002n);
    expect(chain.mine({ timestamp: 5_000n }).timestamp).toBe(5_000n);
    expect(chain.mine().timestamp).toBe(5_002n);
  });

  test('gives blocks within one second the same timestamp in whole seconds', () => {
    const chain = createScriptedChain({ genesisTimestamp: 1_000n, blockTimeSeconds: 0.4 });
    const blocks = [chain.head, ...chain.mineMany(5)];
    expect(blocks.map(({ timestamp }) => timestamp)).toEqual([
      1_000n,
      1_000n,
      1_000n,
      1_001n,
      1_001n,
      1_002n,
    ]);
    expect(blocks.at(-1)!.timestampMs).toBe(1_002_000n);
  });

  test('rejects impossible blocks', () => {
    const chain = createScriptedChain();
    const once = payment();
    expect(() => chain.mine({ transactions: [once, once] })).toThrow('contains a transaction once');
    chain.mine({ transactions: [once] });
    expect(() => chain.mine({ transactions: [once] })).toThrow('already on this branch');
    expect(() => chain.mine({ transactions: [{ ...payment(), status: 'reverted' }] })).toThrow(
      'has no logs',
    );
    const topic: Hex = `0x${'00'.repeat(32)}`;
    expect(() =>
      chain.mine({
        transactions: [scripted.log({ address: token, topics: Array(5).fill(topic) })],
      }),
    ).toThrow('at most 4 topics');
  });
});

describe('transactions', () => {
  test('an ERC-20 transfer has the call and event of a real one', () => {
    const { input, logs } = payment(42n);
    expect(input).toBe(
      encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [bob, 42n] }),
    );
    expect(logs[0]?.topics).toEqual([
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      `0x${alice.slice(2).padStart(64, '0')}`,
      `0x${bob.slice(2).padStart(64, '0')}`,
    ]);
    expect(BigInt(logs[0]?.data ?? 0)).toBe(42n);
  });

  test('a created contract has the same address as on Ethereum', () => {
    const chain = createScriptedChain();
    const [first, second] = chain.mine({
      transactions: [scripted.creation({ from: alice }), scripted.creation({ from: alice })],
    }).transactions;
    const expected = (nonce: bigint) => getContractAddress({ from: alice, nonce }).toLowerCase();
    expect([first?.contractAddress, second?.contractAddress]).toEqual([expected(0n), expected(1n)]);
  });

  test('a reverted one has no logs', () => {
    const chain = createScriptedChain();
    const [transaction] = chain.mine({ transactions: [scripted.reverted(payment())] }).transactions;
    expect(transaction).toMatchObject({ status: 'reverted', logs: [], to: token });
  });

  test('one that survives a reorg keeps its hash in another block', () => {
    const chain = createScriptedChain();
    const survivor = payment();
    const before = chain.mine({ transactions: [survivor] });
    const [, after] = chain.fork({ depth: 1, blocks: [{}, { transactions: [survivor] }] });
    const hash = before.transactions[0]?.hash as Hex;
    expect(after?.transactions[0]?.hash).toBe(hash);
    expect(after?.hash).not.toBe(before.hash);
    expect(chain.blockWith(hash)).toBe(after);
  });
});

describe('branches', () => {
  test('a fork replaces the last blocks, which stay readable by hash', () => {
    const chain = createScriptedChain();
    const old = chain.mineMany(5);
    const branch = chain.fork({ depth: 2, blocks: 3 });
    expect(branch[0]?.parentHash).toBe(old[2]?.hash);
    expect(chain.head.number).toBe(6n);
    expect(chain.blockAt(5n)).toBe(branch[1]);
    expect(chain.blockOf(old[4]?.hash as Hex)).toBe(old[4]);
  });

  test('the chain switches from A to B and back to A', () => {
    const chain = createScriptedChain();
    chain.mineMany(3);
    const a = chain.canonical();
    chain.fork({ depth: 2, blocks: 4 });
    const b = chain.canonical();
    chain.switchTo((a.at(-1) as ScriptedBlock).hash);
    expect(chain.canonical()).toEqual(a);
    chain.switchTo((b.at(-1) as ScriptedBlock).hash);
    expect(chain.canonical()).toEqual(b);
  });

  test('switching to an ancestor moves the head back', () => {
    const chain = createScriptedChain();
    const [first] = chain.mineMany(3);
    chain.switchTo(first?.hash as Hex);
    expect(chain.head).toBe(first);
  });

  test('the head can be rolled back, but not past block 0', () => {
    const chain = createScriptedChain();
    chain.mineMany(3);
    chain.rollBack(2);
    expect(chain.head.number).toBe(1n);
    expect(() => chain.rollBack(2)).toThrow('Block 0 must remain');
    expect(() => chain.fork({ depth: 2, blocks: 1 })).toThrow('Block 0 must remain');
    expect(() => chain.switchTo(`0x${'11'.repeat(32)}`)).toThrow('was mined');
  });

  test('announces each new canonical block in order', () => {
    const chain = createScriptedChain();
    const announced: bigint[] = [];
    const stop = chain.onHead(({ number }) => announced.push(number));
    const [, , old] = chain.mineMany(3);
    chain.fork({ depth: 2, blocks: 1 });
    chain.switchTo(old?.hash as Hex);
    chain.rollBack(1);
    stop();
    chain.mine();
    expect(announced).toEqual([1n, 2n, 3n, 2n, 2n, 3n]);
  });
});

test('parents, numbers and blooms are consistent after any sequence of steps', () => {
  const hex = (bytes: number) =>
    fc
      .uint8Array({ minLength: bytes, maxLength: bytes })
      .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`);
  const logs = fc.record({ address: hex(20), topics: fc.array(hex(32), { maxLength: 4 }) });
  const block = fc
    .array(fc.array(logs, { maxLength: 3 }), { maxLength: 3 })
    .map((transactions) => ({ transactions: transactions.map((logs) => ({ to: token, logs })) }));
  const step = fc.oneof(
    fc.record({ do: fc.constant('mine' as const), block }),
    fc.record({
      do: fc.constant('fork' as const),
      depth: fc.nat(6),
      blocks: fc.array(block, { maxLength: 5 }),
    }),
    fc.record({ do: fc.constant('switchTo' as const), pick: fc.nat() }),
    fc.record({ do: fc.constant('rollBack' as const), count: fc.nat(4) }),
  );

  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const chain = createScriptedChain();
      const mined: ScriptedBlock[] = [chain.head];
      for (const next of steps) {
        const highest = chain.canonical().length - 1;
        if (next.do === 'mine') mined.push(chain.mine(next.block));
        if (next.do === 'fork') {
          const depth = Math.min(next.depth, highest);
          mined.push(...chain.fork({ depth, blocks: next.blocks }));
        }
        if (next.do === 'switchTo') {
          chain.switchTo((mined[next.pick % mined.length] as ScriptedBlock).hash);
        }
        if (next.do === 'rollBack') chain.rollBack(Math.min(next.count, highest));
      }
      expectConsistent(chain);
      expect(new Set(hashesOf(mined)).size).toBe(mined.length);
      for (const block of mined) expect(chain.blockOf(block.hash)).toBe(block);
    }),
  );
});

test('a chain has no blocks between block 0 and the first mined one', () => {
  const chain = createScriptedChain({ firstNumber: 100n });
  const [first] = chain.mineMany(1);
  expect(chain.blockAt(100n)).toBe(first);
  expect(chain.blockAt(99n)).toBeUndefined();
  expect(chain.blockAt(1n)).toBeUndefined();
  expect(chain.blockAt(0n)?.number).toBe(0n);
});

function expectConsistent(chain: ScriptedChain): void {
  const blocks = chain.canonical();
  expect(chain.head).toBe(blocks.at(-1));
  for (const [index, block] of blocks.entries()) {
    expect(block.number).toBe(BigInt(index));
    expect(chain.blockAt(block.number)).toBe(block);
    if (index > 0) expect(block.parentHash).toBe(blocks[index - 1]?.hash);
    const logs = block.transactions.flatMap((transaction) => transaction.logs);
    expect(logs.map(({ logIndex }) => logIndex)).toEqual(logs.map((_, at) => at));
    for (const transaction of block.transactions) {
      expect(chain.blockWith(transaction.hash)).toBe(block);
      for (const { address, topics } of transaction.logs) {
        for (const value of [address, ...topics]) {
          expect(bloomMayHold(fromHex(block.logsBloom), value)).toBe(true);
          expect(bloomMayHold(fromHex(transaction.logsBloom), value)).toBe(true);
        }
      }
    }
    if (logs.length === 0) expect(block.logsBloom).toBe(`0x${'0'.repeat(512)}`);
  }
}
