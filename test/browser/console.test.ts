import { createSluiceClient, type SluiceClient } from '@sluice/kit/sluice';
import { until } from '@sluice/testkit';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { expectNoSidewaysScroll, PHONE, rowsOf, smallTargets } from './visitor.ts';
import { CONFIRMATIONS, startWorld } from './world.ts';

/**
 * Maximum time until a block of the chain appears on the screen. The service of these tests polls
 * the head every 100 ms.
 */
const LIVE_MS = 10_000;

const world = useRunning(startWorld);
let sluice: SluiceClient;
const visitor = useVisitor(world);

/**
 * Creates two streams that all tests share. Each has an unconfirmed and a confirmed delivery of one
 * match.
 */
beforeAll(async () => {
  sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const streams = [await world.createStream('whale-usdt'), await world.createStream('quiet')];
  await world.transfer();
  await world.mine(CONFIRMATIONS);
  await until('both are delivered', async () => {
    const { result } = await sluice.listDeliveries({ phase: 'confirmed', state: 'succeeded' });
    return result.length === streams.length;
  });
});

test('a link with a key signs in, and the key leaves the address at once', async () => {
  const page = await visitor.signedIn();
  expect(page.url()).toBe(`${world.url}/console/`);
  await page.getByRole('link', { name: 'whale-usdt' }).waitFor();
  await page.getByRole('link', { name: 'quiet' }).waitFor();
  const stored = await page.evaluate(() =>
    JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
  );
  expect(stored).not.toContain(world.apiKey);
  expect(await page.evaluate(() => document.cookie)).toBe('');
});

test('signing in by hand leads back to the requested page', async () => {
  const page = await visitor.open();
  await page.goto(`${world.url}/console/deliveries?state=failed`);
  await page.getByLabel('API key').fill('not the right key at all');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This API key is not valid').waitFor();
  await page.getByLabel('API key').fill(world.apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Filter' }).waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
    '/console/deliveries?state=failed',
  );
  // The browser logs the calls that fail with 401 before the sign-in.
  visitor.expectComplaints((text) => text.includes('401'));
});

test('signing out ends the session', async () => {
  const page = await visitor.signedIn();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  await page.goto(`${world.url}/console/deliveries`);
  await page.getByLabel('API key').waitFor();
  visitor.expectComplaints((text) => text.includes('401'));
});

test('a delivery appears without a reload, and opens with its body and attempts', async () => {
  const page = await visitor.signedIn('/deliveries');
  const row = rowsOf(page).filter({ hasText: 'whale-usdt' }).first();
  const readId = () => row.locator('[data-row-link]').getAttribute('data-row-link');
  const before = await readId();
  await world.transfer();
  await expect.poll(readId, { timeout: LIVE_MS }).not.toBe(before);
  await row.getByText('delivered').waitFor({ timeout: LIVE_MS });
  await row.getByRole('link').click();

  const inspector = page.getByRole('region', { name: /^Delivery / });
  await inspector.getByText('1.25 SLD').waitFor();
  await inspector
    .getByText(/✓ its event is Transfer\(address,address,uint256\), which the stream selects/)
    .waitFor();
  await inspector.getByRole('tab', { name: /payload/i }).click();
  await inspector.getByText('logs', { exact: true }).first().waitFor();
  await inspector.getByText('Transfer(address,address,uint256)').first().waitFor();
  await inspector.getByLabel('Find in body').fill('tokenSymbol');
  await page.keyboard.press('Enter');
  await inspector.getByText('"SLD"').waitFor();
  await inspector.getByRole('tab', { name: /response/i }).click();
  await inspector.getByText('thank you').waitFor();
  await inspector.getByRole('tab', { name: /attempts/i }).click();
  await inspector.getByText('POST http://127.0.0.1').waitFor();
  await inspector.getByText(/wait [\d,]+/).waitFor();
  await inspector.getByRole('tab', { name: /headers/i }).click();
  await inspector.getByText('webhook-id').waitFor();
  await page.keyboard.press('Escape');
  await inspector.waitFor({ state: 'detached' });
});

test('the confirmed delivery of a match is linked with the unconfirmed one', async () => {
  const page = await visitor.signedIn('/deliveries');
  const confirmed = rowsOf(page)
    .filter({ hasText: 'whale-usdt' })
    .filter({ has: page.getByText('confirmed', { exact: true }) });
  await confirmed.first().getByRole('link').click();
  const before = page.url();
  await page.getByRole('link', { name: /same match, unconfirmed/ }).click();
  await page.getByRole('link', { name: /same match, confirmed/ }).waitFor();
  expect(page.url()).not.toBe(before);
});

test('filter, selection and tab are in the URL and survive a reload', async () => {
  const page = await visitor.signedIn('/deliveries');
  const filter = page.getByRole('navigation', { name: 'Filter' });
  await filter.getByRole('link', { name: /^whale-usdt/ }).click();
  await page.waitForURL(/stream=/);
  // The filter still lists the other streams.
  await filter.getByRole('link', { name: /^quiet/ }).waitFor();
  // The content of the filter does not overflow horizontally.
  expect(await filter.evaluate((nav) => nav.scrollWidth - nav.clientWidth)).toBe(0);
  const confirmed = filter.getByRole('link', { name: /^confirmed/ });
  await confirmed.click();
  await page.waitForURL(/phase=confirmed/);
  // Once the filter and the list have loaded, the count in the filter equals the number of rows.
  const isCounted = async (): Promise<boolean> => {
    const count = /\d+$/.exec(await confirmed.innerText())?.[0];
    return Number(count) === (await rowsOf(page).count());
  };
  await expect.poll(isCounted, { timeout: 20_000 }).toBe(true);
  await rowsOf(page).first().getByRole('link').click();
  await page.getByRole('tab', { name: /attempts/i }).click();
  await page.waitForURL(/view=attempts/);
  await page.reload();
  await page.getByRole('tab', { name: /attempts/i, selected: true }).waitFor();
  await page.getByText('POST http://127.0.0.1').first().waitFor();
  await page.getByRole('button', { name: 'whale-usdt, remove' }).waitFor();
  await page.getByRole('button', { name: 'confirmed, remove' }).click();
  await page.waitForURL((url) => !url.search.includes('phase'));
  // The filter does not fit next to an open delivery, so it opens as a dialog.
  await page.keyboard.press('/');
  await filter.getByRole('link', { name: /^quiet/ }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'quiet, remove' }).waitFor();
});

test('a paused list keeps its rows and counts new ones', async () => {
  const page = await visitor.signedIn('/deliveries');
  await rowsOf(page).first().waitFor();
  const readTop = () => page.locator('[data-row-link]').first().getAttribute('data-row-link');
  const top = await readTop();
  await page.keyboard.press('l');
  await world.transfer();
  const pill = page.getByRole('button', { name: /\d+ new/ });
  await pill.waitFor({ timeout: LIVE_MS });
  expect(await readTop()).toBe(top);
  await page.keyboard.press('l');
  await pill.waitFor({ state: 'detached' });
  await expect.poll(readTop).not.toBe(top);
});

test('one response has the timelines of all streams', async () => {
  const page = await visitor.signedIn('/settings');
  const asked: string[][] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/sluice/timelines')) return;
    asked.push((request.postDataJSON() as { streamIds: string[] }).streamIds);
  });
  const received = page.waitForResponse('**/sluice/timelines');
  await page.goto(`${world.url}/console/`);
  expect((await received).status()).toBe(200);
  for (const name of ['whale-usdt', 'quiet']) {
    await page.getByRole('img', { name: `Matches of ${name} in the last` }).waitFor();
  }
  const { result: streams } = await world.client.streams.list();
  expect(asked.map((ids) => ids.toSorted())).toEqual([streams.map(({ id }) => id).toSorted()]);
});

test('a stream is paused and resumed by keyboard', async () => {
  const page = await visitor.signedIn();
  await page.getByRole('link', { name: 'quiet' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  const name = await page.evaluate(() => document.activeElement?.textContent);
  await page.keyboard.press('p');
  await page.getByRole('button', { name: `Resume ${name}` }).waitFor();
  const statuses = async () =>
    (await world.client.streams.list()).result.map(({ status }) => status);
  await expect.poll(statuses).toContain('paused');
  await page.keyboard.press('p');
  await page.getByRole('button', { name: `Pause ${name}` }).waitFor();
  await expect.poll(statuses).not.toContain('paused');
});

test('the same keys select and copy rows of both lists', async () => {
  const permissions = ['clipboard-read', 'clipboard-write'];
  const page = await visitor.signedIn('/', { permissions });
  const readCopied = () => page.evaluate(() => navigator.clipboard.readText());
  const readFocused = () =>
    page.locator('[data-row-link]:focus').getAttribute('data-row-link', { timeout: LIVE_MS });
  await page.getByRole('link', { name: 'quiet' }).waitFor();
  await page.keyboard.press('j');
  const streamId = await readFocused();
  await page.keyboard.press('c');
  await expect.poll(readCopied).toBe(streamId);
  // The message is visible only briefly. Screen readers announce it, because it is a status.
  await page.getByRole('status').getByText('ID copied').waitFor();
  await page.getByText('ID copied').waitFor({ state: 'detached' });
  await page.keyboard.press('y');
  await expect.poll(readCopied).toBe(`${world.url}/console/streams/${streamId}`);
  await page.keyboard.press(' ');
  await page.getByRole('button', { name: '1 selected, clear' }).waitFor();
  await page.keyboard.press('Shift+J');
  await page.getByRole('button', { name: '2 selected, clear' }).waitFor();
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog', { name: 'Replay failed deliveries' });
  await dialog.getByText(/^\d+ deliver(y|ies)/).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });

  await world.transfer();
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  // The list of streams also has rows, and stays until the deliveries have loaded.
  await page.locator('.delivery-list [data-row-link]').first().waitFor();
  await page.keyboard.press('l');
  await page.keyboard.press('j');
  const deliveryId = await readFocused();
  await page.keyboard.press('c');
  await expect.poll(readCopied).toBe(deliveryId);
  await page.keyboard.press('y');
  await expect.poll(readCopied).toBe(`${world.url}/console/deliveries/${deliveryId}`);
  await page.keyboard.press('x');
  await expect.poll(readCopied).toMatch(/^curl /);
  await page.getByRole('status').getByText('curl command copied').waitFor();
  expect(await readCopied()).toContain(deliveryId);
});

test('list, title and inspector of a failing stream show the reason', async () => {
  const page = await visitor.signedIn();
  world.respondWith(500);
  try {
    for (let count = 0; count < 2; count++) await world.transfer();
    const countFailed = async () => (await sluice.getDeliveryCounts({ status: '500' })).total;
    // Each of the two streams matches both transfers.
    await expect.poll(countFailed, { timeout: LIVE_MS }).toBeGreaterThanOrEqual(4);
    await page.getByText('failing', { exact: true }).first().waitFor({ timeout: LIVE_MS });
    await expect.poll(() => page.title()).toMatch(/^▲ \d failing · Streams/);
    // The row of the stream shows the response, the receiver and the next attempt.
    await page
      .getByText(/^500 from 127\.0\.0\.1:\d+.* · retry \d of \d (in \d+s|due) · \d+ queued$/)
      .first()
      .waitFor({ timeout: LIVE_MS });
    await page.getByRole('button', { name: 'Pause', exact: true }).first().waitFor();
    await page.getByLabel('Sort streams').selectOption('Failed attempts');
    await page.waitForURL(/sort=failures/);
    await page.getByRole('link', { name: 'Inspect failure' }).first().click();
    // The response is shown as plain text, not as HTML.
    await page.locator('pre').getByText('TypeError: handler <b>crashed</b>').waitFor();
    await page.getByText('handler failed or is restarting').waitFor();
    await page.getByText(/^\d+ deliveries failed the same way since \d\d:\d\d$/).waitFor();
    await page.getByRole('button', { name: /^Replay all \d+…/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Replay deliveries' });
    await dialog.getByRole('button', { name: /^Replay \d+ deliveries$/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Similar failures' }).click();
    await page.getByRole('button', { name: '500, remove' }).waitFor();
  } finally {
    world.respondWith(200);
  }
});

test('everything is reachable on a phone', async () => {
  const page = await visitor.signedIn('/', PHONE);
  await page.getByRole('link', { name: 'whale-usdt' }).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await page.getByRole('link', { name: 'Deliveries', exact: true }).tap();
  await rowsOf(page).first().waitFor();
  await expectNoSidewaysScroll(page);
  await rowsOf(page).filter({ hasText: 'delivered' }).first().getByRole('link').tap();
  await page.getByRole('tab', { name: /attempts/i }).tap();
  await page.getByText('POST http://127.0.0.1').first().waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  // The last tab is off screen until it is selected.
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.getByRole('link', { name: 'whale-usdt' }).tap();
  const last = page
    .getByRole('navigation', { name: 'Stream' })
    .getByRole('link', { name: 'Settings' });
  const isInSight = async (): Promise<boolean> => {
    const { x, width } = (await last.boundingBox())!;
    return x >= 0 && x + width <= PHONE.viewport.width;
  };
  await last.waitFor();
  expect(await isInSight()).toBe(false);
  for (let tab = 0; tab < 5; tab++) await page.keyboard.press(']');
  await page.waitForURL(/tab=settings/);
  await expect.poll(isInSight).toBe(true);
});

test('the theme survives a reload', async () => {
  const page = await visitor.signedIn('/', { colorScheme: 'dark' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByRole('button', { name: /Switch to light/ }).click();
  await expect.poll(background).not.toBe(dark);
  const light = await background();
  await page.reload();
  await page.getByRole('link', { name: 'whale-usdt' }).waitFor();
  expect(await background()).toBe(light);
});

test('rows have the selected density after a reload, and touch rows are high enough for a finger', async () => {
  const page = await visitor.signedIn('/settings');
  const heightOf = async (path: string, row: string): Promise<number | undefined> => {
    await page.goto(`${world.url}/console${path}`);
    await page.locator(row).first().waitFor();
    return (await page.locator(row).first().boundingBox())?.height;
  };
  const ofDelivery = () => heightOf('/deliveries', '.delivery-row');
  expect(await ofDelivery()).toBe(32);
  const chooseInSettings = async (): Promise<void> => {
    await page.goto(`${world.url}/console/settings`);
    await page.getByRole('button', { name: 'Compact' }).click();
  };
  const chooseInPalette = async (): Promise<void> => {
    // Uppercase K, as with Caps Lock.
    await page.keyboard.press('Control+K');
    await page.getByRole('dialog').getByRole('combobox').fill('row height: comf');
    await page.keyboard.press('Enter');
  };
  for (const [density, px, choose] of [
    ['compact', 28, chooseInSettings],
    ['comfortable', 40, chooseInPalette],
  ] as const) {
    await choose();
    // The palette may run the command after its list has loaded.
    await page.locator(`html[data-density="${density}"]`).waitFor();
    expect(await heightOf('/', 'tbody[data-row] > :only-child'), density).toBe(px);
    expect(await ofDelivery(), density).toBe(px);
    // Consecutive rows are exactly one row height apart.
    const tops = await rowsOf(page).evaluateAll((rows) =>
      rows.map((row) => row.getBoundingClientRect().top),
    );
    expect(tops.map((top) => top - tops[0]!)).toEqual(tops.map((_, index) => index * px));
  }
  await page.close();
  const touched = await visitor.signedIn('/deliveries', {
    viewport: { width: 1280, height: 800 },
    hasTouch: true,
  });
  await rowsOf(touched).first().waitFor();
  const list = touched.locator('.delivery-row').first();
  expect((await list.boundingBox())?.height).toBe(44);
});
