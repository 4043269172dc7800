/** Opens pages of the console in Chromium as a user would, and checks them. */
import { AxeBuilder } from '@axe-core/playwright';
import {
  chromium,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
} from 'playwright-core';
import { expect } from 'vitest';
import { CHROMIUM_OPTIONS } from './chromium.ts';
import type { World } from './world.ts';

type Options = Parameters<Browser['newContext']>[0];

export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** Timeout of each action in the browser, long enough for a busy machine. */
const PATIENCE_MS = 60_000;

export interface Visitor {
  /** Opens a page without a session. */
  open(options?: Options): Promise<Page>;
  /** Opens a page by a link that signs in, like the one that `npm start` prints. */
  signedIn(path?: string, options?: Options): Promise<Page>;
  /**
   * Closes every page. Throws if any of them logged an error or a warning, or requested another
   * site.
   */
  leave(): Promise<void>;
  /**
   * Throws if the pages had an unexpected problem of a kind that `leave` reports. Otherwise, clears
   * the problems so far.
   */
  expectComplaints(isExpected: (text: string) => boolean): void;
  stop(): Promise<void>;
}

export async function startVisitor(world: Pick<World, 'url' | 'apiKey'>): Promise<Visitor> {
  const browser = await chromium.launch(CHROMIUM_OPTIONS);
  let contexts: BrowserContext[] = [];
  let complaints: string[] = [];

  const open: Visitor['open'] = async (options = {}) => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      // Turns off transitions, because axe could measure a color in the middle of one.
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    contexts.push(context);
    const page = await context.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(world.url) && !url.startsWith(`blob:${world.url}`)) {
        complaints.push(`requested ${url}`);
      }
    });
    return page;
  };

  return {
    open,
    async signedIn(path = '/', options = {}) {
      const page = await open(options);
      await page.goto(`${world.url}/console${path}#key=${world.apiKey}`);
      await page.getByText('live', { exact: true }).first().waitFor();
      return page;
    },
    async leave() {
      await Promise.all(contexts.map((context) => context.close()));
      contexts = [];
      const found = complaints;
      complaints = [];
      expect(found).toEqual([]);
    },
    expectComplaints(isExpected) {
      expect(complaints.filter((text) => !isExpected(text))).toEqual([]);
      complaints = [];
    },
    stop: () => browser.close(),
  };
}

/** Numbers of user actions. Modifier keys do not count. */
interface Actions {
  clicks: number;
  keys: number;
  /** Number of changes to fields, such as a paste or a typed character. */
  texts: number;
}

/**
 * Starts counting the actions on the page, until it is reloaded. Returns a function that returns
 * the counts.
 */
export async function countActions(page: Page): Promise<() => Promise<Actions>> {
  await page.evaluate(() => {
    const actions = { clicks: 0, keys: 0, texts: 0 };
    const modifier = /^(Alt|Control|Meta|Shift)$/;
    addEventListener('pointerdown', () => (actions.clicks += 1), true);
    addEventListener('keydown', ({ key }) => (actions.keys += Number(!modifier.test(key))), true);
    addEventListener('input', () => (actions.texts += 1), true);
    Object.assign(globalThis, { actions });
  });
  return () => page.evaluate(() => (globalThis as unknown as { actions: Actions }).actions);
}

export const rowsOf = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('cell') });

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export const expectAccessible = (page: Page): Promise<void> =>
  expectNoViolation(page, (axe) => axe.withTags(TAGS));

/** Checks contrast, the only rule that depends on the theme. */
export const expectContrast = (page: Page): Promise<void> =>
  expectNoViolation(page, (axe) => axe.withRules(['color-contrast']));

async function expectNoViolation(
  page: Page,
  choose: (axe: AxeBuilder) => AxeBuilder,
): Promise<void> {
  // In legacy mode, axe does not open a second page. That page is needed only to merge the results
  // of frames.
  const { violations } = await choose(new AxeBuilder({ page })).setLegacyMode(true).analyze();
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join('\n  ')}`,
  );
  expect(found, page.url()).toEqual([]);
}

export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const overflow = await page.evaluate(() =>
    [document.documentElement, document.getElementById('content')].map(
      (element) => (element?.scrollWidth ?? 0) - (element?.clientWidth ?? 0),
    ),
  );
  expect(overflow, page.url()).toEqual([0, 0]);
}

/** Returns interactive elements below the minimum target size (WCAG 2.2, 24 px). */
export const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, a, select, input, textarea, summary')]
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(
        ({ element, box }) =>
          box.width > 1 &&
          (box.width < 24 || box.height < 24) &&
          // Links that cover their row, and checkboxes inside a label, have a larger target.
          getComputedStyle(element, '::after').position !== 'absolute' &&
          element.closest('label') === null,
      )
      .map(({ element, box }) => `${element.outerHTML.slice(0, 120)} ${box.width}×${box.height}`),
  );

/** Waits until the focused element, or its `::after`, has a visible outline. */
export async function expectFocusSeen(page: Page): Promise<void> {
  const readFocus = () =>
    page.evaluate(() => {
      const focused = document.activeElement;
      if (focused === null || focused === document.body) return 'nothing has the focus';
      const isDrawn = (pseudo?: string): boolean => {
        const { outlineStyle, outlineWidth, borderColor } = getComputedStyle(focused, pseudo);
        return (outlineStyle !== 'none' && outlineWidth !== '0px') || borderColor === 'accent';
      };
      return isDrawn() || isDrawn('::after') ? 'seen' : `not seen on ${focused.outerHTML}`;
    });
  await expect.poll(readFocus, { timeout: PATIENCE_MS }).toBe('seen');
}

/** Presses Tab until the target has the focus; throws after 60 presses. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('not reached by 60 presses of Tab');
}
