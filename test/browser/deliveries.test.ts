/** Tests the list of deliveries with a day of sample data: columns, saved views and export. */
import { readFile } from 'node:fs/promises';
import { signWebhook } from '@sluice/kit/contract';
import type { DeliverySummary } from '@sluice/kit/sluice';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { settle } from '../looks/screens.ts';
import { startSeededDay } from '../looks/seededDay.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE,
  rowsOf,
  smallTargets,
} from './visitor.ts';

const day = useRunning(startSeededDay);
const visitor = useVisitor(day);

test.each([
  { width: 1440, view: '', least: 260 },
  { width: 1440, view: 'inspector', least: 320 },
  { width: 1280, view: 'inspector', least: 320 },
  { width: 1024, view: 'inspector', least: 200 },
  { width: 360, view: '', least: 260 },
])('the summary takes the space that is left at $width px $view', async (layout) => {
  const { width, view, least } = layout;
  const sel = view === '' ? '' : `?sel=${await day.newestOf('whale-usdt')}`;
  const page = await visitor.signedIn(`/deliveries${sel}`, { viewport: { width, height: 800 } });
  const row = rowsOf(page).first();
  const summary = await row.locator('.cell-what').boundingBox();
  expect(summary!.width).toBeGreaterThanOrEqual(least);
  expect(await row.getByRole('cell', { name: /^(un)?confirmed$/ }).count()).toBe(1);
  await expectNoSidewaysScroll(page);
});

/** Returns the boxes of the search field, the columns and the first row. */
const readBoxes = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const boxOf = (element: Element): string => {
      const { x, y, width } = element.getBoundingClientRect();
      return `${Math.round(x)} ${Math.round(y)} ${Math.round(width)}`;
    };
    const selector = '[aria-label="Deliveries"] :is(input[type=search], [role=columnheader])';
    const rows = document.querySelectorAll('.delivery-row');
    return [...document.querySelectorAll(selector), ...[...rows].slice(0, 1)].map(boxOf);
  });

test.each([1440, PHONE.viewport.width])(
  'columns and search field stay in place while rows, counts and pages load at %i px',
  async (width) => {
    const page = await visitor.signedIn('/deliveries', { viewport: { width, height: 900 } });
    const { createdAt } = (await day.sluice.listDeliveries({ limit: 1 })).result[0]!;
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/sluice\/(deliveries|counts)\?/, async (route) => {
      await answered;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('searchbox', { name: 'Search by' }).waitFor();
    const before = await readBoxes(page);
    answer();
    await rowsOf(page).first().waitFor();
    await settle(page);
    const after = await readBoxes(page);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after).toHaveLength(before.length + 1);
    // A list of past deliveries has two more buttons.
    await page.goto(`${day.url}/console/deliveries?until=${createdAt - 3_600_000}`);
    await page.getByRole('button', { name: 'Newest' }).waitFor();
    await rowsOf(page).first().waitFor();
    expect(await readBoxes(page)).toEqual(after);
  },
);

test('the header of a stream makes room for its deliveries while they are scrolled', async () => {
  const path = `/streams/${day.idOf('usdc-on-base')}`;
  const page = await visitor.signedIn(path, { viewport: { width: 1440, height: 900 } });
  const list = page.locator('.delivery-list');
  await rowsOf(page).first().waitFor();
  const topOf = async (): Promise<number> => (await list.boundingBox())!.y;
  const full = await topOf();
  await page.locator('.delivery-row').nth(3).hover();
  await page.mouse.wheel(0, 600);
  await page.getByRole('button', { name: 'Show the complete header' }).waitFor();
  // The first row is below the column headers.
  expect(await topOf()).toBeLessThan(190);
  expect(await list.evaluate((element) => element.scrollTop)).toBeGreaterThan(500);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Show the complete header' }).click();
  await expect.poll(topOf).toBe(full);
  await list.hover();
  await page.mouse.wheel(0, 600);
  await expect.poll(topOf).toBeLessThan(190);
  await list.evaluate((element) => element.scrollTo({ top: 0 }));
  await expect.poll(topOf).toBe(full);
});

test('deliveries are found by a value in their body', async () => {
  const whale = await day.newestOf('whale-usdt');
  const { about, blockNumber } = await day.sluice.getDelivery(whale);
  const page = await visitor.signedIn('/deliveries');
  const field = page.getByRole('searchbox', { name: 'Body contains' });
  await field.fill('$.block.number >');
  await field.press('Enter');
  await page.getByText('Not a valid path.').waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  await expectAccessible(page);
  await field.fill(`$.block.number = ${blockNumber}`);
  await field.press('Enter');
  await page
    .getByRole('button', { name: `body: $.block.number = ${blockNumber}, remove` })
    .waitFor();
  await rowsOf(page).filter({ hasText: about }).first().waitFor();
  const blocks = await rowsOf(page).locator('.cell-block').allTextContents();
  expect(new Set(blocks)).toEqual(new Set([blockNumber.toLocaleString('en-US')]));
});

test.each([1440, PHONE.viewport.width])(
  'an edited copy is sent to an inbox, signed with the test secret, at %i px',
  async (width) => {
    const id = await day.newestOf('whale-usdt');
    const page = await visitor.signedIn(`/deliveries/${id}`, { viewport: { width, height: 740 } });
    await page.getByRole('button', { name: 'Edit and resend' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit and resend' });
    const body = dialog.getByLabel('Body');
    await body.fill('{"edited": ');
    expect(await dialog.getByRole('button', { name: 'Send copy' }).isEnabled()).toBe(false);
    await body.fill(`{"edited": ${width}}`);
    const secret = await dialog.getByLabel('Test secret').inputValue();
    expect(secret).toMatch(/^whsec_.{32}$/);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await dialog.getByRole('button', { name: 'Send copy' }).click();
    await dialog.getByRole('region', { name: 'Response' }).getByText('200').waitFor();
    const [request] = (await day.sluice.listInboxRequests('tests')).result;
    const stored = await day.sluice.getInboxRequest('tests', request!.id);
    expect(stored).toMatchObject({ delivery: null, body: `{"edited": ${width}}` });
    expect(stored.headers['x-sluice-copy-of']).toBe(id);
    expect(stored.headers['x-signature']).toBe(signWebhook(stored.body, secret));
    await dialog.getByRole('link', { name: 'Open the inbox' }).click();
    await page.waitForURL(/\/inbox\/tests$/);
  },
);

test('a filter is saved under a name, survives a reload, and is a link', async () => {
  const page = await visitor.signedIn('/deliveries?state=failed');
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByLabel('View name').fill('Failures');
  await page.keyboard.press('Enter');
  const views = page.getByRole('region', { name: 'Saved views' });
  const link = views.getByRole('link', { name: 'Failures' });
  expect(await link.getAttribute('aria-current')).toBe('page');
  expect(await page.getByRole('button', { name: 'Save view' }).count()).toBe(0);
  await expectAccessible(page);
  await page.goto(`${day.url}/console/deliveries`);
  await page.reload();
  expect(await link.getAttribute('href')).toBe('/console/deliveries?state=failed');
  await link.click();
  await page.waitForURL(/\?state=failed$/);
  await views.getByRole('button', { name: 'Remove view Failures' }).click();
  await page.goto(`${day.url}/console/deliveries`);
  await rowsOf(page).first().waitFor();
  expect(await views.count()).toBe(0);
});

test('all deliveries of a filter are exported as CSV and NDJSON, and an export is stopped', async () => {
  const { result: newest } = await day.sluice.listDeliveries({ limit: 100 });
  const createdTo = newest.at(-1)!.createdAt;
  const { result: older } = await day.sluice.listDeliveries({ createdTo, limit: 100 });
  const createdFrom = older.at(-1)!.createdAt - 60_000;
  const wanted: DeliverySummary[] = [];
  for await (const row of day.sluice.listDeliveries({ createdFrom, createdTo })) wanted.push(row);
  expect(wanted.length).toBeGreaterThan(100);
  const page = await visitor.signedIn(`/deliveries?from=${createdFrom}&until=${createdTo}`);
  const exported = async (format: string): Promise<string> => {
    await page.getByRole('button', { name: 'Export…' }).click();
    const coming = page.waitForEvent('download');
    await page.getByRole('button', { name: `Export ${format}` }).click();
    const text = await readFile(await (await coming).path(), 'utf8');
    await page.getByText(/^[\d,]+ deliveries exported\.$/).waitFor();
    return text;
  };
  const lines = (await exported('NDJSON')).trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as DeliverySummary).id)).toEqual(
    wanted.map(({ id }) => id),
  );
  const rows = (await exported('CSV')).trimEnd().split('\r\n');
  expect(rows).toHaveLength(wanted.length + 1);
  expect(rows[1]).toContain(wanted[0]!.id);
  await expectAccessible(page);

  // Holds back the second page until the export is stopped.
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(
    (url) => url.pathname.endsWith('/deliveries') && url.searchParams.has('cursor'),
    async (route) => {
      await held;
      await route.abort();
    },
  );
  await page.getByRole('button', { name: 'Export…' }).click();
  await page.getByRole('button', { name: 'Export CSV' }).click();
  await page.getByRole('progressbar', { name: 'Exporting deliveries' }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Exporting deliveries: stopped after 100.').waitFor();
  release();
});

test('views and export fit a phone', async () => {
  const page = await visitor.signedIn('/deliveries?state=failed', PHONE);
  await rowsOf(page).first().waitFor();
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByLabel('View name').fill('Failures');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Failures' }).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectAccessible(page);
});

test.each([PHONE.viewport.width, 768, 1280])(
  'the close button of a delivery stays next to its ID at %i px',
  async (width) => {
    const page = await visitor.signedIn('/deliveries', { viewport: { width, height: 740 } });
    for (const state of ['succeeded', 'failed', 'retrying'] as const) {
      const { result } = await day.sluice.listDeliveries({ state, limit: 1 });
      await page.goto(`${day.url}/console/deliveries?sel=${result[0]!.id}`);
      const panel = page.getByRole('region', { name: /^Delivery / });
      const [id, close, send] = await Promise.all(
        [
          panel.getByRole('heading', { level: 2 }),
          panel.getByRole('button', { name: 'Close' }),
          panel.getByRole('button', { name: /Replay|Retry/ }),
        ].map(async (locator) => (await locator.first().boundingBox())!),
      );
      const middle = id!.y + id!.height / 2;
      expect(middle, state).toBeGreaterThan(close!.y);
      expect(middle, state).toBeLessThan(close!.y + close!.height);
      expect(close!.x, state).toBeGreaterThan(id!.x + id!.width - 1);
      expect(close!.x + close!.width, state).toBeLessThanOrEqual(width);
      expect(send!.x + send!.width, state).toBeLessThanOrEqual(width);
    }
  },
);
