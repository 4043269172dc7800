import type { BlockHeader, BlockRef } from '../store/blocks/contract.ts';

/** How a block of the source stands to the blocks we hold. */
export type Reconciled =
  | { kind: 'extend' }
  | { kind: 'duplicate' }
  | { kind: 'gap'; from: number }
  | { kind: 'reorg'; commonAncestor: BlockRef; removed: BlockRef[] }
  | { kind: 'detached' }
  | { kind: 'too-deep'; oldest: number };

/**
 * Holds a branch of the source against the local window of blocks. Pure.
 *
 * `local` is our chain, newest first and without holes; `branch` is one or more linked headers of
 * the source, oldest first, and its last one is the block in question. The cases, in this order:
 *
 * 1. `duplicate`: we hold that very block.
 * 2. `gap`: the branch begins above our tip's successor; the blocks from `from` on come first.
 * 3. `extend`: the branch begins on our tip.
 * 4. `reorg`: the branch begins on an older block of ours. That is the common ancestor; every block
 *    of ours above it, newest first, is removed.
 * 5. `too-deep`: the branch reaches below the oldest block we hold, so no ancestor can be named.
 * 6. `detached`: the branch's first parent is not ours: read that parent, put it first, ask again.
 *
 * Whatever the answer, replaying it leaves the local chain linked by parent hashes, and a block
 * that is on both sides is never removed.
 */
export function reconcile(
  local: readonly BlockRef[],
  branch: readonly [BlockHeader, ...BlockHeader[]],
): Reconciled {
  const tip = local[0];
  const oldest = local.at(-1);
  const first = branch[0];
  const last = branch.at(-1)!;
  if (tip === undefined || oldest === undefined) return { kind: 'extend' };

  const at = (number: number): BlockRef | undefined => local[tip.number - number];
  if (at(last.number)?.hash === last.hash) return { kind: 'duplicate' };
  if (first.number > tip.number + 1) return { kind: 'gap', from: tip.number + 1 };

  const parent = at(first.number - 1);
  if (parent?.hash === first.parentHash) {
    if (parent.number === tip.number) return { kind: 'extend' };
    return {
      kind: 'reorg',
      commonAncestor: { number: parent.number, hash: parent.hash },
      removed: local
        .slice(0, tip.number - parent.number)
        .map(({ number, hash }) => ({ number, hash })),
    };
  }
  if (first.number - 1 <= oldest.number) return { kind: 'too-deep', oldest: oldest.number };
  return { kind: 'detached' };
}
