/**
 * Tests the map of response times, from which deliveries are listed, and the page of a receiver, with
 * a day of sample data.
 */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
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
let receiver: string;

beforeAll(async () => {
  const streams = await day.sluice.listStreamSummaries();
  receiver = new URL(streams[0]!.webhookUrl).host;
}, 120_000);

const mapOf = (page: Page) => page.getByRole('slider', { name: 'Response times' });
const pathOf = (tag: string): string => `/streams/${day.idOf(tag)}`;
const receiverPath = (): string => `/receivers/${encodeURIComponent(receiver)}`;

/** Returns the number of attempts that the map reports for the part under its cursor. */
const attemptsAt = async (page: Page): Promise<number> =>
  Number(
    /([\d,]+) attempts?$/
      .exec((await mapOf(page).getAttribute('aria-valuetext'))!)![1]!
      .replaceAll(',', ''),
  );

const listedRows = async (page: Page): Promise<number> =>
  Number(await page.getByRole('table', { name: 'Deliveries' }).getAttribute('aria-rowcount')) - 1;

test('a drag over failures lists the deliveries that failed then and so', async () => {
  const page = await visitor.signedIn(`${pathOf('deposits')}?tab=metrics`);
  const map = mapOf(page);
  await map.scrollIntoViewIfNeeded();
  const box = (await map.boundingBox())!;
  // The third row from the top has the failures with a 5xx.
  await page.mouse.move(box.x + box.width - 30, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 4, box.y + 150, { steps: 4 });
  expect(await map.getAttribute('aria-valuetext')).toContain('failed: 5xx');
  expect(await attemptsAt(page)).toBeGreaterThan(0);
  await page.mouse.up();
  await page.waitForURL(/\?triedFrom=\d+&triedUntil=\d+&result=5xx$/);
  await rowsOf(page).first().waitFor();
  await page.getByRole('button', { name: 'attempt: 5xx, remove' }).waitFor();
});

test('by keyboard, the listed deliveries are those of the selected part', async () => {
  const page = await visitor.signedIn(`${pathOf('treasury')}?tab=metrics&span=week`);
  const map = mapOf(page);
  await map.focus();
  await page.keyboard.press('ArrowLeft');
  for (let column = 0; column < 5; column++) await page.keyboard.press('ArrowLeft');
  for (let row = 0; row < 25; row++) await page.keyboard.press('Shift+ArrowUp');
  const attempts = await attemptsAt(page);
  expect(attempts).toBeGreaterThan(5);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?triedFrom=\d+&triedUntil=\d+&tookFrom=\d+&result=succeeded/);
  await rowsOf(page).first().waitFor();
  await expect.poll(() => listedRows(page)).toBe(Math.min(attempts, 100));
});

test('the map has a table, is accessible, and fits a phone', async () => {
  const page = await visitor.signedIn(`${pathOf('deposits')}?tab=metrics`, PHONE);
  await mapOf(page).waitFor();
  const times = page.getByRole('region', { name: 'Response times' });
  await times.getByRole('button', { name: 'Show as table' }).click();
  await times.getByRole('columnheader', { name: 'timeout' }).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectAccessible(page);
  await times.getByRole('row').nth(1).getByRole('button').first().click();
  await page.waitForURL(/\?triedFrom=\d+/);
});

test('the page of a receiver has its state, streams, incidents and response times', async () => {
  const page = await visitor.signedIn(pathOf('treasury'));
  await page.getByRole('link', { name: receiver, exact: true }).click();
  await page.waitForURL((url) => url.pathname.endsWith(receiverPath()));
  await page.getByRole('heading', { name: receiver }).waitFor();
  await page
    .getByRole('row', { name: /^staging-mirror/ })
    .getByText('failing')
    .waitFor();
  await mapOf(page).waitFor();
  await expectAccessible(page);
  // The host ends like a file, but the path is that of a page.
  await page.reload();
  await page.getByRole('heading', { name: receiver }).waitFor();
  await page.getByRole('link', { name: 'All deliveries' }).click();
  await page.waitForURL(/\/deliveries\?receiver=/);
  await rowsOf(page).first().waitFor();
  await page.getByRole('button', { name: `to ${receiver}, remove` }).waitFor();
});

test('all streams of a receiver are paused, and the undo resumes those that respond', async () => {
  const page = await visitor.signedIn(receiverPath(), PHONE);
  await page.getByRole('heading', { name: receiver }).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  const paused = async (): Promise<number> =>
    (await day.sluice.listStreamSummaries()).filter(({ status }) => status === 'paused').length;
  const before = await paused();
  await page.getByRole('button', { name: /^Pause all/ }).click();
  await page.getByText(/Paused \d+ streams/).waitFor();
  await expect.poll(paused).toBe(10);
  await page.getByRole('button', { name: 'Undo' }).click();
  // A stream is resumed only if its receiver accepts a test webhook, which some here reject.
  await page.getByText(/Couldn't undo: (deposits|staging-mirror): /).waitFor();
  await expect.poll(paused).toBeLessThan(4);
  await page.getByRole('button', { name: /^Resume all/ }).click();
  await page.getByText("Couldn't resume some streams").waitFor();
  expect(await paused()).toBeGreaterThanOrEqual(before);
  visitor.expectComplaints((text) => text.includes('status of 400'));
});

test('the palette opens a receiver', async () => {
  const page = await visitor.signedIn('/deliveries');
  await page.keyboard.press('Control+k');
  await page.keyboard.type(`receiver ${receiver}`);
  await page.getByRole('option', { name: `Receiver: ${receiver}` }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.pathname.endsWith(receiverPath()));
});
