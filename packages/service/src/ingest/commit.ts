/**
 * Fetches, matches and commits blocks. While the chain catches up, blocks are fetched in advance.
 */
import { type TraceSpan, type Tracing, runInSpan } from '../base/tracing.ts';
import type { LogSearch } from '../match/logSearch.ts';
import type { BlockNeeds, BlockHeader, NewMatch } from '../store/blocks/contract.ts';
import type { Child } from '../store/children/contract.ts';
import { type LocalChain, type StaleRules, haltError } from './localChain.ts';
import type { ChainSource, MaybeUnverified } from './source.ts';
import { createReadAhead } from './readAhead.ts';

/** The part of the matcher that ingestion needs: the current rules, and the matches of a block. */
export interface Matcher<Block> {
  /**
   * Brings the rules up to date with the ledger and returns their revision.
   *
   * @param atLeast minimum revision to return; the ledger is known to have it
   */
  refresh(atLeast?: number): Promise<number>;
  needs(chain: string): BlockNeeds;
  /**
   * Returns how to find the blocks of all streams by their logs; undefined if every block must be
   * read. Omitted for chain families whose nodes have no such queries.
   */
  search?(chain: string): Promise<LogSearch | undefined>;
  /**
   * Matches the next block of a chain, whose children of factories must be loaded. Also returns the
   * children that it adds, for its commit.
   */
  match(chain: string, block: Block): MatchResult;
  /** Matches an earlier block, with the children of factories that the ledger has for it. */
  matchAsOf(chain: string, block: Block): Promise<NewMatch[]>;
  /**
   * Waits for writes of late children, and loads the children of the chain's factories as far as they
   * are missing.
   */
  loadChildren(chain: string): Promise<void>;
  /**
   * Returns the children that an earlier block adds to those of the ledger, for the current
   * streams.
   */
  findChildren(chain: string, block: Block): Promise<Child[]>;
  /**
   * Writes children of earlier blocks, and adds those that were written to the loaded ones. Meanwhile,
   * no block is matched; `matchedUpTo` is the last one before, or -1.
   */
  addLateChildren<Result extends { children: readonly Child[] }>(
    chain: string,
    children: readonly Child[],
    write: (matchedUpTo: number) => Promise<Result | undefined>,
  ): Promise<Result | undefined>;
  /** Applies a change of the ledger to the loaded children. */
  changeChildren(
    chain: string,
    change: { added?: readonly Child[]; removed?: readonly Child[] },
  ): void;
  /** Forgets the loaded children, because the ledger may have others. */
  forgetChildren(chain: string): void;
}

export interface MatchResult {
  matches: NewMatch[];
  children: readonly Child[];
}

export interface BlockCommitter {
  /**
   * Reads the header at this height, and starts to read blocks ahead from there up to `head`.
   * Returns undefined if no node has the block.
   */
  readHeader(number: number, head: number): Promise<BlockHeader | undefined>;
  /** Commits the block with this header, which must be the next one after the tip. */
  commit(header: BlockHeader): Promise<void>;
  /**
   * Skips blocks while no stream watches the chain, if the source supports it. Returns true if no
   * block needs to be read.
   */
  passOver(head: BlockHeader): Promise<boolean>;
  clear(): void;
}

/** Limits for reading ahead while catching up. A large block with its receipts takes about 5 MB. */
const READ_AHEAD = { maxBlocks: 64, maxBytes: 64 * 1024 * 1024 };

export function createBlockCommitter<Block extends MaybeUnverified>(
  chain: string,
  {
    source,
    matcher,
    local,
    head,
    refuseBlocks,
    tracing,
  }: {
    source: Pick<
      ChainSource<Block>,
      'readHeader' | 'readBlock' | 'readBlockAt' | 'sizeOf' | 'readNewestComplete'
    >;
    matcher: Matcher<Block>;
    local: Pick<LocalChain, 'tip' | 'append'>;
    /** Returns the number of the newest block of the chain; null while unknown. */
    head(): number | null;
    /**
     * Returns a message that explains why no block may be committed now; undefined if commits are
     * allowed.
     */
    refuseBlocks(): string | undefined;
    tracing: Tracing;
  },
): BlockCommitter {
  const fetchBlock = async (header: BlockHeader): Promise<Fetched<Block>> => {
    const needs = matcher.needs(chain);
    return { header, block: await source.readBlock(header, needs), needs };
  };
  const ahead = createReadAhead<Fetched<Block>>(
    async (number) => {
      const needs = matcher.needs(chain);
      const read = await source.readBlockAt(number, needs);
      return read && { ...read, needs };
    },
    ({ block }) => source.sizeOf(block),
    READ_AHEAD,
  );

  /** Returns this block if it was read ahead; otherwise reads it now. */
  const takeBlock = async (header: BlockHeader): Promise<Fetched<Block>> => {
    const fetched = await ahead.take(header.number);
    return fetched !== undefined && isSame(fetched.header, header) ? fetched : fetchBlock(header);
  };

  const checkRefused = (): void => {
    const refused = refuseBlocks();
    if (refused !== undefined) throw haltError(refused);
  };

  const isWatched = (): boolean => {
    const { logs, transactions, traces, state = false } = matcher.needs(chain);
    return logs || transactions || traces || state;
  };

  const commitWithin = async (span: TraceSpan, header: BlockHeader): Promise<void> => {
    const tip = local.tip()!;
    // The chain may have no block at some heights after the tip.
    const after =
      header.number > tip.number + 1 && header.parentHash === tip.hash ? tip : undefined;
    const step = <T>(name: string, work: () => T | Promise<T>): Promise<T> =>
      runInSpan(tracing.start(name, { chain }, span), work);
    await matcher.refresh();
    let fetched = await step('block.fetch', () => takeBlock(header));
    // Matches with the rules that are current after the fetch, because the fetch takes the most
    // time.
    await withSettledRules(matcher, async (ruleRevision) => {
      if (!suffices(fetched.needs, matcher.needs(chain))) {
        fetched = await step('block.fetch', () => fetchBlock(header));
      }
      await matcher.loadChildren(chain);
      const matched = await step('block.match', () => matcher.match(chain, fetched.block));
      span.set({ matches: matched.matches.length });
      const { unverified } = fetched.block;
      return step('block.commit', () =>
        local.append(header, {
          after,
          ruleRevision,
          ...matched,
          readsState: matcher.needs(chain).state,
          unverified,
          head: head() ?? header.number,
        }),
      );
    });
  };

  return {
    async readHeader(number, upTo) {
      ahead.want(number, upTo);
      return (await ahead.read(number))?.header ?? source.readHeader(number);
    },
    async commit(header) {
      checkRefused();
      const { number, hash } = header;
      const span = tracing.start('block', { chain, 'block.number': number, 'block.hash': hash });
      await runInSpan(span, () => commitWithin(span, header));
    },
    async passOver(latest) {
      if (source.readNewestComplete === undefined) return false;
      await matcher.refresh();
      if (isWatched()) return false;
      const after = local.tip()!;
      if (latest.number <= after.number + 1) return true;
      const header = await source.readNewestComplete(latest);
      if (header === undefined || header.number <= after.number) return true;
      checkRefused();
      const passed = await withSettledRules(matcher, async (ruleRevision) =>
        // A stream that was created in the meantime must get the block after the checkpoint.
        isWatched()
          ? 'watched'
          : local.append(header, { after, ruleRevision, matches: [], head: latest.number }),
      );
      return passed === 'settled';
    },
    clear: ahead.clear,
  };
}

/**
 * Commits a block with the newest rules. If the ledger refuses because the rules have changed, it
 * settles a revision for this block, so that the second commit succeeds.
 */
export async function withSettledRules<Settled extends string>(
  matcher: Pick<Matcher<never>, 'refresh'>,
  commitWith: (ruleRevision: number) => Promise<Settled | StaleRules>,
): Promise<Settled> {
  const first = await commitWith(await matcher.refresh());
  if (typeof first === 'string') return first;
  const second = await commitWith(await matcher.refresh(first.revision));
  if (typeof second === 'string') return second;
  throw new Error(
    `the ledger refused a rule revision that it had settled (${first.revision}, then ${second.revision})`,
  );
}

interface Fetched<Block> {
  header: BlockHeader;
  block: Block;
  needs: BlockNeeds;
}

/** Compares more than the hash, because a node may return wrong fields with the correct hash. */
const isSame = (a: BlockHeader, b: BlockHeader): boolean =>
  a.hash === b.hash && a.parentHash === b.parentHash && a.timestamp === b.timestamp;

const suffices = (had: BlockNeeds, wanted: BlockNeeds): boolean =>
  (had.logs || had.transactions || !wanted.logs) &&
  (had.transactions || !wanted.transactions) &&
  (had.traces || !wanted.traces) &&
  (had.calls === true || wanted.calls !== true) &&
  (had.holds === true || wanted.holds !== true) &&
  (had.proofs === true || wanted.proofs !== true);
