/**
 * Takes pictures of the console over the demonstration's day: of the overview for the README, or with
 * `--all FOLDER` of every screen in both themes and at a phone's width, to be looked at.
 *
 *     npm run pictures [-- --all FOLDER]
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createSluiceClient } from '@sluice/kit/sluice';
import { startService } from '@sluice/service';
import { chromium, type Browser, type Page } from 'playwright-core';
import { startDemo } from '../../packages/cli/src/demo/startDemo.ts';
import { CHROMIUM_OPTIONS } from './chromium.ts';
import { buildConsole } from './world.ts';

const API_KEY = 'pictures_key_0123456789';
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
/** For live rows to come, and fonts to load. */
const SETTLE_MS = 1_500;

const { values } = parseArgs({ options: { all: { type: 'string' } } });
const folder = await mkdtemp(join(tmpdir(), 'sluice-pictures-'));
const demo = await startDemo({ folder });
const service = await startService({
  port: 0,
  host: '127.0.0.1',
  dataFolder: folder,
  apiKey: API_KEY,
  chains: demo.chains,
  aptos: demo.aptos,
  allowPrivateEndpoints: true,
  consoleFolder: await buildConsole(),
});
demo.startActivity();
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
        await page.goto(`${service.url}/console${path}`);
        await page.waitForTimeout(SETTLE_MS);
        await page.screenshot({ path: join(values.all, `${screen}-${name}.png`) });
      }
      await page.context().close();
    }
  }
} finally {
  await browser.close();
  await service.stop();
  await demo.stop();
  await rm(folder, { recursive: true });
}

async function open(
  from: Browser,
  colorScheme: 'light' | 'dark',
  viewport: typeof DESKTOP,
): Promise<Page> {
  const context = await from.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${service.url}/console/#key=${API_KEY}`);
  await page.getByText('live', { exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'deposits' }).waitFor();
  await page.waitForTimeout(SETTLE_MS);
  return page;
}

/** Every route, by a name for its picture. */
async function listScreens(): Promise<Record<string, string>> {
  const sluice = createSluiceClient({ baseUrl: service.url, apiKey: API_KEY });
  const streams = await sluice.listStreamSummaries();
  const idOf = (tag: string): string => streams.find((each) => each.tag === tag)!.id;
  const newest = async (tag: string): Promise<string> =>
    (await sluice.listDeliveries({ streamId: idOf(tag), limit: 1 })).result[0]!.id;
  const failing = await newest('deposits');
  return {
    streams: '/',
    deliveries: `/deliveries?sel=${await newest('whale-usdt')}`,
    delivery: `/deliveries/${failing}?view=attempts`,
    response: `/deliveries/${failing}?view=response`,
    live: `/streams/${idOf('deposits')}`,
    addresses: `/streams/${idOf('deposits')}?tab=addresses`,
    rules: `/streams/${idOf('whale-usdt')}?tab=rules`,
    metrics: `/streams/${idOf('all-swaps')}?tab=metrics`,
    coverage: `/streams/${idOf('treasury')}?tab=coverage`,
    stream_settings: `/streams/${idOf('treasury')}?tab=settings`,
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
