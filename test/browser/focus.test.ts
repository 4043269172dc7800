/** Tests that the keyboard focus stays on the page, and that forced colors show selections. */
import { createSluiceClient } from '@sluice/kit/sluice';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { rowsOf } from './visitor.ts';
import { CONFIRMATIONS, startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);

const focusedTag = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => document.activeElement?.tagName);
const expectFocus = (page: Page): Promise<void> =>
  expect.poll(() => focusedTag(page)).not.toBe('BODY');
const hasFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((each) => each === document.activeElement);

const address = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`;

test('the focus stays after a row is deleted', async () => {
  const { id } = await world.createStream('deleted rows');
  await world.client.streams.addAddress(id, [1, 2, 3].map(address));
  const page = await visitor.signedIn(`/streams/${id}?tab=addresses`);
  await rowsOf(page).nth(2).waitFor();
  await page.getByRole('checkbox').first().click();
  const remove = page.getByRole('button', { name: 'Remove 1 address' });
  await remove.focus();
  await page.keyboard.press('Enter');
  await page.getByText('1 address removed.').waitFor();
  await remove.waitFor({ state: 'hidden' });
  await expectFocus(page);
});

test('the focus stays after a key is revoked', async () => {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  await sluice.createApiKey({ name: 'revoked', scopes: ['streams:read'] });
  const page = await visitor.signedIn('/settings');
  const revoke = page.getByRole('button', { name: 'Revoke revoked' });
  await revoke.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Revoke revoked' });
  await dialog.getByRole('button', { name: 'Revoke key' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await revoke.waitFor({ state: 'hidden' });
  await expectFocus(page);
});

test('a closed dialog returns the focus', async () => {
  const { id } = await world.createStream('dialog');
  await world.client.streams.addAddress(id, [address(1)]);
  const page = await visitor.signedIn(`/streams/${id}?tab=addresses`);
  const open = page.getByRole('button', { name: 'Import', exact: true });
  await open.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Import addresses' });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await expect.poll(() => hasFocus(open)).toBe(true);
});

test('the focus stays when a filter hides its row', async () => {
  const { id } = await world.createStream('empty');
  await world.createStream('full');
  await world.transfer();
  await world.mine(CONFIRMATIONS);
  const page = await visitor.signedIn(`/deliveries?stream=${id}&state=failed`);
  await page
    .getByText(/^No deliveries/)
    .first()
    .waitFor();
  await page
    .getByRole('navigation', { name: 'Pages' })
    .getByRole('link', { name: 'Deliveries' })
    .click();
  await rowsOf(page).first().waitFor();
  await page.locator('[data-row-link]').first().focus();
  await page.goBack();
  await page.locator('[data-row-link]').first().waitFor({ state: 'detached' });
  await expectFocus(page);
});

test('forced colors show each selection', async () => {
  const { id } = await world.createStream('colors');
  await world.transfer();
  await world.mine(CONFIRMATIONS);
  await world.client.streams.addAddress(id, [1, 2].map(address));
  const page = await visitor.signedIn('/deliveries', { forcedColors: 'active' });
  const expectOutlines = async (selected: Locator, other: Locator): Promise<void> => {
    const styleOf = (element: Locator) =>
      element.evaluate((each) => getComputedStyle(each).outlineStyle);
    await expect.poll(() => styleOf(selected.first())).toBe('solid');
    expect(await styleOf(other.first())).toBe('none');
  };
  const rail = page.getByRole('navigation', { name: 'Pages' });
  await expectOutlines(
    rail.getByRole('link', { name: 'Deliveries' }),
    rail.getByRole('link', { name: 'Streams' }),
  );

  await rowsOf(page).nth(1).waitFor();
  await rowsOf(page).first().getByRole('link').first().click();
  await expectOutlines(
    page.locator('[role=row][aria-current=true]'),
    page.locator('[role=row]:has([role=cell]):not([aria-current])'),
  );
  await expectOutlines(
    page.locator('[role=tab][aria-selected=true]'),
    page.locator('[role=tab][aria-selected=false]'),
  );

  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('option').nth(1).waitFor();
  await expectOutlines(
    page.locator('[role=option][aria-selected=true]'),
    page.locator('[role=option][aria-selected=false]'),
  );
  await page.keyboard.press('Escape');

  await page.goto(`${world.url}/console/`);
  const show = page.getByRole('group', { name: 'Show' });
  await expectOutlines(show.locator('[aria-pressed=true]'), show.locator('[aria-pressed=false]'));

  await page.goto(`${world.url}/console/streams/${id}?tab=addresses`);
  await rowsOf(page).nth(1).waitFor();
  await expectOutlines(
    page.locator('a[aria-current=page]').filter({ hasText: /addresses/i }),
    page.getByRole('link', { name: /^Metrics/i }),
  );
  const boxes = page.getByRole('checkbox');
  await boxes.first().click();
  await expect.poll(() => boxes.first().isChecked()).toBe(true);
});
