/// <reference lib="dom" />
/** Tests layout shifts while a page loads, for both orders of the service's responses. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startVisitor, type Visitor } from '../browser/visitor.ts';
import { listMainPages } from './lighthouse.ts';
import { NOW, startStillDay } from './stillDay.ts';

/** Limit of the console. A shift is its share of the area times its share of the height. */
const MOST = 0.02;
/** Milliseconds between two responses. */
const STEP_MS = 150;
/** Time without a request after which a page counts as loaded. */
const QUIET_MS = 1_500;
const SLOWEST = 10;

let day: Awaited<ReturnType<typeof startStillDay>>;
let visitor: Visitor;

beforeAll(async () => {
  // A day without activity, because chains that go down and failing receivers also shift pages.
  day = await startStillDay();
  visitor = await startVisitor(day);
});

afterAll(async () => {
  await visitor?.stop();
  await day?.stop();
});

/** Returns the delay of the n-th response. */
const ORDERS = {
  'in request order': (nth: number) => Math.min(nth, SLOWEST) * STEP_MS,
  'in reverse order': (nth: number) => Math.max(0, SLOWEST - nth) * STEP_MS,
};

test.for(Object.entries(ORDERS))('nothing shifts with responses %s', async ([, waitOf]) => {
  const page = await visitor.signedIn('/chains');
  await page.clock.setFixedTime(NOW);
  await page.addInitScript(noteShifts);
  const untilQuiet = await holdBack(page, waitOf);
  const pages = {
    ...(await listMainPages(day)),
    metrics: `/streams/${day.idOf('all-swaps')}?tab=metrics`,
  };
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(`${day.url}/console${path}`);
    await page.getByText('live', { exact: true }).first().waitFor();
    await untilQuiet();
    const shifts = await page.evaluate(() => Reflect.get(globalThis, 'shifts') as Shift[]);
    const total = shifts.reduce((sum, { value }) => sum + value, 0);
    const told = shifts.map(({ value, what }) => `${value.toFixed(4)}: ${what}`);
    expect.soft(total, `${name}\n${told.join('\n')}`).toBeLessThan(MOST);
  }
  await visitor.leave();
});

interface Shift {
  value: number;
  what: string;
}

interface LayoutShift extends PerformanceEntry {
  value: number;
  sources: { node: Node | null; previousRect: DOMRect; currentRect: DOMRect }[];
}

/** Runs in the page, before its own scripts. */
function noteShifts(): void {
  const shifts: Shift[] = [];
  Object.assign(globalThis, { shifts });
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries() as LayoutShift[]) {
      const moved = sources.map(({ node, previousRect, currentRect }) => {
        const { outerHTML = node?.textContent ?? '' } = node as Partial<Element>;
        return `${outerHTML.slice(0, 120)} from ${previousRect.y} to ${currentRect.y}`;
      });
      shifts.push({ value, what: moved.join('; ') });
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

/**
 * Delays the service's responses, counted per page.
 * @returns a function that waits until the page sends no requests for a while.
 */
async function holdBack(page: Page, waitOf: (nth: number) => number): Promise<() => Promise<void>> {
  let asked = 0;
  let underWay = 0;
  let quietSince = Date.now();
  await page.route(/\/sluice\/(?!events)/, async (route) => {
    underWay++;
    await new Promise((resolve) => setTimeout(resolve, waitOf(asked++)));
    await route.continue();
    underWay--;
    quietSince = Date.now();
  });
  return async () => {
    await expect
      .poll(() => underWay === 0 && Date.now() - quietSince > QUIET_MS, { timeout: 30_000 })
      .toBe(true);
    asked = 0;
  };
}
