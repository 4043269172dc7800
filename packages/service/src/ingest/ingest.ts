/**
 * One chain, block by block: learn of a head, reconcile, fetch, match, commit. The loop holds no
 * truth of its own: it starts from the stored checkpoint, and what it keeps in memory is the stored
 * window of hashes. It never stops for an error; it says what is wrong and tries again.
 */
import {
  type ChainBlock,
  type ChainHealth,
  type DeliverySummary,
  confirmationsOf,
  findEvmChain,
} from '@sluice/kit/contract';
import type { BlockNeeds } from '../match/block.ts';
import type { BlockHeader, BlockRef, Checkpoint, NewMatch, Store } from '../store/store.ts';
import type { Log } from '../observe.ts';
import { createConfirming } from './confirming.ts';
import { createProgress } from './progress.ts';
import { createReadAhead } from './readAhead.ts';
import { type Reconciled, reconcile } from './reconcile.ts';
import { type ChainSource, SourceError } from './source.ts';

export interface IngestOptions {
  chain: string;
  /** What people call the chain, and its short code; by default what the contract lists. */
  names?: { name: string; code: string } | undefined;
  /** Of the command line, which names the chain's nodes. Default `--chain`. */
  flag?: string | undefined;
  /**
   * The chain does not fork: a head below ours is that of a node that lags, and another block at a
   * height of ours is of another chain. Default false.
   */
  isFinal?: boolean | undefined;
  /**
   * Blocks that must follow before a match is confirmed; default: what the contract lists.
   * `finalized`: until the chain itself calls its block final.
   */
  confirmations?: number | 'finalized' | undefined;
  /**
   * Start over at the head when the chain itself was replaced (another genesis, or a reorg deeper
   * than the window) instead of halting. For a local development chain. Default false.
   */
  resetWhenReplaced?: boolean | undefined;
}

/** What the loop needs from the matcher: rules that may have moved, and matches of a block. */
export interface Matcher<Block> {
  /** Brings the rules up to the store's; answers with their revision. */
  refresh(): Promise<number>;
  needs(chain: string): BlockNeeds;
  match(chain: string, block: Block): NewMatch[];
}

export interface IngestListener {
  onDeliveries(deliveries: DeliverySummary[]): void;
  onBlock(chain: string, block: ChainBlock, head: number): void;
  onReorg(chain: string, ancestor: BlockRef): void;
  onHealth(health: Omit<ChainHealth, 'blocks'>): void;
}

export interface Ingest {
  readonly chain: string;
  /** True once it is known that no node of this chain traces blocks. */
  readonly lacksTraces: boolean;
  health(): ChainHealth;
  /**
   * The way out of a halt: goes on from block `from`, by default the head, and records what lies
   * between as a hole. Answers with that block. Throws a {@link SourceError} when the node cannot say.
   */
  resume(from?: number): Promise<number>;
  start(): void;
  /** Ends after the block under way; nothing is left half committed. */
  stop(): Promise<void>;
}

const TAPE_BLOCKS = 60;
/** Read ahead of the commit while catching up; a large block with its receipts is about 5 MB. */
const READ_AHEAD = { maxBlocks: 64, maxBytes: 64 * 1024 * 1024 };
/** Behind by fewer, a chain catches up without a line in the log. */
const LOGGED_GAP_BLOCKS = 32;
const PROGRESS_MS = 1_000;
/** While catching up the head is asked for once in so many blocks. */
const BLOCKS_PER_HEAD = 32;
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;
const NO_TRACES =
  'no node of this chain offers debug_traceBlockByHash or trace_block: includeInternalTxs finds nothing';
/** Troubles that mostly pass by themselves; called an outage after so many tries. */
const PASSING: readonly string[] = ['missing', 'rate-limited', 'disagreement'];
const PASSING_FAILURES = 4;

export function createIngest<Block>(
  options: IngestOptions,
  {
    source,
    store,
    matcher,
    listener,
    log,
    refuseBlocks = () => undefined,
  }: {
    source: ChainSource<Block>;
    store: Store;
    matcher: Matcher<Block>;
    listener: IngestListener;
    log: Log;
    /** Why no block may be committed now, for people; undefined while they may. */
    refuseBlocks?: () => string | undefined;
  },
): Ingest {
  const { chain, flag = '--chain' } = options;
  const names = options.names ?? findEvmChain(chain);
  const confirmations = options.confirmations ?? confirmationsOf(chain);
  /** Blocks that may come between two looks at the head. */
  const usualGap = options.isFinal ? LOGGED_GAP_BLOCKS : 1;
  const confirming = createConfirming(confirmations, source);
  const progress = createProgress();

  /** Newest first: the stored window of hashes. */
  let window: (BlockHeader & { matches: number })[] = [];
  let state: ChainHealth['state'] = 'starting';
  let message = '';
  let head: number | null = null;
  let hinted = Promise.withResolvers<void>();
  const stopping = new AbortController();
  /** Asked for, and done by the loop itself between two blocks. */
  let resuming: { from: number | undefined; answer: PromiseWithResolvers<number> } | undefined;
  /** Ends a wait for the sake of a request. */
  let called = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;
  let publishedAt = 0;

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

  const tip = (): BlockRef | undefined => window[0];

  const confirmedUpTo = (): number | null => {
    const last = tip();
    const upTo = last === undefined ? -1 : confirming.upTo(last, window);
    return upTo < 0 ? null : upTo;
  };

  const health = (): ChainHealth => {
    return {
      id: chain,
      name: names?.name ?? `Chain ${Number(chain)}`,
      code: names?.code ?? chain,
      state,
      message,
      head,
      checkpoint: tip()?.number ?? null,
      confirmations,
      confirmedUpTo: confirmedUpTo(),
      providers: source.providers(),
      progress: state === 'catching-up' ? (progress.read() ?? null) : null,
      blocks: window.slice(0, TAPE_BLOCKS).map(toChainBlock),
    };
  };

  const publish = (): void => {
    publishedAt = Date.now();
    const { blocks: _, ...rest } = health();
    listener.onHealth(rest);
  };

  const setState = (next: ChainHealth['state'], why = ''): void => {
    if (next === state && why === message) return;
    if (next === 'down') log.warn('chain down', { chain, reason: why });
    else if (next === 'live' && state !== 'catching-up') log.info('chain live', { chain, head });
    state = next;
    message = why;
    publish();
  };

  /** Says how far it has come: at once where it begins, then now and then. */
  const catchUp = (to: number): void => {
    const at = tip()!.number;
    if (progress.read() === undefined) {
      progress.begin(at, to);
      if (to - at >= LOGGED_GAP_BLOCKS) log.info('catching up', { chain, from: at, to });
    }
    progress.note(at, to);
    setState('catching-up', liveNote());
    if (Date.now() - publishedAt >= PROGRESS_MS) publish();
  };

  const goLive = (): void => {
    progress.note(tip()!.number, head ?? 0);
    const done = progress.end();
    if (done !== undefined && done.blocks >= LOGGED_GAP_BLOCKS) {
      log.info('caught up', { chain, at: tip()!.number, ...done });
    }
    setState('live', liveNote());
  };

  /** What is wrong although blocks come. */
  const liveNote = (): string =>
    [source.lacksTraces && matcher.needs(chain).traces ? NO_TRACES : '', confirming.note()]
      .filter(Boolean)
      .join('; ');

  /** Until a head may have come, or for `ms` at most. */
  const pause = async (ms: number): Promise<void> => {
    const timer = Promise.withResolvers<void>();
    const handle = setTimeout(timer.resolve, ms);
    await Promise.race([hinted.promise, timer.promise, aborted]);
    clearTimeout(handle);
    hinted = Promise.withResolvers();
  };
  const aborted = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => resolve());
  });
  const wait = async (ms: number): Promise<void> => {
    const timer = Promise.withResolvers<void>();
    const handle = setTimeout(timer.resolve, ms);
    await Promise.race([timer.promise, called.promise, aborted]);
    clearTimeout(handle);
  };

  /** The chain goes on after this block; `holeFrom` as in `Store.startChain`. */
  const startAt = async (
    block: BlockHeader,
    genesisHash: string,
    holeFrom?: number,
  ): Promise<void> => {
    listener.onDeliveries(await store.startChain({ chain, block, genesisHash, holeFrom }));
    window = [{ ...block, matches: 0 }];
  };

  /** Undefined where no node has it yet, or keeps it still. */
  const readKept = async (number: number): Promise<BlockHeader | undefined> => {
    try {
      return await source.readHeader(number);
    } catch (error) {
      if (error instanceof SourceError && /^(missing|pruned)$/.test(error.kind)) return undefined;
      throw error;
    }
  };

  /** Goes on from block `from`, or from the head, whatever lies before it. */
  const restart = async (from: number | undefined): Promise<number> => {
    const genesisHash = await source.readGenesisHash();
    const latest = await source.readHead();
    head = latest.number;
    const first = from ?? latest.number;
    const before = first > latest.number + 1 ? undefined : await source.readHeader(first - 1);
    if (before === undefined) {
      throw new SourceError(
        'missing',
        `block ${first - 1} is not on the node, whose head is ${latest.number}: resume from a block it has`,
      );
    }
    const checkpoint = await store.readCheckpoint(chain);
    let holeFrom: number | undefined;
    if (checkpoint?.genesisHash === genesisHash) {
      const still = await readKept(checkpoint.number);
      const oldest = (await store.readWindow(chain, Number.MAX_SAFE_INTEGER)).at(-1);
      // Where the checkpoint left the chain it is not known how far down the other branch goes.
      holeFrom =
        options.isFinal || still?.hash === checkpoint.hash || oldest === undefined
          ? checkpoint.number + 1
          : oldest.number;
    }
    ahead.clear();
    await startAt(before, genesisHash, holeFrom);
    log.warn('chain resumed by request', { chain, from: first, holeFrom });
    return first;
  };

  /** How it shows that the source is of another chain than the checkpoint; undefined where it is not. */
  const describeReplaced = async (
    checkpoint: Checkpoint,
    genesisHash: string,
  ): Promise<string | undefined> => {
    if (checkpoint.genesisHash !== genesisHash) {
      const what = options.isFinal ? 'the chain id' : 'block 0';
      return `${what} is ${genesisHash} but this ledger was begun on ${checkpoint.genesisHash}`;
    }
    if (!options.isFinal) return undefined;
    // The id of a chain that was set up anew may be the same; its blocks are not.
    const { number, hash } = checkpoint;
    const there = await readKept(number);
    if (there === undefined || there.hash === hash) return undefined;
    return `block ${number} is ${there.hash} but in this ledger ${hash}`;
  };

  /** Brings the local window and the source together, once at the start of each connection. */
  const connect = async (): Promise<void> => {
    const checkpoint = await store.readCheckpoint(chain);
    const genesisHash = await source.readGenesisHash(checkpoint?.genesisHash);
    const latest = await source.readHead();
    head = latest.number;
    if (checkpoint === undefined) {
      await startAt(latest, genesisHash);
      log.info('chain first seen', { chain, block: latest.number });
      return;
    }
    const replaced = await describeReplaced(checkpoint, genesisHash);
    if (replaced !== undefined) {
      if (!options.resetWhenReplaced) {
        throw new HaltError(
          `${replaced}: another chain answers under this id. ` +
            `Point ${flag} at the right node, or use another --data folder.`,
        );
      }
      await startAt(latest, genesisHash);
      log.warn('chain was replaced, starting over at its head', { chain, block: latest.number });
      return;
    }
    await confirming.refresh();
    window = await store.readWindow(chain, confirming.windowBlocks(checkpoint.number));
  };

  /** The next header of the source after our tip, or undefined while there is none. */
  const next = async (latest: BlockHeader): Promise<BlockHeader | undefined> => {
    const number = tip()!.number + 1;
    if (latest.number > number) {
      ahead.want(number, latest.number);
      const header = (await ahead.read(number))?.header ?? (await source.readHeader(number));
      if (header !== undefined) return header;
      throw new SourceError('missing', `block ${number} is missing below head ${latest.number}`);
    }
    // Of a final chain it is read in its order, as all others: the newest may not be whole yet.
    if (latest.number === number) return options.isFinal ? source.readHeader(number) : latest;
    // At or below our tip: nothing new, unless the node is on another branch by now.
    if (options.isFinal && latest.number < number) return undefined;
    return window.some((block) => block.hash === latest.hash) ? undefined : latest;
  };

  const readParent = async ({ number, hash, parentHash }: BlockHeader): Promise<BlockHeader> => {
    const parent = await source.readHeader(parentHash);
    if (parent !== undefined) return parent;
    source.doubt(hash);
    throw new SourceError('missing', `parent ${parentHash} of block ${number} is missing`);
  };

  const anotherChain = ({ number, parentHash }: BlockHeader): HaltError =>
    new HaltError(
      `block ${number} follows ${parentHash} but the block before it is ${tip()!.hash} in this ledger, and ` +
        `this chain does not fork: another chain answers under this id. Point ${flag} at the right node, or use another --data folder.`,
    );

  const follow = async (header: BlockHeader): Promise<void> => {
    const branch: [BlockHeader, ...BlockHeader[]] = [header];
    let verdict: Reconciled;
    while ((verdict = reconcile(window, branch)).kind === 'detached') {
      if (options.isFinal) throw anotherChain(header);
      branch.unshift(await readParent(branch[0]));
    }
    switch (verdict.kind) {
      case 'duplicate':
        return;
      case 'extend':
        return commit(branch[0]);
      case 'gap':
        throw new SourceError(
          'inconsistent',
          `block ${header.number} came where ${verdict.from} was asked for`,
        );
      case 'reorg': {
        if (options.isFinal) throw anotherChain(header);
        const { commonAncestor, removed } = verdict;
        log.warn('reorg', { chain, ancestor: commonAncestor.number, removed: removed.length });
        ahead.clear();
        const cancelled = await store.rewindChain(chain, commonAncestor);
        window = window.slice(removed.length);
        listener.onReorg(chain, commonAncestor);
        listener.onDeliveries(cancelled);
        for (const block of branch) await commit(block);
        return;
      }
      case 'too-deep':
        // A made-up parent is no reorg: there must be such a block.
        await readParent(branch[0]);
        if (options.resetWhenReplaced) {
          const latest = await source.readHead();
          await startAt(latest, await source.readGenesisHash(), verdict.oldest);
          log.warn('chain was rolled back beyond the window, starting over at its head', {
            chain,
            block: latest.number,
          });
          return;
        }
        throw new HaltError(
          `a reorg reaches below block ${verdict.oldest}, the oldest this ledger remembers; no block was skipped. ` +
            `To go on and leave a hole: sluice chains resume ${chain} --from <block>`,
        );
    }
  };

  /** What was read ahead, where it is this block and all that is needed of it; else read now. */
  const takeBlock = async (header: BlockHeader): Promise<Block> => {
    const fetched = await ahead.take(header.number);
    const needs = matcher.needs(chain);
    return fetched?.header.hash === header.hash && suffices(fetched.needs, needs)
      ? fetched.block
      : (await fetchBlock(header)).block;
  };

  const commit = async (header: BlockHeader): Promise<void> => {
    const refused = refuseBlocks();
    if (refused !== undefined) throw new HaltError(refused);
    for (;;) {
      const ruleRevision = await matcher.refresh();
      const block = await takeBlock(header);
      const matches = matcher.match(chain, block);
      const result = await store.commitBlock({
        chain,
        block: header,
        ruleRevision,
        confirmUpTo: confirming.upTo(header, window),
        windowBlocks: confirming.windowBlocks(header.number),
        matches,
      });
      // The rules moved while the block was read: a stream that came meanwhile must see it too.
      if (result.outcome === 'stale-rules') continue;
      if (result.outcome === 'not-next') {
        window = await store.readWindow(chain, confirming.windowBlocks(header.number));
        return;
      }
      const committed = { ...header, matches: matches.length };
      window.unshift(committed);
      window.length = Math.min(window.length, confirming.windowBlocks(header.number));
      listener.onBlock(chain, toChainBlock(committed), head ?? header.number);
      if (result.deliveries.length > 0) listener.onDeliveries(result.deliveries);
      return;
    }
  };

  const run = async (): Promise<void> => {
    let connected = false;
    let retryMs = RETRY_MIN_MS;
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        if (resuming !== undefined) {
          const { from, answer } = resuming;
          resuming = undefined;
          // Whoever asked hears why it cannot be; the loop goes on as it was.
          await restart(from).then(answer.resolve, answer.reject);
        }
        if (!connected) {
          await connect();
          connected = true;
        }
        const latest = await source.readHead();
        head = latest.number;
        if (await confirming.refresh()) publish();
        let header = await next(latest);
        if (header === undefined) {
          goLive();
          await pause(HINT_TIMEOUT_MS);
        }
        for (let n = 0; header !== undefined && n < BLOCKS_PER_HEAD; n++) {
          if (latest.number - header.number > usualGap) catchUp(latest.number);
          await follow(header);
          header = stopping.signal.aborted ? undefined : await next(latest);
        }
        retryMs = RETRY_MIN_MS;
        failures = 0;
      } catch (error) {
        ahead.clear();
        failures++;
        const isPassing = error instanceof SourceError && PASSING.includes(error.kind);
        if (!isPassing || failures >= PASSING_FAILURES) {
          setState('down', error instanceof Error ? error.message : String(error));
        }
        if (!(error instanceof SourceError) && !(error instanceof HaltError)) {
          log.error('ingest failed', { chain, error: String(error) });
        }
        // Hashes are held against the source again after every break.
        connected = false;
        const wishMs = error instanceof SourceError ? (error.retryAfterMs ?? 0) : 0;
        if (resuming === undefined) await wait(Math.max(retryMs, wishMs));
        retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
      }
    }
  };

  return {
    chain,
    get lacksTraces() {
      return source.lacksTraces;
    },
    health,
    resume(from) {
      const answer = Promise.withResolvers<number>();
      resuming?.answer.reject(
        new SourceError('missing', 'another request to resume came after it'),
      );
      resuming = { from, answer };
      hinted.resolve();
      called.resolve();
      called = Promise.withResolvers();
      return answer.promise;
    },
    start() {
      const unwatch = source.watchHeads(() => hinted.resolve());
      running = run().finally(unwatch);
    },
    async stop() {
      stopping.abort();
      await running;
      await source.stop();
    },
  };
}

/** A hint may be lost with a socket; the source's own poll comes sooner than this. */
const HINT_TIMEOUT_MS = 60_000;

interface Fetched<Block> {
  header: BlockHeader;
  block: Block;
  needs: BlockNeeds;
}

const suffices = (had: BlockNeeds, wanted: BlockNeeds): boolean =>
  (had.logs || had.transactions || !wanted.logs) &&
  (had.transactions || !wanted.transactions) &&
  (had.traces || !wanted.traces);

/** A chain counts seconds, our own routes milliseconds. */
const toChainBlock = ({
  number,
  hash,
  timestamp,
  matches,
}: BlockHeader & { matches: number }): ChainBlock => ({
  number,
  hash,
  timestamp: timestamp * 1000,
  matches,
});

/** The chain cannot go on by itself: what an operator must decide. */
class HaltError extends Error {
  override readonly name = 'HaltError';
}
