/**
 * Measures the time from the commit of a block to the first byte of its webhooks at the receiver,
 * at two rates. At the lower rate, it measures again next to a webhook URL that never responds and
 * has a long queue.
 */
import type { Store } from '../../packages/service/src/store/store.ts';
import type { Figures } from '../figures.ts';
import { type EngineName, withLedger } from './ledgers.ts';
import { HUNG_PATH, startReceiver } from './receiver.ts';
import { measureWaits, quantileOf } from './waits.ts';
import { createChain, startEngine } from './workload.ts';

const STREAMS = 200;
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
      const at = async (rate: number, forMs = MEASURED_MS): Promise<number[]> => {
        const chain = await createChain(store, `${receiver.url}/hook`, { streams: STREAMS });
        return measureWaits(chain, receiver, { rate, forMs });
      };
      await at(FAST_RATE, WARM_UP_MS);
      const slow = await at(SLOW_RATE);
      const fast = await at(FAST_RATE);
      await queueHung(store, `${receiver.url}${HUNG_PATH}`);
      const beside = await at(SLOW_RATE);
      await engine.stop();
      const from = 'from the commit of its block to its first byte';
      return {
        p95_at_200: quantileOf(slow, 0.95, `${from}, ${SLOW_RATE} webhooks/s`),
        p99_at_200: quantileOf(slow, 0.99, 'the same'),
        p95_at_2000: quantileOf(fast, 0.95, `${from}, ${FAST_RATE} webhooks/s`),
        p99_at_2000: quantileOf(fast, 0.99, 'the same'),
        p99_beside_hung: quantileOf(
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

async function queueHung(store: Store, webhookUrl: string): Promise<void> {
  const chain = await createChain(store, webhookUrl, { streams: 1, bodyBytes: 200 });
  for (let left = HUNG_QUEUE; left > 0; left -= HUNG_PARTS) await chain.commit(1, HUNG_PARTS);
}
