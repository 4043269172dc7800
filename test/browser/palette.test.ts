/**
 * Tests that the palette finds deliveries, addresses and actions by ids, hashes, labels and names.
 */
import { createSluiceClient } from '@sluice/kit/sluice';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { countActions, expectAccessible } from './visitor.ts';
import { startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);
let streamId: string;

beforeAll(async () => {
  streamId = (await world.createStream('treasury')).id;
  await world.transfer();
}, 120_000);

const sluiceOf = () => createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });

/** Waits for the delivery of the only transfer, and returns its id. */
async function readDeliveryId(): Promise<string> {
  const read = async () => (await sluiceOf().listDeliveries({ streamId })).result;
  await expect.poll(async () => (await read()).length, { timeout: 20_000 }).toBe(1);
  return (await read())[0]!.id;
}

const paletteOf = (page: Page) => page.getByRole('dialog', { name: 'Search and commands' });

test("a transaction's delivery is found from its hash in three keystrokes", async () => {
  const id = await readDeliveryId();
  const { logs } = JSON.parse(await sluiceOf().getDeliveryBody(id)) as {
    logs: { transactionHash: string }[];
  };
  const page = await visitor.signedIn();
  const countOf = await countActions(page);
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText(logs[0]!.transactionHash);
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.searchParams.get('sel') === id);
  await page.getByRole('region', { name: /^Delivery / }).waitFor();
  expect(await countOf()).toEqual({ clicks: 0, keys: 2, texts: 1 });
});

test('a hash without deliveries is explained', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText(`0x${'ab'.repeat(32)}`);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/explain\?q=0xabab/);
  await page.getByText(/No configured chain has a transaction/).waitFor();
  visitor.expectComplaints((text) => /\b404\b/.test(text));
});

test('shortened ids and addresses, and labels, lead to what they name', async () => {
  const id = await readDeliveryId();
  const address = '0x28c6c06298d514db089934071355e5743bf21d60';
  const labels = { [address]: 'house money' };
  await world.client.streams.addAddress(streamId, [address], { labels });
  const page = await visitor.signedIn();
  const palette = paletteOf(page);
  await page.keyboard.press('Control+k');
  await palette.getByRole('combobox').fill(id.slice(0, 8));
  await palette.getByRole('option', { name: `Open delivery ${id}` }).click();
  await page.waitForURL(new RegExp(`/deliveries/${id}`));
  for (const text of ['0x28C6…1d60', 'HOUSE mon']) {
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').fill(text);
    const option = palette.getByRole('option', { name: 'house money (0x28c6…1d60)' });
    await option.waitFor();
    await expectAccessible(page);
    await option.click();
    await page.waitForURL((url) => url.searchParams.get('find') === address);
    await page.goto(`${world.url}/console/chains`);
  }
  await page.keyboard.press('Control+k');
  await palette.getByRole('combobox').fill('house money');
  await palette.getByRole('option', { name: 'Search deliveries for “house money”' }).click();
  await page.waitForURL((url) => url.searchParams.get('q') === 'house money');
});

test('actions are found by their name', async () => {
  const page = await visitor.signedIn();
  const open = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await paletteOf(page).getByRole('combobox').fill(text);
    await page.keyboard.press('Enter');
  };
  await open('rotate secret treas');
  await page.waitForURL(new RegExp(`/streams/${streamId}\\?tab=settings`));
  await open('failed deliveries');
  await page.waitForURL(/\/deliveries\?state=failed/);
  await open('export');
  await page.waitForURL(/\/settings/);
});

test('a page of the documentation is found by its title and opens in a new tab', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('Control+k');
  const palette = paletteOf(page);
  await palette.getByRole('combobox').fill('docs signatures');
  await palette.getByRole('option', { name: /^Docs: Verify/ }).waitFor();
  const opening = page.context().waitForEvent('page');
  await page.keyboard.press('Enter');
  const tab = await opening;
  await tab.waitForURL(`${world.url}/docs/kit/verify.md`);
  await tab.getByText(/^# /).waitFor();
});
