/** Tests that the most frequent tasks need no pointer, and that the focus is always seen. */
import { createSluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import type { Page } from 'playwright-core';
import { afterEach, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { expectFocusSeen, rowsOf, tabTo } from './visitor.ts';
import { startWorld } from './world.ts';

const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const world = useRunning(startWorld);
const visitor = useVisitor(world);
afterEach(() => world.respondWith(200));

const untilCreated = (page: Page) => page.getByRole('navigation', { name: 'Stream' }).waitFor();

/** Opens the delivery of the first row. */
async function openFirst(page: Page): Promise<void> {
  await rowsOf(page).first().waitFor();
  await page.keyboard.press('j');
  await expectFocusSeen(page);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: /^Delivery / }).waitFor();
}

test('the first stream and its first webhook', async () => {
  const page = await visitor.signedIn();
  const start = page.getByRole('button', { name: 'Start demo stream' });
  await start.waitFor();
  await tabTo(page, start);
  await expectFocusSeen(page);
  await page.keyboard.press('Enter');
  await untilCreated(page);
  await world.transfer();
  await openFirst(page);
});

test('a failure is read on the page of its stream, its URL is fixed, and it is sent again', async () => {
  const { id } = await world.createStream('failing');
  world.respondWith(404);
  await world.transfer();
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const [failed] = await until('the delivery has failed', async () => {
    const { result } = await sluice.listDeliveries({ streamId: id, status: '4xx' });
    return result.length > 0 && result;
  });

  const page = await visitor.signedIn();
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText('failing');
  await page.getByRole('option', { name: /^failing/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/streams/${id}`));
  await openFirst(page);
  await page.keyboard.press(']');
  const change = page.getByRole('button', { name: 'Change the webhook URL…' });
  await change.waitFor();
  await tabTo(page, change);
  await expectFocusSeen(page);
  world.respondWith(200);
  await page.keyboard.press('Enter');
  const field = page.getByRole('dialog').getByLabel('Webhook URL');
  await expect.poll(() => field.evaluate((each) => each === document.activeElement)).toBe(true);
  await page.keyboard.press('End');
  await page.keyboard.insertText('/corrected');
  await page.keyboard.press('Enter');
  await page.getByText('URL changed, sent again').waitFor();
  const isSent = async () => (await sluice.getDelivery(failed!.id)).state === 'succeeded';
  await until('it is delivered', isSent);
});

test('a transaction that sent no webhook is explained', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText(`0x${'12'.repeat(32)}`);
  await page.getByRole('option', { name: 'Explain this hash' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/explain\?/);
});

test('a wallet is watched, and a token above an amount', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('n');
  await page.getByLabel('Addresses', { exact: true }).waitFor();
  await page.keyboard.insertText(WALLET);
  await page.keyboard.press('Control+Enter');
  await untilCreated(page);

  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.getByRole('link', { name: 'New stream' }).waitFor();
  await page.keyboard.press('n');
  await page.getByLabel('Addresses', { exact: true }).waitFor();
  await page.keyboard.insertText(world.token);
  const least = page.getByLabel(/^Least amount of a transfer, in /);
  await least.waitFor();
  await tabTo(page, least);
  await expectFocusSeen(page);
  await page.keyboard.type('1,000.5');
  await page.keyboard.press('Control+Enter');
  await untilCreated(page);
  const { advancedOptions } = await world.client.streams.get(
    new URL(page.url()).pathname.split('/').at(-1)!,
  );
  expect(JSON.stringify(advancedOptions)).toContain('"1000500000"');
});
