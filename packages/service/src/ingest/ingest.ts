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
import type { BlockNeeds, EvmBlock } from '../match/block.ts';
import type { BlockHeader, BlockRef, NewMatch, Store } from '../store/store.ts';
import type { Log } from '../observe.ts';
import { type Reconciled, reconcile } from './reconcile.ts';
import { type Source, SourceError } from './source.ts';

export interface IngestOptions {
  chain: string;
  /** Blocks that must follow before a match is confirmed; default: what the contract lists. */
  confirmations?: number | undefined;
  /**
   * Start over at the head when the chain itself was replaced (another genesis, or a reorg deeper
   * than the window) instead of halting. For a local development chain. Default false.
   */
  resetWhenReplaced?: boolean | undefined;
}

/** What the loop needs from the matcher: rules that may have moved, and matches of a block. */
export interface Matcher {
  /** Brings the rules up to the store's; answers with their revision. */
  refresh(): Promise<number>;
  needs(chain: string): BlockNeeds;
  match(chain: string, block: EvmBlock): NewMatch[];
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
  start(): void;
  /** Ends after the block under way; nothing is left half committed. */
  stop(): Promise<void>;
}

/** Blocks kept in memory, newest first: the stored window. */
const WINDOW_BLOCKS = 256;
const TAPE_BLOCKS = 60;
/** Blocks read ahead of the commit while catching up. */
const READ_AHEAD = 4;
/** While catching up the head is asked for once in so many blocks. */
const BLOCKS_PER_HEAD = 32;
const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;
const NO_TRACES =
  'no node of this chain offers debug_traceBlockByHash or trace_block: includeInternalTxs finds nothing';
/** A part that is missing is called an outage after this many tries. */
const LAG_FAILURES = 4;

export function createIngest(
  options: IngestOptions,
  {
    source,
    store,
    matcher,
    listener,
    log,
  }: { source: Source; store: Store; matcher: Matcher; listener: IngestListener; log: Log },
): Ingest {
  const { chain } = options;
  const known = findEvmChain(chain);
  const confirmations = options.confirmations ?? confirmationsOf(chain);
  const windowLimit = Math.max(WINDOW_BLOCKS, 2 * confirmations);

  let window: (BlockHeader & { matches: number })[] = [];
  let state: ChainHealth['state'] = 'starting';
  let message = '';
  let head: number | null = null;
  let hinted = Promise.withResolvers<void>();
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  /** Blocks being read ahead, by height. */
  const ahead = new Map<number, Promise<Fetched | undefined>>();

  const tip = (): BlockRef | undefined => window[0];

  const health = (): ChainHealth => ({
    id: chain,
    name: known?.name ?? `Chain ${Number(chain)}`,
    code: known?.code ?? chain,
    state,
    message,
    head,
    checkpoint: tip()?.number ?? null,
    confirmations,
    blocks: window.slice(0, TAPE_BLOCKS).map(toChainBlock),
  });

  const setState = (next: ChainHealth['state'], why = ''): void => {
    if (next === state && why === message) return;
    if (next === 'down') log.warn('chain down', { chain, reason: why });
    else if (next === 'live' && state !== 'catching-up') log.info('chain live', { chain, head });
    state = next;
    message = why;
    const { blocks: _, ...rest } = health();
    listener.onHealth(rest);
  };

  /** What is wrong although blocks come. */
  const liveNote = (): string =>
    source.lacksTraces && matcher.needs(chain).traces ? NO_TRACES : '';

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
    await Promise.race([timer.promise, aborted]);
    clearTimeout(handle);
  };

  const startAt = async (block: BlockHeader, genesisHash: string): Promise<void> => {
    listener.onDeliveries(await store.startChain(chain, block, genesisHash));
    window = [{ ...block, matches: 0 }];
  };

  /** Brings the local window and the source together, once at the start of each connection. */
  const connect = async (): Promise<void> => {
    const genesisHash = await source.readGenesisHash();
    const latest = await source.readHead();
    head = latest.number;
    const checkpoint = await store.readCheckpoint(chain);
    if (checkpoint === undefined) {
      await startAt(latest, genesisHash);
      log.info('chain first seen', { chain, block: latest.number });
      return;
    }
    if (checkpoint.genesisHash !== genesisHash) {
      if (!options.resetWhenReplaced) {
        throw new HaltError(
          `block 0 is ${genesisHash} but this ledger was begun on ${checkpoint.genesisHash}: ` +
            'another chain answers under this id. Point --chain at the right node, or use another --data folder.',
        );
      }
      await startAt(latest, genesisHash);
      log.warn('chain was replaced, starting over at its head', { chain, block: latest.number });
      return;
    }
    window = await store.readWindow(chain, windowLimit);
  };

  /** The next header of the source after our tip, or undefined while there is none. */
  const next = async (latest: BlockHeader): Promise<BlockHeader | undefined> => {
    const number = tip()!.number + 1;
    if (latest.number > number) {
      readAhead(number, latest.number);
      const header = (await ahead.get(number))?.header ?? (await source.readHeader(number));
      if (header !== undefined) return header;
      throw new SourceError('missing', `block ${number} is missing below head ${latest.number}`);
    }
    if (latest.number === number) return latest;
    // At or below our tip: nothing new, unless the node is on another branch by now.
    return window.some((block) => block.hash === latest.hash) ? undefined : latest;
  };

  const follow = async (header: BlockHeader): Promise<void> => {
    const branch: [BlockHeader, ...BlockHeader[]] = [header];
    let verdict: Reconciled;
    while ((verdict = reconcile(window, branch)).kind === 'detached') {
      const parent = await source.readHeader(branch[0].parentHash);
      if (parent === undefined) {
        throw new SourceError(
          'missing',
          `parent ${branch[0].parentHash} of block ${branch[0].number} is missing`,
        );
      }
      branch.unshift(parent);
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
        if (options.resetWhenReplaced) {
          const latest = await source.readHead();
          await startAt(latest, await source.readGenesisHash());
          log.warn('chain was rolled back beyond the window, starting over at its head', {
            chain,
            block: latest.number,
          });
          return;
        }
        throw new HaltError(
          `a reorg reaches below block ${verdict.oldest}, the oldest this ledger remembers; no block was skipped`,
        );
    }
  };

  const fetchBlock = async (header: BlockHeader): Promise<Fetched> => {
    const needs = matcher.needs(chain);
    return { header, block: await source.readBlock(header, needs), needs };
  };

  /** What was read ahead, where it is this block and all that is needed of it; else read now. */
  const takeBlock = async (header: BlockHeader): Promise<EvmBlock> => {
    const prepared = ahead.get(header.number);
    ahead.delete(header.number);
    const fetched = await prepared;
    const needs = matcher.needs(chain);
    return fetched?.block.hash === header.hash && suffices(fetched.needs, needs)
      ? fetched.block
      : (await fetchBlock(header)).block;
  };

  /** Starts reading the blocks after this one, so that a long gap is not one round trip after another. */
  const readAhead = (from: number, to: number): void => {
    for (let number = from; number <= Math.min(to, from + READ_AHEAD - 1); number++) {
      if (ahead.has(number)) continue;
      const reading = source
        .readHeader(number)
        .then((header) => header && fetchBlock(header))
        // Whatever went wrong shows again when the block's turn comes.
        .catch(() => undefined);
      ahead.set(number, reading);
    }
  };

  const commit = async (header: BlockHeader): Promise<void> => {
    for (;;) {
      const ruleRevision = await matcher.refresh();
      const block = await takeBlock(header);
      const matches = matcher.match(chain, block);
      const result = await store.commitBlock({
        chain,
        block: header,
        ruleRevision,
        confirmUpTo: header.number - confirmations,
        windowBlocks: windowLimit,
        matches,
      });
      // The rules moved while the block was read: a stream that came meanwhile must see it too.
      if (result.outcome === 'stale-rules') continue;
      if (result.outcome === 'not-next') {
        window = await store.readWindow(chain, windowLimit);
        return;
      }
      const committed = { ...header, matches: matches.length };
      window.unshift(committed);
      window.length = Math.min(window.length, windowLimit);
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
        if (!connected) {
          await connect();
          connected = true;
        }
        const latest = await source.readHead();
        head = latest.number;
        let header = await next(latest);
        if (header === undefined) {
          setState('live', liveNote());
          await pause(HINT_TIMEOUT_MS);
        }
        for (let n = 0; header !== undefined && n < BLOCKS_PER_HEAD; n++) {
          if (latest.number - header.number > 1) setState('catching-up');
          await follow(header);
          header = stopping.signal.aborted ? undefined : await next(latest);
        }
        retryMs = RETRY_MIN_MS;
        failures = 0;
      } catch (error) {
        ahead.clear();
        failures++;
        // A node behind a load balancer lags its own head for a moment: that is no outage yet.
        const lagging = error instanceof SourceError && error.kind === 'missing';
        if (!lagging || failures >= LAG_FAILURES) {
          setState('down', error instanceof Error ? error.message : String(error));
        }
        if (!(error instanceof SourceError) && !(error instanceof HaltError)) {
          log.error('ingest failed', { chain, error: String(error) });
        }
        // Hashes are held against the source again after every break.
        connected = false;
        source.tryNext();
        await wait(retryMs);
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

interface Fetched {
  header: BlockHeader;
  block: EvmBlock;
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
