/**
 * One chain, block by block: learn of a head, reconcile, fetch, match, commit. The loop holds no
 * truth of its own: it starts from the stored checkpoint, and what it keeps in memory is the stored
 * window of hashes. It never stops for an error; it says what is wrong and tries again.
 */
import { createWaker } from '../waker.ts';
import { type DeliverySummary, confirmationsOf, findEvmChain } from '@sluice/kit/contract';
import type { BlockNeeds } from '../match/block.ts';
import type {
  BlockHeader,
  BlockRef,
  ChainReport,
  Checkpoint,
  CommitOutcome,
  NewMatch,
  Store,
} from '../store/store.ts';
import type { Log } from '../observe.ts';
import { NO_TRACING, type TraceSpan, type Tracing, within } from '../tracing.ts';
import { createConfirming } from './confirming.ts';
import { createFinality } from './finality.ts';
import { createProgress } from './progress.ts';
import { createReadAhead } from './readAhead.ts';
import { type Reconciled, reconcile } from './reconcile.ts';
import { type ChainSource, SourceError, readKept } from './source.ts';

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

/** What a source says of a block that it could not verify in all it says. */
export interface MaybeUnverified {
  unverified?: string | undefined;
}

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

export interface IngestListener {
  onDeliveries(deliveries: DeliverySummary[]): void;
  onBlock(): void;
  /** So many blocks left the chain. */
  onReorg(depth: number): void;
  onReport(report: ChainReport): void;
  /** Another process has taken the chain: the loop has ended. */
  onLostLease(): void;
}

export interface Ingest {
  report(): ChainReport;
  start(): void;
  /** Ends after the block under way; nothing is left half committed. */
  stop(): Promise<void>;
}

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

/** What there is to say of a chain that this process does not read. */
export function reportUnread<Block>(
  { chain, names = findEvmChain(chain), confirmations = confirmationsOf(chain) }: IngestOptions,
  source: ChainSource<Block>,
): ChainReport {
  return {
    id: chain,
    name: names?.name ?? `Chain ${Number(chain)}`,
    code: names?.code ?? chain,
    state: 'starting',
    message: '',
    head: null,
    headAgeMs: null,
    checkpoint: null,
    confirmations,
    confirmedUpTo: null,
    safe: null,
    finalized: null,
    agreement: source.agreement(),
    providers: source.providers(),
    progress: null,
    lacksTraces: source.lacksTraces,
  };
}

/** @param options.epoch of the chain's lease, while which lasts the loop may run */
export function createIngest<Block extends MaybeUnverified>(
  options: IngestOptions & { epoch: number },
  {
    source,
    store,
    matcher,
    listener,
    log,
    tracing = NO_TRACING,
    refuseBlocks = () => undefined,
  }: {
    source: ChainSource<Block>;
    store: Store;
    matcher: Matcher<Block>;
    listener: IngestListener;
    log: Log;
    tracing?: Tracing | undefined;
    /** Why no block may be committed now, for people; undefined while they may. */
    refuseBlocks?: () => string | undefined;
  },
): Ingest {
  const { chain, epoch, flag = '--chain' } = options;
  const unread = reportUnread(options, source);
  const { confirmations } = unread;
  /** Blocks that may come between two looks at the head. */
  const usualGap = options.isFinal ? LOGGED_GAP_BLOCKS : 1;
  const confirming = createConfirming(confirmations, source);
  const finality = createFinality(source);
  const progress = createProgress();

  /** Newest first: the stored window of hashes. */
  let window: (BlockHeader & { matches: number })[] = [];
  let state: ChainReport['state'] = 'starting';
  let message = '';
  let head: number | null = null;
  let headHash = '';
  let headSeenAt = 0;
  const waker = createWaker();
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let publishedAt = 0;
  /** What a process before this one said of a halt may stand too. */
  let mayBeHalted = true;

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

  const report = (): ChainReport => ({
    ...unread,
    state,
    message,
    head,
    headAgeMs: head === null ? null : Math.round(performance.now() - headSeenAt),
    checkpoint: tip()?.number ?? null,
    confirmedUpTo: confirmedUpTo(),
    ...(options.isFinal ? { safe: head, finalized: head } : finality.heights()),
    agreement: source.agreement(),
    providers: source.providers(),
    progress: state === 'catching-up' ? (progress.read() ?? null) : null,
    lacksTraces: source.lacksTraces,
  });

  const noteHead = ({ number, hash }: BlockRef): void => {
    if (hash !== headHash) headSeenAt = performance.now();
    headHash = hash;
    head = number;
  };

  const publish = (): void => {
    publishedAt = performance.now();
    listener.onReport(report());
  };

  const setState = (next: ChainReport['state'], why = ''): void => {
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
    if (performance.now() - publishedAt >= PROGRESS_MS) publish();
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
    await Promise.race([waker.sleep(ms), aborted]);
  };
  const aborted = new Promise<void>((resolve) => {
    stopping.signal.addEventListener('abort', () => {
      waker.wake();
      resolve();
    });
  });
  const wait = async (ms: number): Promise<void> => {
    const timer = Promise.withResolvers<void>();
    const handle = setTimeout(timer.resolve, ms);
    await Promise.race([timer.promise, aborted]);
    clearTimeout(handle);
  };

  /** The chain goes on after this block; `holeFrom` and `why` as in `Store.startChain`. */
  const startAt = async (
    block: BlockHeader,
    genesisHash: string,
    { holeFrom, why }: { holeFrom?: number; why?: string } = {},
  ): Promise<void> => {
    const started = await store.startChain({ chain, epoch, block, genesisHash, holeFrom, why });
    listener.onDeliveries(asHolder(started));
    window = [{ ...block, matches: 0 }];
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
    const there = await readKept(source, number);
    if (there === undefined || there.hash === hash) return undefined;
    return `block ${number} is ${there.hash} but in this ledger ${hash}`;
  };

  /** Brings the local window and the source together, once at the start of each connection. */
  const connect = async (): Promise<void> => {
    const checkpoint = await store.readCheckpoint(chain);
    const genesisHash = await source.readGenesisHash(checkpoint?.genesisHash);
    const latest = await source.readHead();
    noteHead(latest);
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
      await startAt(latest, genesisHash, { why: `${replaced}: begun anew at the head` });
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
        const cancelled = asHolder(
          await store.rewindChain({ chain, epoch, ancestor: commonAncestor }),
        );
        window = window.slice(removed.length);
        listener.onReorg(removed.length);
        listener.onDeliveries(cancelled);
        for (const block of branch) await commit(block);
        return;
      }
      case 'too-deep':
        // A made-up parent is no reorg: there must be such a block.
        await readParent(branch[0]);
        if (options.resetWhenReplaced) {
          const latest = await source.readHead();
          await startAt(latest, await source.readGenesisHash(), {
            holeFrom: verdict.oldest,
            why: `rolled back below block ${verdict.oldest}, the oldest this ledger remembers: begun anew at the head`,
          });
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

  /** What was read ahead, where it is this block; otherwise reads it now. */
  const takeBlock = async (header: BlockHeader): Promise<Fetched<Block>> => {
    const fetched = await ahead.take(header.number);
    return fetched !== undefined && isSame(fetched.header, header) ? fetched : fetchBlock(header);
  };

  const checkRefused = (): void => {
    const refused = refuseBlocks();
    if (refused !== undefined) throw new HaltError(refused);
  };

  /** For people to look up later; a ledger that cannot take it now is told at the next try. */
  const noteHalt = async (why: string): Promise<void> => {
    mayBeHalted = true;
    await store.noteHalt({ chain, epoch, why }).catch((error: unknown) => {
      log.warn('cannot note that the chain is halted', { chain, error: String(error) });
    });
  };

  const commit = async (header: BlockHeader): Promise<void> => {
    checkRefused();
    const { number, hash } = header;
    const span = tracing.start('block', { chain, 'block.number': number, 'block.hash': hash });
    await within(span, () => commitWithin(span, header));
  };

  const commitWithin = async (span: TraceSpan, header: BlockHeader): Promise<void> => {
    const step = <T>(name: string, work: () => T | Promise<T>): Promise<T> =>
      within(tracing.start(name, { chain }, span), work);
    await matcher.refresh();
    let fetched = await step('block.fetch', () => takeBlock(header));
    let matches: NewMatch[] = [];
    // With the rules as they are once the block is there: reading it takes longer than all else.
    const result = await withSettledRules(async (ruleRevision) => {
      if (!suffices(fetched.needs, matcher.needs(chain))) {
        fetched = await step('block.fetch', () => fetchBlock(header));
      }
      matches = await step('block.match', () => matcher.match(chain, fetched.block));
      span.set({ matches: matches.length });
      return step('block.commit', () =>
        store.commitBlock({
          chain,
          epoch,
          block: header,
          ruleRevision,
          confirmUpTo: confirming.upTo(header, window),
          windowBlocks: confirming.windowBlocks(header.number),
          matches,
          unverified: fetched.block.unverified,
          head: head ?? header.number,
        }),
      );
    });
    return noteCommit(header, matches.length, result, window);
  };

  /**
   * Commits a block with the newest rules. Where they moved meanwhile, the refused commit has settled them
   * for this block, so that the second one is not refused.
   */
  const withSettledRules = async <Outcome extends CommitOutcome | undefined>(
    commitWith: (ruleRevision: number) => Promise<Outcome>,
  ): Promise<Exclude<Outcome, StaleRules>> => {
    const first = await commitWith(await matcher.refresh());
    if (first?.outcome !== 'stale-rules') return first as Exclude<Outcome, StaleRules>;
    const second = await commitWith(await matcher.refresh(first.revision));
    if (second?.outcome !== 'stale-rules') return second as Exclude<Outcome, StaleRules>;
    throw new Error(
      `the ledger refused rules of a revision at which it had settled them (${first.revision}, then ${second.revision})`,
    );
  };

  /** @param before newest first, what the block now follows in the window */
  const noteCommit = async (
    header: BlockHeader,
    matches: number,
    result: Exclude<CommitOutcome, StaleRules>,
    before: typeof window,
  ): Promise<void> => {
    if (result.outcome === 'lost-lease') throw new LostLease();
    const windowBlocks = confirming.windowBlocks(header.number);
    if (result.outcome === 'not-next') {
      window = await store.readWindow(chain, windowBlocks);
      return;
    }
    window = [{ ...header, matches }, ...before].slice(0, windowBlocks);
    if (mayBeHalted) {
      await store.endHalt({ chain, epoch });
      mayBeHalted = false;
    }
    listener.onBlock();
    if (result.deliveries.length > 0) listener.onDeliveries(result.deliveries);
  };

  /**
   * While no stream watches the chain its blocks are passed over, where the source can: true where there
   * is nothing to read.
   */
  const passOver = async (latest: BlockHeader): Promise<boolean> => {
    if (source.readNewestWhole === undefined) return false;
    await matcher.refresh();
    if (isWatched()) return false;
    const after = tip()!;
    if (latest.number <= after.number + 1) return true;
    const header = await source.readNewestWhole(latest);
    if (header === undefined || header.number <= after.number) return true;
    checkRefused();
    const result = await withSettledRules(async (ruleRevision) => {
      // A stream that was created meanwhile was promised the block after the checkpoint.
      if (isWatched()) return undefined;
      return store.commitBlock({
        chain,
        epoch,
        block: header,
        after,
        ruleRevision,
        confirmUpTo: confirming.upTo(header, window),
        windowBlocks: confirming.windowBlocks(header.number),
        matches: [],
        head: latest.number,
      });
    });
    if (result === undefined) return false;
    await noteCommit(header, 0, result, []);
    return true;
  };

  const isWatched = (): boolean => {
    const { logs, transactions, traces } = matcher.needs(chain);
    return logs || transactions || traces;
  };

  const run = async (): Promise<void> => {
    let connected = false;
    let retryMs = RETRY_MIN_MS;
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        if (!connected) {
          await connect();
          connected = true;
        }
        const latest = await source.readHead();
        noteHead(latest);
        if (!options.isFinal) finality.look(latest.number);
        if (await confirming.refresh()) publish();
        let header = (await passOver(latest)) ? undefined : await next(latest);
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
        if (error instanceof LostLease) {
          listener.onLostLease();
          return;
        }
        failures++;
        const isPassing = error instanceof SourceError && PASSING.includes(error.kind);
        if (!isPassing || failures >= PASSING_FAILURES) {
          setState('down', error instanceof Error ? error.message : String(error));
        }
        if (error instanceof HaltError) await noteHalt(error.message);
        if (!(error instanceof SourceError) && !(error instanceof HaltError)) {
          log.error('ingest failed', { chain, error: String(error) });
        }
        // Hashes are held against the source again after every break.
        connected = false;
        const wishMs = error instanceof SourceError ? (error.retryAfterMs ?? 0) : 0;
        await wait(Math.max(retryMs, wishMs));
        retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
      }
    }
  };

  return {
    report,
    start() {
      const unwatch = source.watchHeads(waker.wake);
      running = run().finally(unwatch);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** A hint may be lost with a socket; the source's own poll comes sooner than this. */
const HINT_TIMEOUT_MS = 60_000;

type StaleRules = Extract<CommitOutcome, { outcome: 'stale-rules' }>;

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

/** What a write to a chain answers while the chain is ours. Throws a {@link LostLease} otherwise. */
function asHolder<T>(answer: T | undefined): T {
  if (answer === undefined) throw new LostLease();
  return answer;
}

/** Another process has taken the chain. */
class LostLease extends Error {
  override readonly name = 'LostLease';
}

/** The chain cannot go on by itself: what an operator must decide. */
class HaltError extends Error {
  override readonly name = 'HaltError';
}
