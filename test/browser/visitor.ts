/** A user of the console: pages in Chromium, and checks that apply to all of them. */
import { AxeBuilder } from '@axe-core/playwright';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { CHROMIUM_OPTIONS } from './chromium.ts';
import type { World } from './world.ts';

type Options = Parameters<Browser['newContext']>[0];

export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** Timeout of each step, for a busy machine. */
const PATIENCE_MS = 60_000;

export interface Visitor {
  /** Opens a page without a session. */
  open(options?: Options): Promise<Page>;
  /** Opens a page signed in by link, as `npm start` prints it. */
  signedIn(path?: string, options?: Options): Promise<Page>;
  /** Closes every page; throws if any logged an error or requested another site. */
  leave(): Promise<void>;
  /** Requires that all complaints so far are expected, and clears them. */
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
      // Axe would read colors during a transition.
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
  // Without frames, axe needs no second page to merge its results.
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
