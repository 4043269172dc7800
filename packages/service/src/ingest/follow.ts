/** Follows the source block by block, and switches to another branch when the chain forks. */
import type { Log } from '../base/log.ts';
import type { BlockHeader, BlockRef } from '../store/blocks/contract.ts';
import type { BlockCommitter } from './commit.ts';
import { type LocalChain, haltError } from './localChain.ts';
import {
  type ForkOptions,
  followNew,
  followIfReplaced,
  describeForeign,
  describeYounger,
} from './connect.ts';
import { createRollbackWatch } from './rollback.ts';
import { type ChainSource, MAX_EMPTY_HEIGHTS, SourceError, isLacking } from './source.ts';
import { type BranchRelation, reconcile } from './reconcile.ts';

/** Returns an error that may mean that there is no block; throws any other error. */
function toLacking(error: unknown): SourceError {
  if (error instanceof SourceError && isLacking(error)) return error;
  throw error;
}

export interface Follower {
  /**
   * Returns the header to follow: the block after the local tip, or a head on another branch;
   * undefined if there is none.
   */
  next(head: BlockHeader): Promise<BlockHeader | undefined>;
  /**
   * Makes this block the local tip: removes the local blocks on another branch, and commits the
   * blocks that lead to this one.
   */
  follow(header: BlockHeader): Promise<void>;
}

export function createFollower(
  options: ForkOptions,
  {
    source,
    local,
    committing,
    onReorg,
    log,
    signal,
  }: {
    source: Pick<ChainSource<unknown>, 'readHeader' | 'readHead' | 'readGenesisHash' | 'doubt'>;
    local: Pick<LocalChain, 'window' | 'tip' | 'rewind' | 'startAt' | 'readCheckpoint' | 'load'>;
    committing: BlockCommitter;
    onReorg(depth: number): void;
    log: Log;
    signal: AbortSignal;
  },
): Follower {
  const { chain, isFinal = false, isDevnet = false } = options;
  const rollbacks = createRollbackWatch(source, signal);

  const readParent = async ({ number, hash, parentHash }: BlockHeader): Promise<BlockHeader> => {
    const parent = await source.readHeader(parentHash);
    if (parent !== undefined) return parent;
    source.doubt(hash);
    throw new SourceError('missing', `parent ${parentHash} of block ${number} is missing`);
  };

  /**
   * Reads the header after the tip. Heights without a block, as on Filecoin, are skipped if the next
   * block follows the tip.
   */
  const readNext = async (tip: BlockRef, { number: head }: BlockRef): Promise<BlockHeader> => {
    const next = tip.number + 1;
    const failure = await committing.readHeader(next, head).catch(toLacking);
    if (failure !== undefined && !(failure instanceof SourceError)) return failure;
    for (
      let number = next + 1;
      number <= Math.min(head, tip.number + MAX_EMPTY_HEIGHTS);
      number++
    ) {
      const header = await source.readHeader(number).catch(toLacking);
      if (header === undefined || header instanceof SourceError) continue;
      if (header.parentHash === tip.hash) return header;
      break;
    }
    throw failure ?? new SourceError('missing', `block ${next} is missing below head ${head}`);
  };

  const throwForked = ({ number, parentHash }: BlockHeader): never => {
    throw haltError(
      `block ${number} follows ${parentHash} but the ledger has ${local.tip()!.hash} before it, and ` +
        `this chain does not fork: ${describeForeign(options)}`,
    );
  };

  const rollBack = async ({
    commonAncestor,
    removed,
  }: Omit<Verdict<'reorg'>, 'kind'>): Promise<void> => {
    log.warn('reorg', { chain, ancestor: commonAncestor.number, removed: removed.length });
    committing.clear();
    await local.rewind(commonAncestor, removed.length);
    onReorg(removed.length);
  };

  const startOver = async (oldest: number): Promise<void> => {
    const latest = await source.readHead();
    const genesisHash = await source.readGenesisHash();
    const tip = local.tip()!;
    const younger = describeYounger(latest, tip);
    if (younger !== undefined) {
      return followNew(chain, { source, local, log }, { latest, genesisHash, why: younger });
    }
    if (latest.number <= tip.number) {
      throw new SourceError(
        'missing',
        `the node went back to block ${latest.number}, below the ledger's window. Waiting for its next block`,
      );
    }
    const why = `rolled back below block ${oldest}, the oldest block in the ledger's window: restarted at the head`;
    await local.startAt(latest, genesisHash, { holeFrom: oldest, why });
    log.warn('chain was rolled back beyond the window, restarting at its head', {
      chain,
      block: latest.number,
    });
  };

  return {
    async next(latest) {
      const number = local.tip()!.number + 1;
      if (latest.number > number) {
        return readNext(local.tip()!, latest);
      }
      // On chains that cannot fork, the head is read by height like any other block, because the
      // newest block may be incomplete.
      if (latest.number === number) return isFinal ? source.readHeader(number) : latest;
      // A head at or below the local tip is not new, unless the node is now on another branch, or the
      // chain went back or restarted.
      if (isFinal) {
        const isYounger = describeYounger(latest, local.tip()!) !== undefined;
        if (isYounger) await followIfReplaced(options, { source, local, log });
        return undefined;
      }
      const window = local.window();
      const at = window.findIndex(({ hash }) => hash === latest.hash);
      if (at < 0) return latest;
      if (at > 0 && isDevnet && (await rollbacks.isCertain(latest, window[0]!))) {
        const removed = window.slice(0, at);
        await rollBack({ commonAncestor: latest, removed });
        rollbacks.remember(removed);
      }
      return undefined;
    },

    async follow(header) {
      const branch: [BlockHeader, ...BlockHeader[]] = [header];
      let verdict: BranchRelation;
      while ((verdict = reconcile(local.window(), branch)).kind === 'detached') {
        if (isFinal) throwForked(header);
        branch.unshift(await readParent(branch[0]));
      }
      switch (verdict.kind) {
        case 'duplicate':
          return;
        case 'extend':
          rollbacks.onBlock(branch[0]);
          return committing.commit(branch[0]);
        case 'gap':
          throw new SourceError(
            'inconsistent',
            `the node returned block ${header.number} instead of ${verdict.from}`,
          );
        case 'reorg':
          if (isFinal) throwForked(header);
          await rollBack(verdict);
          for (const block of branch) await committing.commit(block);
          return;
        case 'too-deep':
          // Checks that the parent exists, because a made-up hash does not prove a reorg.
          await readParent(branch[0]);
          committing.clear();
          if (await followIfReplaced(options, { source, local, log })) return;
          if (isDevnet) return startOver(verdict.oldest);
          throw haltError(
            `a reorg reaches below block ${verdict.oldest}, the oldest block in the ledger's window; no block was skipped. ` +
              `To continue and leave a hole, run: sluice chains resume ${chain} --from <block>`,
          );
      }
    },
  };
}

type Verdict<Kind> = Extract<BranchRelation, { kind: Kind }>;
