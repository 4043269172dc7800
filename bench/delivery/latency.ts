/**
 * Measures the time from the commit of a block to the first byte of its webhooks at the receiver,
 * at two rates. At the lower rate, it measures again next to a webhook URL that never responds and
 * has a long queue.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '../../packages/service/src/store/store.ts';
import type { Figures } from '../figures.ts';
import { type EngineName, withLedger } from './ledgers.ts';
import { HUNG_PATH, type Receiver, startReceiver } from './receiver.ts';
import { createChain, startEngine } from './workload.ts';

const STREAMS = 200;
const BLOCK_EVERY_MS = 100;
const WARM_UP_MS = 3_000;
const MEASURED_MS = 20_000;
const HUNG_QUEUE = 200_000;
const HUNG_PARTS = 500;
const SLOW_RATE = 200;
const FAST_RATE = 2_000;

export async function measureLatency(engineName: EngineName): Promise<Figures> {
  const receiver = await startReceiver();
  try {
    return await withLedger(engineName, async ({ store }) => {
      const engine = await startEngine(store, () => {});
      const at = (rate: number, forMs = MEASURED_MS): Promise<number[]> =>
        deliverAt(rate, { store, receiver, forMs });
      await at(FAST_RATE, WARM_UP_MS);
      const slow = await at(SLOW_RATE);
      const fast = await at(FAST_RATE);
      await queueHung(store, `${receiver.url}${HUNG_PATH}`);
      const beside = await at(SLOW_RATE);
      await engine.stop();
      const ms = (waits: readonly number[], share: number, note: string) => ({
        value: waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]!,
        unit: 'ms',
        note,
      });
      const from = 'from the commit of its block to its first byte';
      return {
        p95_at_200: ms(slow, 0.95, `${from}, ${SLOW_RATE} webhooks/s`),
        p99_at_200: ms(slow, 0.99, 'the same'),
        p95_at_2000: ms(fast, 0.95, `${from}, ${FAST_RATE} webhooks/s`),
        p99_at_2000: ms(fast, 0.99, 'the same'),
        p99_beside_hung: ms(
          beside,
          0.99,
          `${SLOW_RATE} webhooks/s next to a receiver that never responds, with ${HUNG_QUEUE} queued`,
        ),
      };
    });
  } finally {
    await receiver.stop();
  }
}

/**
 * Commits a block every 100 ms for `forMs`. Returns the delays of all webhooks in milliseconds,
 * sorted.
 */
async function deliverAt(
  rate: number,
  { store, receiver, forMs }: { store: Store; receiver: Receiver; forMs: number },
): Promise<number[]> {
  const chain = await createChain(store, `${receiver.url}/hook`, { streams: STREAMS });
  const committedAt = new Map<string, number>();
  const arrivedAt = new Map<string, number>();
  const collect = async (): Promise<void> => {
    for (const [id, at] of await receiver.takeArrivals()) arrivedAt.set(id, at);
  };
  await collect();
  const started = performance.now();
  for (let block = 0; block * BLOCK_EVERY_MS < forMs; block++) {
    await wait(Math.max(0, started + block * BLOCK_EVERY_MS - performance.now()));
    const deliveries = await chain.commit((rate * BLOCK_EVERY_MS) / 1000);
    const at = performance.timeOrigin + performance.now();
    for (const { id } of deliveries) committedAt.set(id, at);
  }
  const deadline = performance.now() + 60_000;
  while ([...committedAt.keys()].some((id) => !arrivedAt.has(id))) {
    if (performance.now() > deadline) throw new Error('Some webhooks did not arrive');
    await wait(50);
    await collect();
  }
  return [...committedAt]
    .map(([id, at]) => Math.max(0, arrivedAt.get(id)! - at))
    .toSorted((a, b) => a - b);
}

async function queueHung(store: Store, webhookUrl: string): Promise<void> {
  const chain = await createChain(store, webhookUrl, { streams: 1, bodyBytes: 200 });
  for (let left = HUNG_QUEUE; left > 0; left -= HUNG_PARTS) await chain.commit(1, HUNG_PARTS);
}
