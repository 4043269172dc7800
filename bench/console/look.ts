/// <reference lib="dom" />
/**
 * Measures the frames, the main thread's processor time and the heap of a page. The processor time
 * does not depend on other load.
 */
import type { CDPSession, Page } from 'playwright-core';

export const p95Of = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;

export interface Watch {
  /** Runs the function. Returns its result and the main thread's processor time in milliseconds. */
  workOf<T>(run: () => Promise<T>): Promise<{ result: T; workMs: number }>;
  /** Returns the bytes of the JavaScript heap that are in use after a garbage collection. */
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

/** Returns the duration in milliseconds of each frame in the next `ms` milliseconds. */
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

/** Returns the milliseconds from the click on the link until the rows are painted. */
export const measureMount = (page: Page, name: string): Promise<number> =>
  page.evaluate(async (text) => {
    const frame = () => new Promise<number>(requestAnimationFrame);
    const link = [...document.querySelectorAll('a')].find(
      ({ textContent }) => textContent === text,
    );
    const started = performance.now();
    link?.click();
    while (document.querySelectorAll('[data-row-link]').length < 10) await frame();
    await frame();
    return performance.now() - started;
  }, name);

/**
 * Scrolls the element by `px` pixels in each of `scrolls` frames, then back to its top. Returns the
 * duration in milliseconds of each frame.
 */
export const readScrollFrames = (
  page: Page,
  selector: string,
  scrolls: number,
  px: number,
): Promise<number[]> =>
  page.evaluate(
    async ([element, times, step]) => {
      const scroller = document.querySelector(element);
      const frames: number[] = [];
      let last = await new Promise<number>(requestAnimationFrame);
      for (let each = 0; each < times; each++) {
        scroller?.scrollBy(0, step);
        const now = await new Promise<number>(requestAnimationFrame);
        frames.push(now - last);
        last = now;
      }
      scroller?.scrollTo(0, 0);
      return frames;
    },
    [selector, scrolls, px] as const,
  );
