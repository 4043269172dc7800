import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlockHeader, BlockRef, FinalityTag } from '../store/blocks/contract.ts';
import { createConfirmationRule } from './confirming.ts';

const at = (number: number, branch = 'a'): BlockRef => ({ number, hash: `0x${branch}${number}` });
/** Returns the blocks from the tip down to block 0. */
const window = (tip: number): BlockRef[] => Array.from({ length: tip + 1 }, (_, n) => at(tip - n));
const finalityOf = (blocks: Partial<Record<FinalityTag, BlockRef | undefined>>, lacks = false) => ({
  block: (tag: FinalityTag) => blocks[tag],
  lacks: () => lacks,
});

describe('confirming by depth', () => {
  test('confirms blocks at the depth, and treats twice as many as open', () => {
    const confirming = createConfirmationRule(200, finalityOf({}));
    expect(confirming.heights(at(500), window(499)).chain).toBe(300);
    expect(confirming.heights(at(100), window(99)).chain).toBe(-100);
    expect(confirming.openBlocks(500)).toBe(400);
    expect(confirming.note()).toBe('');
  });
});

describe('the size of the window', () => {
  /** Commits blocks with these distances in seconds, and returns the sizes that were kept. */
  const grow = (confirmations: number, isFinal: boolean, seconds: readonly number[]) => {
    const confirming = createConfirmationRule(confirmations, finalityOf({}), isFinal);
    let blocks: BlockHeader[] = [];
    let timestamp = 1_000;
    for (const [number, step] of seconds.entries()) {
      const block = { number, hash: `0x${number}`, parentHash: '', timestamp: (timestamp += step) };
      blocks = [block].concat(blocks.slice(0, confirming.windowBlocks(block, blocks) - 1));
    }
    return blocks;
  };
  const fifths = (n: number): number => 1_000 + Math.floor(n / 5);

  test.each([
    ['12 s', 12, (n: number) => 12 * n, 256],
    ['2 s', 12, (n: number) => 2 * n, 1_536],
    ['200 ms', 1_000, fifths, 15_360],
    ['200 ms with few confirmations', 12, fifths, 15_360],
    ['no time at all', 12, () => 0, 16_384],
    ['an hour', 300, (n: number) => 3_600 * n, 600],
  ])(
    'of a chain with blocks of %s covers 51 minutes, within limits',
    (_, confirmations, at, size) => {
      const blocks = Array.from({ length: 20_000 }, (_block, n) => ({
        number: n,
        hash: `0x${n}`,
        parentHash: '',
        timestamp: at(n),
      })).toReversed();
      const [tip, ...below] = blocks;
      const confirming = createConfirmationRule(confirmations, finalityOf({}));
      expect(confirming.windowBlocks(tip!, below.slice(0, 16_384))).toBe(size);
    },
  );

  test('of a chain without forks is the number of open blocks', () => {
    expect(grow(0, true, Array<number>(1_000).fill(1))).toHaveLength(256);
  });

  test('covers the time or has the largest size, for any timestamps', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 900 }), (steps) => {
        const blocks = grow(12, false, steps);
        const all = steps.reduce((sum, step) => sum + step, 0);
        const covered = (blocks[0]?.timestamp ?? 0) - (blocks.at(-1)?.timestamp ?? 0);
        const isComplete = blocks.length === steps.length;
        expect(isComplete || blocks.length >= 256).toBe(true);
        if (!isComplete && blocks.length > 256) expect(covered).toBeLessThanOrEqual(3_072);
        if (all < 3_072) expect(isComplete).toBe(true);
      }),
    );
  });
});

describe('confirming by tags', () => {
  const finalized = (block: BlockRef | undefined) =>
    createConfirmationRule('finalized', finalityOf({ finalized: block }));

  test('confirms up to the tagged block, and no further', () => {
    const confirming = createConfirmationRule(12, finalityOf({ safe: at(50), finalized: at(40) }));
    expect(confirming.heights(at(100), window(99))).toEqual({
      chain: 88,
      latest: 100,
      depth: 100,
      safe: 50,
      finalized: 40,
    });
    // While catching up, the blocks that are read are already safe or final.
    expect(confirming.heights(at(45), window(44))).toMatchObject({ safe: 45, finalized: 40 });
    expect(confirming.heights(at(40), window(39))).toMatchObject({ safe: 40, finalized: 40 });
  });

  test('confirms nothing while the nodes have another block at that height', () => {
    const confirming = createConfirmationRule(
      12,
      finalityOf({ safe: at(50, 'b'), finalized: at(40) }),
    );
    expect(confirming.heights(at(100), window(99))).toMatchObject({ safe: -1, finalized: 40 });
    expect(confirming.heights(at(50), window(49))).toMatchObject({ safe: -1 });
    expect(confirming.heights(at(50, 'b'), window(49))).toMatchObject({ safe: 50 });
  });

  test('uses the finalized block on a chain that is configured for it', () => {
    expect(finalized(at(40)).heights(at(100), window(99)).chain).toBe(40);
    expect(finalized(at(40, 'b')).heights(at(100), window(99)).chain).toBe(-1);
  });

  test('confirms nothing until the chain has a finalized block, and reports it', () => {
    const confirming = createConfirmationRule('finalized', finalityOf({}, true));
    expect(confirming.heights(at(1_000), window(999))).toMatchObject({ chain: -1, safe: -1 });
    expect(confirming.note()).toContain('confirmations=N');
    expect(createConfirmationRule(12, finalityOf({}, true)).note()).toBe('');
  });

  test('keeps every block that can still be removed, up to a limit', () => {
    const confirming = finalized(at(5_000));
    expect(confirming.openBlocks(5_010)).toBe(256);
    expect(confirming.openBlocks(9_000)).toBe(4_064);
    expect(confirming.openBlocks(1_000_000)).toBe(16_384);
    expect(finalized(undefined).openBlocks(5_000)).toBe(16_384);
  });
});
