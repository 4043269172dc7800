/**
 * Fetches, matches and commits blocks. While the chain catches up, blocks are fetched in advance.
 */
import { type TraceSpan, type Tracing, within } from '../base/tracing.ts';
import type { LogSearch } from '../match/evm/logSearch.ts';
import type { BlockNeeds, BlockHeader, NewMatch } from '../store/blocks/contract.ts';
import { type LocalChain, type StaleRules, haltError } from './localChain.ts';
import type { ChainSource, MaybeUnverified } from './source.ts';

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
  match(chain: string, block: Block): NewMatch[];
}

export interface Committing {
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
): Committing {
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
    const { logs, transactions, traces } = matcher.needs(chain);
    return logs || transactions || traces;
  };

  const commitWithin = async (span: TraceSpan, header: BlockHeader): Promise<void> => {
    const tip = local.tip()!;
    // The chain may have no block at some heights after the tip.
    const after =
      header.number > tip.number + 1 && header.parentHash === tip.hash ? tip : undefined;
    const step = <T>(name: string, work: () => T | Promise<T>): Promise<T> =>
      within(tracing.start(name, { chain }, span), work);
    await matcher.refresh();
    let fetched = await step('block.fetch', () => takeBlock(header));
    // Matches with the rules that are current after the fetch, because the fetch takes the most
    // time.
    await withSettledRules(matcher, async (ruleRevision) => {
      if (!suffices(fetched.needs, matcher.needs(chain))) {
        fetched = await step('block.fetch', () => fetchBlock(header));
      }
      const matches = await step('block.match', () => matcher.match(chain, fetched.block));
      span.set({ matches: matches.length });
      const { unverified } = fetched.block;
      return step('block.commit', () =>
        local.append(header, {
          ...{ after, ruleRevision, matches, unverified },
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
  (had.proofs === true || wanted.proofs !== true);

/**
 * Reads blocks in advance, so that catching up doesn't wait for one round trip per block. The
 * depth, the number of blocks to read ahead, grows when a read must be awaited, and shrinks after a
 * failure.
 */
export interface ReadAhead<T> {
  /** Starts reading the blocks from `from` to `to`, within the current depth and the limits. */
  want(from: number, to: number): void;
  /**
   * Returns the block at this height; undefined if it was not requested or not found, or if the
   * read failed.
   */
  read(number: number): Promise<T | undefined>;
  /** Returns the block as `read` does, and removes it. */
  take(number: number): Promise<T | undefined>;
  /** Discards everything, including reads in progress. */
  clear(): void;
}

export interface ReadAheadLimits {
  maxBlocks: number;
  /**
   * Maximum total size of the blocks that were requested but not taken yet. Each block counts as at
   * least the average size. A single block may exceed the limit.
   */
  maxBytes: number;
}

interface Entry<T> {
  reading: Promise<T | undefined>;
  isDone: boolean;
  isAwaited: boolean;
  sizeBytes: number;
}

const START_BLOCKS = 4;
/** Weight of the newest block's size in the moving average of sizes. */
const SIZE_WEIGHT = 0.1;

/**
 * @param fetch reads the block at a height; undefined if there is none
 * @param sizeOf estimates the size of a block, in bytes
 */
export function createReadAhead<T>(
  fetch: (number: number) => Promise<T | undefined>,
  sizeOf: (block: T) => number,
  { maxBlocks, maxBytes }: ReadAheadLimits,
): ReadAhead<T> {
  const entries = new Map<number, Entry<T>>();
  let depth = Math.min(START_BLOCKS, maxBlocks);
  let averageBytes = 0;

  const begin = (number: number): void => {
    const entry: Entry<T> = {
      // If the error persists, the caller's read of the block reports it.
      reading: fetch(number).catch(() => {
        depth = Math.max(1, Math.floor(depth / 2));
        return undefined;
      }),
      isDone: false,
      isAwaited: false,
      sizeBytes: averageBytes,
    };
    entries.set(number, entry);
    void entry.reading.then((block) => {
      entry.isDone = true;
      entry.sizeBytes = block === undefined ? 0 : sizeOf(block);
      averageBytes += (entry.sizeBytes - averageBytes) * (averageBytes === 0 ? 1 : SIZE_WEIGHT);
    });
  };

  const fits = (): boolean => {
    if (entries.size === 0) return true;
    let bytes = averageBytes;
    for (const entry of entries.values()) bytes += Math.max(entry.sizeBytes, averageBytes);
    return bytes <= maxBytes;
  };

  const read = async (number: number): Promise<T | undefined> => {
    const entry = entries.get(number);
    if (entry === undefined) return undefined;
    if (!entry.isDone && !entry.isAwaited) {
      entry.isAwaited = true;
      depth = Math.min(maxBlocks, depth + 1);
    }
    return entry.reading;
  };

  return {
    want(from, to) {
      for (let number = from; number <= Math.min(to, from + depth - 1); number++) {
        if (entries.has(number)) continue;
        if (!fits()) return;
        begin(number);
      }
    },
    read,
    take(number) {
      const reading = read(number);
      entries.delete(number);
      return reading;
    },
    clear() {
      entries.clear();
    },
  };
}
