/**
 * Measures whether memory stays flat: sends a steady flow of webhooks on SQLite for the given time,
 * and prints a line per minute and the growth at the end.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startHousekeeping } from '../../packages/service/src/operate/housekeeping.ts';
import type { InvariantCheck } from '../../packages/service/src/operate/invariants.ts';
import { createLog } from '../../packages/service/src/base/log.ts';
import type { Figures } from '../figures.ts';
import { withLedger } from './ledgers.ts';
import { startReceiver } from './receiver.ts';
import { createChain, startEngine } from './workload.ts';

const STREAMS = 100;
const BLOCK_EVERY_MS = 200;
const MINUTE_MS = 60_000;
/**
 * Retention of deliveries. It is short, so that the ledger also stops growing, and is applied every
 * ten minutes.
 */
const KEPT_MS = 2 * MINUTE_MS;
const MB = 1e6;

/** Replacement for the integrity checks, which are not part of this measurement. */
const NONE: InvariantCheck = {
  look: () => Promise.resolve(),
  counts: () => {
    throw new Error('not called');
  },
};

interface Reading {
  minute: number;
  rssMb: number;
  heapMb: number;
}

export async function measureMemory(minutes: number): Promise<Figures> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const receiver = await startReceiver();
  const readings: Reading[] = [];
  let delivered = 0;
  let slowestOfAllMs = 0;
  try {
    await withLedger('sqlite', async ({ store }) => {
      const engine = await startEngine(store, (count) => (delivered += count));
      const chain = await createChain(store, `${receiver.url}/hook`, {
        streams: STREAMS,
        deliver: 'confirmed',
      });
      const housekeeping = startHousekeeping({
        store,
        log: createLog((line) => process.stderr.write(line)),
        invariants: NONE,
        options: { deliveredMs: KEPT_MS, undeliveredMs: KEPT_MS, terminateAfterHours: undefined },
      });
      const started = performance.now();
      let nextBlock = started;
      for (let minute = 1; minute <= minutes; minute++) {
        const before = delivered;
        let slowestMs = 0;
        while (performance.now() < started + minute * MINUTE_MS) {
          const asked = performance.now();
          await chain.commit(STREAMS);
          slowestMs = Math.max(slowestMs, performance.now() - asked);
          await receiver.takeArrivals();
          nextBlock += BLOCK_EVERY_MS;
          await wait(Math.max(0, nextBlock - performance.now()));
        }
        collectGarbage();
        const { rss, heapUsed } = process.memoryUsage();
        readings.push({ minute, rssMb: rss / MB, heapMb: heapUsed / MB });
        console.log(
          `minute ${minute}: ${delivered - before} delivered, RSS ${(rss / MB).toFixed(1)} MB, ` +
            `heap ${(heapUsed / MB).toFixed(1)} MB, slowest commit ${slowestMs.toFixed(0)} ms`,
        );
        slowestOfAllMs = Math.max(slowestOfAllMs, slowestMs);
      }
      await housekeeping.stop();
      await engine.stop();
    });
  } finally {
    await receiver.stop();
  }
  // Skips the first third, in which caches fill and code is compiled.
  const settled = readings.slice(Math.floor(readings.length / 3));
  const last = settled.at(-1)!;
  return {
    delivered: { value: delivered, unit: '', note: `in ${minutes} minutes` },
    rss: { value: last.rssMb, unit: 'MB', note: 'at the end' },
    heap: { value: last.heapMb, unit: 'MB', note: 'at the end, after a collection' },
    rss_slope: {
      value: slopeOf(settled, 'rssMb'),
      unit: 'MB/h',
      note: 'least squares, without the first third of the minutes',
    },
    heap_slope: { value: slopeOf(settled, 'heapMb'), unit: 'MB/h', note: 'the same' },
    slowest_commit: { value: slowestOfAllMs, unit: 'ms', note: 'of a block, while retention runs' },
  };
}

/** Returns the growth per hour in MB, by least squares; 0 for a single reading. */
function slopeOf(readings: readonly Reading[], key: 'rssMb' | 'heapMb'): number {
  const mean = (values: number[]): number => values.reduce((sum, n) => sum + n, 0) / values.length;
  const x = mean(readings.map(({ minute }) => minute));
  const y = mean(readings.map((each) => each[key]));
  let covariance = 0;
  let variance = 0;
  for (const each of readings) {
    covariance += (each.minute - x) * (each[key] - y);
    variance += (each.minute - x) ** 2;
  }
  return variance === 0 ? 0 : (60 * covariance) / variance;
}
