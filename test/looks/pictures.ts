/**
 * Takes pictures of the console over the demonstration's day: of the overview for the README, or with
 * `--all FOLDER` of every screen in both themes and at a phone's width, to be looked at.
 *
 *     npm run pictures [-- --all FOLDER]
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Browser, type Page } from 'playwright-core';
import { CHROMIUM_OPTIONS } from '../browser/chromium.ts';
import { startSeededDay } from './seededDay.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
/** For live rows to come, and fonts to load. */
const SETTLE_MS = 1_500;

const { values } = parseArgs({ options: { all: { type: 'string' } } });
const day = await startSeededDay();
day.startActivity();
const browser = await chromium.launch(CHROMIUM_OPTIONS);
try {
  if (values.all === undefined) {
    for (const theme of ['light', 'dark'] as const) {
      const page = await open(browser, theme, DESKTOP);
      await page.screenshot({ path: join(REPOSITORY, `docs/console-${theme}.png`) });
      await page.context().close();
    }
  } else {
    await mkdir(values.all, { recursive: true });
    const screens = await listScreens();
    for (const [name, theme, size] of [
      ['light', 'light', DESKTOP],
      ['dark', 'dark', DESKTOP],
      ['phone', 'light', PHONE],
    ] as const) {
      const page = await open(browser, theme, size);
      for (const [screen, path] of Object.entries(screens)) {
        await page.goto(`${day.url}/console${path}`);
        await page.waitForTimeout(SETTLE_MS);
        await page.screenshot({ path: join(values.all, `${screen}-${name}.png`) });
      }
      await page.context().close();
    }
  }
} finally {
  await browser.close();
  await day.stop();
}

async function open(
  from: Browser,
  colorScheme: 'light' | 'dark',
  viewport: typeof DESKTOP,
): Promise<Page> {
  const context = await from.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${day.url}/console/#key=${day.apiKey}`);
  await page.getByText('live', { exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'deposits' }).waitFor();
  await page.waitForTimeout(SETTLE_MS);
  return page;
}

/** Every route, by a name for its picture. */
async function listScreens(): Promise<Record<string, string>> {
  const failing = await day.newestOf('deposits');
  return {
    streams: '/',
    deliveries: `/deliveries?sel=${await day.newestOf('whale-usdt')}`,
    delivery: `/deliveries/${failing}?view=attempts`,
    response: `/deliveries/${failing}?view=response`,
    live: `/streams/${day.idOf('deposits')}`,
    addresses: `/streams/${day.idOf('deposits')}?tab=addresses`,
    rules: `/streams/${day.idOf('whale-usdt')}?tab=rules`,
    metrics: `/streams/${day.idOf('all-swaps')}?tab=metrics`,
    coverage: `/streams/${day.idOf('treasury')}?tab=coverage`,
    stream_settings: `/streams/${day.idOf('treasury')}?tab=settings`,
    new_stream: '/streams/new',
    explain: '/explain',
    inbox: '/inbox',
    replays: '/replays',
    chains: '/chains',
    verify: '/verify',
    settings: '/settings',
    audit: '/settings/audit',
    filter: '/deliveries',
  };
}
