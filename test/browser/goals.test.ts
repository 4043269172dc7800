/**
 * Tests requirements of the entire console: keyboard access, network failures, links, large bodies
 * and accessible dialogs.
 */
import { get } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { createSluiceClient } from '@sluice/kit/sluice';
import { signedHeaders } from '@sluice/kit/testing';
import { startFaultProxy } from '@sluice/testkit';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test, vi } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import {
  expectAccessible,
  expectContrast,
  expectFocusSeen,
  rowsOf,
  startVisitor,
  tabTo,
} from './visitor.ts';
import { CONFIRMATIONS, startWorld } from './world.ts';

/** Maximum time until the page reports that live events are disconnected. */
const NOTICED_MS = 3_000;
const PATIENCE = { timeout: 20_000, interval: 100 };
/**
 * Maximum number of bytes per delivery in a list with names of ordinary length: `sent` after
 * compression, `read` as JSON.
 */
const ROW_BYTES = { sent: 300, read: 480 };
const CRASH = 'TypeError: handler <b>crashed</b>';

const world = useRunning(startWorld);
const visitor = useVisitor(world);
let stream: { id: string };
/** A stream whose receiver fails on every request. */
let broken: { id: string };

beforeAll(async () => {
  stream = await world.createStream('whale-usdt');
  broken = await world.client.streams.create({
    webhookUrl: 'sluice://inbox/broken',
    description: 'crashes',
    tag: 'broken',
    chainIds: ['0x7a69'],
    topic0: ['Transfer(address,address,uint256)'],
    allAddresses: true,
    includeContractLogs: true,
  });
  await readSluice().setInbox('broken', { status: 500, body: CRASH });
  for (let count = 0; count < 3; count++) await world.transfer();
  await world.mine(CONFIRMATIONS);
  await vi.waitFor(async () => {
    const { result } = await readSluice().listDeliveries({ status: '5xx' });
    if (result.length === 0) throw new Error('nothing failed yet');
  }, PATIENCE);
});

const readSluice = () => createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });

const focusedText = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent ?? '');

test('by keyboard: a stream is created', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('n');
  await page.getByLabel('Addresses', { exact: true }).waitFor();
  await expectFocusSeen(page);
  await page.keyboard.insertText(world.token);
  const tag = page.getByLabel('Tag');
  await tabTo(page, tag);
  await expectFocusSeen(page);
  await page.keyboard.insertText('by-keyboard');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('heading', { name: 'by-keyboard' }).waitFor();
});

test('by keyboard: a failure is found and read, and closing it returns to its row', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  // The list of streams also has rows, and stays until the deliveries have loaded.
  await page.locator('.delivery-list [data-row-link]').first().waitFor();
  await page.keyboard.press('/');
  const link = page.getByRole('link', { name: /^5xx/ });
  await tabTo(page, link);
  await expectFocusSeen(page);
  await page.keyboard.press('Enter');
  await page.waitForURL(/status=5xx/);
  await rowsOf(page).filter({ hasText: '500' }).first().waitFor();
  // Waits until the unfiltered rows are gone, because removing a focused row loses the focus.
  await expect.poll(() => rowsOf(page).filter({ hasNotText: '500' }).count(), PATIENCE).toBe(0);
  await page.keyboard.press('Escape');
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press('j');
  await expectFocusSeen(page);
  const origin = await focusedText(page);
  await page.keyboard.press('Enter');
  const inspector = page.getByRole('region', { name: /^Delivery / });
  await inspector.waitFor();
  // A failed delivery opens with its response; `[` and `]` switch to the tabs next to it.
  await inspector.locator('pre').getByText(CRASH).waitFor();
  await page.keyboard.press('[');
  await page.waitForURL(/view=payload/);
  await page.keyboard.press(']');
  await page.waitForURL(/view=response/);
  await page.keyboard.press('Escape');
  await inspector.waitFor({ state: 'detached' });
  await expect.poll(() => focusedText(page), PATIENCE).toBe(origin);
});

test('the first line says what fails, and leads to the last failure', async () => {
  const page = await visitor.signedIn();
  const health = page.getByRole('region', { name: 'Health' });
  // The line can be opened once the incidents have loaded.
  const line = health.locator('summary');
  await line.getByText(/^1 of \d+ streams failing, .*waiting, chains current$/).click();
  const incident = health.getByRole('listitem').filter({ hasText: '500 from inbox broken' });
  await incident.getByText(/^broken · since /).waitFor();
  await expectAccessible(page);
  await expect
    .poll(() => page.locator('tbody[data-row]').first().innerText(), PATIENCE)
    .toContain('broken');
  await incident.getByRole('link', { name: 'Open the last failure' }).click();
  await page.getByText('handler <b>crashed</b>').first().waitFor();
});

test('a pasted address leads to its streams, its activity and all of its deliveries', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Search and commands' });
  await palette.getByRole('combobox').fill(world.token);
  await palette.getByRole('option', { name: 'Streams and deliveries of this address' }).click();
  await page.waitForURL(new RegExp(`/addresses/${world.token}`, 'i'));
  await rowsOf(page).first().waitFor();
  await page.getByText(/^Last seen .* deliver(y|ies)$/).waitFor();
  await expectAccessible(page);

  const streams = page.getByRole('list', { name: 'Streams that watch the address' });
  const listed = await streams.getByRole('link').allTextContents();
  expect(listed).toContain('broken');
  const strip = page.getByRole('img', { name: /^Activity: \d+ deliver(y|ies), \d+ failed since / });
  await strip.waitFor();
  // The newest bar ends now.
  const bars = strip.locator('[data-tip]');
  expect(await bars.count()).toBeGreaterThan(0);
  expect(await bars.last().getAttribute('data-tip')).toMatch(/^\d+ deliver(y|ies)/);

  await streams.getByRole('link', { name: 'broken', exact: true }).click();
  await page.waitForURL(/tab=addresses.*find=/);
});

test('by keyboard: a single delivery is replayed, also with a filter active', async () => {
  const page = await visitor.signedIn('/deliveries?status=2xx');
  await rowsOf(page).first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const inspector = page.getByRole('region', { name: /^Delivery / });
  const tab = await inspector.getByRole('tab', { name: /attempts \d/i }).textContent();
  const attempts = Number(/\d+/.exec(tab ?? '')?.[0]);
  await page.keyboard.press('r');
  await page.keyboard.press('Enter');
  await inspector.getByRole('tab', { name: new RegExp(`attempts ${attempts + 1}`, 'i') }).waitFor();
});

test('by keyboard: only the selected rows are replayed', async () => {
  const page = await visitor.signedIn(`/deliveries?stream=${broken.id}`);
  await expect.poll(() => rowsOf(page).count(), PATIENCE).toBeGreaterThan(2);
  await page.keyboard.press('j');
  await page.keyboard.press('.');
  await page.getByRole('menuitem', { name: 'Select', exact: true }).press('Enter');
  await page.getByRole('button', { name: '1 selected, clear' }).waitFor();
  await page.keyboard.press('Shift+J');
  await page.keyboard.press('Shift+J');
  await page.getByRole('button', { name: '3 selected, clear' }).waitFor();
  await page.keyboard.press('k');
  await page.keyboard.press(' ');
  await page.getByRole('button', { name: '2 selected, clear' }).waitFor();
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(2);
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog', { name: 'Replay deliveries' });
  await dialog.getByRole('button', { name: 'Replay 2 deliveries' }).waitFor();
  // The first field has the focus, and Enter submits the form.
  expect(await dialog.getByLabel('Name').evaluate((field) => field.matches(':focus'))).toBe(true);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/replays\/[0-9a-f-]{36}$/);
  await page.getByText(/^Selected: 2/).waitFor();
  await expect.poll(() => rowsOf(page).count(), PATIENCE).toBe(2);
});

test('by keyboard: a replay shows its progress, and its failures are replayed', async () => {
  const sluice = readSluice();
  const { result } = await sluice.listDeliveries({ streamId: broken.id, limit: 2 });
  const id = result.map((delivery) => delivery.id);
  const page = await visitor.signedIn('/replays');
  const made = await sluice.createReplay({ name: 'after the fix', filter: { id } });
  const row = page.locator('tbody').filter({ hasText: 'after the fix' });
  await row.getByText('Selected: 2').waitFor();
  await row.getByText('by --api-key').waitFor();
  const readSent = async (): Promise<number> => (await sluice.getReplay(made.id)).replayed;
  await expect.poll(readSent, PATIENCE).toBe(2);
  // Stops the delivery if it waits for a retry, and returns its state. Called repeatedly, because
  // the delivery may be in flight.
  const giveUp = async (each: string): Promise<string> => {
    const { state } = await sluice.getDelivery(each);
    if (state === 'pending' || state === 'retrying')
      await sluice.stopDelivery(each).catch(() => {});
    return state;
  };
  for (const each of id) await expect.poll(() => giveUp(each), PATIENCE).toBe('failed');
  await row.getByRole('img', { name: '2 failed' }).waitFor();
  await page.keyboard.press('j');
  // Opens the row's menu of actions.
  await page.keyboard.press('.');
  await page.getByRole('menu', { name: 'after the fix' }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/replays/${made.id}\\?state=failed`));
  await expect.poll(() => rowsOf(page).count(), PATIENCE).toBe(2);
  await page.getByRole('button', { name: 'Replay 2 failed' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Replay failed deliveries' });
  await dialog.getByRole('button', { name: 'Replay 2 deliveries' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('Replay: “after the fix”').waitFor();
  await page.getByRole('link', { name: 'replayed 2' }).waitFor();
});

test('a replay is canceled after confirmation', async () => {
  const filter = { streamId: [stream.id, broken.id] };
  const { id } = await readSluice().createReplay({ name: 'too many', filter, perSecond: 0.1 });
  const page = await visitor.signedIn(`/replays/${id}`);
  await page.getByText('running', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel replay' }).click();
  await page.getByText('canceled', { exact: true }).first().waitFor();
  await page.getByText('not replayed').waitFor();
  expect((await readSluice().getReplay(id)).state).toBe('cancelled');
});

test('by keyboard: a signature is verified', async () => {
  const page = await visitor.signedIn();
  await page.keyboard.press('g');
  await page.keyboard.press('v');
  const secret = page.getByLabel('Secret or public key');
  await secret.waitFor();
  const body = '{"confirmed":true,"logs":[]}';
  const headers = Object.entries(signedHeaders(body, { secret: world.secret }))
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
  for (const [label, text] of [
    ['Secret or public key', world.secret],
    ['Headers', headers],
    ['Body', body],
  ] as const) {
    const field = page.getByLabel(label, { exact: true });
    await tabTo(page, field);
    await expectFocusSeen(page);
    await page.keyboard.insertText(text);
  }
  await page.keyboard.press('Control+Enter');
  await page.getByText('The signature is valid').waitFor();
});

test('events during a network failure appear once after it', async () => {
  const proxy = await startFaultProxy({ port: Number(new URL(world.url).port) });
  const outside = await startVisitor({ ...world, url: `http://127.0.0.1:${proxy.port}` });
  try {
    const page = await outside.signedIn(`/deliveries?stream=${stream.id}`);
    await rowsOf(page).first().waitFor();
    proxy.cut();
    await page.getByText(/^reconnecting/).waitFor({ timeout: NOTICED_MS });
    for (let count = 0; count < 3; count++) await world.transfer();
    await world.mine(CONFIRMATIONS);
    const sluice = readSluice();
    const listed = async (): Promise<string[]> => {
      const { result } = await sluice.listDeliveries({ streamId: stream.id, limit: 12 });
      return result.map(({ id }) => id);
    };
    await expect
      .poll(async () => {
        const query = { streamId: stream.id, state: 'succeeded', phase: 'confirmed' } as const;
        return (await sluice.listDeliveries(query)).result.length;
      }, PATIENCE)
      .toBe(6);
    proxy.heal();
    await page.getByText('live', { exact: true }).first().waitFor();
    const shown = (): Promise<(string | null)[]> =>
      page.locator('[data-row-link]').evaluateAll((links) =>
        links
          .map((link) => ({
            id: link.getAttribute('data-row-link'),
            top: link.getBoundingClientRect().top,
          }))
          .toSorted((a, b) => a.top - b.top)
          .map(({ id }) => id)
          .slice(0, 12),
      );
    await expect.poll(shown, PATIENCE).toEqual(await listed());
    // Live updates continue.
    await world.transfer();
    await expect.poll(async () => (await shown())[0], PATIENCE).toBe((await listed())[0]);
    outside.expectComplaints((text) => /ERR_|Failed to (fetch|load)/.test(text));
  } finally {
    await outside.stop();
    await proxy.stop();
  }
});

test('a worker reads large bodies: lines, search, records', async () => {
  const list = async (): Promise<string[]> => {
    const { result } = await readSluice().listDeliveries({ limit: 4, status: '5xx' });
    return result.map((row) => row.id);
  };
  await expect.poll(async () => (await list()).length, PATIENCE).toBe(4);
  const [id, next] = await list();
  const page = await visitor.signedIn();
  const bodies = /\/sluice\/deliveries\/[-\da-f]{36}\/body$/;
  await page.route(bodies, async (route) => {
    const response = await route.fetch();
    const sent = (await response.json()) as { logs: object[] };
    const body = { of: route.request().url().split('/').at(-2), ...sent, end: 'the very end' };
    body.logs = Array.from({ length: 3_000 }, () => body.logs[0]!);
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${world.url}/console/deliveries/${id}?view=payload`);
  const tree = page.getByRole('region', { name: 'Body', exact: true });
  await tree.getByText('[3000]').waitFor();
  expect(page.workers()).toHaveLength(1);
  await page.getByRole('button', { name: 'Expand all' }).click();
  await page.getByLabel('Find in body').fill('the very end');
  await page.keyboard.press('Enter');
  await tree.getByText('"the very end"').waitFor();
  // The body is as high as all of its lines, but only the lines that fit are rendered.
  expect(await tree.evaluate((element) => element.scrollHeight)).toBeGreaterThan(24 * 3_000 * 5);
  expect(await tree.getByRole('button', { name: /^Copy path/ }).count()).toBeLessThan(80);
  await page.getByRole('tab', { name: /decoded/i }).click();
  await page.getByRole('button', { name: 'Show more (2,950 left)' }).click();
  await page.getByRole('button', { name: 'Show more (2,850 left)' }).waitFor();
  // The same worker also loads the next body and returns its text.
  await page.goto(`${world.url}/console/deliveries?status=5xx&sel=${id}&view=payload`);
  await tree.getByText(`"${id}"`).waitFor();
  await page.keyboard.press('j');
  await tree.getByText(`"${next}"`).waitFor();
  await tree.evaluate((element) => element.scrollTo(0, 300));
  await tree.getByText('[3000]').waitFor();
  await page.getByRole('button', { name: 'Show the body as text' }).click();
  const text = page.getByRole('region', { name: 'Body as sent' });
  await text.getByText(`{"of":"${next}"`).waitFor();
  expect((await text.innerText()).length).toBeGreaterThan(500_000);
  expect(page.workers()).toHaveLength(1);
  // If a body fails to load, the page shows the service's error.
  await page.unroute(bodies);
  await page.route(bodies, (route) => route.fulfill({ status: 404, json: { message: 'gone' } }));
  await page.keyboard.press('j');
  await page.getByRole('alert').getByText("Couldn't load the body").waitFor();
  // Closing a delivery aborts the request for its body.
  await page.unroute(bodies);
  await page.route(bodies, () => {});
  const asked = page.waitForRequest(bodies);
  await page.keyboard.press('j');
  const left = page.waitForEvent('requestfailed', (request) => bodies.test(request.url()));
  await asked;
  await page.keyboard.press('Escape');
  expect((await left).failure()?.errorText).toBe('net::ERR_ABORTED');
  visitor.expectComplaints((text) => text.includes('404'));
});

test('every state is a link: another browser that opens it shows the same, back and forward', async () => {
  const { result } = await readSluice().listDeliveries({ limit: 1, status: '5xx' });
  const id = result[0]!.id;
  const links: [path: string, look: (page: Page) => Promise<unknown>][] = [
    [
      '/?q=whale',
      (page) =>
        expect
          .poll(() => page.getByLabel('Filter streams', { exact: true }).inputValue(), PATIENCE)
          .toBe('whale'),
    ],
    [
      `/deliveries?status=5xx&stream=${broken.id}&sel=${id}&view=response`,
      async (page) => {
        await page.locator('pre').getByText(CRASH).waitFor();
        await page.getByRole('button', { name: '5xx, remove' }).waitFor();
        await page.getByRole('button', { name: 'broken, remove' }).waitFor();
        await page.getByRole('tab', { name: 'response', selected: true }).waitFor();
      },
    ],
    [
      `/deliveries/${id}?view=attempts`,
      (page) => page.getByRole('tab', { name: /attempts/i, selected: true }).waitFor(),
    ],
    [
      `/streams/${stream.id}?tab=coverage`,
      (page) => page.getByText('Blocks matched against this stream').waitFor(),
    ],
    [
      `/streams/${stream.id}?phase=confirmed`,
      (page) => page.getByRole('button', { name: 'confirmed, remove' }).waitFor(),
    ],
    [
      `/explain?q=${world.token}`,
      (page) =>
        page
          .getByRole('list', { name: 'Streams' })
          .getByText('whale-usdt', { exact: true })
          .waitFor(),
    ],
    [`/verify?delivery=${id}`, (page) => page.getByText(/The body is from delivery/).waitFor()],
    [
      `/streams/new?address=${world.token}`,
      (page) =>
        expect
          .poll(() => page.getByLabel('Addresses', { exact: true }).inputValue(), PATIENCE)
          .toBe(world.token),
    ],
  ];
  const page = await visitor.signedIn();
  for (const [path, look] of links) {
    await page.goto(`${world.url}/console${path}`);
    await look(page);
    expect(page.url()).toBe(`${world.url}/console${path}`);
  }
  await page.goBack();
  await links.at(-2)![1](page);
  await page.goForward();
  await links.at(-1)![1](page);
});

/** Returns the URL, the rendered rows, the selection, the tabs and the fields of a page. */
const readView = (page: Page) =>
  page.evaluate(() => {
    const texts = (selector: string): string[] =>
      [...document.querySelectorAll(selector)]
        // Excludes the filter, because its counts keep changing.
        .filter((element) => element.closest('[aria-label=Filter]') === null)
        .map(({ textContent }) => textContent);
    return {
      url: location.href,
      // Reads IDs instead of text, because some text is a relative time.
      rows: [...document.querySelectorAll('[data-row-link]')].map(
        (link) => link.getAttribute('data-row-link') ?? link.textContent,
      ),
      selected: [...document.querySelectorAll('[aria-current=true] [data-row-link]')].map((link) =>
        link.getAttribute('data-row-link'),
      ),
      tabs: texts('[role=tab][aria-selected=true], [aria-current=page], [aria-pressed=true]'),
      fields: [...document.querySelectorAll('select, input')].map(
        (field) => (field as HTMLInputElement).value,
      ),
    };
  });

/** Waits until the open delivery shows its tabs. */
const openedDelivery = (page: Page): Promise<void> =>
  page
    .getByRole('region', { name: /^Delivery / })
    .getByRole('tab', { selected: true })
    .waitFor();

test('a list opened by its link in a fresh browser is the same', async () => {
  const { result } = await readSluice().listDeliveries({ limit: 2, status: '5xx' });
  const id = result[1]!.id;
  const paths = [
    `/deliveries?status=5xx&stream=${broken.id}&sel=${id}&view=response`,
    `/deliveries?phase=confirmed&state=succeeded`,
    `/streams/${stream.id}?phase=unconfirmed&sel=${
      (await readSluice().listDeliveries({ limit: 1, streamId: stream.id, phase: 'unconfirmed' }))
        .result[0]!.id
    }&view=attempts`,
    `/?q=whale`,
  ];
  const first = await visitor.signedIn();
  const fresh = await visitor.signedIn();
  const openAt = async (page: Page, url: string): Promise<void> => {
    await page.goto(url);
    await page.locator('[data-row-link]').first().waitFor();
    if (url.includes('sel=')) await openedDelivery(page);
  };
  for (const path of paths) {
    await openAt(first, `${world.url}/console${path}`);
    const { rows, selected, url } = await readView(first);
    expect(rows.length, path).toBeGreaterThan(0);
    expect(selected, path).toEqual(/sel=([^&]+)/.exec(path)?.slice(1) ?? []);
    await openAt(fresh, url);
    await vi.waitFor(async () => {
      expect(await readView(fresh), path).toEqual(await readView(first));
    }, PATIENCE);
  }
});

test('a list opens in the middle by link, and loads in both directions', async () => {
  for (let count = 0; count < 6; count++) await world.transfer();
  await world.mine(CONFIRMATIONS);
  const readAll = async () => (await readSluice().listDeliveries({ streamId: stream.id })).result;
  const all = await vi.waitFor(async () => {
    const made = await readAll();
    // Once every match is confirmed, no more deliveries follow.
    const { confirmed, unconfirmed } = Object.groupBy(made, ({ phase }) => phase);
    expect(made.length).toBeGreaterThanOrEqual(18);
    expect(confirmed?.length).toBe(unconfirmed?.length);
    return made.map(({ id }) => id);
  }, PATIENCE);
  const timeOf = (id: string): number => parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  /** Returns the deliveries that were created no later than this one, newest first. */
  const listUntil = (id: string) => all.filter((each) => timeOf(each) <= timeOf(id));
  const page = await visitor.open();
  // Pages of 5 rows instead of 100 make a short list behave like a long one.
  await page.route('**/sluice/deliveries?*', async (route) => {
    const url = new URL(route.request().url());
    const limit = Number(url.searchParams.get('limit'));
    url.searchParams.set('limit', String(Math.ceil(limit / 20)));
    await route.continue({ url: url.href });
  });
  const selected = all[10]!;
  const readRows = () =>
    page
      .locator('[data-row-link]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('data-row-link')));
  await page.goto(
    `${world.url}/console/deliveries?stream=${stream.id}&sel=${selected}#key=${world.apiKey}`,
  );
  // The selected delivery is too old for the first page, so the list starts at its time.
  await page.waitForURL(/until=\d+/);
  const begin = listUntil(selected);
  await expect.poll(readRows, PATIENCE).toEqual(begin.slice(0, 5));
  await page.locator(`[aria-current=true] [data-row-link="${selected}"]`).waitFor();
  const link = page.url();
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect.poll(readRows, PATIENCE).toEqual(begin.slice(0, 10));
  const newer = page.getByRole('button', { name: 'Newer' });
  await newer.click();
  const next = listUntil(all[all.indexOf(begin[0]!) - 5]!);
  await expect.poll(readRows, PATIENCE).toEqual(next.slice(0, 5));
  await page.goBack();
  await expect.poll(async () => (await readRows())[0], PATIENCE).toBe(begin[0]);
  await page.getByRole('button', { name: 'Newest' }).click();
  await expect.poll(async () => (await readRows())[0], PATIENCE).toBe(all[0]);
  // The list is live again: new deliveries are counted while a row is open, and shown on request.
  await world.transfer();
  await page.getByRole('button', { name: /^\d+ new/ }).click();
  await expect.poll(async () => (await readRows()).indexOf(all[0]!), PATIENCE).toBeGreaterThan(0);
  const fresh = await visitor.signedIn();
  await fresh.goto(link);
  await fresh.locator(`[aria-current=true] [data-row-link="${selected}"]`).waitFor();
  expect(await fresh.locator('[data-row-link]').first().getAttribute('data-row-link')).toBe(
    begin[0],
  );
});

test('scrolled rows stay in order, and the focus leaves with its row', async () => {
  for (let count = 0; count < 8; count++) await world.transfer();
  await world.mine(CONFIRMATIONS);
  const page = await visitor.signedIn(`/deliveries?stream=${stream.id}`, {
    viewport: { width: 1280, height: 240 },
  });
  // Reads all rows in one call, because an element can be reused for another row between two calls.
  const readShown = () =>
    page.evaluate(() =>
      Array.from(document.querySelectorAll('[data-row-link]'), (link) => ({
        id: link.getAttribute('data-row-link') ?? '',
        place: Number(link.closest('[role=row]')?.getAttribute('aria-rowindex')) - 2,
        hasFocus: link === document.activeElement,
      })),
    );
  await rowsOf(page).nth(6).waitFor();
  const [first] = await readShown();
  await page.locator(`[data-row-link="${first?.id}"]`).focus();
  for (const place of [2, 7, 10]) {
    await page
      .locator('.delivery-list')
      .evaluate((list, top) => list.scrollTo({ top }), place * 32);
    await expect
      .poll(async () => (await readShown()).at(-5)?.place, PATIENCE)
      .toBeGreaterThan(place);
    const shown = await readShown();
    expect(shown.map((row) => row.place)).toEqual(shown.map((_, index) => shown[0]!.place + index));
    expect(shown.map(({ id }) => id)).toEqual(
      shown
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    );
    const focused = shown.filter(({ hasFocus }) => hasFocus).map(({ id }) => id);
    expect(focused).toEqual(shown.some(({ id }) => id === first?.id) ? [first?.id] : []);
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY');
  }
  expect((await readShown())[0]!.place).toBeGreaterThan(0);
});

test('back and forward restore each visited view exactly', async () => {
  const page = await visitor.signedIn(`/deliveries?stream=${stream.id}`);
  await rowsOf(page).first().waitFor();
  const seen = [await readView(page)];
  const look = async (act: () => Promise<unknown>): Promise<void> => {
    const before = page.url();
    await act();
    await expect.poll(() => page.url(), PATIENCE).not.toBe(before);
    await openedDelivery(page);
    seen.push(await readView(page));
  };
  await look(() => rowsOf(page).nth(0).getByRole('link').click());
  await look(() => rowsOf(page).nth(2).getByRole('link').click());
  await page.goto(`${world.url}/console/deliveries?status=5xx`);
  await expect.poll(() => rowsOf(page).filter({ hasNotText: '500' }).count(), PATIENCE).toBe(0);
  await rowsOf(page).first().waitFor();
  seen.push(await readView(page));
  for (const view of seen.toReversed().slice(1)) {
    await page.goBack();
    await expect.poll(() => readView(page), PATIENCE).toEqual(view);
  }
  for (const view of seen.slice(1)) {
    await page.goForward();
    await expect.poll(() => readView(page), PATIENCE).toEqual(view);
  }
});

test("lists carry summaries only, compressed like the console's files", async () => {
  const page = await visitor.signedIn('/settings');
  const asking = page.waitForRequest(/\/sluice\/deliveries\?/);
  await page.goto(`${world.url}/console/deliveries`);
  const url = (await asking).url();
  const headers = { 'x-api-key': world.apiKey, 'accept-encoding': 'gzip' };
  const packed = await new Promise<Buffer>((resolve, reject) => {
    get(url, { headers }, (response) => void buffer(response).then(resolve, reject));
  });
  const text = gunzipSync(packed).toString();
  const { result } = JSON.parse(text) as { result: object[] };
  expect(result.length).toBeGreaterThan(5);
  expect(text.length / result.length).toBeLessThanOrEqual(ROW_BYTES.read);
  expect(packed.length / result.length).toBeLessThanOrEqual(ROW_BYTES.sent);
  const script = await page.locator('script[src]').first().getAttribute('src');
  const served = await fetch(new URL(script!, world.url), { headers });
  expect(served.headers.get('content-encoding')).toBe('gzip');
  await served.body?.cancel();
});

test('every dialog is accessible, in both themes', async () => {
  const page = await visitor.signedIn('/', { colorScheme: 'dark' });
  const dialogs: [path: string, open: () => Promise<unknown>][] = [
    ['/', () => page.keyboard.press('?')],
    ['/settings', () => page.getByRole('button', { name: 'Create key', exact: true }).click()],
    [
      `/streams/${stream.id}?tab=settings`,
      () => page.getByRole('button', { name: 'Rotate…' }).click(),
    ],
    [
      `/streams/${stream.id}?tab=settings`,
      () => page.getByRole('button', { name: 'Delete stream' }).click(),
    ],
    [`/streams/${stream.id}`, () => page.getByRole('button', { name: 'Replay…' }).click()],
    ['/replays', () => page.keyboard.press('r')],
    ['/chains', () => page.getByRole('button', { name: 'Add node…' }).click()],
    ['/inbox', () => page.getByRole('button', { name: 'Clear broken' }).click()],
  ];
  for (const [path, open] of dialogs) {
    await page.goto(`${world.url}/console${path}`);
    await page.getByText('live', { exact: true }).first().waitFor();
    await open();
    await page.getByRole('dialog').waitFor();
    await expectAccessible(page);
    await page.evaluate(() => void (document.documentElement.dataset['theme'] = 'light'));
    await expectContrast(page);
  }
});
