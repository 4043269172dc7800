/**
 * Measures deliveries per second: claim, sign with Keccak and by Standard Webhooks, POST to a
 * receiver on loopback, and commit the outcome. For comparison, it also measures POSTs of the same
 * bodies with undici alone, claims and outcomes without a POST, a bare loop on PostgreSQL, and
 * pg-boss.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Pool } from 'undici';
import type { Figures } from '../figures.ts';
import {
  type EngineName,
  type Ledger,
  type ServerUse,
  withLedger,
  withPostgres,
} from './ledgers.ts';
import { deliverFrom, openPgBoss, openSkipLocked } from './queues.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { BODY_BYTES, CLAIM_BATCH, STREAMS, claimOnly, enqueue, startEngine } from './workload.ts';

/** Number of deliveries, large enough that optimized code processes most of them. */
const DELIVERIES = 100_000;
const WARM_UP = DELIVERIES / 10;
const RAW_CONNECTIONS = 64;

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
      const empty = await ledger.readUse?.();
      const enqueued = await enqueue(ledger.store, webhookUrl, DELIVERIES);
      const waiting = await ledger.readUse?.();
      const drained = await drain(ledger, receiver, DELIVERIES);
      const delivered = await ledger.readUse?.();
      await enqueue(ledger.store, webhookUrl, DELIVERIES);
      const claimed = await claimOnly(ledger.store, DELIVERIES);
      return { enqueued, ...drained, claimed, server: toFigures(empty, waiting, delivered) };
    });
    const enqueuedByTwo = await withLedger(engine, async ({ store }) => {
      await enqueue(store, webhookUrl, WARM_UP);
      return enqueue(store, webhookUrl, DELIVERIES, 2);
    });
    const deliverWith = (open: typeof openPgBoss): Promise<number> =>
      withPostgres(async ({ url }) =>
        deliverFrom(await open(url), { url: webhookUrl, body }, DELIVERIES / 2, WARM_UP),
      );
    const skipLocked = await deliverWith(openSkipLocked);
    const pgBoss = await deliverWith(openPgBoss);
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
      skip_locked: perSecond(
        skipLocked,
        'the same POSTs and signatures by a bare SKIP LOCKED loop on PostgreSQL',
      ),
      pg_boss: perSecond(pgBoss, 'the same POSTs and signatures by pg-boss on PostgreSQL'),
      enqueue: perSecond(ours.enqueued, `matches and deliveries committed, ${STREAMS} to a block`),
      enqueue_2_chains: perSecond(enqueuedByTwo, 'the same on two chains at the same time'),
      event_loop_p99: { value: ours.loopP99Ms, unit: 'ms', note: 'of the delivering process' },
      cpu_engine: cpu(ours.engineCpuUs, "of the engine's thread per delivery"),
      cpu_ledger: cpu(
        ours.ledgerCpuUs,
        "of the ledger's thread or the server's processes, and of the rest of the process",
      ),
      cpu_receiver: cpu(ours.receiverCpuUs, 'of the receiver'),
      ...ours.server,
    };
  } finally {
    await receiver.stop();
  }
}

/** Returns what the database server used per match and per delivery; nothing for SQLite. */
function toFigures(empty?: ServerUse, waiting?: ServerUse, delivered?: ServerUse): Figures {
  if (empty === undefined || waiting === undefined || delivered === undefined) return {};
  const per = (before: ServerUse, after: ServerUse, key: keyof ServerUse): number =>
    (after[key] - before[key]) / DELIVERIES;
  const bytes = (value: number, note: string) => ({ value, unit: 'B', note });
  return {
    server_cpu_match: {
      value: per(empty, waiting, 'cpuUs'),
      unit: 'us',
      note: 'of the database server, per match and its delivery committed',
    },
    server_cpu_delivery: {
      value: per(waiting, delivered, 'cpuUs'),
      unit: 'us',
      note: 'of the database server, per delivery claimed and recorded',
    },
    wal_match: bytes(per(empty, waiting, 'walBytes'), 'of WAL per match and its delivery'),
    wal_delivery: bytes(per(waiting, delivered, 'walBytes'), 'of WAL per claim and outcome'),
    disk: bytes(per(empty, delivered, 'diskBytes'), 'of tables and indexes per delivered match'),
  };
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

/**
 * Delivers until the ledger has recorded `count` deliveries as succeeded. Returns the rate, the
 * delay of the event loop, and the processor time per delivery.
 */
async function drain({ store, readUse }: Ledger, receiver: Receiver, count: number) {
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const done = Promise.withResolvers<void>();
  let left = count;
  const readCpu = async () => ({
    server: (await readUse?.())?.cpuUs ?? 0,
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
