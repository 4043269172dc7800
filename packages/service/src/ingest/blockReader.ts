/**
 * Reads the blocks of backfills. If a search by logs takes fewer queries, reads only the blocks
 * that it finds.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Confirmations, Job } from '@sluice/kit/contract';
import type { LogSearch } from '../match/logSearch.ts';
import type { BlockNeeds, BlockHeader, NewMatch } from '../store/blocks/contract.ts';
import { BATCH_BLOCKS, denseAfter, readHits } from './foundBlocks.ts';
import {
  type BlockSearch,
  type ChainSource,
  type FoundBlock,
  type FoundBlocks,
  MAX_EMPTY_HEIGHTS,
  type MaybeUnverified,
  SourceError,
  isLacking,
  isOfKind,
  readKeptHeader,
} from './source.ts';

/** Matches blocks against the current rules of one stream. */
export interface StreamMatcher<Block> {
  needs: BlockNeeds;
  /** The confirmations of the stream; null for those of the chain. */
  confirmations: Confirmations | null;
  /** The rules of the stream, compared by value to detect changes. */
  rules: unknown;
  /**
   * Returns how to find the stream's blocks by their logs; undefined if every block must be read.
   */
  search(): Promise<LogSearch | undefined>;
  /** Returns the matches of a block: none, one, or several if one webhook would be too large. */
  match(block: Block): Promise<NewMatch[]>;
}

/** The result of one step of a job. */
export interface ReadBlocks<Block> {
  /**
   * Last block of the step. Blocks of the step that are not in `blocks` do not concern the stream.
   */
  to: number;
  blocks: Block[];
  /** Blocks of which only the logs were read, if the search keeps them. */
  logged: Required<FoundBlock>[];
  /**
   * Whether the blocks that are not in `blocks` were ruled out only by the logs that nodes
   * returned.
   */
  byRange: boolean;
}

export interface ReadLimits {
  upTo: number;
  /** Height above which blocks are read one by one. */
  searchUpTo: number;
}

export type BlockReader<Block> = (
  job: Pick<Job, 'id' | 'nextBlock'>,
  matcher: Pick<StreamMatcher<Block>, 'needs' | 'rules' | 'search'>,
  limits: ReadLimits,
  /** Whether to start reading the blocks that follow the result; true if no other job waits. */
  readsAhead: boolean,
) => Promise<ReadBlocks<Block>>;

/** Maximum number of jobs whose search is kept. Other jobs start again with small ranges. */
const REMEMBERED = 16;

/** Number of logs after which no further block is added to a step. */
const BATCH_LOGS = 4_000;

const hasLogs = (found: FoundBlock): found is Required<FoundBlock> => found.logs !== undefined;

/** Takes the first blocks, up to a number of blocks to read and a number of logs. */
function takeBatch(hits: readonly FoundBlock[]): FoundBlock[] {
  let blocks = 0;
  let logs = 0;
  const end = hits.findIndex((hit) => {
    const isFull = blocks === BATCH_BLOCKS || logs >= BATCH_LOGS;
    if (hasLogs(hit)) logs += hit.logs.length;
    else blocks++;
    return isFull;
  });
  return hits.slice(0, end < 0 ? hits.length : end);
}

/** The state of one job: its search, and the blocks that were found or are read ahead. */
interface Progress<Block> {
  rules: unknown;
  search: BlockSearch | undefined;
  /** Whether found blocks have their logs, so that many blocks with logs cost nothing. */
  keepsLogs: boolean;
  /** The last search result, which is used until all its blocks are read. */
  found: FoundBlocks | undefined;
  /** Height up to which blocks are read one by one. */
  denseUpTo: number;
  /** The blocks that are read ahead, starting with block `from`. */
  coming: { from: number; blocks: Promise<ReadBlocks<Block>> } | undefined;
}

export function createReader<Block extends BlockHeader & MaybeUnverified>(
  source: ChainSource<Block>,
): BlockReader<Block> {
  const jobs = new Map<string, Progress<Block>>();

  const progressOf = async (
    id: string,
    { rules, search }: Pick<StreamMatcher<Block>, 'rules' | 'search'>,
  ): Promise<Progress<Block>> => {
    const known = jobs.get(id);
    jobs.delete(id);
    const isCurrent = known !== undefined && isDeepStrictEqual(known.rules, rules);
    const progress = isCurrent ? known : begin(rules, await search());
    jobs.set(id, progress);
    if (jobs.size > REMEMBERED) jobs.delete(jobs.keys().next().value!);
    return progress;
  };

  const begin = (rules: unknown, search: LogSearch | undefined): Progress<Block> => ({
    rules,
    search: search && source.openSearch?.(search),
    keepsLogs: search?.keepsLogs === true,
    found: undefined,
    denseUpTo: 0,
    coming: undefined,
  });

  /** Reads the nearest header in steps from a height; undefined if there is none nearby. */
  const readNearest = async (number: number, step: 1 | -1): Promise<BlockHeader | undefined> => {
    for (let n = 0; n < MAX_EMPTY_HEIGHTS && number + step * n >= 0; n++) {
      const header = await readKeptHeader(source, number + step * n).catch((error: unknown) => {
        if (error instanceof SourceError && isLacking(error)) return undefined;
        throw error;
      });
      if (header !== undefined) return header;
    }
    return undefined;
  };

  /**
   * Returns the blocks with their neighbors, if the range lacks its first or last block. Some chains
   * have no block at some heights, which their links prove.
   */
  const surround = async (
    blocks: readonly Block[],
    from: number,
    to: number,
    missing: SourceError,
  ): Promise<BlockHeader[]> => {
    if (blocks.length === 0) throw missing;
    const before = blocks[0]?.number === from ? undefined : await readNearest(from - 1, -1);
    const after = blocks.at(-1)?.number === to ? undefined : await readNearest(to + 1, 1);
    if (before === undefined && blocks[0]?.number !== from) throw missing;
    if (after === undefined && blocks.at(-1)?.number !== to) throw missing;
    return [before, ...blocks, after].filter((each) => each !== undefined);
  };

  const readEach = async (
    from: number,
    to: number,
    { needs }: Pick<StreamMatcher<Block>, 'needs'>,
  ): Promise<ReadBlocks<Block>> => {
    const numbers = Array.from({ length: to - from + 1 }, (_, n) => from + n);
    let missing: SourceError | undefined;
    const read = await Promise.all(
      numbers.map(async (number): Promise<Block | undefined> => {
        const found = await source.readBlockAt(number, needs).catch((error: unknown) => {
          if (!(error instanceof SourceError) || !isLacking(error)) throw error;
          missing ??= error;
          return undefined;
        });
        if (found !== undefined) return found.block;
        missing ??= new SourceError('missing', `no node of this chain has block ${number}`);
        return undefined;
      }),
    );
    const blocks = read.filter((each) => each !== undefined);
    const linked = missing === undefined ? blocks : await surround(blocks, from, to, missing);
    for (const [n, block] of linked.entries()) {
      if (n > 0 && block.parentHash !== linked[n - 1]!.hash) {
        throw (
          missing ??
          new SourceError('inconsistent', `block ${block.number} does not follow the previous one`)
        );
      }
    }
    return { to, blocks, logged: [], byRange: false };
  };

  /**
   * Returns the blocks at or above `from` that a search found; undefined if the next blocks must be
   * read one by one.
   */
  const find = async (
    progress: Progress<Block>,
    from: number,
    { searchUpTo }: ReadLimits,
  ): Promise<FoundBlocks | undefined> => {
    const { found, search, keepsLogs, denseUpTo } = progress;
    if (found !== undefined && from <= found.end.number && found.end.number <= searchUpTo) {
      return { ...found, hits: found.hits.filter(({ number }) => number >= from) };
    }
    progress.found = undefined;
    if (search === undefined || from > searchUpTo || from <= denseUpTo) return undefined;
    progress.found = await search.next(from, searchUpTo);
    progress.denseUpTo = (keepsLogs ? undefined : denseAfter(from, progress.found)) ?? denseUpTo;
    return progress.found;
  };

  const readFound = async (
    progress: Progress<Block>,
    { end, hits, isProven }: FoundBlocks,
    { needs }: Pick<StreamMatcher<Block>, 'needs'>,
  ): Promise<ReadBlocks<Block>> => {
    const some = takeBatch(hits);
    try {
      return {
        blocks: await readHits(
          source,
          some.filter((hit) => !hasLogs(hit)),
          { end },
          needs,
        ),
        logged: some.filter(hasLogs),
        to: some.length === hits.length ? end.number : some.at(-1)!.number,
        byRange: !isProven,
      };
    } catch (error) {
      // The search may have found blocks that do not exist, so the range is searched again.
      if (isOfKind(error, 'missing', 'inconsistent', 'disagreement')) progress.found = undefined;
      throw error;
    }
  };

  const readNext = async (
    progress: Progress<Block>,
    from: number,
    matcher: Pick<StreamMatcher<Block>, 'needs'>,
    limits: ReadLimits,
  ): Promise<ReadBlocks<Block>> => {
    const found = await find(progress, from, limits);
    if (found !== undefined) return readFound(progress, found, matcher);
    return readEach(from, Math.min(from + BATCH_BLOCKS - 1, limits.upTo), matcher);
  };

  return async (job, matcher, limits, readsAhead) => {
    const progress = await progressOf(job.id, matcher);
    const { coming } = progress;
    progress.coming = undefined;
    const read =
      coming?.from === job.nextBlock
        ? await coming.blocks
        : await readNext(progress, job.nextBlock, matcher, limits);
    const from = read.to + 1;
    if (readsAhead && from <= limits.upTo) {
      const blocks = readNext(progress, from, matcher, limits);
      // If the read fails, the call that takes these blocks reports the error.
      blocks.catch(() => {});
      progress.coming = { from, blocks };
    }
    return read;
  };
}
