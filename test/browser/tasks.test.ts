/**
 * Tests that frequent tasks take few actions, at the speed of a person. Filling in a field is not a
 * click.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createSluiceClient, type SluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { countActions, rowsOf } from './visitor.ts';
import { CONFIRMATIONS, startWorld } from './world.ts';

/** Time to find something and move the pointer there. */
const AIM_MS = 200;
/** Time per key of a fast typist. */
const KEY_MS = 40;
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const world = useRunning(startWorld);
const visitor = useVisitor(world);
let sluice: SluiceClient;
beforeAll(() => {
  sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
});

/** Clicks, types and pastes at the speed of a person. */
const personAt = (page: Page) => ({
  async click(target: Locator): Promise<void> {
    await target.hover();
    await wait(AIM_MS);
    await target.click();
  },
  async type(text: string): Promise<void> {
    await page.keyboard.type(text, { delay: KEY_MS });
  },
  async paste(text: string): Promise<void> {
    await wait(AIM_MS);
    await page.keyboard.insertText(text);
  },
  async press(key: string): Promise<void> {
    await wait(AIM_MS);
    await page.keyboard.press(key);
  },
});

const streamOf = (page: Page) =>
  world.client.streams.get(new URL(page.url()).pathname.split('/').at(-1)!);
const checkpoint = async (): Promise<number> =>
  (await sluice.listChains()).find(({ id }) => id === '0x7a69')!.checkpoint!;
const untilCreated = (page: Page) => page.getByRole('navigation', { name: 'Stream' }).waitFor();

test('the first stream and its first webhook', async () => {
  const page = await visitor.signedIn();
  const person = personAt(page);
  const countOf = await countActions(page);
  await person.click(page.getByRole('button', { name: 'Start demo stream' }));
  await untilCreated(page);
  expect(await countOf()).toMatchObject({ clicks: 1 });
  await world.transfer();
  await person.click(rowsOf(page).first());
  await page.getByRole('region', { name: /^Delivery / }).waitFor();
  expect(await countOf()).toMatchObject({ clicks: 2 });
});

test('a wallet is watched', async () => {
  const page = await visitor.signedIn();
  const person = personAt(page);
  const countOf = await countActions(page);
  await person.click(page.getByRole('link', { name: 'New stream' }));
  await page.getByLabel('Addresses', { exact: true }).waitFor();
  await person.paste(WALLET);
  await person.click(page.getByRole('button', { name: 'Create stream' }));
  await untilCreated(page);
  expect(await countOf()).toMatchObject({ clicks: 2 });
  const { includeNativeTxs, topic0 } = await streamOf(page);
  expect([includeNativeTxs, topic0?.length]).toEqual([true, 3]);
});

test('a token is watched above an amount', async () => {
  const page = await visitor.signedIn();
  const person = personAt(page);
  const countOf = await countActions(page);
  await person.click(page.getByRole('link', { name: 'New stream' }));
  await page.getByLabel('Addresses', { exact: true }).waitFor();
  await person.paste(world.token);
  await page.getByLabel(/^Least amount of a transfer, in /).focus();
  await person.type('1,000.5');
  await person.click(page.getByRole('button', { name: 'Create stream' }));
  await untilCreated(page);
  expect(await countOf()).toMatchObject({ clicks: 2 });
  const { topic0, advancedOptions } = await streamOf(page);
  expect(topic0).toEqual(['Transfer(address,address,uint256)']);
  expect(JSON.stringify(advancedOptions)).toContain('"1000500000"');
});

test('10,000 addresses are watched, from a file', async () => {
  const page = await visitor.signedIn();
  const person = personAt(page);
  const countOf = await countActions(page);
  const rows = Array.from(
    { length: 10_000 },
    (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`,
  );
  await person.click(page.getByRole('link', { name: 'New stream' }));
  const chosen = page.waitForEvent('filechooser');
  await person.click(page.getByText('Choose CSV file'));
  const file = { name: 'wallets.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) };
  await (await chosen).setFiles(file);
  await page.getByText('10,000 addresses', { exact: true }).waitFor();
  await page.getByText('The dry run tries the first 1,000 addresses.').waitFor();
  await person.click(page.getByRole('button', { name: 'Create stream' }));
  await untilCreated(page);
  expect(await countOf()).toMatchObject({ clicks: 3 });
  expect((await streamOf(page)).amountOfAddresses).toBe(10_000);
});

test('a transaction that sent no webhook is explained, and an address leads to its deliveries', async () => {
  const page = await visitor.signedIn();
  const person = personAt(page);
  const countOf = await countActions(page);
  await person.press('Control+k');
  await person.paste(`0x${'12'.repeat(32)}`);
  await page.getByRole('option', { name: 'Explain this hash' }).waitFor();
  await person.press('Enter');
  await page.waitForURL(/\/explain\?/);
  expect(await countOf()).toEqual({ clicks: 0, keys: 2, texts: 1 });

  await person.press('Control+k');
  await person.paste(world.token);
  await person.click(page.getByRole('option', { name: 'Streams and deliveries of this address' }));
  await page.waitForURL(new RegExp(`/addresses/${world.token}`, 'i'));
});

test('a stream is paused and resumed, and its secret rotated', async () => {
  const { id } = await world.createStream('rotated');
  const page = await visitor.signedIn(`/streams/${id}`);
  const person = personAt(page);
  const countOf = await countActions(page);
  await person.click(page.getByRole('button', { name: 'Pause', exact: true }));
  await person.click(page.getByRole('button', { name: 'Resume', exact: true }));
  expect(await countOf()).toMatchObject({ clicks: 2 });
  await person.click(page.getByRole('link', { name: 'Settings' }).last());
  await person.click(page.getByRole('button', { name: 'Rotate…' }));
  await person.click(page.getByRole('button', { name: 'Rotate secret' }));
  await page.getByText('Secret rotated').waitFor();
  expect(await countOf()).toMatchObject({ clicks: 2 + 3 });
});

test('the page of a stream shows why a delivery failed, and its URL is fixed there', async () => {
  const { id } = await world.createStream('failing');
  world.respondWith(404);
  onTestFinished(() => world.respondWith(200));
  await world.transfer();
  for (const path of ['/deliveries?state=retrying', `/streams/${id}`]) {
    const page = await visitor.signedIn(path);
    const countOf = await countActions(page);
    await personAt(page).click(rowsOf(page).first());
    await page.getByText(/but the path or method is wrong/i).waitFor();
    expect(await countOf(), path).toMatchObject({ clicks: 1 });
  }
  const page = await visitor.signedIn(`/streams/${id}`);
  const person = personAt(page);
  await person.click(rowsOf(page).first());
  const countOf = await countActions(page);
  await person.click(page.getByRole('button', { name: 'Change the webhook URL…' }));
  const field = page.getByRole('dialog').getByLabel('Webhook URL');
  await expect.poll(() => field.evaluate((each) => each === document.activeElement)).toBe(true);
  await person.press('End');
  await person.type('/corrected');
  world.respondWith(200);
  await person.click(page.getByRole('button', { name: 'Save and send again' }));
  await page.getByText('URL changed, sent again').waitFor();
  expect(await countOf()).toMatchObject({ clicks: 2 });
});

test('a hole is backfilled, and leaves the page', async () => {
  const { id } = await world.createStream('paused');
  await until('the stream has a block', async () => {
    await world.mine(1);
    return (await sluice.getCoverage(id))[0]?.from != null;
  });
  await world.client.streams.setStatus(id, 'paused');
  const before = await checkpoint();
  await world.mine(5);
  await until('the blocks are read', async () => (await checkpoint()) >= before + 5);
  await world.client.streams.setStatus(id, 'active');
  await until('the coverage has a hole', async () => {
    await world.mine(1);
    return (await sluice.getCoverage(id))[0]!.holes.length > 0;
  });
  await world.mine(CONFIRMATIONS);
  const page = await visitor.signedIn(`/streams/${id}?tab=coverage`);
  const person = personAt(page);
  const fill = page.getByRole('button', { name: /^Fill \d+ blocks?$/ });
  const countOf = await countActions(page);
  await person.click(fill);
  await person.click(page.getByRole('button', { name: /^Match \d+ blocks?$/ }));
  await page.getByText('no holes').waitFor();
  expect(await fill.count()).toBe(0);
  expect(await countOf()).toMatchObject({ clicks: 2 });
});

test('deliveries are exported', async () => {
  await world.createStream('exported');
  await world.transfer();
  const page = await visitor.signedIn('/deliveries');
  const person = personAt(page);
  await rowsOf(page).first().waitFor();
  const countOf = await countActions(page);
  await person.click(page.getByRole('button', { name: 'Export…' }));
  const download = page.waitForEvent('download');
  await person.click(page.getByRole('button', { name: 'Export CSV' }));
  expect((await download).suggestedFilename()).toMatch(/\.csv$/);
  expect(await countOf()).toMatchObject({ clicks: 2 });
});

test('a key that only reads is created', async () => {
  const page = await visitor.signedIn();
  const person = personAt(page);
  const countOf = await countActions(page);
  await person.click(page.getByRole('link', { name: 'Settings' }).first());
  await person.click(page.getByRole('button', { name: 'Create key', exact: true }));
  await person.type('dashboards');
  await person.press('Enter');
  await page.getByRole('button', { name: 'Copy key' }).waitFor();
  expect(await countOf()).toMatchObject({ clicks: 2 });
});

test('a page says at once whether everything is healthy', async () => {
  const page = await visitor.signedIn();
  await page
    .getByRole('region', { name: 'Health' })
    .getByText(/chains current|All is well/)
    .waitFor();
});
