/** How the local chain follows the source: block by block, and onto another branch where it forked. */
import type { Log } from '../base/log.ts';
import type { BlockHeader } from '../store/blocks/contract.ts';
import type { Committing } from './commit.ts';
import { type ForkOptions, describeForeign } from './connect.ts';
import { type LocalChain, haltError } from './localChain.ts';
import { type Reconciled, reconcile } from './reconcile.ts';
import { type ChainSource, SourceError } from './source.ts';

export interface Following {
  /** The next header of the source after our tip, or undefined while there is none. */
  next(head: BlockHeader): Promise<BlockHeader | undefined>;
  /** Brings the local chain to this block: commits it, and before it the branch that it ends. */
  follow(header: BlockHeader): Promise<void>;
}

export function createFollowing(
  options: ForkOptions,
  {
    source,
    local,
    committing,
    onReorg,
    log,
  }: {
    source: Pick<ChainSource<unknown>, 'readHeader' | 'readHead' | 'readGenesisHash' | 'doubt'>;
    local: Pick<LocalChain, 'window' | 'tip' | 'rewind' | 'startAt'>;
    committing: Committing;
    onReorg(depth: number): void;
    log: Log;
  },
): Following {
  const { chain, isFinal = false, resetWhenReplaced } = options;

  const readParent = async ({ number, hash, parentHash }: BlockHeader): Promise<BlockHeader> => {
    const parent = await source.readHeader(parentHash);
    if (parent !== undefined) return parent;
    source.doubt(hash);
    throw new SourceError('missing', `parent ${parentHash} of block ${number} is missing`);
  };

  const throwForked = ({ number, parentHash }: BlockHeader): never => {
    throw haltError(
      `block ${number} follows ${parentHash} but the block before it is ${local.tip()!.hash} in this ledger, and ` +
        `this chain does not fork: ${describeForeign(options)}`,
    );
  };

  const rollBack = async ({ commonAncestor, removed }: Verdict<'reorg'>): Promise<void> => {
    log.warn('reorg', { chain, ancestor: commonAncestor.number, removed: removed.length });
    committing.clear();
    await local.rewind(commonAncestor, removed.length);
    onReorg(removed.length);
  };

  const startOver = async (oldest: number): Promise<void> => {
    const why = `rolled back below block ${oldest}, the oldest this ledger remembers: begun anew at the head`;
    const latest = await source.readHead();
    await local.startAt(latest, await source.readGenesisHash(), { holeFrom: oldest, why });
    log.warn('chain was rolled back beyond the window, starting over at its head', {
      chain,
      block: latest.number,
    });
  };

  return {
    async next(latest) {
      const number = local.tip()!.number + 1;
      if (latest.number > number) {
        const header = await committing.readHeader(number, latest.number);
        if (header !== undefined) return header;
        throw new SourceError('missing', `block ${number} is missing below head ${latest.number}`);
      }
      // Of a final chain it is read in its order, as all others: the newest may not be whole yet.
      if (latest.number === number) return isFinal ? source.readHeader(number) : latest;
      // At or below our tip: nothing new, unless the node is on another branch by now.
      if (isFinal) return undefined;
      return local.window().some(({ hash }) => hash === latest.hash) ? undefined : latest;
    },

    async follow(header) {
      const branch: [BlockHeader, ...BlockHeader[]] = [header];
      let verdict: Reconciled;
      while ((verdict = reconcile(local.window(), branch)).kind === 'detached') {
        if (isFinal) throwForked(header);
        branch.unshift(await readParent(branch[0]));
      }
      switch (verdict.kind) {
        case 'duplicate':
          return;
        case 'extend':
          return committing.commit(branch[0]);
        case 'gap':
          throw new SourceError(
            'inconsistent',
            `block ${header.number} came where ${verdict.from} was asked for`,
          );
        case 'reorg':
          if (isFinal) throwForked(header);
          await rollBack(verdict);
          for (const block of branch) await committing.commit(block);
          return;
        case 'too-deep':
          // A made-up parent is no reorg: there must be such a block.
          await readParent(branch[0]);
          if (resetWhenReplaced) return startOver(verdict.oldest);
          throw haltError(
            `a reorg reaches below block ${verdict.oldest}, the oldest this ledger remembers; no block was skipped. ` +
              `To go on and leave a hole: sluice chains resume ${chain} --from <block>`,
          );
      }
    },
  };
}

type Verdict<Kind> = Extract<Reconciled, { kind: Kind }>;
