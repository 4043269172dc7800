/**
 * Measures the time from the commit of a block to the first byte of its webhooks next to 1,000
 * receivers that never respond, each with its own host and a queue, from the start of the deliverer
 * on.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Figures } from '../figures.ts';
import { type EngineName, withLedger } from './ledgers.ts';
import { HUNG_PATH, startReceiver } from './receiver.ts';
import { createChain, startEngine } from './workload.ts';

const HEALTHY = 50;
const HANGING = 1_000;
const QUEUED_EACH = 40;
const BLOCK_EVERY_MS = 100;
const MATCHES_PER_BLOCK = 20;
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
      const committedAt = new Map<string, number>();
      const arrivedAt = new Map<string, number>();
      const started = performance.now();
      for (let block = 0; block * BLOCK_EVERY_MS < MEASURED_MS; block++) {
        await wait(Math.max(0, started + block * BLOCK_EVERY_MS - performance.now()));
        if (block % HANGING_EVERY === 0) await hanging.commit(HANGING);
        const deliveries = await healthy.commit(MATCHES_PER_BLOCK);
        const at = performance.timeOrigin + performance.now();
        for (const { id } of deliveries) committedAt.set(id, at);
      }
      const deadline = performance.now() + 60_000;
      while ([...committedAt.keys()].some((id) => !arrivedAt.has(id))) {
        if (performance.now() > deadline) throw new Error('Some webhooks did not arrive');
        await wait(50);
        for (const [id, at] of await receiver.takeArrivals()) arrivedAt.set(id, at);
      }
      await engine.stop();
      const waits = [...committedAt]
        .map(([id, at]) => Math.max(0, arrivedAt.get(id)! - at))
        .toSorted((a, b) => a - b);
      const ms = (share: number, note: string) => ({
        value: waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]!,
        unit: 'ms',
        note,
      });
      return {
        p50: ms(0.5, `next to ${HANGING} receivers that never respond, ${QUEUED_EACH} queued each`),
        p95: ms(0.95, 'the same'),
        worst: ms(1, 'the same'),
      };
    });
  } finally {
    await receiver.stop();
  }
}
