/// <reference lib="dom" />
/** The console's screens with the sample day. */
import { createClient } from '@sluice/kit';
import type { Locator, Page } from 'playwright-core';
import type { SeededDay } from './seededDay.ts';

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 360, height: 740 };

export interface Screen {
  path: string;
  /** Prepares the page before the screenshot. */
  act?: (page: Page) => Promise<void>;
  /**
   * Locates an element that is masked, because it differs on every run even with fixed random
   * values.
   */
  chance?: (page: Page) => Locator;
}

/**
 * Waits until the dry run ends and offers to check more blocks. Does not wait for a match, because
 * the matches depend on the hour.
 */
const endDryRun = (page: Page): Promise<void> =>
  page.getByRole('button', { name: /^Check \d+ more$/ }).waitFor();

/** Waits until no loading state is left. */
export async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('.animate-late') === null);
}

/** Opens the verdict of a stream, and waits until it shows its timing. */
async function openVerdict(page: Page, tag: string): Promise<void> {
  const verdict = page
    .getByRole('list', { name: 'Streams' })
    .locator(':scope > li')
    .filter({ hasText: tag });
  await verdict.getByText(tag).first().click();
  // Each delivery has a timing once its times have loaded; a block without deliveries has one.
  const deliveries = await verdict.getByRole('link', { name: /confirmed, / }).count();
  const timings = verdict.getByRole('figure', { name: 'Timing' });
  await timings.nth(Math.max(deliveries - 1, 0)).waitFor();
  await verdict.evaluate((item) => {
    const content = document.getElementById('content')!;
    content.scrollTop += item.getBoundingClientRect().top - content.getBoundingClientRect().top;
  });
}

/**
 * Returns the console's screens and dialogs by the name of their picture. Creates a stream that
 * delivers to an inbox, so that the inbox is not empty.
 */
export async function listScreens(day: SeededDay): Promise<Record<string, Screen>> {
  const failing = await day.newestOf('deposits');
  const whale = await day.newestOf('whale-usdt');
  const { blockNumber, createdAt } = await day.sluice.getDelivery(whale);
  const client = createClient({ baseUrl: day.url, apiKey: day.apiKey });
  const watched = await client.streams.listAddresses(day.idOf('usdc-on-base'), { limit: 1 });
  const contract = watched.result[0]!.address;
  const outage = (await day.sluice.listReplays())[0]!.id;
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
    deliveries: {
      path: `/deliveries?sel=${whale}`,
      // Waits for the text of the match's explanation, because its label appears earlier.
      act: (page) => page.getByText('which the stream selects').waitFor(),
    },
    filter: { path: '/deliveries' },
    past: { path: `/deliveries?until=${createdAt - 6 * 3_600_000}` },
    dialog: {
      path: '/deliveries?status=5xx',
      async act(page) {
        await page.keyboard.press('r');
        await page.getByLabel('Deliveries per second').waitFor();
      },
    },
    delivery: { path: `/deliveries/${failing}?view=attempts` },
    response: { path: `/deliveries/${failing}?view=response` },
    payload: { path: `/deliveries/${whale}?view=payload` },
    address: {
      path: `/addresses/${contract}`,
      act: (page) => page.getByText(/^Last seen/).waitFor(),
    },
    live: ofStream('deposits', 'deliveries'),
    addresses: ofStream('deposits', 'addresses'),
    rules: { ...ofStream('whale-usdt', 'rules'), act: endDryRun },
    move_paths: { ...ofStream('aptos-payments', 'rules'), act: endDryRun },
    metrics: ofStream('all-swaps', 'metrics'),
    coverage: ofStream('treasury', 'coverage'),
    stream_settings: ofStream('treasury', 'settings'),
    new_stream: { path: '/streams/new' },
    recipe: {
      path: `/streams/new?recipe=payments&address=${contract}`,
      async act(page) {
        await page.getByRole('checkbox', { name: 'Ethereum' }).uncheck();
        await page.getByRole('checkbox', { name: 'Base', exact: true }).check();
        // The amount is in the token's unit once its decimals are known.
        await page.getByLabel('Least amount of a transfer, in USDC').waitFor();
        await page.getByLabel('Value', { exact: true }).fill('1,000,000');
        await endDryRun(page);
      },
    },
    dry_run: {
      path: `/streams/new?address=${contract}`,
      async act(page) {
        await page.getByRole('checkbox', { name: 'Ethereum' }).uncheck();
        await page.getByRole('checkbox', { name: 'Base', exact: true }).check();
        await endDryRun(page);
      },
    },
    explain: { path: '/explain' },
    verdict: {
      path: `/explain?q=${blockNumber}&chain=0x1`,
      act: (page) => openVerdict(page, 'whale-usdt'),
    },
    stopped: {
      path: `/explain?q=${blockNumber}&chain=0x1`,
      act: (page) => openVerdict(page, 'treasury'),
    },
    inbox: { path: '/inbox' },
    webhook: {
      path: '/inbox/demo',
      async act(page) {
        await page.locator('[data-row-link]').first().waitFor();
        await page.keyboard.press('j');
        await page.keyboard.press('Enter');
        await page
          .getByRole('region', { name: 'Webhook', exact: true })
          .getByText('valid')
          .first()
          .waitFor();
      },
    },
    answer: {
      path: '/inbox',
      async act(page) {
        await page.getByRole('button', { name: 'Set response' }).click();
        await page.getByRole('button', { name: 'Fail every 3rd' }).click();
      },
    },
    replays: { path: '/replays' },
    replay: { path: `/replays/${outage}?state=failed` },
    new_replay: {
      path: '/replays',
      async act(page) {
        await page.keyboard.press('r');
        await page.getByRole('button', { name: /^Replay \d/ }).waitFor();
      },
    },
    chains: { path: '/chains' },
    add_node: {
      path: '/chains',
      async act(page) {
        await page.getByRole('button', { name: 'Add node…' }).click();
        await page.getByRole('dialog').getByLabel('URL').waitFor();
      },
    },
    verify: { path: '/verify' },
    reason: {
      path: `/verify?delivery=${whale}`,
      async act(page) {
        const headers = page.getByLabel('Headers');
        const lines = (await headers.inputValue()).split('\n');
        await headers.fill(`${lines[0]}\nwebhook-timestamp: 1\nwebhook-signature: v1,AAAA`);
        await page.getByLabel('Secret or public key').fill('whs_of_another_service');
        await page.keyboard.press('Control+Enter');
      },
    },
    settings: { path: '/settings' },
    add_alert: {
      path: '/settings',
      async act(page) {
        await page.getByRole('button', { name: 'Add alert URL' }).click();
        await page.getByRole('dialog').getByLabel('URL').waitFor();
      },
    },
    save_view: {
      path: '/deliveries?state=failed',
      async act(page) {
        await page.getByRole('button', { name: 'Save view' }).click();
        await page.getByLabel('View name').fill('Failures');
      },
    },
    audit: { path: '/settings/audit' },
    api: {
      path: '/settings/api?call=rotateStreamSecret',
      async act(page) {
        await page.getByRole('button', { name: 'Try it' }).click();
        await page.getByRole('textbox', { name: 'Body' }).waitFor();
      },
    },
  };
}
