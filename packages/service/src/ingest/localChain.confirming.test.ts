import { describe, expect, test } from 'vitest';
import type { BlockRef } from '../store/blocks/contract.ts';
import { createConfirming } from './localChain.ts';
import { type Source, SourceError } from './source.ts';

const at = (number: number, branch = 'a'): BlockRef => ({ number, hash: `0x${branch}${number}` });
/** Returns the blocks from the tip down to block 0. */
const window = (tip: number): BlockRef[] => Array.from({ length: tip + 1 }, (_, n) => at(tip - n));
const sourceOf = (read: () => BlockRef | undefined): Source =>
  ({ readFinalized: async () => read() }) as unknown as Source;

describe('confirming by depth', () => {
  test('confirms blocks at the depth, and keeps a window of twice as many', async () => {
    const confirming = createConfirming(
      200,
      sourceOf(() => undefined),
    );
    expect(await confirming.refresh()).toBe(false);
    expect(confirming.upTo(at(500), window(499))).toBe(300);
    expect(confirming.upTo(at(100), window(99))).toBe(-100);
    expect(confirming.windowBlocks(500)).toBe(400);
    expect(confirming.note()).toBe('');
  });
});

describe('confirming by finality', () => {
  const started = async (block: BlockRef | undefined) => {
    const confirming = createConfirming(
      'finalized',
      sourceOf(() => block),
    );
    const moved = await confirming.refresh();
    return { confirming, moved };
  };

  test('confirms up to the finalized block, and no further', async () => {
    const { confirming, moved } = await started(at(40));
    expect(moved).toBe(true);
    expect(confirming.upTo(at(100), window(99))).toBe(40);
    expect(confirming.upTo(at(40), window(39))).toBe(40);
    // While catching up, the blocks that are read are already final.
    expect(confirming.upTo(at(30), window(29))).toBe(30);
  });

  test('confirms nothing while a different block is final at that height', async () => {
    const { confirming } = await started(at(40, 'b'));
    expect(confirming.upTo(at(100), window(99))).toBe(-1);
    expect(confirming.upTo(at(40), window(39))).toBe(-1);
    expect(confirming.upTo(at(40, 'b'), window(39))).toBe(40);
  });

  test('confirms nothing until the chain has a finalized block, and reports it', async () => {
    const { confirming, moved } = await started(undefined);
    expect(moved).toBe(false);
    expect(confirming.upTo(at(1_000), window(999))).toBe(-1);
    expect(confirming.note()).toContain('confirmations=N');
  });

  test('keeps every block that can still be removed, up to a limit', async () => {
    const { confirming } = await started(at(5_000));
    expect(confirming.windowBlocks(5_010)).toBe(256);
    expect(confirming.windowBlocks(9_000)).toBe(4_064);
    expect(confirming.windowBlocks(1_000_000)).toBe(16_384);
  });

  test('a node that fails changes nothing', async () => {
    const confirming = createConfirming(
      'finalized',
      sourceOf(() => {
        throw new SourceError('unreachable', 'gone');
      }),
    );
    expect(await confirming.refresh()).toBe(false);
    expect(confirming.note()).toBe('');
  });
});
