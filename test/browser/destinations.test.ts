/** Tests a stream with several destinations: their state, filter, replay, consumers and settings. */
import { FEED_URL } from '@sluice/kit/contract';
import { createSluiceClient, type SluiceClient } from '@sluice/kit/sluice';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import {
  expectAccessible,
  expectContrast,
  expectNoSidewaysScroll,
  PHONE,
  rowsOf,
  smallTargets,
} from './visitor.ts';
import { startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);

let sluice: SluiceClient;
beforeAll(() => {
  sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
});
afterEach(() => world.respondWith(200));

/** Creates a stream that is sent to an inbox. */
const createStream = (tag: string) =>
  world.client.streams.create({
    webhookUrl: 'sluice://inbox/several',
    description: 'transfers of the token',
    tag,
    chainIds: ['0x7a69'],
    topic0: ['Transfer(address,address,uint256)'],
    allAddresses: true,
    includeContractLogs: true,
  });

/** Adds a feed and a receiver that fails, and waits until both have a delivery. */
async function addTwo(streamId: string): Promise<void> {
  await sluice.addDestination(streamId, { webhookUrl: FEED_URL });
  await sluice.addDestination(streamId, { webhookUrl: world.webhookUrl });
  world.respondWith(410);
  await world.transfer();
  await expect
    .poll(async () => (await sluice.listDestinations(streamId)).at(-1)?.status)
    .toBe('error');
  await sluice.readFeed(streamId, { consumer: 'billing', destination: 1, limit: 1 });
  await sluice.resetFeedConsumer(streamId, 'audit', { to: 'start', destination: 1 });
}

test('destinations are added, edited and removed in the settings', async () => {
  const { id } = await createStream('managed destinations');
  const page = await visitor.signedIn(`/streams/${id}?tab=settings`);
  const section = page.getByRole('region', { name: 'Additional destinations' });
  const dialog = page.getByRole('dialog');
  const save = dialog.getByRole('button', { name: /^(Add destination|Save)$/ });
  const add = section.getByRole('button', { name: 'Add destination…' });
  await add.focus();
  await page.keyboard.press('Enter');
  const url = dialog.getByRole('textbox', { name: /^URL/ });
  for (const [typed, message] of [
    ['ftp://files.example', /^Enter a valid URL/],
    ['nats://broker.example', /^The webhook URL /],
    ['sluice://inbox/A', /^Enter sluice:\/\/feed/],
  ] as const) {
    await url.fill(typed);
    await dialog.getByText(message).waitFor();
    expect(await save.isDisabled()).toBe(true);
  }
  for (const [typed, help] of [
    ['nats://broker.example/payments', /^The broker must confirm/],
    ['postgres://db.example/app?schema=a', /^The tables are created/],
    [FEED_URL, /^Your program reads the webhooks/],
  ] as const) {
    await url.fill(typed);
    await dialog.getByText(help).waitFor();
    expect(await save.isDisabled()).toBe(false);
  }
  // A kind fills in an example of its URL, whose host is selected.
  const kinds = dialog.getByRole('group', { name: 'Destination' });
  await kinds.getByRole('button', { name: 'Kafka' }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByText('Replace the names in this example').waitFor();
  expect(await save.isDisabled()).toBe(true);
  await page.keyboard.insertText('broker.example');
  expect(await url.inputValue()).toBe('kafka://broker.example:9092/topic');
  await dialog.getByText('In a subject, routing key or key, {stream}').waitFor();
  expect(await save.isDisabled()).toBe(false);
  await expectAccessible(page);
  await kinds.getByRole('button', { name: 'Feed' }).click();
  await url.focus();
  await page.keyboard.press('Enter');
  await page.getByText('Destination added').waitFor();
  await section.getByText('active').waitFor();

  await section.getByRole('button', { name: 'Edit destination 1' }).click();
  expect(await url.inputValue()).toBe(FEED_URL);
  await url.fill('sluice://inbox/second');
  await save.click();
  await page.getByText('Destination changed').waitFor();
  await section.getByText('sluice://inbox/second').waitFor();
  expect(await sluice.listDestinations(id)).toMatchObject([
    { webhookUrl: 'sluice://inbox/second' },
  ]);

  await section.getByRole('button', { name: 'Remove destination 1' }).click();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Remove destination' }).click();
  await page.getByText('Destination removed').waitFor();
  expect(await sluice.listDestinations(id)).toEqual([]);
});

test('the page of a stream shows each destination, and its deliveries are listed and replayed', async () => {
  const { id } = await createStream('several destinations');
  await addTwo(id);
  const page = await visitor.signedIn(`/streams/${id}`);
  const list = page.getByRole('list', { name: 'Destinations' });
  const host = new URL(world.webhookUrl).host;
  await expect
    .poll(() => list.getByRole('listitem').allInnerTexts())
    .toEqual([
      expect.stringMatching(/^0: inbox several\s+active$/),
      expect.stringMatching(/^1: the feed\s+active\s+1 unread by audit$/),
      expect.stringMatching(new RegExp(`^2: ${host}\\s+failing\\s+1 queued$`)),
    ]);
  await page.getByText(new RegExp(`^destination 2, ${host}: .*410`)).waitFor();
  await expect.poll(() => rowsOf(page).count()).toBe(3);
  const signs = page.getByText(/^To destination \d:$/);
  expect((await signs.allTextContents()).toSorted()).toEqual([
    'To destination 1:',
    'To destination 2:',
  ]);
  await expectAccessible(page);

  const filter = page.getByRole('navigation', { name: 'Filter' });
  await filter.getByRole('link', { name: /^1: the feed 1$/ }).click();
  await expect.poll(() => rowsOf(page).count()).toBe(1);
  await page.getByRole('button', { name: 'destination 1: the feed, remove' }).waitFor();
  expect(new URL(page.url()).searchParams.get('destination')).toBe('1');
  await page.reload();
  await expect.poll(() => rowsOf(page).count()).toBe(1);
  await page.getByRole('button', { name: 'destination 1: the feed, remove' }).click();
  await expect.poll(() => rowsOf(page).count()).toBe(3);

  await list.getByRole('link', { name: `2: ${host}` }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => rowsOf(page).count()).toBe(1);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByText(`→ destination 2: ${world.webhookUrl}`).waitFor();
  await page.getByText(/no longer accepts webhooks at this URL/).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');

  world.respondWith(200);
  await sluice.updateDestination(id, 2, { webhookUrl: world.webhookUrl });
  await page.getByRole('button', { name: /^Replay…/ }).click();
  const dialog = page.getByRole('dialog');
  const destination = dialog.getByLabel('Destination');
  expect(await destination.inputValue()).toBe('2');
  expect(await destination.locator('option').allInnerTexts()).toEqual([
    'all',
    '0: inbox several',
    '1: the feed',
    `2: ${host}`,
  ]);
  await expectAccessible(page);
  await destination.selectOption('1: the feed');
  const count = dialog.getByLabel(/^Type 1 to replay/);
  await dialog.getByLabel(/^Include 1 already/).check();
  await count.fill('1');
  await dialog.getByRole('button', { name: /^Replay 1 delivery/ }).click();
  await page.getByText('Destination: 1').first().waitFor();
  const [replay] = await sluice.listReplays();
  expect(replay).toMatchObject({ filter: { streamId: [id], destination: 1 }, total: 1 });
});

test('consumers, backfills and Explain name the destination', async () => {
  const { id } = await createStream('explained destinations');
  await addTwo(id);
  const page = await visitor.signedIn(`/streams/${id}?tab=consumers`);
  await rowsOf(page).getByText('billing').waitFor();
  await page.getByRole('button', { name: 'Reset billing' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reset consumer' }).click();
  await page.getByText('billing continues after position 0').waitFor();
  await sluice.addDestination(id, { webhookUrl: FEED_URL });
  await page.getByRole('heading', { name: 'Destination 3: the feed' }).waitFor();
  await page.getByText(/--consumer billing --destination 3$/).waitFor();
  await expectAccessible(page);

  const [newest] = (await sluice.listDeliveries({ streamId: id, limit: 1 })).result;
  await page.goto(`${world.url}/console/streams/${id}?tab=coverage`);
  await page.getByLabel('From block').fill(String(newest!.blockNumber));
  await page.getByLabel('To block').fill(String(newest!.blockNumber));
  await page.getByLabel('Destination', { exact: true }).selectOption('3: the feed');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Match 1 block' }).click();
  await page.getByText(/ to destination 3$/).waitFor();

  await page.goto(`${world.url}/console/explain?q=${newest!.id}`);
  await page.getByText('explained destinations').first().click();
  await page.getByRole('link', { name: /^unconfirmed to destination 2, / }).waitFor();
  await expectAccessible(page);
});

test('a phone and the dark theme show the destinations', async () => {
  const { id } = await createStream('phone destinations');
  await addTwo(id);
  const page = await visitor.signedIn(`/streams/${id}`, { ...PHONE, colorScheme: 'dark' });
  await page.getByRole('list', { name: 'Destinations' }).getByText('failing').waitFor();
  await page.getByText('To destination 2:').waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectAccessible(page);
  await page.goto(`${world.url}/console/streams/${id}?tab=settings`);
  await page.getByRole('button', { name: 'Edit destination 2' }).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectContrast(page);
});
