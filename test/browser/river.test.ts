/** Tests the river: what the keyboard, a pointer and a screen reader do with the lanes of blocks. */
import { createSluiceClient, type SluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { expectAccessible, expectNoSidewaysScroll, PHONE, smallTargets } from './visitor.ts';
import { CONFIRMATIONS, startWorld } from './world.ts';

const PATIENCE = { timeout: 20_000, interval: 100 };

const world = useRunning(startWorld);
const visitor = useVisitor(world);
let sluice: SluiceClient;
let streamId: string;
/** Number of the block with the only match. */
let matched: number;

beforeAll(async () => {
  sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  ({ id: streamId } = await world.createStream('river'));
  await world.transfer();
  await world.mine(CONFIRMATIONS);
  await until('both are delivered', async () => {
    const { result } = await sluice.listDeliveries({ state: 'succeeded' });
    matched = result[0]?.blockNumber ?? 0;
    return result.length === 2;
  });
});

const laneOf = (page: Page): Locator => page.getByRole('slider', { name: 'Blocks of Local chain' });

const described = (page: Page): Promise<string | null> =>
  laneOf(page).getAttribute('aria-valuetext');

/** Moves the cursor of the lane to the block with the match. */
async function goToMatch(page: Page): Promise<void> {
  await expect.poll(() => described(page), PATIENCE).toMatch(/^Block /);
  await laneOf(page).focus();
  await page.keyboard.press('ArrowLeft');
  const [, newest] = /^Block ([\d,]+)/.exec((await described(page)) ?? '') ?? [];
  for (let at = Number(newest?.replaceAll(',', '')); at > matched; at--) {
    await page.keyboard.press('ArrowLeft');
  }
}

test('Enter lists the deliveries of the block under the cursor', async () => {
  const page = await visitor.signedIn('/chains');
  await goToMatch(page);
  await expect.poll(() => described(page), PATIENCE).toMatch(/records 1, delivered 2/);
  await expectAccessible(page);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: `from block ${matched}, remove` }).waitFor();
  await expect.poll(() => page.locator('[data-row-link]').count(), PATIENCE).toBe(2);
  expect(new URL(page.url()).searchParams.get('blockTo')).toBe(String(matched));
});

test('Shift and the arrow keys select a range, which can be backfilled', async () => {
  const page = await visitor.signedIn(`/streams/${streamId}`);
  await goToMatch(page);
  await page.keyboard.press('Shift+ArrowLeft');
  expect(await described(page)).toBe(`Block ${matched - 1} to ${matched}`);
  await page.keyboard.press('Enter');
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent), PATIENCE)
    .toBe('Show deliveries');
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  expect(await described(page)).not.toContain(' to ');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Shift+ArrowLeft');
  await page.getByRole('button', { name: 'Backfill…' }).click();
  await expect
    .poll(() => page.getByLabel('From block').inputValue(), PATIENCE)
    .toBe(String(Number(await page.getByLabel('To block').inputValue()) - 1));
});

test('a click lists a block, and dragging selects several to replay', async () => {
  const page = await visitor.signedIn('/');
  await expect.poll(() => described(page), PATIENCE).toMatch(/^Block /);
  const { x, y, width } = (await laneOf(page).boundingBox())!;
  await page.mouse.move(x + width - 40, y + 30);
  await page.mouse.down();
  await page.mouse.move(x + width - 4, y + 30, { steps: 3 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'Replay…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replay deliveries' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await page.mouse.click(x + width - 4, y + 30);
  await page.getByRole('button', { name: /^from block/ }).waitFor();
});

test('the past is read in steps, and everything is also a table', async () => {
  const page = await visitor.signedIn('/chains');
  await page.getByRole('button', { name: 'Show as table' }).click();
  const row = page.getByRole('row').filter({ hasText: `Block ${matched}` });
  await expect.poll(() => row.textContent(), PATIENCE).toMatch(/12000/);
  await expectAccessible(page);
  await page.getByRole('button', { name: '30 d' }).click();
  await expect.poll(() => described(page), PATIENCE).toMatch(/to \d.*records 1, delivered 2/);
});

test('its space is reserved while its code loads', async () => {
  const tablet = { viewport: { width: 1024, height: 768 }, hasTouch: true, isMobile: true };
  for (const [name, device] of Object.entries({ desktop: {}, tablet, phone: PHONE })) {
    const page = await visitor.signedIn('/settings', device);
    let load = (): void => {};
    const released = new Promise<void>((resolve) => (load = resolve));
    await page.route('**/fleetRiver*', async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(page.url().replace('/settings', '/'));
    const row = page.locator('[data-row-link]').first();
    const top = async (): Promise<number> => Math.round((await row.boundingBox())?.y ?? 0);
    await row.waitFor();
    await expect.poll(() => page.getByText('Delivered per minute').count(), PATIENCE).toBe(1);
    expect(await laneOf(page).count()).toBe(0);
    const before = await top();
    load();
    await laneOf(page).waitFor();
    expect(await top(), name).toBe(before);
    await visitor.leave();
  }
});

test('it fits a phone', async () => {
  const page = await visitor.signedIn('/chains', PHONE);
  await laneOf(page).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
});
