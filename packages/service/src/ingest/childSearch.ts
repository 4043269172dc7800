/** Searches past blocks for the children of a stream's factories, one step of a job at a time. */
import type { LogSearch } from '../match/logSearch.ts';
import type { BlockNeeds, BlockRef } from '../store/blocks/contract.ts';
import type { KnownChild } from '../store/children/contract.ts';
import type { RunningJob } from '../store/jobs/contract.ts';
import type { Store } from '../store/store.ts';
import type { BlockReader, ReadLimits } from './blockReader.ts';
import type { Matcher } from './commit.ts';
import type { FoundBlock, MaybeUnverified } from './source.ts';

/** Finds the children that past blocks add to a stream. */
export interface ChildFinder<Block> {
  needs: BlockNeeds;
  /** The rules of the stream, compared by value to detect changes. */
  rules: unknown;
  search(): Promise<LogSearch | undefined>;
  /**
   * Returns the children of blocks in order, each once, given those that the ledger has.
   *
   * @param blocks complete, or with only the logs that the search finds
   */
  find(blocks: readonly (Block | Required<FoundBlock>)[]): Promise<KnownChild[]>;
}

/** Returns the finder of a search; undefined if its stream was deleted. */
export type OpenFinder<Block> = (
  search: Pick<RunningJob, 'streamId' | 'blockFrom' | 'isForAll'>,
) => Promise<ChildFinder<Block> | undefined>;

export interface ChildSearch {
  /** Searches the next blocks, which end at the limits. */
  advance(job: RunningJob, limits: ReadLimits, isAlone: boolean): Promise<void>;
}

export function createChildSearch<Block extends BlockRef & MaybeUnverified>({
  chain,
  epoch,
  store,
  read,
  openFinder,
  matcher,
}: {
  chain: string;
  /** Epoch of the chain's lease. */
  epoch: number;
  store: Pick<Store, 'setJobState' | 'commitSearch'>;
  read: BlockReader<Block>;
  openFinder: OpenFinder<Block>;
  matcher: Pick<Matcher<Block>, 'addLateChildren'>;
}): ChildSearch {
  return {
    async advance(job, limits, isAlone) {
      const finder = await openFinder(job);
      if (finder === undefined) {
        await store.setJobState(job.id, 'cancelled', 'the stream was deleted');
        return;
      }
      const { to, blocks, logged } = await read(job, finder, limits, isAlone);
      const inOrder = [...blocks, ...logged].toSorted((a, b) => a.number - b.number);
      const children = await finder.find(inOrder);
      const { id, nextBlock: from } = job;
      await matcher.addLateChildren(chain, children, (matchedUpTo) =>
        store.commitSearch({
          id,
          chain,
          epoch,
          from,
          to,
          children,
          unverified: blocks.flatMap(({ number, unverified }) =>
            unverified === undefined ? [] : [{ block: number, unverified }],
          ),
          matchedUpTo,
        }),
      );
    },
  };
}
