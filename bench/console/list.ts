/// <reference lib="dom" />
/**
 * Measures typing in the filter of streams, and mounting, scrolling and live updates of the list of
 * deliveries.
 */
import type { Page } from 'playwright-core';
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './bench.ts';
import { ROWS } from './front.ts';
import { measureMount, p95Of, readFrames, readScrollFrames, watch } from './look.ts';

const APPENDED_PER_SECOND = 200;
const APPEND_MS = 5_000;
const SCROLLS = 120;

export async function measureList({ page, front }: Bench): Promise<Figures> {
  await page.goto(`${front.url}/console/`);
  await page.getByRole('link', { name: 'bench' }).waitFor();
  const { workOf } = await watch(page);
  const typingMs = await measureTyping(page);
  await page.waitForTimeout(1_000);
  const stillMs = p95Of(await readFrames(page, 1_000));
  const mount = await workOf(() => measureMount(page, 'Deliveries'));
  const rows = await page.locator('[data-row-link]').count();
  await page.waitForTimeout(500);
  const scroll = await workOf(() => readScrollFrames(page, '.delivery-list', SCROLLS, 2_400));
  front.append(APPENDED_PER_SECOND);
  await page.waitForTimeout(1_000);
  const append = await workOf(() => readFrames(page, APPEND_MS));
  front.stopAppending();
  return {
    'frame of a page at rest': toFigure(
      stillMs,
      'ms',
      'p95; the machine’s share of the figures below',
    ),
    'typing in the filter': toFigure(typingMs, 'ms', 'slowest key to the next paint; goal 50'),
    'list mounted': toFigure(mount.result, 'ms', `${ROWS.toLocaleString('en')} rows; goal 150`),
    'list mounted, work': toFigure(mount.workMs, 'ms', 'of the main thread'),
    'rows in the document': toFigure(rows, '', 'goal: 60 at most'),
    'fast scroll': toFigure(p95Of(scroll.result), 'ms', 'frame, p95; goal 34'),
    'fast scroll, work': toFigure(scroll.workMs / SCROLLS, 'ms', 'of the main thread per frame'),
    'live append': toFigure(
      p95Of(append.result),
      'ms',
      `${APPENDED_PER_SECOND} rows per second, frame, p95; goal 20`,
    ),
    'live append, work': toFigure(
      append.workMs / (APPEND_MS / 1_000),
      'ms',
      'of the main thread per second',
    ),
  };
}

/**
 * Returns the longest time in milliseconds from an input event to the next paint, as measured by
 * the browser; 0 if every input event took less than 16 ms.
 */
async function measureTyping(page: Page): Promise<number> {
  await page.evaluate(() => {
    const slowest = { slowestKeyMs: 0 };
    Object.assign(globalThis, slowest);
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        const known = Reflect.get(globalThis, 'slowestKeyMs') as number;
        Reflect.set(globalThis, 'slowestKeyMs', Math.max(known, duration));
      }
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  });
  await page.getByLabel('Filter streams').click();
  await page.keyboard.type('bench chain:eth', { delay: 60 });
  await page.waitForTimeout(300);
  return page.evaluate(() => Reflect.get(globalThis, 'slowestKeyMs') as number);
}
