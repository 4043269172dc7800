import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlockHeader } from '../store/blocks/contract.ts';
import { blockAt, reconcile } from './reconcile.ts';

/**
 * Creates a branch: block 5 of branch `a` is `a5`, and blocks below `from` belong to its parent.
 */
function chainOf(
  name: string,
  from: number,
  to: number,
  parent: readonly BlockHeader[] = [],
): BlockHeader[] {
  const blocks = parent.filter((block) => block.number < from);
  for (let number = from; number <= to; number++) {
    blocks.push({
      number,
      hash: `${name}${number}`,
      parentHash: blocks.at(-1)?.hash ?? 'none',
      timestamp: number,
    });
  }
  return blocks;
}

const a = chainOf('a', 1, 10);
const local = a.toReversed();
const at = (blocks: readonly BlockHeader[], number: number): BlockHeader =>
  blocks.find((block) => block.number === number)!;

describe('reconcile', () => {
  test('extends the tip', () => {
    const longer = chainOf('a', 11, 11, a);
    expect(reconcile(local, [at(longer, 11)])).toEqual({ kind: 'extend' });
  });

  test('recognizes a block of the window as a duplicate', () => {
    expect(reconcile(local, [at(a, 10)])).toEqual({ kind: 'duplicate' });
    expect(reconcile(local, [at(a, 4)])).toEqual({ kind: 'duplicate' });
  });

  test('returns where a gap begins', () => {
    expect(reconcile(local, [at(chainOf('a', 11, 14, a), 14)])).toEqual({ kind: 'gap', from: 11 });
  });

  test('requests parents until it finds the common ancestor', () => {
    const b = chainOf('b', 8, 11, a);
    expect(reconcile(local, [at(b, 11)])).toEqual({ kind: 'detached' });
    expect(reconcile(local, [at(b, 9), at(b, 10), at(b, 11)])).toEqual({ kind: 'detached' });
    expect(reconcile(local, [at(b, 8), at(b, 9), at(b, 10), at(b, 11)])).toEqual({
      kind: 'reorg',
      commonAncestor: { number: 7, hash: 'a7' },
      removed: [
        { number: 10, hash: 'a10' },
        { number: 9, hash: 'a9' },
        { number: 8, hash: 'a8' },
      ],
    });
  });

  test('follows a shorter branch too, because the source decides what is canonical', () => {
    expect(reconcile(local, [at(chainOf('b', 9, 9, a), 9)])).toMatchObject({
      kind: 'reorg',
      commonAncestor: { number: 8 },
    });
  });

  test('reports a branch that begins below the window as too deep', () => {
    const b = chainOf('b', 1, 11);
    expect(reconcile(local, [at(b, 2), ...b.slice(2)])).toEqual({ kind: 'too-deep', oldest: 1 });
    expect(reconcile(local.slice(0, 3), [at(chainOf('b', 8, 8, a), 8)])).toEqual({
      kind: 'too-deep',
      oldest: 8,
    });
  });

  test('extends, repeats and reorganizes a chain that has no block at some heights', () => {
    const seven: BlockHeader = {
      ...at(chainOf('n', 7, 7), 7),
      parentHash: at(chainOf('n', 1, 4), 4).hash,
    };
    const window = [seven, ...chainOf('n', 1, 4).toReversed()];
    const nine: BlockHeader = { number: 9, hash: 'n9', parentHash: seven.hash, timestamp: 9 };
    expect(reconcile(window, [nine])).toEqual({ kind: 'extend' });
    expect(reconcile(window, [seven])).toEqual({ kind: 'duplicate' });
    expect(
      reconcile([nine, ...window], [{ ...nine, number: 10, hash: 'x', parentHash: seven.hash }]),
    ).toEqual({
      kind: 'reorg',
      commonAncestor: { number: 7, hash: seven.hash },
      removed: [{ number: 9, hash: 'n9' }],
    });
    expect(reconcile(window, [{ ...nine, parentHash: 'other' }])).toEqual({ kind: 'gap', from: 8 });
    expect(blockAt(window, 5)).toBeUndefined();
    expect(blockAt(window, 3)!.number).toBe(3);
  });

  test('property: following any sequence of canonical chains ends on the last one, block for block', () => {
    const step = fc.record({
      depth: fc.integer({ min: 0, max: 20 }),
      length: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        let canonical = chainOf('g', 1, 30);
        let held = canonical.toReversed();
        let removedInAll = 0;
        steps.forEach(({ depth, length }, n) => {
          const height = canonical.at(-1)!.number;
          const from = Math.max(2, height - depth + 1);
          canonical = chainOf(`s${n}.`, from, from + length - 1, canonical);
          for (
            let number = Math.min(held[0]!.number + 1, canonical.at(-1)!.number);
            number <= canonical.at(-1)!.number;
            number++
          ) {
            const branch: [BlockHeader, ...BlockHeader[]] = [at(canonical, number)];
            let verdict = reconcile(held, branch);
            while (verdict.kind === 'detached') {
              branch.unshift(at(canonical, branch[0].number - 1));
              verdict = reconcile(held, branch);
            }
            if (verdict.kind === 'duplicate') continue;
            if (verdict.kind === 'reorg') {
              // Blocks that stay canonical are never removed.
              for (const gone of verdict.removed)
                expect(at(canonical, gone.number)?.hash).not.toBe(gone.hash);
              removedInAll += verdict.removed.length;
              held = held.slice(verdict.removed.length);
            } else {
              expect(verdict.kind).toBe('extend');
            }
            held = [...branch.toReversed(), ...held];
          }
          expect(held.map((block) => block.hash)).toEqual(
            canonical.toReversed().map((block) => block.hash),
          );
        });
        return removedInAll >= 0;
      }),
      { numRuns: 300 },
    );
  });
});
