/**
 * Measures the time from the commit of a block to the first byte of its webhooks next to 1,000
 * receivers that never respond, each with its own host and a queue, from the start of the deliverer
 * on.
 */
import type { Figures } from '../figures.ts';
import { type EngineName, withLedger } from './ledgers.ts';
import { HUNG_PATH, startReceiver } from './receiver.ts';
import { measureWaits, quantileOf } from './waits.ts';
import { createChain, startEngine } from './workload.ts';

const HEALTHY = 50;
const HANGING = 1_000;
const QUEUED_EACH = 40;
/** Webhooks per second of the healthy streams. */
const RATE = 200;
/** Blocks of the healthy streams between two blocks of the hanging ones. */
const HANGING_EVERY = 20;
const MEASURED_MS = 40_000;

export async function measureHanging(engineName: EngineName): Promise<Figures> {
  const receiver = await startReceiver();
  const { port } = new URL(receiver.url);
  /** Each receiver has its own address, and therefore its own connections. */
  const hangingUrl = (n: number): string =>
    `http://127.1.${Math.trunc(n / 250)}.${1 + (n % 250)}:${port}${HUNG_PATH}`;
  try {
    return await withLedger(engineName, async ({ store }) => {
      const hanging = await createChain(store, hangingUrl, { streams: HANGING, bodyBytes: 200 });
      const healthy = await createChain(store, (n) => `${receiver.url}/hook/${n}`, {
        streams: HEALTHY,
      });
      for (let n = 0; n < QUEUED_EACH; n++) await hanging.commit(HANGING);
      const engine = await startEngine(store, () => {});
      const waits = await measureWaits(healthy, receiver, {
        rate: RATE,
        forMs: MEASURED_MS,
        beforeBlock: async (block) => {
          if (block % HANGING_EVERY === 0) await hanging.commit(HANGING);
        },
      });
      await engine.stop();
      return {
        p50: quantileOf(
          waits,
          0.5,
          `next to ${HANGING} receivers that never respond, ${QUEUED_EACH} queued each`,
        ),
        p95: quantileOf(waits, 0.95, 'the same'),
        worst: quantileOf(waits, 1, 'the same'),
      };
    });
  } finally {
    await receiver.stop();
  }
}
