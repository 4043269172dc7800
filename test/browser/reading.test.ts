/** Tests search, paused lists, times, titles, navigation, explorer links and unsaved forms. */
import { createSluiceClient } from '@sluice/kit/sluice';
import { devAccounts } from '@sluice/testkit';
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
let stream: { id: string };

beforeAll(async () => {
  stream = await world.createStream('whale usdt');
  for (let count = 0; count < 3; count++) await world.transfer();
});

const WALLET = devAccounts[7]!.address;

test('search fields accept spaces, and Back undoes a search', async () => {
  const page = await visitor.signedIn();
  const field = page.getByLabel('Filter streams');
  await field.click();
  await page.keyboard.type('whale  usdt ');
  await expect.poll(() => field.inputValue()).toBe('whale  usdt ');
  await page.getByRole('link', { name: 'whale usdt' }).waitFor();
  await page.goBack();
  await expect.poll(() => field.inputValue()).toBe('');
  expect(new URL(page.url()).search).toBe('');
});

test('a stream of a wallet has its payments and token transfers, one of a contract neither', async () => {
  const page = await visitor.signedIn();
  for (const [address, isIncluded] of [
    [WALLET, true],
    [world.token, false],
  ] as const) {
    await page.keyboard.press('n');
    await page.getByLabel('Addresses', { exact: true }).waitFor();
    await page.keyboard.insertText(address);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('navigation', { name: 'Stream' }).waitFor();
    const created = await world.client.streams.get(page.url().split('/').at(-1)!);
    expect(created.includeNativeTxs).toBe(isIncluded);
    expect(created.topic0?.includes('Transfer(address,address,uint256)')).toBe(isIncluded);
  }
  await page.goto(`${world.url}/console/streams/new?address=${WALLET}`);
  const check = page.getByRole('checkbox', { name: /^Transactions/ });
  await expect.poll(() => check.isChecked()).toBe(true);
  // Once the user has unchecked the box, it stays unchecked.
  await check.uncheck();
  await page.getByText('an account, not a contract').waitFor();
  expect(await check.isChecked()).toBe(false);
});

test('a new stream asks before its draft is lost', async () => {
  const page = await visitor.signedIn();
  await page.getByRole('link', { name: 'New stream' }).click();
  await page.getByLabel('Tag', { exact: true }).fill('mine');
  await page.goBack();
  const dialog = page.getByRole('dialog', { name: 'Discard changes?' });
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  expect(await page.getByLabel('Tag', { exact: true }).inputValue()).toBe('mine');
  expect(page.url()).toMatch(/\/streams\/new$/);

  let asked = 0;
  page.once('dialog', (prompt) => {
    asked += 1;
    void prompt.dismiss();
  });
  await page.close({ runBeforeUnload: true });
  await expect.poll(() => asked).toBe(1);

  await page.getByRole('link', { name: 'Deliveries' }).click();
  await dialog.getByRole('button', { name: 'Discard' }).click();
  await page.waitForURL(/\/deliveries$/);
});

test('rules ask before another tab discards them', async () => {
  const page = await visitor.signedIn(`/streams/${stream.id}?tab=rules`);
  await page.getByRole('checkbox', { name: /^Transactions/ }).check();
  await page.getByRole('button', { name: 'Save 1 change' }).waitFor();
  const tabs = page.getByRole('navigation', { name: 'Stream' });
  await tabs.getByRole('link', { name: 'Metrics' }).click();
  const dialog = page.getByRole('dialog', { name: 'Discard changes?' });
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  expect(page.url()).toContain('tab=rules');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await tabs.getByRole('link', { name: 'Metrics' }).click();
  await page.waitForURL(/tab=metrics/);
});

test('addresses may be explorer pages, and doubtful ones are pointed out', async () => {
  const page = await visitor.signedIn('/streams/new');
  const wrong = WALLET.replace(/[a-f](?=[^a-f]*$)/, (digit) => digit.toUpperCase());
  await page
    .getByLabel('Addresses', { exact: true })
    .fill(`https://etherscan.io/address/${WALLET}\n0x${'0'.repeat(40)}\n${wrong}`);
  await page.getByText('2 addresses, 1 duplicate skipped').waitFor();
  await page.getByText('Line 2: This is the zero address').waitFor();
  await page.goto(`${world.url}/console/streams/${stream.id}?tab=addresses`);
  await page.keyboard.press('i');
  const dialog = page.getByRole('dialog', { name: 'Import addresses' });
  await dialog.getByRole('textbox').fill(wrong);
  await dialog.getByText('Line 1: The EIP-55 checksum does not match').waitFor();
  await dialog.getByRole('button', { name: 'Import 1 address' }).waitFor();
  await expectAccessible(page);
});

test('a wrong amount is an error at its field, and the error of a request ends with an edit', async () => {
  const page = await visitor.signedIn('/streams/new');
  await page.getByLabel('Addresses', { exact: true }).fill(world.token);
  await page.getByRole('button', { name: 'ERC-20 transfer' }).click();
  await page.getByRole('button', { name: 'Add condition' }).click();
  const value = page.getByLabel('Value', { exact: true });
  await page.getByPlaceholder('1,000').waitFor();
  await value.fill('abc');
  await page.getByText('Enter an amount of SLD, such as 1,000.5').waitFor();
  expect(await value.getAttribute('aria-invalid')).toBe('true');
  let requests = 0;
  page.on('request', (request) => {
    if (request.method() === 'PUT') requests += 1;
  });
  await page.keyboard.press('Control+Enter');
  await page.getByRole('alert').getByText('The condition on value has an invalid value').waitFor();
  expect(requests).toBe(0);
  expect(await value.evaluate((field) => field === document.activeElement)).toBe(true);

  await value.fill('1');
  world.respondWith(500);
  await page.getByRole('button', { name: 'Webhook a POST' }).click();
  await page.getByLabel('Webhook URL').fill(world.webhookUrl);
  await page.getByRole('button', { name: 'Create stream' }).click();
  const failed = page.getByText("Couldn't create the stream");
  await failed.waitFor();
  expect(requests).toBe(1);
  await page.getByLabel('Webhook URL').fill('sluice://inbox/default');
  await failed.waitFor({ state: 'detached' });
  world.respondWith(200);
  visitor.expectComplaints((text) => text.includes('400') || text.includes('422'));
});

test('each page has its own title', async () => {
  const page = await visitor.signedIn();
  const { result } = await world.client.history.list({ limit: 1 }).catch(() => ({ result: [] }));
  expect(result).toEqual([]);
  for (const [path, title] of [
    ['/streams/new', 'New stream · Streams'],
    [`/streams/${stream.id}`, 'whale usdt · Streams'],
    [`/streams/${stream.id}?tab=rules`, 'Rules · whale usdt · Streams'],
    ['/settings/audit', 'Audit log · Settings'],
    ['/settings/api', 'API reference · Settings'],
    ['/inbox/default', 'default · Inbox'],
    ['/chains', 'Chains'],
  ]) {
    await page.goto(`${world.url}/console${path}`);
    await expect.poll(() => page.title()).toBe(`${title} · Sluice prod`);
  }
});

test('the list of deliveries holds still under the pointer and the focus', async () => {
  const page = await visitor.signedIn('/deliveries');
  await rowsOf(page).first().waitFor();
  const top = () => rowsOf(page).first().locator('[data-row-link]').getAttribute('data-row-link');
  const held = await top();
  const next = page.getByRole('button', { name: /^\d+ new/ });

  await rowsOf(page).nth(1).hover();
  await world.transfer();
  await next.waitFor();
  expect(await top()).toBe(held);
  // On its way to the button, the pointer leaves the rows, which may already show the new ones.
  await next.click({ timeout: 10_000 }).catch(() => undefined);
  await expect.poll(top).not.toBe(held);

  // While the pointer is away from the rows, new deliveries appear at once.
  await page.mouse.move(5, 5);
  const live = await top();
  await world.transfer();
  await expect.poll(top).not.toBe(live);

  await page.keyboard.press('j');
  const focused = await top();
  await world.transfer();
  await next.waitFor();
  expect(await top()).toBe(focused);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: /^Delivery / }).waitFor();
  await world.transfer();
  await expect.poll(() => next.innerText()).toMatch(/^([2-9]|\d\d)/);
  expect(await top()).toBe(focused);
  await page.keyboard.press('Escape');

  // The checkbox of a row is to the left of its text.
  await rowsOf(page).first().hover();
  const box = await page
    .getByRole('checkbox', { name: /^Select/ })
    .first()
    .boundingBox();
  const time = await rowsOf(page).first().locator('[data-row-link]').boundingBox();
  expect(box!.x + box!.width).toBeLessThanOrEqual(time!.x);
});

test('a filter is undone by Back', async () => {
  const page = await visitor.signedIn('/deliveries', { viewport: { width: 1440, height: 900 } });
  const filters = page.getByRole('navigation', { name: 'Filter' });
  await filters.getByRole('link', { name: /^delivered/ }).click();
  await page.waitForURL(/state=succeeded/);
  await page.goBack();
  await page.waitForURL(/\/deliveries$/);
  // The column is wide enough for the summary.
  const summary = page.getByRole('columnheader', { name: 'Summary' });
  expect((await summary.boundingBox())!.width).toBeGreaterThanOrEqual(160);
});

test('times are in a visible zone, in UTC on request, and ages may be absolute', async () => {
  const page = await visitor.signedIn('/deliveries', { timezoneId: 'Asia/Kolkata' });
  const time = rowsOf(page).first().locator('[data-row-link]');
  await time.waitFor();
  const local = (await time.innerText()).slice(-12, -10);
  await page.getByRole('button', { name: 'Times are in UTC+5:30. Switch to UTC' }).click();
  const switched = page.getByRole('button', { name: 'Times are in UTC. Switch to local time' });
  await switched.waitFor();
  await expect.poll(async () => (await time.innerText()).slice(-12, -10)).not.toBe(local);
  await page.reload();
  await switched.waitFor();

  await page.goto(`${world.url}/console/settings`);
  await page
    .getByRole('group', { name: 'Time zone' })
    .getByRole('button', { name: 'UTC' })
    .waitFor();
  await page.getByRole('button', { name: 'Absolute, 10:38' }).click();
  await page.goto(`${world.url}/console/`);
  await page
    .getByRole('cell', { name: /^\d\d:\d\d$/ })
    .first()
    .waitFor();
});

test('a phone shows the time zone in its menu', async () => {
  const page = await visitor.signedIn('/', { ...PHONE, timezoneId: 'Asia/Kolkata' });
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Times are in UTC+5:30. Switch to UTC' }).click();
  await page.getByText('Times are in UTC', { exact: true }).waitFor();
  await expectAccessible(page);
});

test('links to pages come before the content in the tab order', async () => {
  const page = await visitor.signedIn();
  const names: string[] = [];
  for (let step = 0; step < 3; step++) {
    await page.keyboard.press('Tab');
    names.push(await page.evaluate(() => document.activeElement?.textContent ?? ''));
  }
  expect(names).toEqual(['Skip to content', 'Streams', 'Deliveries']);
});

test('a phone names its pages, and has the rest in a menu', async () => {
  const page = await visitor.signedIn('/', PHONE);
  const pages = page.getByRole('navigation', { name: 'Pages' });
  expect(await pages.getByText('Deliveries').isVisible()).toBe(true);
  expect(await pages.getByText('Chains').isVisible()).toBe(false);
  await pages.getByRole('button', { name: 'More' }).tap();
  await expectAccessible(page);
  expect(await smallTargets(page)).toEqual([]);
  await pages.getByRole('link', { name: 'Chains' }).tap();
  await page.waitForURL(/\/chains$/);
  await pages.getByText('Settings').waitFor({ state: 'hidden' });
  await expectNoSidewaysScroll(page);
});

test('transactions, addresses and blocks link to the block explorer', async () => {
  const page = await visitor.signedIn('/deliveries');
  await rowsOf(page).first().locator('[data-row-link]').click();
  const inspector = page.getByRole('region', { name: /^Delivery / });
  const links = inspector.getByRole('link', { name: /on explorer\.example, new tab$/ });
  const hrefOf = (what: string) =>
    inspector
      .getByRole('link', { name: new RegExp(`^Open ${what} `) })
      .first()
      .getAttribute('href');
  expect(await hrefOf('block')).toMatch(/^https:\/\/explorer\.example\/block\/\d+$/);
  expect(await hrefOf('transaction')).toMatch(/example\/tx\/0x[0-9a-f]{64}$/);
  expect(await hrefOf('address')).toMatch(/example\/address\/0x[0-9a-fA-F]{40}$/);
  for (const link of await links.all()) {
    expect([await link.getAttribute('target'), await link.getAttribute('rel')]).toEqual([
      '_blank',
      'noreferrer',
    ]);
  }
  await expectAccessible(page);
  expect(await smallTargets(page)).toEqual([]);
});

test('deliveries are found by transaction, address, label and time', async () => {
  const labels = { [world.token.toLowerCase()]: 'house money' };
  await world.client.streams.addAddress(stream.id, [world.token], { labels });
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const { result } = await sluice.listDeliveries({ streamId: stream.id, order: 'oldest' });
  const { transactionHash } = await hashOf(result[0]!.id);
  const page = await visitor.signedIn('/deliveries');
  const field = page.getByLabel('Search by transaction, address or label');
  const listed = async (): Promise<number> =>
    Number(await page.getByRole('table', { name: 'Deliveries' }).getAttribute('aria-rowcount')) - 1;
  const ofTransaction = await sluice.listDeliveries({ transactionHash });
  await expect.poll(listed).toBeGreaterThan(ofTransaction.result.length);
  await field.fill(transactionHash);
  await field.press('Enter');
  await page.waitForURL(/\?q=/);
  await expect.poll(listed).toBe(ofTransaction.result.length);
  await expectAccessible(page);

  for (const text of [world.token, 'House MONEY']) {
    await field.fill(text);
    await field.press('Enter');
    await page.getByRole('button', { name: `“${text}”, remove` }).waitFor();
    await expect.poll(listed).toBeGreaterThan(ofTransaction.result.length);
    // A replay cannot filter by search text.
    expect(await page.getByRole('button', { name: /^Replay/ }).isDisabled()).toBe(true);
  }
  await field.fill('nobody');
  await field.press('Enter');
  await page.getByText('No deliveries match this filter').waitFor();
  await page.getByRole('button', { name: '“nobody”, remove' }).click();
  await page.waitForURL(/deliveries$/);

  const until = result[0]!.createdAt;
  await page.goto(`${world.url}/console/deliveries?from=${until - 60_000}&until=${until}`);
  await page.getByRole('button', { name: /^created from .*, remove$/ }).waitFor();
  const earliest = await sluice.listDeliveries({ createdTo: until });
  await expect.poll(listed).toBe(earliest.result.length);
});

/** Returns the first log of a delivery, which contains the transaction hash. */
async function hashOf(id: string): Promise<{ transactionHash: string }> {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const { logs } = JSON.parse(await sluice.getDeliveryBody(id)) as {
    logs: { transactionHash: string }[];
  };
  return logs[0]!;
}
