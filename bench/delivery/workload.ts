/**
 * The workload of the delivery benchmarks: streams that match in each block, and the service's own
 * delivery engine.
 */
import { movedBy } from '../../packages/service/src/store/live/movedBy.test-only.ts';
import { createDeliverer } from '../../packages/service/src/deliver/deliver.ts';
import {
  ALL_NETWORKS,
  createAddressGuard,
} from '../../packages/service/src/deliver/destinations/http/guard.ts';
import type { Destination } from '../../packages/service/src/deliver/destinations/destination.ts';
import { createHttp } from '../../packages/service/src/deliver/destinations/http/http.ts';
import { createHostPace } from '../../packages/service/src/deliver/hostPace.ts';
import { createIsolation } from '../../packages/service/src/deliver/send/isolation.ts';
import { CONTRACT_SCHEDULE_MS } from '../../packages/kit/src/contract/rules/schedule.ts';
import { type Sender, createSender } from '../../packages/service/src/deliver/send/send.ts';
import { createLog } from '../../packages/service/src/base/log.ts';
import { type StoredBody, splitBody } from '../../packages/service/src/store/blocks/body.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type EvmStreamDraft,
  type Sealed,
} from '../../packages/service/src/store/streams/contract.ts';
import type { BlockHeader, NewMatch } from '../../packages/service/src/store/blocks/contract.ts';
import type { Store } from '../../packages/service/src/store/store.ts';
import type { DeliverySummary } from '@sluice/kit/contract';

export const BODY_BYTES = 2_000;
/** Number of streams whose webhooks are committed together. */
export const STREAMS = 100;
export const CLAIM_BATCH = 256;
export const STREAM_SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

const SIGNING = { secret: () => 'bench-secret', region: () => 'us-east-1' };
/** Timestamp of the first block in Unix seconds. It is the current time, as for live blocks. */
const FIRST_TIMESTAMP = Math.floor(Date.now() / 1000);

/** Creates the service's sender, by default to HTTP receivers at all addresses. */
export const createBenchSender = (
  destination = createHttp({ guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }) }),
): Sender => createSender({ destinations: [destination], ...SIGNING });

export interface Chain {
  streamIds: string[];
  /**
   * Commits a block in which the next `count` streams match, with `parts` webhooks per stream.
   * Returns the due deliveries.
   */
  commit(count: number, parts?: number): Promise<DeliverySummary[]>;
}

let nextChain = 0x10_0000;

/** Creates a chain with streams that deliver to this URL, or each to the URL of its number. */
export async function createChain(
  store: Store,
  webhookUrl: string | ((stream: number) => string),
  {
    streams,
    bodyBytes = BODY_BYTES,
    deliver = 'both',
    contentOf,
  }: {
    streams: number;
    bodyBytes?: number;
    /** Returns what a part of a block has instead of `bodyBytes` of filler. */
    contentOf?: ((block: BlockHeader, part: number) => { abi: object; tail: object }) | undefined;
    /**
     * Phases to deliver. With `confirmed`, blocks are confirmed at once; otherwise they stay
     * unconfirmed. Default: `both`
     */
    deliver?: NewMatch['deliver'];
  },
): Promise<Chain> {
  const chain = `0x${(nextChain++).toString(16)}`;
  const hash = (n: number): string => `0x${(chain.slice(2) + n.toString(16)).padStart(64, '0')}`;
  const streamIds: string[] = [];
  for (let n = 0; n < streams; n++) {
    const draft: EvmStreamDraft = {
      tag: 'bench',
      description: '',
      webhookUrl: typeof webhookUrl === 'string' ? webhookUrl : webhookUrl(n),
      chainIds: [chain],
      options: { ...DEFAULT_OPTIONS, includeNativeTxs: true },
      family: 'evm',
      ...DEFAULT_DELIVERY,
    };
    // Like all streams of the benchmarks, it has no credentials to encrypt.
    const { id } = await store.createStream(draft as Sealed<EvmStreamDraft>);
    streamIds.push(id);
  }
  const epoch = (await store.takeLease({ name: chain, holder: 'bench', forMs: 1e9 }))!;
  await store.startChain({
    chain,
    epoch,
    block: { number: 0, hash: hash(0), parentHash: hash(0), timestamp: FIRST_TIMESTAMP },
    genesisHash: hash(0),
  });
  const bodyOf = (streamId: string, block: BlockHeader, part: number): StoredBody => {
    const content = contentOf?.(block, part);
    const head = { chainId: chain, abi: content?.abi ?? [], streamId, tag: 'bench' };
    if (content !== undefined) return splitBody(head, content.tail);
    const empty = splitBody(head, { logs: '' });
    const length = `{"confirmed":false`.length + empty.bodyHead.length + 1 + empty.bodyTail.length;
    return splitBody(head, { logs: 'x'.repeat(Math.max(0, bodyBytes - length)) });
  };
  let revision: number | undefined;
  let number = 0;
  let nextStream = 0;
  return {
    streamIds,
    async commit(count, parts = 1) {
      // Streams of other chains, created after this chain, raise the revision as well.
      const ruleRevision = (revision ??= (await store.readRules(Number.MAX_SAFE_INTEGER, 'evm'))
        .revision);
      number++;
      const block = {
        number,
        hash: hash(number),
        parentHash: hash(number - 1),
        timestamp: FIRST_TIMESTAMP + number,
      };
      const matches: NewMatch[] = [];
      for (let n = 0; n < count; n++) {
        const streamId = streamIds[nextStream++ % streams]!;
        for (let part = 0; part < parts; part++) {
          matches.push({
            streamId,
            tag: 'bench',
            part,
            parts,
            deliver,
            logs: 1,
            transactions: 0,
            internalTransactions: 0,
            records: { '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef': 1 },
            about: 'Transfer 250 USDC 0x28c6…1d60 → 0x5a52…efcb',
            transactionHashes: [hash(number)],
            enrichment: null,
            setAside: null,
            ...bodyOf(streamId, block, part),
          });
        }
      }
      const { result, moved } = await movedBy(store, () =>
        store.commitBlock({
          chain,
          epoch,
          block,
          ruleRevision,
          confirmUpTo: deliver === 'confirmed' ? number : 0,
          windowBlocks: 256,
          matches,
        }),
      );
      if (result.outcome !== 'committed') throw new Error(`commit: ${result.outcome}`);
      return moved;
    },
  };
}

export interface RunningEngine {
  stop(): Promise<void>;
}

/**
 * Starts the service's delivery engine. Each time that deliveries succeed, `onSucceeded` receives
 * their number. `destination` is where it sends. Default: HTTP.
 */
export async function startEngine(
  store: Store,
  onSucceeded: (count: number) => void,
  destination?: Destination,
): Promise<RunningEngine> {
  const engine = createDeliverer({
    schedule: CONTRACT_SCHEDULE_MS,
    store,
    sender: createBenchSender(destination),
    isolation: createIsolation({ allowCidrs: ALL_NETWORKS, ...SIGNING }),
    log: createLog((line) => process.stderr.write(line)),
    onAttempts: (deliveries) =>
      onSucceeded(deliveries.filter((each) => each.state === 'succeeded').length),
    onLostLeases: () => {},
    onLostOutcomes: () => {},
    onLocalFailure: () => {},
    hostPace: createHostPace(undefined, () => undefined),
    openEndpoint: (delivery) => delivery,
    openSecrets: () => [STREAM_SECRET],
  });
  await engine.start();
  return { stop: () => engine.stop(10_000) };
}

/**
 * Commits blocks in which every stream matches, on several chains at the same time. Returns the
 * deliveries created per second.
 */
export async function enqueue(
  store: Store,
  webhookUrl: string,
  count: number,
  chains = 1,
): Promise<number> {
  const created: Chain[] = [];
  while (created.length < chains) {
    created.push(await createChain(store, webhookUrl, { streams: STREAMS }));
  }
  const started = performance.now();
  await Promise.all(
    created.map(async (chain) => {
      for (let left = count / chains; left > 0; left -= STREAMS) await chain.commit(STREAMS);
    }),
  );
  return (count * 1000) / (performance.now() - started);
}

/**
 * Claims deliveries and records outcomes in two loops, because on PostgreSQL one loop can claim
 * while the other records. Returns the number of deliveries per second.
 */
export async function claimOnly(store: Store, count: number): Promise<number> {
  let left = count;
  const started = performance.now();
  const work = async (): Promise<void> => {
    while (left > 0) {
      const claimed = await store.claimDeliveries({
        limit: CLAIM_BATCH,
        maxBytes: 1e9,
        perStream: 64,
        taken: {},
        leaseMs: 40_000,
      });
      left -= claimed.length;
      await store.completeDeliveries(
        claimed.map(({ id, leaseToken, webhookUrl }) => ({
          id,
          leaseToken,
          webhookUrl,
          startedAt: 0,
          durationMs: 1,
          status: 204,
          error: null,
          responseBody: '',
          transport: null,
          result: 'succeeded',
          retryInMs: 0,
          isFastRetry: false,
        })),
      );
    }
  };
  await Promise.all([work(), work()]);
  return (count * 1000) / (performance.now() - started);
}
