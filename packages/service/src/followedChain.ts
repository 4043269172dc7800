/** One chain that is read, of either family, with everything that works on it. */
import type { DeliverySummary } from '@sluice/kit/contract';
import type { EnrichPool } from './enrich/enrichPool.ts';
import { Outage } from './enrich/state.ts';
import { HttpError, notFound } from './http/answers.ts';
import type { BlockCalls } from './http/handlers/blocks.ts';
import { type StreamMatcher, createBackfill } from './ingest/backfill.ts';
import { type Duty, type Term, createDuty } from './duty.ts';
import {
  type Ingest,
  type IngestOptions,
  type Matcher,
  type MaybeUnverified,
  createIngest,
  reportUnread,
} from './ingest/ingest.ts';
import { resumeChain } from './ingest/resume.ts';
import { type ChainSource, SourceError } from './ingest/source.ts';
import type { BlockNeeds } from './match/block.ts';
import type { Explainer } from './matching.ts';
import type { Log } from './observe.ts';
import type { Tracing } from './tracing.ts';
import type { BlockHeader, ChainReport, Store } from './store/store.ts';

/** What the chains of a service share. */
export interface ChainSurroundings {
  store: Store;
  log: Log;
  tracing: Tracing;
  /** So many blocks left a chain at once. */
  onReorg(chain: string, depth: number): void;
  /** Deliveries were created, became due or were cancelled. */
  onDeliveries(deliveries: readonly DeliverySummary[]): void;
  /** Why no block may be committed now, for people; undefined while they may. */
  refuseBlocks(): string | undefined;
  /** The newest confirmed block of a chain, whichever process reads it; null while that is not known. */
  confirmedUpTo(chain: string): number | null;
}

export interface FollowedChain<Calls extends BlockCalls = BlockCalls> {
  readonly id: string;
  readonly calls: Calls;
  /** Whether this process reads it, would if no other did, or leaves it to others. */
  readonly standing: 'holder' | 'candidate' | 'none';
  /** Says little while another process reads it. */
  report(): ChainReport;
  /** Reads it, or stands by while another process does. */
  start(): void;
  /** Ends after what is under way; nothing is left half committed. */
  stop(): Promise<void>;
}

export interface Following<Block> {
  calls: BlockCalls;
  /** The block at this height of the node's own chain, with what is needed of it. */
  readBlock(number: number, needs: BlockNeeds): Promise<Block>;
  isConfirmed(block: BlockHeader): boolean;
  chain: Omit<FollowedChain, 'calls'>;
}

export function followBlocks<Block extends BlockHeader & MaybeUnverified>(
  options: IngestOptions,
  {
    source,
    live,
    open,
    enrich,
    surroundings,
  }: {
    source: ChainSource<Block>;
    /** Of all streams. */
    live: Matcher<Block> & Explainer<Block>;
    /** One stream by itself; undefined when it is gone. */
    open(streamId: string): Promise<StreamMatcher<Block> | undefined>;
    enrich: EnrichPool;
    surroundings: ChainSurroundings;
  },
): Following<Block> {
  const { chain } = options;
  const { store, log, onReorg, onDeliveries, refuseBlocks, tracing, confirmedUpTo } = surroundings;
  const { notices } = store;
  const show = (health: Omit<ChainReport, 'lacksTraces'>): void => {
    // The next report says it all again.
    store.announce({ type: 'chain', chain: health }).catch(() => {});
  };

  /** While this process has the chain's lease. */
  let current: Ingest | undefined;
  let isStanding = false;
  let isClosing = false;

  const report = (): ChainReport => {
    const its = current?.report() ?? reportUnread(options, source);
    return { ...its, message: its.message || enrich.trouble };
  };

  const begin = (epoch: number): Term => {
    const ingest = createIngest(
      { ...options, epoch },
      {
        source,
        store,
        matcher: live,
        log,
        tracing,
        refuseBlocks,
        listener: {
          onDeliveries,
          onBlock: () => backfill.notice(),
          onReorg: (depth) => onReorg(chain, depth),
          onReport: ({ lacksTraces: _lacksTraces, ...health }) => show(health),
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
      openMatcher: open,
      confirmedUpTo: () => ingest.report().confirmedUpTo,
      onDeliveries,
    });
    current = ingest;
    const forget = [
      notices.on('jobs', () => backfill.notice()),
      notices.on('deliveries', () => enrich.notice()),
    ];
    ingest.start();
    enrich.start(epoch);
    backfill.start();
    return {
      report,
      async stop() {
        for (const each of forget) each();
        await Promise.all([ingest.stop(), backfill.stop()]);
        // What is asked of the nodes still ends with them.
        if (isClosing) await source.stop();
        await enrich.stop();
        current = undefined;
      },
    };
  };
  const duty: Duty = createDuty({ name: chain, store, log, begin });

  const readBlock = async (number: number, needs: BlockNeeds): Promise<Block> => {
    const header = await source.readHeader(number);
    if (header === undefined) throw notFound('Block');
    return source.readBlock(header, needs);
  };

  const isConfirmed = ({ number }: BlockHeader): boolean => number <= (confirmedUpTo(chain) ?? -1);

  return {
    readBlock,
    isConfirmed,
    calls: {
      sendBlock: (blockNumber, streamId, requestId) =>
        sayWhy(chain, async () => {
          const matcher = await open(streamId);
          if (matcher === undefined) throw notFound('Stream');
          const block = await readBlock(blockNumber, matcher.needs);
          const matches = matcher.match(block);
          if (matches.length === 0) return 0;
          onDeliveries(
            await store.commitManual({
              chain,
              block,
              requestId,
              isConfirmed: isConfirmed(block),
              matches,
            }),
          );
          return matches.reduce(
            (sum, each) => sum + each.logs + each.transactions + each.internalTransactions,
            0,
          );
        }),

      findTransaction: (hash) => sayWhy(chain, () => source.findTransaction(hash)),
      explain: (at, only) =>
        sayWhy(chain, async () => {
          const header = await source.readHeader(at);
          if (header === undefined) return undefined;
          const { traces } = live.needs(chain);
          // Whole, so that what streams do not ask for is there to be told of.
          const block = await source.readBlock(header, { logs: true, transactions: true, traces });
          const streams = await live.explain(chain, block, only);
          const { number, hash, timestamp } = header;
          return { block: { number, hash, timestamp }, streams };
        }),
      resume: (from, requestId) =>
        sayWhy(chain, async () => {
          const { isFinal = false } = options;
          const resumed = await resumeChain({ chain, from, isFinal, source, store });
          log.warn('chain resumed by request', {
            requestId,
            chain,
            from: resumed.from,
            holeFrom: resumed.holeFrom,
          });
          onDeliveries(resumed.cancelled);
          return resumed.from;
        }),
    },
    chain: {
      id: chain,
      get standing() {
        return current === undefined ? (isStanding ? 'candidate' : 'none') : 'holder';
      },
      report,
      start() {
        isStanding = true;
        duty.start();
      },
      async stop() {
        isClosing = true;
        await duty.stop();
        await source.stop();
      },
    },
  };
}

/** What a node will not do now is no fault of the request. */
export async function sayWhy<T>(chain: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof SourceError || error instanceof Outage)) throw error;
    throw new HttpError(
      error instanceof SourceError && /^(missing|pruned)$/.test(error.kind) ? 404 : 503,
      `The nodes of ${chain} cannot answer: ${error.message}`,
    );
  }
}
