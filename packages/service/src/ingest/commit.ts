/** A block on its way into the ledger: fetched, ahead of its turn where there is a gap, matched, committed. */
import { type TraceSpan, type Tracing, within } from '../base/tracing.ts';
import type { BlockNeeds } from '../match/evm/block.ts';
import type { BlockHeader, NewMatch } from '../store/blocks/contract.ts';
import { type LocalChain, type StaleRules, haltError } from './localChain.ts';
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

/**
 * Blocks read before their turn, so that a long gap is not one round trip after another. How many at
 * once follows from need: more while the commit waits for the network, fewer after a failure, and
 * never more than fit.
 */
export interface ReadAhead<T> {
  /** Starts reading the blocks from `from` to `to`, as far as it pays and fits. */
  want(from: number, to: number): void;
  /** What was read at this height; undefined where nothing was begun, found, or it failed. */
  read(number: number): Promise<T | undefined>;
  /** The same, and forgets it. */
  take(number: number): Promise<T | undefined>;
  /** Forgets all; what is under way comes to nothing. */
  clear(): void;
}

export interface ReadAheadLimits {
  maxBlocks: number;
  /** Of blocks read and not yet taken, those under way counted as large as the others. */
  maxBytes: number;
}

interface Entry<T> {
  reading: Promise<T | undefined>;
  isDone: boolean;
  isWaitedFor: boolean;
  sizeBytes: number;
}

const START_BLOCKS = 4;
/** Of the moving average of sizes, the weight of the newest. */
const SIZE_WEIGHT = 0.1;

/**
 * @param fetch reads the block at a height; undefined where there is none
 * @param sizeOf roughly how many bytes it occupies
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
      // Whatever went wrong shows again when the block's turn comes.
      reading: fetch(number).catch(() => {
        depth = Math.max(1, Math.floor(depth / 2));
        return undefined;
      }),
      isDone: false,
      isWaitedFor: false,
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
    if (!entry.isDone && !entry.isWaitedFor) {
      entry.isWaitedFor = true;
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
