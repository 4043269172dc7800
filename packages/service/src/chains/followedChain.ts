/** Follows one chain of any family, with all components that work on it. */
import type { AddressGuard } from '../deliver/destinations/http/guard.ts';
import type { EnrichPool } from '../enrich/enrichPool.ts';
import { createBackfill } from '../ingest/backfill.ts';
import { type Duty, type LeaseTerm, createDuty } from '../operate/duty.ts';
import type { LeaseHolder } from '../operate/holder.ts';
import { type Ingest, type IngestOptions, createIngest } from '../ingest/ingest.ts';
import { createRereading } from '../ingest/later/rereading.ts';
import { type ValueReading, createValueReading } from '../ingest/values/reading.ts';
import { resumeChain } from '../ingest/resume.ts';
import { type ChainSource, type MaybeUnverified, SourceError, headerOf } from '../ingest/source.ts';
import { reportUnread } from '../ingest/status/status.ts';
import { CallerError, RetryableError, hasCode } from '../base/errors.ts';
import { isLocalUrl } from '../base/hostNames.ts';
import type { ChainCalls } from './calls.ts';
import type { ChainValues } from './values.ts';
import type { Matching } from './matching.ts';
import type { Log } from '../base/log.ts';
import type { Tracing } from '../base/tracing.ts';
import { confirmedUpTo } from '../store/blocks/confirmations.ts';
import type { BlockNeeds, BlockHeader, ConfirmedHeights } from '../store/blocks/contract.ts';
import type { ChainReport } from '../store/leases/contract.ts';
import type { Store } from '../store/store.ts';
import type { StreamRecord } from '../store/streams/contract.ts';

/** Dependencies shared by the chains of a service. */
export interface ChainDependencies {
  store: Store;
  log: Log;
  tracing: Tracing;
  /** Called with the number of blocks that left a chain in one reorg. */
  onReorg(chain: string, depth: number): void;
  /**
   * Returns a message that explains why no block may be committed now; undefined if commits are
   * allowed.
   */
  refuseBlocks(): string | undefined;
  /** Returns the newest confirmed blocks of a chain, even if another process reads it. */
  confirmedHeights(chain: string): ConfirmedHeights;
  holder: LeaseHolder;
  /** Guard for the addresses of nodes that were added while the service ran. */
  nodeGuard: Pick<AddressGuard, 'connect'>;
  /** Returns whether this process should read the chain. */
  isOwn(chain: string): boolean;
}

export interface FollowedChain<Calls = ChainCalls> {
  readonly id: string;
  readonly calls: Calls;
  /** Whether this process reads the chain, waits to take over, or leaves it to other processes. */
  readonly leaseState: 'holder' | 'candidate' | 'none';
  /** Returns the state of the chain, with few details unless this process reads it. */
  report(): ChainReport;
  /** Starts to read the chain as soon as `isOwn` returns true and no other process reads it. */
  start(): void;
  /** Checks `isOwn` now, because it may have changed. */
  check(): void;
  /** Stops after the current work. No work is left partially committed. */
  stop(): Promise<void>;
}

/**
 * Returns what a chain may do without halting. A chain whose nodes all have local addresses may
 * restart; unless it is a public network, it may also go back any number of blocks.
 */
export function toForkRules(
  {
    urls,
    addedNodes = [],
    resetWhenReplaced = [...urls, ...addedNodes.map(({ url }) => url)].every(isLocalUrl),
  }: {
    urls: readonly string[];
    addedNodes?: readonly { url: string }[] | undefined;
    resetWhenReplaced?: boolean | undefined;
  },
  isPublic: boolean,
): Pick<IngestOptions, 'resetWhenReplaced' | 'isDevnet'> {
  return { resetWhenReplaced, isDevnet: resetWhenReplaced && !isPublic };
}

/** The components that work on one chain. */
interface Parts<Record, Block, DryRunResult, Sent> {
  source: ChainSource<Block>;
  matching: Matching<Record, Block, DryRunResult, Sent>;
  /** Reads values on chain; omitted for families without them. */
  values?: ChainValues<Record, Sent>;
  enrich: EnrichPool;
  dependencies: ChainDependencies;
}

export function followChain<
  Record extends { id: string },
  Block extends BlockHeader & MaybeUnverified,
  DryRunResult,
  Sent = never,
>(
  options: IngestOptions,
  parts: Parts<Record, Block, DryRunResult, Sent>,
): FollowedChain<ChainCalls<Record, DryRunResult>> {
  const { chain } = options;
  const { source, matching, values, enrich, dependencies } = parts;
  const { store, log, onReorg, refuseBlocks, tracing, holder } = dependencies;
  const { signals } = store;
  const show = (health: Omit<ChainReport, 'lacks' | 'failingReads'>): void => {
    // The chain may already be followed with other nodes.
    if (isClosing) return;
    // Failures are ignored, because the next report replaces this one.
    store.events.publish([{ type: 'chain', chain: health }]).catch(() => {});
  };

  /** The running ingest; undefined unless this process has the lease of the chain. */
  let current: Ingest | undefined;
  let reading: ValueReading | undefined;
  let isCandidate = false;
  let isClosing = false;

  const report = (): ChainReport => {
    const its = current?.report() ?? reportUnread(options, source);
    return {
      ...its,
      message: its.message || enrich.trouble,
      failingReads: reading?.failing() ?? {},
    };
  };

  const begin = (epoch: number): LeaseTerm => {
    const ingest = createIngest(
      { ...options, epoch },
      {
        source,
        store,
        matcher: matching.live,
        log,
        tracing,
        refuseBlocks,
        listener: {
          onBlock() {
            backfill.wake();
            reading?.wake();
          },
          onReorg: (depth) => onReorg(chain, depth),
          onReport: ({ lacks: _lacks, failingReads: _failing, ...health }) => show(health),
          onLostLease: () => duty.check(),
        },
      },
    );
    const backfill = createBackfill({
      chain,
      epoch,
      source,
      store,
      log,
      openMatcher: (streamId) => matching.open(chain, streamId),
      readState: values?.read,
      openFinder: (search) => matching.openFinder(chain, search),
      matcher: matching.live,
      confirmedHeights: ingest.confirmedHeights,
      settledUpTo: ingest.settledUpTo,
    });
    const { later } = source;
    const rereading =
      later &&
      createRereading({
        chain,
        epoch,
        source,
        later,
        store,
        matcher: matching.live,
        log,
        openMatcher: (streamId) => matching.open(chain, streamId),
        confirmedHeights: ingest.confirmedHeights,
      });
    reading =
      values &&
      createValueReading({
        chain,
        epoch,
        store,
        matcher: matching.values,
        readState: values.read,
        log,
        confirmedHeights: ingest.confirmedHeights,
      });
    current = ingest;
    const forget = [
      signals.on('jobs', () => backfill.wake()),
      signals.on('deliveries', () => enrich.wake()),
    ];
    ingest.start();
    enrich.start(epoch);
    backfill.start();
    rereading?.start();
    reading?.start();
    return {
      report,
      async stop() {
        for (const each of forget) each();
        await Promise.all([ingest.stop(), backfill.stop(), rereading?.stop()]);
        // Enrichment may be waiting for a node. Stopping the source ends its pending requests.
        if (isClosing) await source.stop();
        await Promise.all([enrich.stop(), reading?.stop()]);
        reading = undefined;
        // Another process may change them now.
        matching.live.forgetChildren(chain);
        current = undefined;
      },
    };
  };
  const duty: Duty = createDuty({
    name: chain,
    holder,
    store,
    log,
    begin,
    isOwn: () => dependencies.isOwn(chain),
  });

  return {
    calls: createCalls(options, parts),
    id: chain,
    get leaseState() {
      return current === undefined ? (isCandidate ? 'candidate' : 'none') : 'holder';
    },
    report,
    start() {
      isCandidate = true;
      duty.start();
    },
    check: () => duty.check(),
    async stop() {
      isClosing = true;
      await duty.stop();
      await source.stop();
    },
  };
}

/** Creates the calls of a chain, which also work if this process does not read the chain. */
function createCalls<Record, Block extends BlockHeader & MaybeUnverified, DryRunResult, Sent>(
  { chain, isFinal = false }: IngestOptions,
  { source, matching, values, dependencies }: Parts<Record, Block, DryRunResult, Sent>,
): ChainCalls<Record, DryRunResult> {
  const { store, log, confirmedHeights } = dependencies;
  /** Reads the required parts of the block at this height; throws `not_found` if no node has it. */
  const readBlock = async (number: number, needs: BlockNeeds): Promise<Block> => {
    const read = await source.readBlockAt(number, needs);
    if (read === undefined) throw new CallerError('not_found', 'Block not found');
    return read.block;
  };
  /** Reads the header of the block before; undefined if there is none. */
  const readParent = async (block: BlockHeader): Promise<BlockHeader | undefined> => {
    if (block.number === 0) return undefined;
    const parent = await source.readHeader(block.parentHash);
    if (parent === undefined) throw new CallerError('not_found', 'Parent block not found');
    return parent;
  };
  const isConfirmed = (
    { number }: BlockHeader,
    { confirmations }: Pick<StreamRecord, 'confirmations'>,
  ): boolean => number <= confirmedUpTo(confirmedHeights(chain), confirmations);

  const calls: ChainCalls<Record, DryRunResult> = {
    findTransaction: (hash) => source.findTransaction(hash),

    async explain(at, only) {
      const header = await source.readHeader(at);
      if (header === undefined) return undefined;
      const { traces } = matching.live.needs(chain);
      // Also reads the logs and transactions that no stream needs, because they are explained too.
      const block = await source.readBlock(header, { logs: true, transactions: true, traces });
      const explained = await matching.live.explain(chain, block, only);
      const { number, hash, timestamp } = header;
      return { block: { number, hash, timestamp }, ...explained };
    },

    async explainValues(at, address) {
      const block = at === 'newest' ? await store.readCheckpoint(chain) : at;
      if (values === undefined || block === undefined) return new Map();
      await matching.values.refresh('now');
      const { number, hash } = block;
      // Without the timestamp of the block, a value counts as due.
      const timestamp = (at === 'newest' ? undefined : at.timestamp) ?? Number.POSITIVE_INFINITY;
      const streams = matching.values.streams(chain);
      return values.explain(streams, { number, hash, timestamp }, address);
    },

    async dryRun(blockNumber, record, addresses) {
      const matcher = await matching.try(chain, record, addresses);
      const block = await readBlock(blockNumber, { ...matcher.needs, logs: true });
      const tried = values?.isRead(record)
        ? await values.try(record, addresses, { parent: await readParent(block), block })
        : undefined;
      return matcher.dryRun(block, isConfirmed(block, matcher), tried);
    },

    async sendBlock(blockNumber, streamId, requestId) {
      const matcher = await matching.open(chain, streamId);
      if (matcher === undefined) throw new CallerError('not_found', 'Stream not found');
      const block = await readBlock(blockNumber, matcher.needs);
      const matches = await matcher.match(block);
      if (matches.length === 0) return 0;
      const { unverified } = block;
      await store.commitManual({
        chain,
        block: headerOf(block),
        requestId,
        matches,
        unverified,
        isConfirmed: isConfirmed(block, matcher),
      });
      return matches
        .flatMap(({ records }) => Object.values(records))
        .reduce((sum, count) => sum + count, 0);
    },

    async resume(from, requestId) {
      const resumed = await resumeChain({ chain, from, isFinal, source, store });
      log.warn('chain resumed by request', {
        requestId,
        chain,
        from: resumed.from,
        holeFrom: resumed.holeFrom,
      });
      return resumed.from;
    },
  };
  return withReason(chain, calls);
}

type AnyCall = (...args: never[]) => Promise<unknown>;

/**
 * Wraps calls so that a failure of the nodes becomes an error with the code `not_found` or
 * `unavailable` and a reason.
 */
export const withReason = <Calls extends object>(chain: string, calls: Calls): Calls =>
  Object.fromEntries(
    Object.entries(calls as { [name: string]: AnyCall }).map(([name, call]) => [
      name,
      async (...args: never[]) => {
        try {
          return await call(...args);
        } catch (error) {
          const isNodes =
            error instanceof SourceError ||
            (hasCode(error, 'unavailable') && error.cause instanceof SourceError);
          if (!isNodes) throw error;
          const message = `Reading from the nodes of ${chain} failed: ${error.message}`;
          throw error instanceof SourceError && /^(missing|pruned)$/.test(error.kind)
            ? new CallerError('not_found', message)
            : new RetryableError('unavailable', message);
        }
      },
    ]),
  ) as Calls;
