/**
 * Measures deliveries per second: claim, sign with Keccak and by Standard Webhooks, POST to a
 * receiver on loopback, and commit the outcome. For comparison, it also measures POSTs of the same
 * bodies with undici alone, claims and outcomes without a POST, and pg-boss.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Pool } from 'undici';
import type { Store } from '../../packages/service/src/store/store.ts';
import type { Figures } from '../figures.ts';
import { type EngineName, type Ledger, withLedger, withPostgres } from './ledgers.ts';
import { deliverWithPgBoss } from './pgBoss.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { BODY_BYTES, createChain, startEngine } from './workload.ts';

/** Number of deliveries, large enough that optimized code processes most of them. */
const DELIVERIES = 100_000;
const WARM_UP = DELIVERIES / 10;
const STREAMS = 100;
const RAW_CONNECTIONS = 64;
const CLAIM_BATCH = 256;

export async function measureThroughput(engine: EngineName): Promise<Figures> {
  const receiver = await startReceiver();
  const webhookUrl = `${receiver.url}/hook`;
  const body =
    `{"confirmed":false,"logs":"${'x'.repeat(BODY_BYTES)}`.slice(0, BODY_BYTES - 2) + '"}';
  try {
    await postRaw(receiver.url, body, WARM_UP);
    const raw = await postRaw(receiver.url, body, DELIVERIES);
    const ours = await withLedger(engine, async (ledger) => {
      await enqueue(ledger.store, webhookUrl, WARM_UP);
      await drain(ledger, receiver, WARM_UP);
      const enqueued = await enqueue(ledger.store, webhookUrl, DELIVERIES);
      const drained = await drain(ledger, receiver, DELIVERIES);
      await enqueue(ledger.store, webhookUrl, DELIVERIES);
      return { enqueued, ...drained, claimed: await claimOnly(ledger.store, DELIVERIES) };
    });
    const pgBoss = await withPostgres(({ url }) =>
      deliverWithPgBoss(url, { url: webhookUrl, body }, DELIVERIES / 2, WARM_UP),
    );
    const perSecond = (value: number, note: string) => ({ value, unit: '/s', note });
    const cpu = (value: number, note: string) => ({ value, unit: 'us', note });
    return {
      deliver: perSecond(
        ours.perSecond,
        `${DELIVERIES} webhooks of ${BODY_BYTES} B to ${STREAMS} streams: claim, sign, POST, record`,
      ),
      raw_undici: perSecond(
        raw,
        `the same bodies over ${RAW_CONNECTIONS} connections, without other work`,
      ),
      raw_claims: perSecond(ours.claimed, `claims of ${CLAIM_BATCH} and their outcomes, no POST`),
      pg_boss: perSecond(pgBoss, 'the same POSTs and signatures by pg-boss on PostgreSQL'),
      enqueue: perSecond(ours.enqueued, `matches and deliveries committed, ${STREAMS} to a block`),
      event_loop_p99: { value: ours.loopP99Ms, unit: 'ms', note: 'of the delivering process' },
      cpu_engine: cpu(ours.engineCpuUs, "of the engine's thread per delivery"),
      cpu_ledger: cpu(
        ours.ledgerCpuUs,
        "of the ledger's thread or the server's processes, and of the rest of the process",
      ),
      cpu_receiver: cpu(ours.receiverCpuUs, 'of the receiver'),
    };
  } finally {
    await receiver.stop();
  }
}

async function postRaw(url: string, body: string, count: number): Promise<number> {
  const pool = new Pool(url, { connections: RAW_CONNECTIONS });
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
  const perSecond = (count * 1000) / (performance.now() - started);
  await pool.close();
  return perSecond;
}

/** Commits blocks in which every stream matches. Returns the deliveries created per second. */
async function enqueue(store: Store, webhookUrl: string, count: number): Promise<number> {
  const chain = await createChain(store, webhookUrl, { streams: STREAMS });
  const started = performance.now();
  for (let left = count; left > 0; left -= STREAMS) await chain.commit(STREAMS);
  return (count * 1000) / (performance.now() - started);
}

/**
 * Delivers until the ledger has recorded `count` deliveries as succeeded. Returns the rate, the
 * delay of the event loop, and the processor time per delivery.
 */
async function drain({ store, readCpuUs = () => 0 }: Ledger, receiver: Receiver, count: number) {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const done = Promise.withResolvers<void>();
  let left = count;
  const readCpu = async () => ({
    server: readCpuUs(),
    process: process.cpuUsage(),
    thread: process.threadCpuUsage(),
    receiver: await receiver.readCpuUs(),
  });
  const before = await readCpu();
  loop.enable();
  const started = performance.now();
  const engine = await startEngine(store, (succeeded) => {
    left -= succeeded;
    if (left <= 0) done.resolve();
  });
  await done.promise;
  const perSecond = (count * 1000) / (performance.now() - started);
  loop.disable();
  const after = await readCpu();
  await engine.stop();
  const sum = (key: 'process' | 'thread'): number =>
    after[key].user + after[key].system - before[key].user - before[key].system;
  const receiverUs = after.receiver - before.receiver;
  const serverUs = after.server - before.server;
  return {
    perSecond,
    loopP99Ms: loop.percentile(99) / 1e6,
    engineCpuUs: sum('thread') / count,
    receiverCpuUs: receiverUs / count,
    ledgerCpuUs: (serverUs + sum('process') - sum('thread') - receiverUs) / count,
  };
}

/**
 * Claims deliveries and records outcomes in two loops, because on PostgreSQL one loop can claim
 * while the other records. Returns the number of deliveries per second.
 */
async function claimOnly(store: Store, count: number): Promise<number> {
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
