/** Tests the consumers of a feed: the list, its empty state, resets and deletions. */
import { FEED_URL } from '@sluice/kit/contract';
import { createSluiceClient, type SluiceClient } from '@sluice/kit/sluice';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE,
  rowsOf,
  smallTargets,
} from './visitor.ts';
import { CONFIRMATIONS, startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);

let sluice: SluiceClient;
beforeAll(() => {
  sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
});

const createFeed = (tag: string) =>
  world.client.streams.create({
    webhookUrl: FEED_URL,
    description: 'transfers of the token',
    tag,
    chainIds: ['0x7a69'],
    topic0: ['Transfer(address,address,uint256)'],
    allAddresses: true,
    includeContractLogs: true,
  });

/** Sends transfers, and waits until their webhooks of both phases are in the feed. */
async function fill(id: string, transfers: number): Promise<void> {
  for (let sent = 0; sent < transfers; sent += 1) await world.transfer();
  await world.mine(CONFIRMATIONS);
  await expect
    .poll(async () => (await sluice.readFeed(id, { mode: 'each', after: 0 })).newestPosition, {
      timeout: 20_000,
    })
    .toBe(2 * transfers);
}

/** Reads as `billing`, which acknowledges two deliveries, and as `audit`, which leases one. */
async function readTwice(id: string): Promise<void> {
  const { deliveries } = await sluice.readFeed(id, { consumer: 'billing', limit: 2 });
  const positions = deliveries.map(({ position }) => position);
  await sluice.acknowledgeFeed(id, { consumer: 'billing', positions });
  await sluice.readFeed(id, { consumer: 'audit', limit: 1 });
}

test('consumers appear while the tab is open, are reset, and are deleted', async () => {
  const { id } = await createFeed('payments feed');
  const page = await visitor.signedIn(`/streams/${id}`);
  const tabs = page.getByRole('navigation', { name: 'Stream', exact: true });
  await tabs.getByRole('link', { name: 'Consumers' }).waitFor();
  await page.getByText('No deliveries yet').waitFor();
  // A feed has no receiver to test.
  expect(await page.getByRole('button', { name: /Send test/ }).count()).toBe(0);
  await page.keyboard.press(']');
  await page.getByText('No consumers yet').waitFor();
  await page.getByText("sluice feed 'payments feed' --consumer billing").waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy command: Read the feed' }).click();
  await expect
    .poll(() => page.evaluate(() => navigator.clipboard.readText()))
    .toBe("sluice feed 'payments feed' --consumer billing");
  const guide = page.getByRole('link', { name: 'Open the documentation' });
  const href = await guide.getAttribute('href');
  expect(await (await fetch(new URL(href!, world.url))).text()).toMatch(/^# Feed$/m);
  await expectAccessible(page);

  await fill(id, 3);
  await readTwice(id);
  const [audit, billing] = [rowsOf(page).nth(0), rowsOf(page).nth(1)];
  const cellsOf = (row: typeof audit) => row.getByRole('cell').allInnerTexts();
  // The cells are unread, oldest unread, leased, missed and position.
  const isSpan = expect.stringMatching(/^(now|\d+[smh] ago)$/);
  await expect
    .poll(async () => (await cellsOf(billing)).slice(0, 5))
    .toEqual(['4', isSpan, '0', '0', '2']);
  expect((await cellsOf(audit)).slice(0, 5)).toEqual(['5', isSpan, '1', '0', '0']);
  await page.getByRole('link', { name: '5 unread by audit' }).waitFor();
  await expectAccessible(page);

  const positionOf = async (name: string): Promise<number | undefined> =>
    (await sluice.listFeedConsumers(id)).find((each) => each.name === name)?.position;
  const dialog = page.getByRole('dialog');
  const resetButton = page.getByRole('button', { name: 'Reset billing' });
  await resetButton.focus();
  await page.keyboard.press('Enter');
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await expect.poll(() => resetButton.evaluate((it) => it === document.activeElement)).toBe(true);

  await page.keyboard.press('Enter');
  await dialog.getByLabel('Continue at').selectOption('After the newest delivery');
  await dialog.getByRole('button', { name: 'Reset consumer' }).click();
  await page.getByText('billing continues after position 6').waitFor();
  expect(await positionOf('billing')).toBe(6);
  expect((await cellsOf(billing)).slice(0, 2)).toEqual(['0', '–']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('billing continues after position 2').waitFor();
  expect(await positionOf('billing')).toBe(2);

  const submit = dialog.getByRole('button', { name: 'Reset consumer' });
  await resetButton.click();
  await submit.click();
  await page.getByText('billing continues after position 0').waitFor();
  expect(await positionOf('billing')).toBe(0);

  const since = dialog.getByLabel('Created since');
  await resetButton.click();
  await dialog.getByLabel('Continue at').selectOption('The first delivery since a time');
  await since.fill('');
  await since.blur();
  await expect.poll(() => submit.isDisabled()).toBe(true);
  await since.fill('2099-12-31 08:00');
  await since.blur();
  await submit.click();
  await page.getByText('billing continues after position 6').waitFor();
  expect(await positionOf('billing')).toBe(6);
  await resetButton.click();
  await dialog.getByLabel('Continue at').selectOption('The first delivery since a time');
  await since.fill('2020-01-31 08:00');
  await submit.click();
  await expect.poll(() => positionOf('billing')).toBe(0);

  await page.getByRole('button', { name: 'Delete audit' }).click();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Delete consumer' }).click();
  await page.getByText('Consumer deleted').waitFor();
  expect(await rowsOf(page).count()).toBe(1);
  expect(await positionOf('audit')).toBeUndefined();
});

test('a phone shows the progress below the name, and missed deliveries are a warning', async () => {
  const { id } = await createFeed('phone feed');
  await fill(id, 1);
  await readTwice(id);
  const page = await visitor.signedIn(`/streams/${id}?tab=consumers`, PHONE);
  await page.getByText(/^position 2 · active /).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectAccessible(page);
  expect(await page.getByText('missed').filter({ visible: true }).count()).toBe(0);

  await page.route('**/feed/consumers?*', async (route) => {
    const response = await route.fetch();
    const { result } = (await response.json()) as { result: object[] };
    await route.fulfill({ json: { result: result.map((each) => ({ ...each, missed: 1204 })) } });
  });
  await page.getByText('1,204 missed').first().waitFor();
  expect(await page.getByText('1,204 missed').first().getAttribute('class')).toBe('text-warn');
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  const missed = page.getByRole('cell', { name: '1,204', exact: true }).first();
  expect(await missed.getAttribute('class')).toContain('text-warn');
});

test('only feeds have the tab', async () => {
  const { id } = await world.createStream('no feed');
  const page = await visitor.signedIn(`/streams/${id}`);
  const tabs = page.getByRole('navigation', { name: 'Stream', exact: true });
  await tabs.getByRole('link', { name: 'Addresses' }).waitFor();
  expect(await tabs.getByRole('link', { name: 'Consumers' }).count()).toBe(0);
  await page.goto(`${world.url}/console/streams/${id}?tab=consumers`);
  await page.getByText('Not a feed').waitFor();
  await page.getByRole('link', { name: 'Edit webhook URL' }).click();
  await page.getByLabel('Webhook URL').waitFor();
});
