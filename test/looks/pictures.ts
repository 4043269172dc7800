/**
 * Takes screenshots of the console with the sample day. By default, it takes the overview for the
 * README; with `--all FOLDER`, every screen in both themes, and in the light theme at a phone's
 * width. `--goldens` replaces the goldens of `npm run test:looks`.
 *
 *     npm run pictures [-- --all FOLDER | --goldens]
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Browser, type Page } from 'playwright-core';
import { CHROMIUM_OPTIONS } from '../browser/chromium.ts';
import { recordGoldens } from './goldens.ts';
import { DESKTOP, listScreens, PHONE, settle } from './screens.ts';
import { startSeededDay, type SeededDay } from './seededDay.ts';
import { startStudio } from './studio.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
/** Time for live rows to arrive and fonts to load. */
const SETTLE_MS = 1_500;

const { values } = parseArgs({
  options: { all: { type: 'string' }, goldens: { type: 'boolean', default: false } },
});

if (values.goldens) {
  const studio = await startStudio();
  await recordGoldens(studio);
  await studio.stop();
} else {
  const day = await startSeededDay();
  day.startActivity();
  const browser = await chromium.launch(CHROMIUM_OPTIONS);
  try {
    if (values.all === undefined) await takeOverview(browser, day);
    else await takeAll(browser, day, values.all);
  } finally {
    await browser.close();
    await day.stop();
  }
}

async function takeOverview(browser: Browser, day: SeededDay): Promise<void> {
  for (const theme of ['light', 'dark'] as const) {
    const page = await open(browser, day, theme, DESKTOP);
    await page.screenshot({ path: join(REPOSITORY, `docs/console-${theme}.png`) });
    await page.context().close();
  }
}

async function takeAll(browser: Browser, day: SeededDay, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const screens = await listScreens(day);
  for (const [name, theme, size] of [
    ['light', 'light', DESKTOP],
    ['dark', 'dark', DESKTOP],
    ['phone', 'light', PHONE],
  ] as const) {
    const page = await open(browser, day, theme, size);
    for (const [screen, { path, act }] of Object.entries(screens)) {
      await page.goto(`${day.url}/console${path}`);
      await rest(page);
      await act?.(page);
      await rest(page);
      await page.screenshot({ path: join(folder, `${screen}-${name}.png`) });
    }
    await page.context().close();
  }
}

async function rest(page: Page): Promise<void> {
  await page.waitForTimeout(SETTLE_MS / 3);
  await settle(page);
}

async function open(
  browser: Browser,
  day: SeededDay,
  colorScheme: 'light' | 'dark',
  viewport: typeof DESKTOP,
): Promise<Page> {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${day.url}/console/#key=${day.apiKey}`);
  await page.getByText('live', { exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'deposits' }).waitFor();
  await page.waitForTimeout(SETTLE_MS);
  return page;
}
