/**
 * Deliveries per second, end to end: claim from SQLite with `synchronous=FULL`, or from a PostgreSQL of
 * its own on the same machine with `fsync` and `synchronous_commit` on; Keccak signature and Standard Webhooks signature, POST to a receiver on loopback, and the outcome made durable. Beside it
 * the raw limit: undici posting the same bodies to the same receiver and nothing else.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { startPostgres } from '@sluice/testkit';
import { Pool } from 'undici';
import { createDeliver } from '../packages/service/src/deliver/deliver.ts';
import { EVERYWHERE, createAddressGuard } from '../packages/service/src/deliver/guard.ts';
import { createIsolation } from '../packages/service/src/deliver/isolation.ts';
import { createSender } from '../packages/service/src/deliver/send.ts';
import { createLog } from '../packages/service/src/observe.ts';
import { openPostgresStore } from '../packages/service/src/store/postgres.ts';
import { splitBody } from '../packages/service/src/store/body.ts';
import { openSqliteStore } from '../packages/service/src/store/sqlite.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
  type Store,
} from '../packages/service/src/store/store.ts';
import type { Figures } from './figures.ts';

const DELIVERIES = 40_000;
const STREAMS = 100;
const BODY_BYTES = 2_000;
const RAW_CONNECTIONS = 64;

/** Answers every POST with 204 once its body has come; in a thread of its own. */
const RECEIVER = `
  const { createServer } = require('node:http');
  const { parentPort } = require('node:worker_threads');
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => { response.statusCode = 204; response.end(); });
  });
  server.keepAliveTimeout = 60000;
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

export async function deliverOnSqlite(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const store = await openSqliteStore(folder);
  try {
    return await deliver(store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

export async function deliverOnPostgres(): Promise<Figures> {
  const postgres = await startPostgres({ settings: { fsync: 'on' } });
  const store = await openPostgresStore(postgres.url);
  try {
    return await deliver(store);
  } finally {
    await store.close();
    await postgres.stop();
  }
}

async function deliver(store: Store): Promise<Figures> {
  const receiver = new Worker(RECEIVER, { eval: true });
  const port = await new Promise<number>((resolve) => receiver.once('message', resolve));
  const url = `http://127.0.0.1:${port}`;
  try {
    // Each side warms up on a tenth before it is measured.
    await postRaw(url, DELIVERIES / 10);
    const raw = await postRaw(url, DELIVERIES);
    await enqueue(store, `${url}/hook`, DELIVERIES / 10);
    await drain(store, DELIVERIES / 10);
    const enqueueMs = await enqueue(store, `${url}/hook`, DELIVERIES);
    const ours = await drain(store, DELIVERIES);
    return {
      deliver: {
        value: ours.perSecond,
        unit: '/s',
        note: `${DELIVERIES} webhooks of ${BODY_BYTES} B to ${STREAMS} streams: claim, sign, POST, record`,
      },
      raw_undici: {
        value: raw,
        unit: '/s',
        note: `the same bodies over ${RAW_CONNECTIONS} connections, nothing else done`,
      },
      share_of_raw: {
        value: (100 * ours.perSecond) / raw,
        unit: '%',
        note: 'deliver / raw_undici',
      },
      enqueue: {
        value: (DELIVERIES * 1000) / enqueueMs,
        unit: '/s',
        note: `matches and deliveries committed, ${STREAMS} to a block`,
      },
      event_loop_p99: { value: ours.loopP99Ms, unit: 'ms', note: 'of the delivering process' },
    };
  } finally {
    await receiver.terminate();
  }
}

const filler = 'x'.repeat(BODY_BYTES);

async function postRaw(url: string, count: number): Promise<number> {
  const pool = new Pool(url, { connections: RAW_CONNECTIONS });
  const body = `{"confirmed":false,"logs":"${filler}"}`.slice(0, BODY_BYTES);
  let left = count;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: RAW_CONNECTIONS }, async () => {
      while (left-- > 0) {
        const response = await pool.request({
          method: 'POST',
          path: '/hook',
          headers: { 'content-type': 'application/json' },
          body,
        });
        await response.body.dump();
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  return count / seconds;
}

let nextChain = 0x100_000;

/** Commits blocks in which every stream matches; answers with the milliseconds it took. */
async function enqueue(store: Store, webhookUrl: string, count: number): Promise<number> {
  const chain = `0x${(nextChain++).toString(16)}`;
  const hash = (n: number): string => `${chain}${n.toString(16).padStart(56, '0')}`;
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, () =>
      store.createStream({
        tag: 'bench',
        description: '',
        webhookUrl,
        chainIds: [chain],
        options: { ...DEFAULT_OPTIONS, includeNativeTxs: true },
        family: 'evm',
        ...DEFAULT_DELIVERY,
      }),
    ),
  );
  const epoch = (await store.takeLease({ name: chain, holder: 'bench', forMs: 3_600_000 }))!;
  await store.startChain({
    chain,
    epoch,
    block: { number: 0, hash: hash(0), parentHash: hash(0), timestamp: 1.7e9 },
    genesisHash: hash(0),
  });
  const { revision } = await store.readRules(Number.MAX_SAFE_INTEGER);
  const started = performance.now();
  for (let number = 1; number <= count / STREAMS; number++) {
    const result = await store.commitBlock({
      chain,
      epoch,
      block: {
        number,
        hash: hash(number),
        parentHash: hash(number - 1),
        timestamp: 1.7e9 + number,
      },
      ruleRevision: revision,
      confirmUpTo: 0,
      windowBlocks: 256,
      matches: streams.map(({ id }) => {
        const parts = splitBody(
          { chainId: chain, abi: [], streamId: id, tag: 'bench' },
          { logs: filler },
        );
        return {
          streamId: id,
          tag: 'bench',
          part: 0,
          parts: 1,
          deliver: 'both',
          logs: 1,
          transactions: 0,
          internalTransactions: 0,
          transactionHashes: [hash(number)],
          enrichment: null,
          bodyHead: parts.bodyHead,
          bodyTail: `${parts.bodyTail.slice(0, BODY_BYTES - parts.bodyHead.length - 25)}"}`,
        };
      }),
    });
    if (result.outcome !== 'committed') throw new Error(`commit: ${result.outcome}`);
  }
  return performance.now() - started;
}

const STREAM_SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

/** Delivers all that is due; counts only what the ledger has recorded as succeeded. */
async function drain(
  store: Store,
  count: number,
): Promise<{ perSecond: number; loopP99Ms: number }> {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const done = Promise.withResolvers<void>();
  let succeeded = 0;
  const signing = { secret: () => 'bench-secret', region: () => 'us-east-1' };
  const engine = createDeliver({
    store,
    sender: createSender({ guard: createAddressGuard({ allowCidrs: EVERYWHERE }), ...signing }),
    isolation: createIsolation({ allowCidrs: EVERYWHERE, ...signing }),
    log: createLog((line) => process.stderr.write(line)),
    onChange(deliveries) {
      succeeded += deliveries.filter((each) => each.state === 'succeeded').length;
      if (succeeded >= count) done.resolve();
    },
    onLostLeases: () => {},
    onLostOutcomes: () => {},
    openSecrets: () => [STREAM_SECRET],
  });
  loop.enable();
  const started = performance.now();
  await engine.start();
  await done.promise;
  const seconds = (performance.now() - started) / 1000;
  loop.disable();
  await engine.stop(10_000);
  return { perSecond: count / seconds, loopP99Ms: loop.percentile(99) / 1e6 };
}
