/**
 * Tests the console with hundreds of streams: only visible rows are rendered, but all can be
 * reached.
 */
import { createSluiceClient } from '@sluice/kit/sluice';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { expectAccessible } from './visitor.ts';
import { startWorld } from './world.ts';

const STREAMS = 300;
/** Number of streams on a chain that the service reads. */
const READ_STREAMS = 200;
const MAX_ROWS = 60;
const PATIENCE = { timeout: 20_000, interval: 100 };

const world = useRunning(startWorld);
const visitor = useVisitor(world);

beforeAll(async () => {
  for (let count = 0; count < STREAMS; count++) {
    // Every third row has a second line, because the chain of its stream is not read.
    const isRead = count % 3 > 0;
    await world.client.streams.create({
      webhookUrl: 'sluice://inbox/fleet',
      description: 'one of many',
      tag: `fleet-${String(count).padStart(3, '0')}`,
      chainIds: [isRead ? '0x7a69' : '0x1'],
      topic0: ['Transfer(address,address,uint256)'],
      allAddresses: true,
      includeContractLogs: true,
    });
  }
});

const links = (page: Page) => page.locator('[data-row-link]');

const focused = (page: Page): Promise<string | null | undefined> =>
  page.evaluate(() => document.activeElement?.textContent);

/**
 * Returns the gaps of more than one pixel between rows and below the last row, in pixels; negative
 * if rows overlap. Empty if the rows are contiguous and fill the screen.
 */
const readHoles = (page: Page): Promise<number[]> =>
  page.evaluate(() => {
    const boxes = [...document.querySelectorAll('[data-row]')].map((row) =>
      row.getBoundingClientRect(),
    );
    const screen = document.querySelector('main')?.getBoundingClientRect();
    const between = boxes.slice(1).map(({ top }, index) => top - (boxes[index]?.bottom ?? 0));
    const below = Math.max(0, (screen?.bottom ?? 0) - (boxes.at(-1)?.bottom ?? 0));
    return [...between, below].filter((px) => Math.abs(px) > 1);
  });

test('only visible streams are rendered, and the keyboard reaches the others', async () => {
  const page = await visitor.signedIn();
  await links(page).first().waitFor();
  expect(await links(page).count()).toBeLessThan(MAX_ROWS);
  await expectAccessible(page);
  for (let count = 0; count < 40; count++) await page.keyboard.press('j');
  expect(await focused(page)).toBe('fleet-260');
  await expect.poll(() => readHoles(page), PATIENCE).toEqual([]);
  expect(await links(page).count()).toBeLessThan(MAX_ROWS);
  // Keys continue from the focused row even after it is scrolled out of view.
  await page.evaluate(() => document.querySelector('main')?.scrollBy(0, 5_000));
  await expect.poll(() => page.getByRole('link', { name: 'fleet-260' }).count(), PATIENCE).toBe(0);
  await expect.poll(() => readHoles(page), PATIENCE).toEqual([]);
  await page.keyboard.press('j');
  expect(await focused(page)).toBe('fleet-259');
  // The selection extends beyond the rendered rows.
  for (let count = 0; count < 70; count++) await page.keyboard.press('Shift+J');
  expect(await focused(page)).toBe('fleet-189');
  await page.getByText('71 selected').waitFor();
  await page.reload();
  await links(page).first().waitFor();
  // If no row is focused, `k` moves the focus to the last row.
  await page.keyboard.press('k');
  expect(await focused(page)).toBe('fleet-000');
  expect(await page.getByRole('link', { name: 'fleet-000' }).isVisible()).toBe(true);
  expect(await links(page).count()).toBeLessThan(MAX_ROWS);
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'Resume fleet-000' }).waitFor();
  const last = page.getByRole('row').filter({ hasText: 'fleet-000' });
  expect(await last.getAttribute('aria-rowindex')).toBe(String(STREAMS + 1));
  await expectAccessible(page);
});

test('a filter finds rows that are not rendered, and its link restores the result', async () => {
  const page = await visitor.signedIn();
  await links(page).first().waitFor();
  await page.evaluate(() => document.querySelector('main')?.scrollBy(0, 8_000));
  await page.keyboard.press('/');
  await page.keyboard.type('fleet-07');
  await expect.poll(() => links(page).count(), PATIENCE).toBe(10);
  const other = await visitor.signedIn('/?q=fleet-07&show=paused');
  await other.getByText('No streams match this filter').waitFor();
  await other.getByRole('button', { name: 'Show all' }).click();
  await expect.poll(() => links(other).count(), PATIENCE).toBeGreaterThan(10);
});

test('the stream filter lists those with the most deliveries first, and others on request', async () => {
  await world.transfer();
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  await expect
    .poll(async () => (await sluice.getDeliveryCounts()).streamId.length, PATIENCE)
    .toBe(READ_STREAMS);
  const page = await visitor.signedIn('/deliveries');
  const choices = page.getByRole('region', { name: 'Stream', exact: true });
  await choices.getByRole('link').nth(19).waitFor();
  expect(await choices.getByRole('link').count()).toBe(20);
  await choices.getByRole('button', { name: `Show more (${READ_STREAMS - 20} left)` }).click();
  expect(await choices.getByRole('link').count()).toBe(120);
  await choices.getByRole('link').nth(100).click();
  await page.waitForURL(/stream=/);
  // The selected stream is listed even if it is not among the first 20.
  await page.reload();
  await choices.getByRole('link', { name: /fleet/ }).and(page.locator('[aria-current]')).waitFor();
});

test('the newest holes are listed, and earlier ones on request', async () => {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const [stream] = (await sluice.listStreamSummaries()).filter(({ tag }) => tag === 'fleet-001');
  const page = await visitor.signedIn();
  await page.route(/\/sluice\/streams\/[^/]+\/coverage$/, async (route) => {
    const holes = Array.from({ length: 150 }, (_, index) => ({
      from: index * 10 + 1,
      to: index * 10 + 5,
      reason: 'paused',
    }));
    const result = [{ chainId: '0x7a69', from: 0, to: 2_000, holes, unverified: [], byRange: [] }];
    await route.fulfill({ json: { result } });
  });
  await page.goto(`${world.url}/console/streams/${stream!.id}?tab=coverage`);
  const fills = page.getByRole('button', { name: 'Fill 5 blocks' });
  await page.getByText('1,491 – 1,495').waitFor();
  expect(await fills.count()).toBe(20);
  await page.getByRole('button', { name: 'Show more (130 earlier holes)' }).click();
  expect(await fills.count()).toBe(120);
});

test('unverified blocks show on the chain, also after live events, and on the stream by range', async () => {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const [stream] = (await sluice.listStreamSummaries()).filter(({ tag }) => tag === 'fleet-001');
  const page = await visitor.signedIn();
  await page.route(/\/sluice\/chains$/, async (route) => {
    const response = await route.fetch();
    const { result } = (await response.json()) as { result: { id: string }[] };
    const unverified = { blocks: 1_234, latest: 68_216, byCode: { receipts: 1_200, bloom: 34 } };
    await route.fulfill({
      response,
      json: { result: result.map((one) => ({ ...one, unverified })) },
    });
  });
  await page.goto(`${world.url}/console/chains`);
  const chain = page.getByRole('region', { name: 'Local chain' });
  const summary = chain.getByText('1,234 unverified blocks, latest 68,216');
  await summary.waitFor();
  const codes = chain.getByRole('list', { name: 'What is not verified' }).getByRole('listitem');
  expect(await codes.allInnerTexts()).toEqual([
    expect.stringMatching(/^receipts in 1,200 blocks: A transaction has no receipt/),
    expect.stringMatching(/^bloom in 34 blocks: The bloom of the header/),
  ]);
  const head = Number((await sluice.listChains()).find(({ id }) => id === '0x7a69')?.head);
  await chain
    .getByText((head + 2).toLocaleString('en-US'))
    .first()
    .waitFor();
  expect(await summary.count()).toBe(1);
  await expectAccessible(page);

  await page.route(/\/sluice\/streams\/[^/]+\/coverage$/, async (route) => {
    const unverified = [
      { from: 131_465, to: 131_465, codes: ['receipts', 'bloom'] },
      { from: 68_210, to: 68_216, codes: ['log-indices'] },
    ];
    const result = [
      { chainId: '0x7a69', from: 0, to: 200_000, holes: [], unverified, byRange: [] },
    ];
    await route.fulfill({ json: { result } });
  });
  await page.goto(`${world.url}/console/streams/${stream!.id}?tab=coverage`);
  await page.getByText('8 unverified blocks').waitFor();
  const ranges = page.getByRole('list', { name: 'Unverified blocks' }).getByRole('listitem');
  expect(await ranges.allInnerTexts()).toEqual([
    expect.stringMatching(/^131,465\s+receipts, bloom$/),
    expect.stringMatching(/^68,210 – 68,216\s+log-indices$/),
  ]);
});

test('the newest reorgs of a chain are listed, and earlier ones on request', async () => {
  const page = await visitor.signedIn();
  await page.route(/\/sluice\/reorgs/, async (route) => {
    const result = Array.from({ length: 12 }, (_, index) => ({
      chainId: '0x7a69',
      blockNumber: 1_000 - index,
      depth: 2,
      at: 1_795_369_072_000 - index * 1_000,
    }));
    await route.fulfill({ json: { result } });
  });
  await page.goto(`${world.url}/console/chains`);
  const chain = page.getByRole('region', { name: 'Local chain' });
  const reorgs = chain.getByText(/^2 blocks above/);
  await chain.getByText('2 blocks above 1,000').waitFor();
  expect(await reorgs.count()).toBe(5);
  const block = chain.getByRole('link', { name: 'Open block 1000 on explorer.example, new tab' });
  expect(await block.getAttribute('href')).toBe('https://explorer.example/block/1000');
  await chain.getByRole('button', { name: 'Show 7 more' }).click();
  await chain.getByText('2 blocks above 989').waitFor();
  expect(await reorgs.count()).toBe(12);
  expect(await chain.getByRole('button', { name: /^Show/ }).count()).toBe(0);
});

test('the list works the same on a phone', async () => {
  const page = await visitor.signedIn('/', { viewport: { width: 360, height: 740 } });
  await links(page).first().waitFor();
  await page.evaluate(() => document.querySelector('main')?.scrollTo(0, 1_000_000));
  await page.getByRole('link', { name: 'fleet-000' }).waitFor();
  await expect.poll(() => readHoles(page).then((holes) => holes.length), PATIENCE).toBeLessThan(2);
  expect(await links(page).count()).toBeLessThan(MAX_ROWS);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});
