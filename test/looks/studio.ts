/// <reference lib="dom" />
/**
 * Takes screenshots of the console that are the same on every run, with the sample day at a fixed
 * time.
 */
import { createHash } from 'node:crypto';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { CHROMIUM_OPTIONS } from '../browser/chromium.ts';
import { startFront, type FrontProxy } from './front.ts';
import { buildGallery, GALLERY } from './gallery.ts';
import { DESKTOP, listScreens, PHONE, settle } from './screens.ts';
import type { SeededDay } from './seededDay.ts';
import { NOW, startStillDay } from './stillDay.ts';

/**
 * Origin of the service as the browser sees it. A proxy forwards all requests to the real port.
 */
const ORIGIN = 'http://127.0.0.1:4400';
/** Time without a request after which a screen counts as loaded. */
const QUIET_MS = 300;
const PATIENCE_MS = 30_000;
const SAME_EVERYWHERE = { reducedMotion: 'reduce', locale: 'en-US', timezoneId: 'UTC' } as const;

/** Role and name of an element, and its position and size in pixels. */
export interface Box {
  what: string;
  at: [x: number, y: number, width: number, height: number];
}

export interface Shot {
  /** File name of the screenshot, without its extension. */
  name: string;
  png: Buffer;
  boxes: Box[];
}

export interface Studio {
  /** Browser version and a hash of the rendered fonts, which determine the pixels. */
  drawnBy: string;
  shots(): AsyncGenerator<Shot>;
  stop(): Promise<void>;
}

/** Screens of `listScreens` that have goldens at desktop size. */
const ON_A_DESK = [
  'streams',
  'palette',
  'deliveries',
  'save_view',
  'dialog',
  'delivery',
  'response',
  'payload',
  'live',
  'addresses',
  'rules',
  'move_paths',
  'metrics',
  'coverage',
  'stream_settings',
  'new_stream',
  'recipe',
  'dry_run',
  'verdict',
  'stopped',
  'inbox',
  'webhook',
  'answer',
  'replays',
  'replay',
  'chains',
  'add_node',
  'reason',
  'settings',
  'add_alert',
  'audit',
  'api',
];
const ON_A_PHONE = [
  'streams',
  'palette',
  'deliveries',
  'response',
  'addresses',
  'rules',
  'metrics',
  'recipe',
  'verdict',
  'stopped',
  'chains',
  'add_node',
  'settings',
  'add_alert',
  'api',
];

export async function startStudio(): Promise<Studio> {
  const day = await startStillDay();
  const screens = await listScreens(day);
  const front = await startFront(day.url);
  const browser = await chromium.launch({ ...CHROMIUM_OPTIONS, proxy: { server: front.url } });
  const storageState = await signIn(browser, day);

  async function* shots(): AsyncGenerator<Shot> {
    for (const [names, viewport, suffix] of [
      [ON_A_DESK, DESKTOP, ''],
      [ON_A_PHONE, PHONE, 'phone-'],
    ] as const) {
      const context = await browser.newContext({ ...SAME_EVERYWHERE, viewport, storageState });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      await page.clock.setFixedTime(NOW);
      for (const name of names) {
        const { path, act, chance } = screens[name]!;
        await page.goto(`${ORIGIN}/console${path}`);
        await page.getByText('live', { exact: true }).first().waitFor();
        await untilQuiet(page, front);
        await act?.(page);
        await page.mouse.move(0, 0);
        const mask = chance === undefined ? [] : [chance(page)];
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const png = await shootWhenStill(page, front, mask);
          const boxes = await page.evaluate(readBoxes);
          yield { name: `${name}-${suffix}${colorScheme}`, png, boxes };
        }
      }
      await context.close();
    }
    yield* galleryShots();
  }

  /** The sections and overlays of the components' gallery. */
  async function* galleryShots(): AsyncGenerator<Shot> {
    const context = await browser.newContext({ ...SAME_EVERYWHERE, viewport: GALLERY });
    context.setDefaultTimeout(PATIENCE_MS);
    const gallery = await buildGallery();
    await context.route(`${ORIGIN}/gallery/**`, (route, request) =>
      route.fulfill({ path: gallery.fileOf(request.url()) }),
    );
    const page = await context.newPage();
    await page.clock.setFixedTime(NOW);
    await page.goto(`${ORIGIN}/gallery/`);
    await page.getByRole('heading', { name: 'Components' }).waitFor();
    const examples = page.locator('[data-example]');
    const names = await examples.evaluateAll((found) =>
      found.map((element) => element.getAttribute('data-example') ?? ''),
    );
    for (const name of names) {
      await page.goto(`${ORIGIN}/gallery/?show=${name}`);
      await page.getByRole('main', { name }).waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const png = await shootWhenStill(page, front, []);
        const boxes = await page.evaluate(readBoxes);
        yield { name: `ui_${name}-${colorScheme}`, png, boxes };
      }
    }
    await context.close();
    await gallery.remove();
  }

  return {
    drawnBy: `Chromium ${browser.version().split('.')[0]}, ${await readHand(browser)}`,
    shots,
    async stop() {
      await browser.close();
      await front.stop();
      await day.stop();
    },
  };
}

async function signIn(browser: Browser, day: SeededDay) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${ORIGIN}/console/#key=${day.apiKey}`);
  await page.getByText('live', { exact: true }).first().waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Hashes some rendered characters to identify the machine's fonts. */
async function readHand(browser: Browser): Promise<string> {
  const page = await browser.newPage();
  await page.setContent(
    '<p style="font: 14px sans-serif">Sluice 0123 ↵ → ← ↑ ≥ … – − · ×</p><p style="font: 12px monospace">Sluice 0123 ↵ → ≥ … −</p>',
  );
  const png = await page.screenshot({ clip: { x: 0, y: 0, width: 400, height: 100 } });
  await page.close();
  return `hand ${createHash('sha256').update(png).digest('hex').slice(0, 8)}`;
}

/**
 * Reads the boxes of visible elements with a role or a label, such as headings and controls. Runs
 * in the page.
 */
function readBoxes(): Box[] {
  const named =
    'h1, h2, h3, a, button, input, select, textarea, summary, table, [role], [aria-label]';
  return [...document.querySelectorAll<HTMLElement>(named)].flatMap((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const isShown = width > 1 && height > 1 && y < innerHeight && element.checkVisibility();
    if (!isShown) return [];
    const role = element.getAttribute('role') ?? element.localName;
    const name = element.ariaLabel ?? element.innerText.slice(0, 40);
    return [
      {
        what: `${role} ${name}`.replaceAll(/\s+/g, ' ').trim(),
        at: [x, y, width, height].map(Math.round) as Box['at'],
      },
    ];
  });
}

async function untilQuiet(page: Page, front: FrontProxy): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  await settle(page);
  while (front.quietMs() < QUIET_MS) {
    if (Date.now() > deadline)
      throw new Error(`${page.url()} still sends requests after ${PATIENCE_MS} ms`);
    await page.waitForTimeout(50);
  }
  await settle(page);
}

/** Takes screenshots until two in a row are equal, and returns the last one. */
async function shootWhenStill(page: Page, front: FrontProxy, mask: Locator[]): Promise<Buffer> {
  const deadline = Date.now() + PATIENCE_MS;
  let last: Buffer | undefined;
  while (Date.now() < deadline) {
    await untilQuiet(page, front);
    await page.evaluate(() => document.fonts.ready);
    const next = await page.screenshot({ animations: 'disabled', caret: 'hide', mask });
    if (last?.equals(next)) return next;
    last = next;
  }
  throw new Error(`${page.url()} still changes after ${PATIENCE_MS} ms`);
}
