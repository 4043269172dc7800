/** Tests the form of factories, and the list of their children. */
import { createSluiceClient } from '@sluice/kit/sluice';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE,
  rowsOf,
  smallTargets,
} from './visitor.ts';
import { startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);

beforeAll(() => world.transfer());

const TRANSFER = 'Transfer(address indexed from, address indexed to, uint256 value)';

/** Creates a stream of everyone who receives the token. */
const createHolders = () =>
  world.client.streams.create({
    webhookUrl: world.webhookUrl,
    description: 'transactions of holders',
    tag: 'holders',
    chainIds: ['0x7a69'],
    includeNativeTxs: true,
    factories: [{ address: world.token, event: TRANSFER, parameter: 'to', from: 0 }],
  });

test('a recipe watches the children of a factory, by an event of its ABI', async () => {
  const page = await visitor.signedIn('/streams/new?recipe=pools');
  const entry = page.getByRole('group', { name: 'Factory 1', exact: true });
  const address = entry.getByLabel('Factory address');
  await expect.poll(() => address.evaluate((field) => field === document.activeElement)).toBe(true);
  await page.keyboard.press('Control+Enter');
  await entry.getByText('Enter the address of the factory').waitFor();
  await address.fill(world.token);
  await entry.getByText('children of 0x').waitFor();

  // The ABI of the contract offers its events.
  const event = entry.getByLabel('Event with the child’s address');
  await expect.poll(() => entry.locator('datalist option').count()).toBeGreaterThan(1);
  expect(await entry.locator('datalist option').getByText(TRANSFER, { exact: true }).count()).toBe(
    1,
  );
  await event.fill('Transfer(address');
  await entry.getByText('Enter an event with the names').waitFor();
  await event.fill(TRANSFER);
  const parameter = entry.getByLabel('Parameter');
  expect(await parameter.inputValue()).toBe('to');
  expect(await parameter.locator('option').allTextContents()).toEqual(['from', 'to']);
  await entry.getByLabel('From block').fill('first');
  await entry.getByText('Enter a block number').waitFor();
  await entry.getByLabel('From block').fill('0');
  await entry.getByText('to of Transfer, from block 0').waitFor();
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Add factory' }).click();
  const second = page.getByRole('group', { name: 'Factory 2', exact: true });
  await second.getByLabel('Created by').selectOption('the children of factory 1');
  expect(await second.getByLabel('Factory address').count()).toBe(0);
  const remove = page.getByRole('button', { name: 'Remove factory 1' });
  await remove.click();
  await page.getByText('Entry removed.').waitFor();
  await expectAccessible(page);
  // A removal is undone with its references, until the list changes again.
  await page.getByRole('button', { name: 'Undo' }).click();
  expect(await address.inputValue()).toBe(world.token);
  expect(await second.getByLabel('Created by').inputValue()).toBe('0');
  await remove.click();
  expect(await entry.getByLabel('Factory address').inputValue()).toBe('');
  await entry.getByLabel('Factory address').fill(world.token);
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
  await entry.getByLabel('Event with the child’s address').fill(TRANSFER);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: 'Pools' }).waitFor();
  const id = page.url().split('/').at(-1)!;
  expect((await world.client.streams.get(id)).factories).toEqual([
    { address: world.token.toLowerCase(), event: TRANSFER, parameter: 'to' },
  ]);

  // The stream waits for blocks, although it has no addresses.
  await page.getByText('1 factory · 1 event').waitFor();
  await page.getByText('Waiting for block').waitFor();
  expect(await page.getByText('no addresses').count()).toBe(0);

  await page.goto(`${world.url}/console/streams/${id}?tab=rules`);
  await entry.getByLabel('From block').fill('1');
  const changes = page.getByLabel('Changes');
  await expect
    .poll(() => changes.innerText())
    .toMatch(/to of Transfer, new ones only → .* to of Transfer, from block 1$/);
  await page.getByRole('button', { name: 'Save 1 change' }).click();
  await page.getByText('Saved 1 change').waitFor();
  expect((await world.client.streams.get(id)).factories).toMatchObject([{ from: 1 }]);
});

test('children are listed, found, labeled and filtered', async () => {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const { id } = await createHolders();
  const page = await visitor.signedIn(`/streams/${id}?tab=children`);
  await rowsOf(page).first().waitFor();
  const { total, result } = (await sluice.listChildren(id)) as {
    total: number;
    result: { address: string }[];
  };
  await page.getByText(total === 1 ? '1 child' : `${total} children`, { exact: true }).waitFor();
  expect(await rowsOf(page).count()).toBe(total);
  await expectAccessible(page);

  const { address } = result[0]!;
  await page.getByRole('button', { name: `Add a label to ${address}` }).click();
  await page.keyboard.type('treasury');
  await page.keyboard.press('Enter');
  await page.getByText('Label saved.').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('treas');
  await page.getByText('1 child', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Edit label treasury' }).waitFor();
  expect(new URL(page.url()).searchParams.get('find')).toBe('treas');
  await page.getByLabel('Find children', { exact: true }).fill('nothing');
  await page.getByText('No results').waitFor();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Show all children' }).click();
  await rowsOf(page)
    .nth(total - 1)
    .waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Label restored.').waitFor();
  await page.getByRole('button', { name: `Add a label to ${address}` }).waitFor();

  const phone = await visitor.signedIn(`/streams/${id}?tab=children`, PHONE);
  await rowsOf(phone).first().waitFor();
  await expectNoSidewaysScroll(phone);
  expect(await smallTargets(phone)).toEqual([]);
  await expectAccessible(phone);
});

test('only streams with factories have the tab', async () => {
  const { id } = await world.createStream('no factories');
  const page = await visitor.signedIn(`/streams/${id}`);
  const tabs = page.getByRole('navigation', { name: 'Stream', exact: true });
  await tabs.getByRole('link', { name: 'Addresses' }).waitFor();
  expect(await tabs.getByRole('link', { name: 'Children' }).count()).toBe(0);
});
