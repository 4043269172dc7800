/// <reference lib="dom" />
/** How a page is watched: its frames, and the work of its main thread, which a busy machine does not stretch. */
import type { CDPSession, Page } from 'playwright-core';

/** The 95th of a hundred. */
export const p95Of = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;

export interface Watch {
  /** What the main thread has worked while this ran, in milliseconds of the processor. */
  workOf<T>(run: () => Promise<T>): Promise<{ result: T; workMs: number }>;
  /** Bytes in use, after everything that nobody needs has been let go. */
  readHeap(): Promise<number>;
}

export async function watch(page: Page): Promise<Watch> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return {
    async workOf(run) {
      const before = await readMetric(session, 'TaskDuration');
      const result = await run();
      return { result, workMs: ((await readMetric(session, 'TaskDuration')) - before) * 1_000 };
    },
    async readHeap() {
      await session.send('HeapProfiler.collectGarbage');
      return readMetric(session, 'JSHeapUsedSize');
    },
  };
}

async function readMetric(session: CDPSession, name: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((metric) => metric.name === name)?.value ?? 0;
}

/** How long each frame took, while something else goes on. */
export const readFrames = (page: Page, ms: number): Promise<number[]> =>
  page.evaluate(async (forMs) => {
    const frames: number[] = [];
    const until = performance.now() + forMs;
    let last = await new Promise<number>(requestAnimationFrame);
    while (performance.now() < until) {
      const now = await new Promise<number>(requestAnimationFrame);
      frames.push(now - last);
      last = now;
    }
    return frames;
  }, ms);
