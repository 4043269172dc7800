import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlockHeader, BlockRef } from '../store/blocks/contract.ts';
import { createConfirming } from './confirming.ts';
import { SourceError } from './source.ts';
import type { EvmSource } from '../families/evm/ingest/source.ts';

const at = (number: number, branch = 'a'): BlockRef => ({ number, hash: `0x${branch}${number}` });
/** Returns the blocks from the tip down to block 0. */
const window = (tip: number): BlockRef[] => Array.from({ length: tip + 1 }, (_, n) => at(tip - n));
const sourceOf = (read: () => BlockRef | undefined): EvmSource =>
  ({ readFinalized: async () => read() }) as unknown as EvmSource;

describe('confirming by depth', () => {
  test('confirms blocks at the depth, and treats twice as many as open', async () => {
    const confirming = createConfirming(
      200,
      sourceOf(() => undefined),
    );
    expect(await confirming.refresh()).toBe(false);
    expect(confirming.upTo(at(500), window(499))).toBe(300);
    expect(confirming.upTo(at(100), window(99))).toBe(-100);
    expect(confirming.openBlocks(500)).toBe(400);
    expect(confirming.note()).toBe('');
  });
});

describe('the size of the window', () => {
  /** Commits blocks with these distances in seconds, and returns the sizes that were kept. */
  const grow = (confirmations: number, isFinal: boolean, seconds: readonly number[]) => {
    const confirming = createConfirming(
      confirmations,
      sourceOf(() => undefined),
      isFinal,
    );
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
      const confirming = createConfirming(
        confirmations,
        sourceOf(() => undefined),
      );
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
    expect(confirming.openBlocks(5_010)).toBe(256);
    expect(confirming.openBlocks(9_000)).toBe(4_064);
    expect(confirming.openBlocks(1_000_000)).toBe(16_384);
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
