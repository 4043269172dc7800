import type { BlockHeader, BlockRef } from '../store/blocks/contract.ts';

/** Relation of a branch of the source to the local blocks. */
export type BranchRelation =
  | { kind: 'extend' }
  | { kind: 'duplicate' }
  | { kind: 'gap'; from: number }
  | { kind: 'reorg'; commonAncestor: BlockRef; removed: BlockRef[] }
  | { kind: 'detached' }
  | { kind: 'too-deep'; oldest: number };

/**
 * Compares a branch of the source with the local window of blocks, without side effects. Applying
 * the result leaves the local chain linked by parent hashes, and never removes a block that both
 * sides have. The result is the first of:
 *
 * 1. `duplicate`: the last block of the branch is already in the window.
 * 2. `gap`: the branch begins above the local tip's successor, so the blocks from `from` must be
 *    read first.
 * 3. `extend`: the branch begins on the local tip, or the window is empty.
 * 4. `reorg`: the branch begins on an older local block, the common ancestor. Every block above it
 *    is removed, newest first.
 * 5. `too-deep`: the branch forked off below the oldest local block, so there is no known ancestor.
 * 6. `detached`: the parent of the branch's first block is not in the window. Read it, prepend it,
 *    and try again.
 *
 * @param local the local window, newest first; each block is the parent of the one before it
 * @param branch linked headers of the source, oldest first; the last one is the block in question
 */
export function reconcile(
  local: readonly BlockRef[],
  branch: readonly [BlockHeader, ...BlockHeader[]],
): BranchRelation {
  const tip = local[0];
  const oldest = local.at(-1);
  const first = branch[0];
  const last = branch.at(-1)!;
  if (tip === undefined || oldest === undefined) return { kind: 'extend' };

  if (blockAt(local, last.number)?.hash === last.hash) return { kind: 'duplicate' };
  if (first.number > tip.number + 1 && first.parentHash !== tip.hash) {
    return { kind: 'gap', from: tip.number + 1 };
  }

  const parent = local.find(({ hash }) => hash === first.parentHash);
  if (parent !== undefined && parent.number < first.number) {
    if (parent.number === tip.number) return { kind: 'extend' };
    return {
      kind: 'reorg',
      commonAncestor: { number: parent.number, hash: parent.hash },
      removed: local.slice(0, local.indexOf(parent)).map(({ number, hash }) => ({ number, hash })),
    };
  }
  if (first.number - 1 <= oldest.number) return { kind: 'too-deep', oldest: oldest.number };
  return { kind: 'detached' };
}

/**
 * Returns the local block at a height; undefined if it is outside the window, or if the chain has
 * no block at this height.
 *
 * @param local newest first
 */
export function blockAt<Block extends BlockRef>(
  local: readonly Block[],
  number: number,
): Block | undefined {
  // Heights without a block only move the block forward.
  let at = Math.min((local[0]?.number ?? -1) - number, local.length - 1);
  while (at > 0 && local[at]!.number < number) at--;
  return local[at]?.number === number ? local[at] : undefined;
}
