/**
 * Measures webhooks per second to a queue on one broker: claim, sign, publish, confirm, and commit
 * the outcome. For comparison, its two bare limits: claims and outcomes without publishing, and the
 * same messages published by the broker's client alone.
 */
import type { Destination } from '../../packages/service/src/deliver/destinations/destination.ts';
import {
  ALL_NETWORKS,
  createAddressGuard,
} from '../../packages/service/src/deliver/destinations/http/guard.ts';
import type { QueueOptions } from '../../packages/service/src/deliver/destinations/queues/queue.ts';
import type { Store } from '../../packages/service/src/store/store.ts';
import type { Figures } from '../figures.ts';
import { type EngineName, withLedger } from './ledgers.ts';
import {
  BODY_BYTES,
  STREAM_SECRET,
  claimOnly,
  createBenchSender,
  enqueue,
  startEngine,
} from './workload.ts';

/** A broker with an empty queue. */
export interface BenchBroker {
  webhookUrl: string;
  createDestination(options: QueueOptions): Destination;
  /** Connects the broker's client; the result publishes a message and waits for its confirmation. */
  connect(): Promise<BareClient>;
  stop(): Promise<void>;
}

export interface BareClient {
  publish(headers: Record<string, string>, body: Buffer): Promise<unknown>;
  close(): Promise<void>;
}

const DELIVERIES = 50_000;
const WARM_UP = DELIVERIES / 10;
const RUNS = 3;
/** Messages in flight of the client alone. */
const IN_FLIGHT = 512;

export async function measureQueue(
  name: string,
  startBroker: () => Promise<BenchBroker>,
  engine: EngineName,
): Promise<Figures> {
  const broker = await startBroker();
  try {
    const { webhookUrl } = broker;
    const measured = await withLedger(engine, async ({ store }) => {
      await enqueue(store, webhookUrl, WARM_UP);
      await drain(store, broker, WARM_UP);
      await publishBare(broker, WARM_UP);
      const runs = { ours: [] as number[], claims: [] as number[], client: [] as number[] };
      // They alternate, so that none has a warmer cache or a less busy machine.
      for (let run = 0; run < RUNS; run++) {
        await enqueue(store, webhookUrl, DELIVERIES);
        runs.claims.push(await claimOnly(store, DELIVERIES));
        runs.client.push(await publishBare(broker, DELIVERIES));
        await enqueue(store, webhookUrl, DELIVERIES);
        runs.ours.push(await drain(store, broker, DELIVERIES));
      }
      return runs;
    });
    const median = (values: number[]): number => values.toSorted((a, b) => a - b)[1]!;
    const [ours, claims, client] = [measured.ours, measured.claims, measured.client].map(median);
    const perSecond = (value: number, note: string) => ({ value, unit: '/s', note });
    return {
      [name]: perSecond(
        ours!,
        `${DELIVERIES} webhooks of ${BODY_BYTES} B to one broker: claim, sign, publish, confirm, record; median of ${RUNS}`,
      ),
      bare_claims: perSecond(claims!, 'claims and outcomes without publishing'),
      bare_client: perSecond(
        client!,
        `the same messages published by the client alone, ${IN_FLIGHT} in flight`,
      ),
      share: {
        value: (100 * ours!) / Math.min(claims!, client!),
        unit: '%',
        note: 'of the lower bare limit',
      },
    };
  } finally {
    await broker.stop();
  }
}

/** Delivers until the ledger has recorded `count` deliveries as succeeded; returns the rate. */
async function drain(store: Store, broker: BenchBroker, count: number): Promise<number> {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let left = count;
  const began = performance.now();
  const engine = await startEngine(
    store,
    (succeeded) => {
      left -= succeeded;
      if (left <= 0) resolve();
    },
    broker.createDestination({
      guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
      readChainAndPhase: () => ({ chainId: '0x1', phase: 'unconfirmed' }),
    }),
  );
  await done;
  const perSecond = (count * 1_000) / (performance.now() - began);
  await engine.stop();
  return perSecond;
}

/** Publishes messages with the headers of webhooks; returns the rate. */
async function publishBare(broker: BenchBroker, count: number): Promise<number> {
  const client = await broker.connect();
  const body = Buffer.from(`{"logs":"${'x'.repeat(BODY_BYTES)}`.slice(0, BODY_BYTES - 2) + '"}');
  const { headersFor, close } = createBenchSender();
  const webhook = { id: 'id', body, headers: {}, secrets: [STREAM_SECRET] };
  const signed = headersFor({ ...webhook, queueSize: 0, recordsCharged: 0 }, Date.now());
  let left = count;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      while (left-- > 0) await client.publish(signed, body);
    }),
  );
  const perSecond = (count * 1_000) / (performance.now() - began);
  await close();
  await client.close();
  return perSecond;
}
