/** A block on its way into the ledger: fetched, ahead of its turn where there is a gap, matched, committed. */
import { type TraceSpan, type Tracing, within } from '../base/tracing.ts';
import type { BlockNeeds } from '../match/evm/block.ts';
import type { BlockHeader, NewMatch } from '../store/blocks/contract.ts';
import { type LocalChain, type StaleRules, haltError } from './localChain.ts';
import { createReadAhead } from './readAhead.ts';
import type { ChainSource, MaybeUnverified } from './source.ts';

/** What the loop needs from the matcher: rules that may have moved, and matches of a block. */
export interface Matcher<Block> {
  /**
   * Brings the rules up to the store's and returns their revision.
   *
   * @param atLeast a revision that the store is known to have; the returned one is no older
   */
  refresh(atLeast?: number): Promise<number>;
  needs(chain: string): BlockNeeds;
  match(chain: string, block: Block): NewMatch[];
}

export interface Committing {
  /** The header at this height; blocks from there on are read ahead, up to the head. */
  readHeader(number: number, head: number): Promise<BlockHeader | undefined>;
  /** Commits the block with this header, which follows the tip. */
  commit(header: BlockHeader): Promise<void>;
  /**
   * While no stream watches the chain its blocks are passed over, where the source can: true where there
   * is nothing to read.
   */
  passOver(head: BlockHeader): Promise<boolean>;
  /** Forgets what was read ahead. */
  clear(): void;
}

/** Read ahead of the commit while catching up; a large block with its receipts is about 5 MB. */
const READ_AHEAD = { maxBlocks: 64, maxBytes: 64 * 1024 * 1024 };

export function createCommitting<Block extends MaybeUnverified>(
  chain: string,
  {
    source,
    matcher,
    local,
    head,
    refuseBlocks,
    tracing,
  }: {
    source: Pick<ChainSource<Block>, 'readHeader' | 'readBlock' | 'sizeOf' | 'readNewestWhole'>;
    matcher: Matcher<Block>;
    local: Pick<LocalChain, 'tip' | 'append'>;
    /** Number of the newest block of the chain. */
    head(): number | null;
    /** Why no block may be committed now, for people; undefined while they may. */
    refuseBlocks(): string | undefined;
    tracing: Tracing;
  },
): Committing {
  const fetchBlock = async (header: BlockHeader): Promise<Fetched<Block>> => {
    const needs = matcher.needs(chain);
    return { header, block: await source.readBlock(header, needs), needs };
  };
  const ahead = createReadAhead<Fetched<Block>>(
    async (number) => {
      const header = await source.readHeader(number);
      return header && fetchBlock(header);
    },
    ({ block }) => source.sizeOf(block),
    READ_AHEAD,
  );

  /** What was read ahead, where it is this block; otherwise reads it now. */
  const takeBlock = async (header: BlockHeader): Promise<Fetched<Block>> => {
    const fetched = await ahead.take(header.number);
    return fetched !== undefined && isSame(fetched.header, header) ? fetched : fetchBlock(header);
  };

  const checkRefused = (): void => {
    const refused = refuseBlocks();
    if (refused !== undefined) throw haltError(refused);
  };

  const isWatched = (): boolean => {
    const { logs, transactions, traces } = matcher.needs(chain);
    return logs || transactions || traces;
  };

  const commitWithin = async (span: TraceSpan, header: BlockHeader): Promise<void> => {
    const step = <T>(name: string, work: () => T | Promise<T>): Promise<T> =>
      within(tracing.start(name, { chain }, span), work);
    await matcher.refresh();
    let fetched = await step('block.fetch', () => takeBlock(header));
    // With the rules as they are once the block is there: reading it takes longer than all else.
    await withSettledRules(matcher, async (ruleRevision) => {
      if (!suffices(fetched.needs, matcher.needs(chain))) {
        fetched = await step('block.fetch', () => fetchBlock(header));
      }
      const matches = await step('block.match', () => matcher.match(chain, fetched.block));
      span.set({ matches: matches.length });
      const { unverified } = fetched.block;
      return step('block.commit', () =>
        local.append(header, {
          ...{ ruleRevision, matches, unverified },
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
      await within(span, () => commitWithin(span, header));
    },
    async passOver(latest) {
      if (source.readNewestWhole === undefined) return false;
      await matcher.refresh();
      if (isWatched()) return false;
      const after = local.tip()!;
      if (latest.number <= after.number + 1) return true;
      const header = await source.readNewestWhole(latest);
      if (header === undefined || header.number <= after.number) return true;
      checkRefused();
      const passed = await withSettledRules(matcher, async (ruleRevision) =>
        // A stream that was created meanwhile was promised the block after the checkpoint.
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
 * Commits a block with the newest rules. Where they moved meanwhile, the refused commit has settled them
 * for this block, so that the second one is not refused.
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
    `the ledger refused rules of a revision at which it had settled them (${first.revision}, then ${second.revision})`,
  );
}

interface Fetched<Block> {
  header: BlockHeader;
  block: Block;
  needs: BlockNeeds;
}

/** Also in what a node may have given wrong beside the right hash. */
const isSame = (a: BlockHeader, b: BlockHeader): boolean =>
  a.hash === b.hash && a.parentHash === b.parentHash && a.timestamp === b.timestamp;

const suffices = (had: BlockNeeds, wanted: BlockNeeds): boolean =>
  (had.logs || had.transactions || !wanted.logs) &&
  (had.transactions || !wanted.transactions) &&
  (had.traces || !wanted.traces);
