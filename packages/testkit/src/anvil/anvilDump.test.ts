import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Anvil, startAnvil } from './anvil.ts';
import { type AnvilDump, type AnvilHeader, hashOf, repairDump } from './anvilDump.ts';

describe('a header', () => {
  let anvil: Anvil;
  beforeAll(async () => {
    anvil = await startAnvil();
  });
  afterAll(() => anvil.stop());

  test('has the same hash as in anvil', async () => {
    const [from] = anvil.accounts.map(({ address }) => address);
    await anvil.request('eth_sendTransaction', [{ from, to: from, value: '0x1' }]);
    await anvil.request('evm_mine');
    for (const tag of ['0x0', '0x1', '0x2']) {
      const block = await anvil.request<AnvilHeader & { hash: Hex }>('eth_getBlockByNumber', [
        tag,
        false,
      ]);
      expect(hashOf(block)).toBe(block.hash);
    }
  });
});

describe('repairing a dump', () => {
  const noParent: Hex = `0x${'0'.repeat(64)}`;
  const block = (number: number, parentHash: Hex, timestamp: number) => {
    const quantity = (value: number): Hex => `0x${value.toString(16)}`;
    return { header: { number: quantity(number), parentHash, timestamp: quantity(timestamp) } };
  };
  const chainOf = (length: number, genesis = block(0, noParent, 1_000)) => {
    const blocks = [genesis];
    while (blocks.length < length) {
      const parent = blocks.at(-1)?.header as AnvilHeader;
      blocks.push(block(blocks.length, hashOf(parent), 1_000 + blocks.length));
    }
    return blocks;
  };
  const dumpOf = (blocks: AnvilDump['blocks'], head: number) => ({
    best_block_number: head,
    blocks,
    accounts: { untouched: true },
  });
  const numbersIn = ({ blocks }: AnvilDump) =>
    blocks.map(({ header }) => Number(header.number)).sort((a, b) => a - b);

  test.each([500, 2_000])('keeps the block 0 that is the parent of block 1 (other: %i)', (time) => {
    const blocks = chainOf(3);
    const stray = block(0, noParent, time);
    for (const mixed of [
      [stray, ...blocks],
      [...blocks, stray],
    ]) {
      const repaired = repairDump(dumpOf(mixed, 2), 100);
      expect(numbersIn(repaired)).toEqual([0, 1, 2]);
      expect(repaired.blocks).not.toContain(stray);
      expect(repaired.accounts).toEqual({ untouched: true });
    }
  });

  test('keeps the older of two blocks 0 without a child', () => {
    const [old, young] = [block(0, noParent, 1_000), block(0, noParent, 2_000)];
    for (const blocks of [
      [old, young],
      [young, old],
    ]) {
      expect(repairDump(dumpOf(blocks, 0), 100).blocks).toEqual([old]);
    }
  });

  test('drops old blocks but keeps the first two, which identify the right block 0', () => {
    const blocks = chainOf(31);
    const stray = block(0, noParent, 500);
    const cut = repairDump(dumpOf([stray, ...blocks], 30), 10);
    expect(numbersIn(cut)).toEqual([0, 1, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
    expect(cut.blocks).not.toContain(stray);
    const again = repairDump(dumpOf([...cut.blocks, stray], 30), 10);
    expect(again.blocks).not.toContain(stray);
  });
});
