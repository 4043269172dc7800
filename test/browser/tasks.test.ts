/**
 * Tests that frequent tasks take few actions. A person's actions are clicks, typed or pasted fields,
 * and keys, at a person's speed.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { rowsOf } from './visitor.ts';
import { startWorld } from './world.ts';

/** Time to find something and move the pointer there. */
const AIM_MS = 200;
/** Time per key of a fast typist. */
const KEY_MS = 40;
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const world = useRunning(startWorld);
const visitor = useVisitor(world);

/** Counts what a person does. */
function createPerson(page: Page) {
  const did = { clicks: 0, fields: 0, keys: 0 };
  return {
    did,
    async click(target: Locator): Promise<void> {
      await target.hover();
      await wait(AIM_MS);
      await target.click();
      did.clicks++;
    },
    /** Types into the field that has the focus, or into a field after a click that is not counted. */
    async type(text: string, field?: Locator): Promise<void> {
      if (field !== undefined) await field.click();
      await page.keyboard.type(text, { delay: KEY_MS });
      did.fields++;
    },
    async paste(text: string, field?: Locator): Promise<void> {
      if (field !== undefined) await field.click();
      await wait(AIM_MS);
      await page.keyboard.insertText(text);
      did.fields++;
    },
    async press(key: string): Promise<void> {
      await wait(AIM_MS);
      await page.keyboard.press(key);
      did.keys++;
    },
  };
}

const streamOf = (page: Page) =>
  world.client.streams.get(new URL(page.url()).pathname.split('/').at(-1)!);
const untilCreated = (page: Page) => page.getByRole('navigation', { name: 'Stream' }).waitFor();

test('the first stream and its first webhook', async () => {
  const page = await visitor.signedIn();
  const person = createPerson(page);
  await person.click(page.getByRole('button', { name: 'Start demo stream' }));
  await untilCreated(page);
  expect(person.did).toEqual({ clicks: 1, fields: 0, keys: 0 });
  await world.transfer();
  await person.click(rowsOf(page).first());
  await page.getByRole('region', { name: /^Delivery / }).waitFor();
  expect(person.did).toEqual({ clicks: 2, fields: 0, keys: 0 });
});

test('a wallet is watched', async () => {
  const page = await visitor.signedIn();
  const person = createPerson(page);
  await person.click(page.getByRole('link', { name: 'New stream' }));
  await page.getByLabel('Addresses', { exact: true }).waitFor();
  await person.paste(WALLET);
  await person.click(page.getByRole('button', { name: 'Create stream' }));
  await untilCreated(page);
  expect(person.did).toEqual({ clicks: 2, fields: 1, keys: 0 });
  const { includeNativeTxs, topic0 } = await streamOf(page);
  expect([includeNativeTxs, topic0.length]).toEqual([true, 3]);
});

test('a token is watched above an amount', async () => {
  const page = await visitor.signedIn();
  const person = createPerson(page);
  await person.click(page.getByRole('link', { name: 'New stream' }));
  await page.getByLabel('Addresses', { exact: true }).waitFor();
  await person.paste(world.token);
  await person.type('1,000.5', page.getByLabel(/^Least amount of a transfer, in /));
  await person.click(page.getByRole('button', { name: 'Create stream' }));
  await untilCreated(page);
  expect(person.did).toEqual({ clicks: 2, fields: 2, keys: 0 });
  const { topic0, advancedOptions } = await streamOf(page);
  expect(topic0).toEqual(['Transfer(address,address,uint256)']);
  expect(JSON.stringify(advancedOptions)).toContain('"1000500000"');
});

test('10,000 addresses are watched, from a file', async () => {
  const page = await visitor.signedIn();
  const person = createPerson(page);
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
  expect(person.did).toEqual({ clicks: 3, fields: 0, keys: 0 });
  expect((await streamOf(page)).amountOfAddresses).toBe(10_000);
});

test('a transaction that sent no webhook is explained, and an address leads to its deliveries', async () => {
  const page = await visitor.signedIn();
  const person = createPerson(page);
  await person.press('Control+k');
  await person.paste(`0x${'12'.repeat(32)}`);
  await page.getByRole('option', { name: 'Explain this hash' }).waitFor();
  await person.press('Enter');
  await page.waitForURL(/\/explain\?/);
  expect(person.did).toEqual({ clicks: 0, fields: 1, keys: 2 });

  await person.press('Control+k');
  await person.paste(world.token);
  await person.click(page.getByRole('option', { name: 'All deliveries of this address' }));
  await page.waitForURL(new RegExp(`q=${world.token}`, 'i'));
});

test('a stream is paused and resumed, and its secret rotated', async () => {
  const { id } = await world.createStream('rotated');
  const page = await visitor.signedIn(`/streams/${id}`);
  const person = createPerson(page);
  await person.click(page.getByRole('button', { name: /^Pause/ }));
  await person.click(page.getByRole('button', { name: /^Resume/ }));
  expect(person.did.clicks).toBe(2);
  person.did.clicks = 0;
  await person.click(page.getByRole('link', { name: 'Settings' }).last());
  await person.click(page.getByRole('button', { name: 'Rotate…' }));
  await person.click(page.getByRole('button', { name: 'Rotate secret' }));
  await page.getByText('Secret rotated').waitFor();
  expect(person.did).toEqual({ clicks: 3, fields: 0, keys: 0 });
});

test('a key that only reads is created', async () => {
  const page = await visitor.signedIn();
  const person = createPerson(page);
  await person.click(page.getByRole('link', { name: 'Settings' }).first());
  await person.click(page.getByRole('button', { name: 'Create key' }));
  await person.type('dashboards');
  await person.press('Enter');
  await page.getByRole('button', { name: 'Copy key' }).waitFor();
  expect(person.did).toEqual({ clicks: 2, fields: 1, keys: 1 });
});

test('a page says at once whether everything is healthy', async () => {
  const page = await visitor.signedIn();
  await page
    .getByRole('region', { name: 'Health' })
    .getByText(/chains current|All is well/)
    .waitFor();
});
