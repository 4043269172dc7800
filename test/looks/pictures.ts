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
import { createClient } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';
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
      for (const [screen, { path, act }] of Object.entries(screens)) {
        await page.goto(`${day.url}/console${path}`);
        await settle(page);
        await act?.(page);
        await settle(page);
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

/** Until nothing says any more that it is being read. */
async function settle(page: Page): Promise<void> {
  await page.waitForTimeout(SETTLE_MS / 3);
  await page.waitForFunction(() => document.querySelector('.animate-late') === null);
}

interface Screen {
  path: string;
  /** What is done there before the picture. */
  act?: (page: Page) => Promise<void>;
}

/** Every route, and what opens over it, by a name for its picture. */
async function listScreens(): Promise<Record<string, Screen>> {
  const failing = await day.newestOf('deposits');
  const whale = await day.newestOf('whale-usdt');
  const connection = { baseUrl: day.url, apiKey: day.apiKey };
  const { blockNumber, createdAt } = await createSluiceClient(connection).getDelivery(whale);
  const client = createClient(connection);
  const watched = await client.streams.listAddresses(day.idOf('usdc-on-base'), { limit: 1 });
  const contract = watched.result[0]!.address;
  await client.streams.create({
    webhookUrl: 'sluice://inbox/demo',
    description: 'Transfers of USDC, to look at',
    tag: 'usdc-to-inbox',
    chainIds: ['0x2105'],
    topic0: ['Transfer(address,address,uint256)'],
    allAddresses: true,
    includeContractLogs: true,
  });
  const ofStream = (tag: string, tab: string): Screen => ({
    path: `/streams/${day.idOf(tag)}?tab=${tab}`,
  });
  return {
    streams: { path: '/' },
    palette: {
      path: '/',
      async act(page) {
        await page.keyboard.press('Control+k');
        await page.getByRole('dialog').locator('input').fill(contract);
      },
    },
    deliveries: { path: `/deliveries?sel=${whale}` },
    filter: { path: '/deliveries' },
    past: { path: `/deliveries?until=${createdAt - 6 * 3_600_000}` },
    dialog: {
      path: '/deliveries?status=5xx',
      async act(page) {
        await page.keyboard.press('r');
        await page.getByLabel('Per second').waitFor();
      },
    },
    delivery: { path: `/deliveries/${failing}?view=attempts` },
    response: { path: `/deliveries/${failing}?view=response` },
    payload: { path: `/deliveries/${whale}?view=payload` },
    live: ofStream('deposits', 'deliveries'),
    addresses: ofStream('deposits', 'addresses'),
    rules: ofStream('whale-usdt', 'rules'),
    metrics: ofStream('all-swaps', 'metrics'),
    coverage: ofStream('treasury', 'coverage'),
    stream_settings: ofStream('treasury', 'settings'),
    new_stream: { path: '/streams/new' },
    dry_run: {
      path: `/streams/new?address=${contract}`,
      async act(page) {
        await page.getByRole('checkbox', { name: 'Ethereum' }).uncheck();
        await page.getByRole('checkbox', { name: 'Base' }).check();
        await page.getByRole('region', { name: 'Dry run' }).getByText('Sample').waitFor();
      },
    },
    explain: { path: '/explain' },
    verdict: { path: `/explain?q=${blockNumber}&chain=0x1` },
    inbox: { path: '/inbox' },
    replays: { path: '/replays' },
    chains: { path: '/chains' },
    verify: { path: '/verify' },
    reason: {
      path: `/verify?delivery=${whale}`,
      async act(page) {
        await page.getByLabel('Secret', { exact: true }).fill('whs_of_another_service');
        await page.keyboard.press('Control+Enter');
      },
    },
    settings: { path: '/settings' },
    audit: { path: '/settings/audit' },
  };
}
