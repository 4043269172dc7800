/**
 * Catches up after an outage by searching for blocks by their logs, if the rules of all streams of
 * the chain allow it. The newest blocks are read one by one.
 */
import type { BlockHeader } from '../store/blocks/contract.ts';
import type { Matcher } from './commit.ts';
import type { LocalChain } from './localChain.ts';
import type { ConfirmationRule } from './confirming.ts';
import { BATCH_BLOCKS, denseAfter, readHits } from './foundBlocks.ts';
import type { BlockSearch, ChainSource, FoundBlocks, MaybeUnverified } from './source.ts';

export interface CatchUp {
  /**
   * Searches for the next blocks that concern streams, commits them and skips all other blocks.
   * Returns false if the next block must be read as usual instead.
   */
  advance(head: BlockHeader): Promise<boolean>;
}

/** @param signal ends the work after the current batch */
export function createCatchUp<Block extends BlockHeader & MaybeUnverified>(
  chain: string,
  {
    source,
    matcher,
    local,
    confirming,
    signal,
  }: {
    source: Pick<ChainSource<Block>, 'openSearch' | 'readBlock' | 'readHeader'>;
    matcher: Matcher<Block>;
    local: Pick<LocalChain, 'tip' | 'append'>;
    confirming: Pick<ConfirmationRule, 'openBlocks'>;
    signal: AbortSignal;
  },
): CatchUp {
  /** The search for the blocks of all streams, as of one revision of the rules. */
  let opened: { revision: number; search: BlockSearch | undefined } | undefined;
  let denseUpTo = -1;

  /** Returns the search for the current rules; undefined if the rules change before it is open. */
  const open = async (): Promise<typeof opened> => {
    const revision = await matcher.refresh();
    if (opened?.revision === revision) return opened;
    const search = await matcher.search?.(chain);
    if ((await matcher.refresh()) !== revision) return undefined;
    opened = { revision, search: search && source.openSearch!(search) };
    return opened;
  };

  const find = async (
    { search }: NonNullable<typeof opened>,
    upTo: number,
  ): Promise<FoundBlocks | undefined> => {
    const tip = local.tip()!;
    if (search === undefined) return undefined;
    // The tip may have left the chain since it was committed.
    if ((await source.readHeader(tip.number))?.hash !== tip.hash) return undefined;
    const from = tip.number + 1;
    const found = await search.next(from, upTo);
    denseUpTo = denseAfter(from, found) ?? denseUpTo;
    return found;
  };

  /** Commits a block after the tip; returns false if the rules or the ledger have changed. */
  const commit = async (
    block: BlockHeader & MaybeUnverified,
    { revision, isProven, head }: { revision: number; isProven: boolean; head: number },
    match: () => ReturnType<Matcher<Block>['match']>,
  ): Promise<boolean> => {
    const tip = local.tip()!;
    // If the rules have changed, the ledger refuses the block, and the tip stays the same.
    await local.append(block, {
      after: block.number === tip.number + 1 ? undefined : tip,
      searched: { isProven },
      ruleRevision: revision,
      ...match(),
      unverified: block.unverified,
      head,
    });
    return local.tip()!.hash === block.hash;
  };

  /**
   * Reads and commits the found blocks. Returns true if any block was committed, or if `signal` was
   * aborted.
   */
  const commitFound = async (
    { end, hits, isProven }: FoundBlocks,
    revision: number,
    head: number,
  ): Promise<boolean> => {
    const first = local.tip()!;
    const hasMoved = () => local.tip()!.number > first.number;
    const how = { revision, isProven, head };
    for (let n = 0; n < hits.length; n += BATCH_BLOCKS) {
      if (signal.aborted) return true;
      const needs = matcher.needs(chain);
      const some = hits.slice(n, n + BATCH_BLOCKS);
      for (const block of await readHits(source, some, { end }, needs)) {
        await matcher.loadChildren(chain);
        if (!(await commit(block, how, () => matcher.match(chain, block)))) return hasMoved();
      }
    }
    if (local.tip()!.number < end.number)
      await commit(end, how, () => ({ matches: [], children: [] }));
    return hasMoved();
  };

  return {
    async advance(head) {
      const next = local.tip()!.number + 1;
      const upTo = head.number - confirming.openBlocks(head.number);
      if (source.openSearch === undefined || next <= denseUpTo || next > upTo) {
        return false;
      }
      const rules = await open();
      const found = rules && (await find(rules, upTo));
      return found !== undefined && commitFound(found, rules!.revision, head.number);
    },
  };
}
