/// <reference lib="dom" />
/**
 * Tests that pages hardly shift while they load, with responses in request order and in reverse
 * order.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startVisitor, type Visitor } from '../browser/visitor.ts';
import { listMainPages } from './lighthouse.ts';
import { NOW, startStillDay } from './stillDay.ts';

/**
 * Maximum cumulative layout shift of a page. A shift counts as the affected share of the viewport
 * times the distance moved as a share of the viewport.
 */
const MOST = 0.02;
/** Difference between the delays of consecutive responses. */
const STEP_MS = 150;
/** Time without a request after which a page counts as loaded. */
const QUIET_MS = 1_500;
const SLOWEST = 10;

let day: Awaited<ReturnType<typeof startStillDay>>;
let visitor: Visitor;

beforeAll(async () => {
  // The day has no activity, because chains that go down and receivers that fail would also shift
  // pages.
  day = await startStillDay();
  visitor = await startVisitor(day);
});

afterAll(async () => {
  await visitor?.stop();
  await day?.stop();
});

/** Delay in milliseconds of the nth response, counted from 0, for each order of the responses. */
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
    const described = shifts.map(({ value, what }) => `${value.toFixed(4)}: ${what}`);
    expect.soft(total, `${name}\n${described.join('\n')}`).toBeLessThan(MOST);
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

/** Records layout shifts. Runs in the page, before the page's own scripts. */
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
 * Delays the responses to the page's API calls, except the live feed.
 * @returns a function that waits until the page has sent no API call for a while, and then counts
 * the responses from 0 again.
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
