/** One chain that is read, with everything that works on it. */
import type { ChainHealth, DeliverySummary, LiveEvent } from '@sluice/kit/contract';
import type { ChainConfig } from './config.ts';
import { type Enrich, createEnrich } from './enrich/enrich.ts';
import { Outage } from './enrich/state.ts';
import { HttpError, notFound } from './http/answers.ts';
import type { ChainCalls } from './http/handlers/blocks.ts';
import { createBackfill } from './ingest/backfill.ts';
import { createEvmSource } from './ingest/evm.ts';
import { createIngest } from './ingest/ingest.ts';
import { SourceError } from './ingest/source.ts';
import { createStateReader } from './ingest/state.ts';
import type { EvmBlock } from './match/block.ts';
import type { Matching, SingleMatcher } from './matching.ts';
import type { Log } from './observe.ts';
import type { Store } from './store/store.ts';

export interface FollowedChain {
  readonly id: string;
  readonly enrich: Enrich;
  /** True once it is known that no node of this chain traces blocks. */
  readonly lacksTraces: boolean;
  readonly calls: ChainCalls;
  health(): ChainHealth;
  start(): void;
  /** Ends after what is under way; nothing is left half committed. */
  stop(): Promise<void>;
}

export function followChain(
  config: ChainConfig,
  {
    store,
    matching,
    log,
    publish,
    onDeliveries,
    refuseBlocks,
  }: {
    store: Store;
    matching: Matching;
    log: Log;
    publish(event: LiveEvent): void;
    /** Deliveries were created, became due or were cancelled. */
    onDeliveries(deliveries: readonly DeliverySummary[]): void;
    refuseBlocks(): string | undefined;
  },
): FollowedChain {
  const { id: chain, urls, pollMs } = config;
  const source = createEvmSource({ chain, urls, pollMs, log });
  const show = (deliveries: readonly DeliverySummary[]): void => {
    for (const delivery of deliveries) publish({ type: 'delivery', delivery });
  };

  const enrich = createEnrich({
    chain,
    store,
    state: createStateReader(source),
    log,
    onDeliveries(deliveries) {
      // They were counted when they were created; now they are due.
      onDeliveries([]);
      show(deliveries);
    },
  });

  const announce = (deliveries: readonly DeliverySummary[]): void => {
    onDeliveries(deliveries);
    show(deliveries);
    enrich.notice();
  };

  const ingest = createIngest(
    {
      chain,
      confirmations: config.confirmations,
      resetWhenReplaced: config.resetWhenReplaced,
    },
    {
      source,
      store,
      matcher: matching.live,
      log,
      refuseBlocks,
      listener: {
        onDeliveries: announce,
        onBlock(chainId, block, head) {
          backfill.notice();
          publish({ type: 'block', chainId, block, head });
        },
        onReorg: (chainId, ancestor) =>
          publish({ type: 'reorg', chainId, blockNumber: ancestor.number }),
        onHealth: (health) => publish({ type: 'chain', chain: health }),
      },
    },
  );

  const backfill = createBackfill({
    chain,
    source,
    store,
    log,
    openMatcher: (streamId) => matching.open(chain, streamId),
    confirmedUpTo: () => ingest.health().confirmedUpTo,
    onDeliveries: announce,
    onJob: (job) => publish({ type: 'job', job }),
  });

  /** The block at this height of the node's own chain, with what the matcher needs of it. */
  const readBlock = async (number: number, { needs }: SingleMatcher): Promise<EvmBlock> => {
    const header = await source.readHeader(number);
    if (header === undefined) throw notFound('Block');
    return source.readBlock(header, needs);
  };

  const isConfirmed = ({ number }: EvmBlock): boolean =>
    number <= (ingest.health().confirmedUpTo ?? -1);

  return {
    id: chain,
    enrich,
    get lacksTraces() {
      return ingest.lacksTraces;
    },
    calls: {
      dryRun: (blockNumber, record, addresses) =>
        sayWhy(chain, async () => {
          const matcher = matching.try(chain, record, addresses);
          const block = await readBlock(blockNumber, matcher);
          const webhook = await matcher.toWebhook(block);
          if (webhook === undefined) return undefined;
          const { chainId, abi, streamId, tag, ...rest } = webhook;
          return {
            confirmed: isConfirmed(block),
            chainId,
            abi,
            streamId,
            tag,
            retries: 0,
            ...rest,
          };
        }),

      sendBlock: (blockNumber, streamId, requestId) =>
        sayWhy(chain, async () => {
          const matcher = await matching.open(chain, streamId);
          if (matcher === undefined) throw notFound('Stream');
          const block = await readBlock(blockNumber, matcher);
          const matches = matcher.match(block);
          if (matches.length === 0) return 0;
          announce(
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

      noticeJobs: () => backfill.notice(),
      resume: (from) => sayWhy(chain, () => ingest.resume(from)),
    },
    health() {
      const health = ingest.health();
      return { ...health, message: health.message || enrich.trouble };
    },
    start() {
      ingest.start();
      enrich.start();
      backfill.start();
    },
    async stop() {
      await Promise.all([ingest.stop(), backfill.stop()]);
      await enrich.stop();
    },
  };
}

/** What a node will not do now is no fault of the request. */
async function sayWhy<T>(chain: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof SourceError || error instanceof Outage)) throw error;
    throw new HttpError(
      error instanceof SourceError && error.kind === 'missing' ? 404 : 503,
      `The nodes of ${chain} cannot answer: ${error.message}`,
    );
  }
}
