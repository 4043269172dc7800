/**
 * Measures feeds: webhooks per second that readers in another thread get over HTTP and acknowledge,
 * and the time from the commit of a block to a waiting reader. For comparison, the bare limit: the
 * same bodies, signed, read page by page from the same database without bookkeeping.
 */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { CALLS } from '@sluice/kit/calls';
import { FEED_URL, MAX_FEED_LIMIT } from '@sluice/kit/contract';
import { Kysely, PostgresDialect } from 'kysely';
import { createFeedHandlers } from '../../packages/service/src/api/calls/streams/feeds.ts';
import { takeBody } from '../../packages/service/src/api/body.ts';
import { createReader, sendResponse } from '../../packages/service/src/api/handlers.ts';
import { createWaitingReads } from '../../packages/service/src/api/waitingReads.ts';
import { createFeed } from '../../packages/service/src/deliver/destinations/feed/feed.ts';
import { postgresEngine } from '../../packages/service/src/store/engine/postgres/postgresEngine.ts';
import { createServers } from '../../packages/service/src/store/engine/postgres/postgresServers.ts';
import { openSqlite } from '../../packages/service/src/store/engine/sqlite/sqliteConnection.ts';
import { sqliteEngine } from '../../packages/service/src/store/engine/sqlite/sqliteEngine.ts';
import { createFeedReads } from '../../packages/service/src/store/feeds/feedReads.ts';
import type { Store } from '../../packages/service/src/store/store.ts';
import type { Tables } from '../../packages/service/src/store/tables/tables.ts';
import type { Figures } from '../figures.ts';
import { type EngineName, withLedger } from './ledgers.ts';
import { quantileOf } from './waits.ts';
import {
  BODY_BYTES,
  STREAM_SECRET,
  createBenchSender,
  createChain,
  startEngine,
} from './workload.ts';

const DELIVERIES = 50_000;
const PARTS = 500;
const READERS = 2;
const PAGE = MAX_FEED_LIMIT;
const RATE = 200;
const BLOCK_EVERY_MS = 100;
const WARM_UP_MS = 3_000;
const MEASURED_MS = 20_000;
const MIB = 1024 * 1024;

export async function measureFeed(engine: EngineName): Promise<Figures> {
  return withLedger(engine, async ({ store }) => {
    const api = await startApi(store);
    const placed = await place(store);
    const bare: number[] = [];
    const read: number[] = [];
    // The order alternates, so that neither has a warmer cache.
    for (let run = 0; run < 3; run++) {
      bare.push(await readBare(store, placed.streamId));
      read.push(await api.drain(placed.streamId, `run-${run}`));
    }
    const waits = await measureWaits(store, api);
    await api.stop();
    const median = (values: number[]): number => values.toSorted((a, b) => a - b)[1]!;
    return {
      feed: {
        value: median(read),
        unit: '/s',
        note: `${DELIVERIES} webhooks of ${BODY_BYTES} B read over HTTP by ${READERS} readers of a consumer and acknowledged, pages of ${PAGE}; median of three`,
      },
      bare: {
        value: median(bare),
        unit: '/s',
        note: 'the same bodies read page by page from the same database and signed',
      },
      share: { value: (100 * median(read)) / median(bare), unit: '%', note: 'feed of bare' },
      place: {
        value: placed.perSecond,
        unit: '/s',
        note: 'deliveries that get a position and an outcome',
      },
      p95_at_200: quantileOf(
        waits,
        0.95,
        `from the commit of its block to a waiting reader, ${RATE} webhooks/s`,
      ),
      p99_at_200: quantileOf(waits, 0.99, 'the same'),
    };
  });
}

/** Fills a feed, and returns its stream and the deliveries placed per second. */
async function place(store: Store): Promise<{ streamId: string; perSecond: number }> {
  const chain = await createChain(store, FEED_URL, { streams: 1 });
  for (let left = DELIVERIES; left > 0; left -= PARTS) await chain.commit(1, PARTS);
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let left = DELIVERIES;
  const began = performance.now();
  const engine = await startEngine(
    store,
    (count) => {
      left -= count;
      if (left <= 0) resolve();
    },
    createFeed(),
  );
  await done;
  const perSecond = (DELIVERIES * 1_000) / (performance.now() - began);
  await engine.stop();
  return { streamId: chain.streamIds[0]!, perSecond };
}

/** Reads and signs all bodies on its own connection, and returns the number per second. */
async function readBare(store: Store, streamId: string): Promise<number> {
  const isSqlite = store.engine === 'sqlite';
  const db = isSqlite
    ? openSqlite(store.place, true).db
    : new Kysely<Tables>({ dialect: new PostgresDialect({ pool: createServers(store.place) }) });
  const reads = createFeedReads(db, isSqlite ? sqliteEngine : postgresEngine);
  const { headersFor, close } = createBenchSender();
  let after = 0;
  let signed = 0;
  const began = performance.now();
  while (after < DELIVERIES) {
    const limits = { limit: PAGE, maxBytes: 8 * MIB };
    const { placed } = await reads.readFeedAfter(streamId, { after }, limits);
    for (const { id, body } of await reads.readFeedBodies(placed)) {
      const webhook = { id, body, headers: {}, secrets: [STREAM_SECRET] };
      headersFor({ ...webhook, queueSize: 0, recordsCharged: 0 }, Date.now());
      signed++;
    }
    after = placed.at(-1)!.position;
  }
  const perSecond = (signed * 1_000) / (performance.now() - began);
  await close();
  await db.destroy();
  return perSecond;
}

interface Api {
  /** Reads and acknowledges all deliveries of a feed. Returns the number per second. */
  drain(streamId: string, consumer: string): Promise<number>;
  /** Reads a feed until `count` deliveries have come. Returns their arrival times by id. */
  follow(streamId: string, count: number): Promise<Map<string, number>>;
  stop(): Promise<void>;
}

/** Serves the calls of feeds, and starts the thread of the readers. */
async function startApi(store: Store): Promise<Api> {
  const sender = createBenchSender();
  const waitingReads = createWaitingReads(store);
  const handlers = createFeedHandlers({
    store,
    auth: { watch: (_: Context, signal: AbortSignal) => signal } as never,
    endpoints: { open: (_: string, stream: object) => stream } as never,
    streamSecrets: { open: () => [STREAM_SECRET] } as never,
    headersFor: sender.headersFor,
    waitingReads,
  });
  const app = new Hono();
  app.use(async (context, next) => {
    context.set('caller' as never, { keyId: 'bench' } as never);
    return next();
  });
  for (const name of ['readFeed', 'acknowledgeFeed'] as const) {
    const { method, path } = CALLS[name];
    const read = createReader(CALLS[name]);
    app.on(method, path.replace('{id}', ':id'), async (context) => {
      await takeBody(context, MIB);
      return sendResponse(context, await handlers[name](read(context) as never));
    });
  }
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const worker = new Worker(new URL('feedReaders.ts', import.meta.url));
  const ask = async (asked: object): Promise<unknown> => {
    worker.postMessage({ url, ...asked });
    const [answer] = (await once(worker, 'message')) as [unknown];
    return answer;
  };
  return {
    async drain(streamId, consumer) {
      const began = performance.now();
      await ask({ streamId, consumer, count: DELIVERIES, readers: READERS, limit: PAGE });
      return (DELIVERIES * 1_000) / (performance.now() - began);
    },
    follow: (streamId, count) =>
      ask({ streamId, consumer: 'live', count, readers: 1, limit: PAGE }) as never,
    async stop() {
      await worker.terminate();
      waitingReads.close();
      server.close();
      await sender.close();
    },
  };
}

/** Returns the times from the commit of each delivery's block to a waiting reader, sorted. */
async function measureWaits(store: Store, api: Api): Promise<number[]> {
  const engine = await startEngine(store, () => {}, createFeed());
  const at = async (forMs: number): Promise<number[]> => {
    const chain = await createChain(store, FEED_URL, { streams: 1 });
    const blocks = forMs / BLOCK_EVERY_MS;
    const perBlock = (RATE * BLOCK_EVERY_MS) / 1_000;
    const following = api.follow(chain.streamIds[0]!, blocks * perBlock);
    const committedAt = new Map<string, number>();
    const began = performance.now();
    for (let block = 0; block < blocks; block++) {
      const due = began + block * BLOCK_EVERY_MS;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      const deliveries = await chain.commit(1, perBlock);
      const now = performance.timeOrigin + performance.now();
      for (const { id } of deliveries) committedAt.set(id, now);
    }
    const arrivedAt = await following;
    return [...committedAt]
      .map(([id, from]) => Math.max(0, arrivedAt.get(id)! - from))
      .toSorted((a, b) => a - b);
  };
  await at(WARM_UP_MS);
  const waits = await at(MEASURED_MS);
  await engine.stop();
  return waits;
}
