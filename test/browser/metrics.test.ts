/** Tests a stream's metrics with a day of sample data: comparison, zoom, spikes and export. */
import { readFile } from 'node:fs/promises';
import type { ActivityPoint } from '@sluice/kit/sluice';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { startSeededDay } from '../looks/seededDay.ts';
import {
  countActions,
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE,
  rowsOf,
  smallTargets,
} from './visitor.ts';

const STEP_MS = 5 * 60_000;

const day = useRunning(startSeededDay);
const visitor = useVisitor(day);
let path: string;

beforeAll(async () => {
  path = `/streams/${day.idOf('all-swaps')}`;
}, 120_000);

const timeOf = (page: Page) => page.getByRole('slider', { name: 'Time', exact: true });

function periodOf(page: Page): { from: number; until: number } {
  const { searchParams } = new URL(page.url());
  return { from: Number(searchParams.get('from')), until: Number(searchParams.get('until')) };
}

/**
 * Returns the points of a day's chart, and a function that returns the screen position of each
 * point.
 */
async function readDay(
  page: Page,
): Promise<{ points: ActivityPoint[]; placeOf: (index: number) => { x: number; y: number } }> {
  const asked = { streamId: day.idOf('all-swaps'), step: 5, points: 288 } as const;
  const { result } = await day.sluice.getActivity(asked);
  const box = (await timeOf(page).boundingBox())!;
  return {
    points: result,
    placeOf: (index) => ({ x: box.x + (box.width * index) / 287, y: box.y + 60 }),
  };
}

test('today is compared with yesterday in two clicks', async () => {
  const page = await visitor.signedIn();
  const countOf = await countActions(page);
  await page.getByRole('link', { name: 'all-swaps' }).click();
  await page.getByRole('link', { name: 'Metrics' }).click();
  await page.getByText(/delivered, (previously|(×|[+−])[\d,]+( %)? from) \d/).waitFor();
  await page.getByText('compared', { exact: true }).first().waitFor();
  // The line to the current step is dashed, and the line of the previous day is dotted.
  const chart = page.getByRole('img', { name: /delivered$/ });
  expect(await chart.locator('[stroke-dasharray="3 3"]').count()).toBe(1);
  expect(await chart.locator('[stroke-dasharray="1 2.5"]').count()).toBe(1);
  expect(await countOf()).toEqual({ clicks: 2, keys: 0, texts: 0 });
});

test('any two periods are compared in three actions, and the time before and after an edit', async () => {
  const page = await visitor.signedIn(`${path}?tab=metrics`);
  await timeOf(page).waitFor();
  const countOf = await countActions(page);
  await page.getByRole('button', { name: 'Hour' }).click();
  await page.getByRole('button', { name: 'Compared with the period before' }).click();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'With a day earlier' }).click();
  await page.waitForURL(/span=hour&ago=1440/);
  await page.getByRole('button', { name: 'Compared with a day earlier' }).waitFor();
  await page.getByText(/delivered, (previously|(×|[+−])[\d,]+( %)? from) \d/).waitFor();
  expect((await countOf()).clicks).toBe(3);

  const changes = page.getByRole('region', { name: 'Changes' });
  await changes.getByRole('button', { name: 'Compare before and after' }).first().click();
  await page.waitForURL(/from=\d+$/);
  const [newest] = await day.sluice.listStreamChanges(day.idOf('all-swaps'));
  expect(Number(new URL(page.url()).searchParams.get('from'))).toBe(newest!.at);
  await page.getByText(/delivered, (previously|(×|[+−])[\d,]+( %)? from) \d/).waitFor();
});

test('every chart has a time axis, its unit and step, and changes have labels', async () => {
  const page = await visitor.signedIn(`${path}?tab=metrics`);
  await timeOf(page).waitFor();
  // Five charts, and the map of response times.
  await expect.poll(() => page.getByText('12:00', { exact: true }).count()).toBe(6);
  expect(await page.getByRole('heading', { name: /per 5 min$/ }).count()).toBe(5);
  const changes = page.getByRole('list', { name: 'Changes to the stream' });
  await changes.getByText('edited topic0, abi by --api-key').waitFor();
  await page.getByRole('button', { name: 'Week' }).click();
  await page.getByRole('heading', { name: 'Deliveries per hour' }).waitFor();
});

test('a drag zooms, and a click on a spike lists its deliveries', async () => {
  const page = await visitor.signedIn(`${path}?tab=metrics`);
  await timeOf(page).waitFor();
  const { points, placeOf } = await readDay(page);
  const spike = points.findIndex(
    ({ delivered }) => delivered === Math.max(...points.map((point) => point.delivered)),
  );
  await page.mouse.move(placeOf(spike - 6).x, placeOf(spike).y);
  await page.mouse.down();
  await page.mouse.move(placeOf(spike + 6).x, placeOf(spike).y, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/tab=metrics&from=\d+&until=\d+$/);
  const at = points[spike]!.at;
  // The chart may have moved by one step since the counts were read.
  expect(Math.abs(periodOf(page).from - (at - 6 * STEP_MS))).toBeLessThanOrEqual(STEP_MS);
  expect(Math.abs(periodOf(page).until - (at + 7 * STEP_MS - 1))).toBeLessThanOrEqual(STEP_MS);
  await page.getByRole('heading', { name: 'Deliveries per minute' }).waitFor();
  await page.getByRole('button', { name: 'Zoom out' }).click();
  await page.waitForURL(/tab=metrics$/);
  await page.goBack();
  await page.getByRole('button', { name: 'Zoom out' }).waitFor();
  await page.goForward();
  await page.getByRole('heading', { name: 'Deliveries per 5 min' }).waitFor();

  await page.mouse.click(placeOf(spike).x, placeOf(spike).y);
  await page.waitForURL(/\?triedFrom=\d+&triedUntil=\d+$/);
  const { searchParams } = new URL(page.url());
  const period = {
    from: Number(searchParams.get('triedFrom')),
    until: Number(searchParams.get('triedUntil')),
  };
  expect(period.until - period.from).toBe(STEP_MS - 1);
  expect(Math.abs(period.from - at)).toBeLessThanOrEqual(STEP_MS);
  await rowsOf(page).first().waitFor();
  // The spike consists of deliveries that were created earlier and waited for the receiver. The
  // list filters by the time of the attempts.
  const list = page.getByRole('table', { name: 'Deliveries' });
  const { delivered, redelivered, failedAttempts } = points[spike]!;
  await expect
    .poll(async () => Number(await list.getAttribute('aria-rowcount')) - 1)
    .toBeGreaterThanOrEqual(Math.min(delivered + redelivered + failedAttempts, 100));
});

test('by keyboard: a range is zoomed to, left again, and a step is opened', async () => {
  const page = await visitor.signedIn(`${path}?tab=metrics&span=hour`);
  const time = timeOf(page);
  await time.focus();
  await page.keyboard.press('Home');
  for (let count = 0; count < 5; count++) await page.keyboard.press('Shift+ArrowRight');
  expect(await time.getAttribute('aria-valuetext')).toMatch(/ to .* to /);
  await page.keyboard.press('Enter');
  await page.waitForURL(/from=\d+&until=\d+/);
  const { from, until } = periodOf(page);
  expect(until - from).toBe(6 * 60_000 - 1);
  await expect.poll(() => time.getAttribute('aria-valuemax')).toBe('5');
  await time.focus();
  await page.keyboard.press('Escape');
  await page.waitForURL(/tab=metrics&span=hour$/);
  await expect.poll(() => time.getAttribute('aria-valuemax')).toBe('59');
  await time.focus();
  await page.keyboard.press('ArrowLeft');
  expect(await time.getAttribute('aria-valuetext')).toMatch(/\d delivered, \d+ failed attempts/);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?triedFrom=\d+&triedUntil=\d+$/);
});

test('a period is chosen by its times, and its counts are exported as CSV', async () => {
  const page = await visitor.signedIn(`${path}?tab=metrics`);
  await timeOf(page).waitFor();
  const { points } = await readDay(page);
  const from = points[100]!.at;
  const toInput = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
  const period = page.getByRole('button', { name: /^Other period/ });
  await period.click();
  const panel = page.getByRole('dialog', { name: 'Other period' });
  await panel.getByLabel('To', { exact: true }).fill(toInput(from - 60_000));
  await panel.getByLabel('From', { exact: true }).fill(toInput(from));
  await panel.getByText('The end is before the start.').waitFor();
  expect(await panel.getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true);
  await panel.getByLabel('To', { exact: true }).fill('yesterday');
  await panel.getByLabel('From', { exact: true }).focus();
  await panel.getByText('Enter a time such as 2026-11-05 09:04.').waitFor();
  await expectAccessible(page);
  await panel.getByLabel('To', { exact: true }).fill(toInput(from + 59 * 60_000));
  await page.keyboard.press('Enter');
  await page.waitForURL(/until=\d+/);
  expect(periodOf(page)).toEqual({ from, until: from + 60 * 60_000 - 1 });
  // The focus returns to the button, so that Tab continues from there.
  expect(await period.evaluate((it) => it === document.activeElement)).toBe(true);
  await expect.poll(() => timeOf(page).getAttribute('aria-valuemax')).toBe('59');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const file = await downloading;
  expect(file.suggestedFilename()).toMatch(/^metrics-all-swaps-2\d{3}-\d\d-\d\dT\d{4}\.csv$/);
  const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
  expect(lines).toHaveLength(61);
  expect(lines[1]).toMatch(new RegExp(`^${new Date(from).toISOString()},\\d+,`));
  const delivered = lines.slice(1).reduce((sum, line) => sum + Number(line.split(',')[1]), 0);
  const expected = points.slice(100, 112).reduce((sum, point) => sum + point.delivered, 0);
  expect(delivered).toBe(expected);
});

test('a chosen period is accessible and fits a phone', async () => {
  const { createdAt } = await day.sluice.getDelivery(await day.newestOf('all-swaps'));
  const chosen = `${path}?tab=metrics&from=${createdAt - 7_200_000}&until=${createdAt}`;
  const page = await visitor.signedIn(chosen, PHONE);
  await timeOf(page).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectAccessible(page);
});
