/**
 * Tests keys that are typed at human speed right after the first paint; each key must have exactly
 * one effect.
 */
import { createSluiceClient, type DeliveryState } from '@sluice/kit/sluice';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { expectAccessible, rowsOf } from './visitor.ts';
import { startWorld } from './world.ts';

type KeyInit = Pick<
  KeyboardEventInit,
  'key' | 'code' | 'isComposing' | 'repeat' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'
>;

/** Milliseconds between two keys. */
const delay = 80;
/** Delay that a test adds before a part of the console's code loads. */
const SLOW_MS = 1_200;

const world = useRunning(startWorld);
const visitor = useVisitor(world);
let streamId: string;

beforeAll(async () => {
  streamId = (await world.createStream('passes')).id;
});

const statusNow = async () =>
  (await world.client.streams.list()).result.find(({ id }) => id === streamId)?.status;

/** Returns the number of the last committed block of the local chain, or -1 if there is none. */
const committed = async (): Promise<number> => {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  return (await sluice.listChains()).find(({ id }) => id === '0x7a69')?.checkpoint ?? -1;
};

/** Delays the files of the console whose URLs match `parts`. */
const slowDown = (page: Page, parts: RegExp) =>
  page.route(parts, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    await route.continue();
  });

const firstPaint = (page: Page) =>
  page.waitForFunction(() => performance.getEntriesByType('paint').length > 0);

/** Opens a page in a browser with an empty cache. Resolves at the first paint. */
async function openFresh(path: string, slow?: RegExp): Promise<Page> {
  const page = await visitor.open();
  if (slow !== undefined) await slowDown(page, slow);
  await page.goto(`${world.url}/console${path}#key=${world.apiKey}`, { waitUntil: 'commit' });
  await firstPaint(page);
  return page;
}

const search = (page: Page) => page.getByRole('combobox', { name: /^Search, or paste/ });

test('Ctrl K and a word typed from the first paint on reach the palette', async () => {
  for (const path of ['/', `/streams/${streamId}`, '/deliveries']) {
    const page = await openFresh(path);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('pass', { delay });
    await expect.poll(() => search(page).inputValue()).toBe('pass');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/streams/${streamId}`);
  }
  expect(await statusNow()).toBe('active');
});

test('the palette receives each key while its list and the page itself load', async () => {
  const page = await openFresh(`/streams/${streamId}`, /assets\/(paletteCommands|streamPage)-/);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('new stream', { delay });
  await page.keyboard.press('Enter');
  // The two delayed files arrive after the last key.
  await page.waitForURL('**/streams/new');
  expect(await statusNow()).toBe('active');

  await page.goto(`${world.url}/console/streams/${streamId}`);
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('pas', { delay });
  await page.keyboard.type('z', { delay });
  await page.keyboard.press('Backspace');
  expect(await search(page).inputValue()).toBe('pas');
  await page.getByRole('option', { name: 'passes' }).first().waitFor();
  await expectAccessible(page);
});

test('keys wait while a page or dialog loads', async () => {
  const page = await visitor.signedIn(`/streams/${streamId}`);
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await slowDown(page, /assets\/(newStream|shortcutList)-/);
  // The keys wait for the list of shortcuts, which ignores them.
  await page.keyboard.press('?');
  await page.keyboard.type('ppt', { delay });
  await page.getByRole('dialog', { name: 'Keyboard' }).getByText('Undo').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  const address = '0x28c6c06298d514db089934071355e5743bf21d60';
  await page.keyboard.press('n');
  await page.keyboard.type(address, { delay: 20 });
  const field = page.getByRole('textbox', { name: /addresses/i }).first();
  await expect.poll(() => field.inputValue()).toBe(address);
  expect(await statusNow()).toBe('active');
});

test('u undoes p, and the missed blocks are matched', async () => {
  const page = await visitor.signedIn(`/streams/${streamId}`);
  // Blocks before a stream's first match are not counted as missed.
  await world.transfer();
  await rowsOf(page).first().waitFor();
  // A held key has a single effect.
  for (let count = 0; count < 4; count++) await page.keyboard.down('p');
  await page.keyboard.up('p');
  await page.getByText('Paused passes').waitFor();
  await expect.poll(statusNow).toBe('paused');
  const before = await committed();
  await world.transfer();
  await world.mine(4);
  await expect.poll(committed).toBe(before + 5);
  await page.keyboard.press('u');
  await page.getByText(/^Resumed passes, matching 5 missed blocks$/).waitFor();
  await expect.poll(statusNow).toBe('active');
  // The transfer during the pause is delivered as well, but only when confirmed.
  await expect.poll(() => rowsOf(page).count()).toBeGreaterThan(2);

  // `p` and the Undo button also work in the list of streams.
  await page.goto(`${world.url}/console/`);
  await page.getByRole('link', { name: 'passes' }).waitFor();
  await page.keyboard.type('jp', { delay });
  await expect.poll(statusNow).toBe('paused');
  // The toast stays while the pointer is over it.
  await page.getByRole('button', { name: 'Undo' }).hover();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(statusNow).toBe('active');
});

test('keys that send something irrevocable require confirmation', async () => {
  const page = await visitor.signedIn(`/streams/${streamId}`);
  const row = page.getByRole('row').filter({ has: page.getByText('delivered') });
  await world.transfer();
  await row.first().waitFor();
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(new URL(request.url()).pathname);
  });
  await page.keyboard.press('t');
  await page.getByRole('dialog', { name: 'Send test webhook' }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await row.first().click();
  await page.getByRole('button', { name: 'Replay', exact: true }).waitFor();
  await page.keyboard.press('r');
  const dialog = page.getByRole('dialog', { name: /^Delivery/ });
  await dialog.getByText('already delivered').waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  // The browser hides a closed dialog before the page handles its `close` event.
  await dialog.waitFor({ state: 'detached' });
  expect(sent.filter((path) => /test|replay/.test(path))).toEqual([]);
  await page.keyboard.press('r');
  await dialog.getByText('already delivered').waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => sent.some((path) => path.includes('replay'))).toBe(true);
  await dialog.waitFor({ state: 'hidden' });
});

test('r and Enter on an unfiltered stream replay unsuccessful deliveries; all need a typed count', async () => {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const { id } = await world.createStream('outage');
  const countOf = async (...state: DeliveryState[]): Promise<number> =>
    (await sluice.estimateReplay({ streamId: id, state })).deliveries;
  await world.transfer();
  await world.mine(2);
  // The transfer has an unconfirmed and a confirmed delivery.
  await expect.poll(() => countOf('succeeded')).toBe(2);
  // After a 4xx, the retry waits for a minute, so the deliveries stay `retrying`. After a 5xx, it
  // would wait for only 5 s.
  world.respondWith(400);
  await world.transfer();
  await world.mine(2);
  await expect.poll(() => countOf('retrying')).toBe(2);
  world.respondWith(200);

  const page = await visitor.signedIn(`/streams/${id}`);
  await page.getByText('delivered').first().waitFor();
  await page.keyboard.type('r', { delay });
  await page.keyboard.press('Enter', { delay });
  const dialog = page.getByRole('dialog', { name: 'Replay deliveries' });
  // The first Enter has no effect if it was pressed before the count had loaded.
  const button = dialog.getByRole('button', { name: 'Replay 2 deliveries' });
  await button.or(page.getByRole('navigation', { name: 'Replayed deliveries' })).waitFor();
  if (await button.isVisible()) await page.keyboard.press('Enter');
  await page.waitForURL(/\/replays\/[0-9a-f-]{36}$/);
  const made = await sluice.getReplay(new URL(page.url()).pathname.split('/').at(-1)!);
  expect(made.filter).toEqual({
    streamId: [id],
    state: ['failed', 'quarantined', 'pending', 'retrying'],
  });
  expect(made.total).toBe(2);
  await expect.poll(() => countOf('succeeded')).toBe(4);

  // To replay successful deliveries as well, the count must be typed. Enter does not bypass this
  // step.
  await page.goto(`${world.url}/console/streams/${id}`);
  await page.getByText('delivered').first().waitFor();
  await page.keyboard.press('r');
  const all = 4;
  await dialog.getByText(/^0 deliveries · about/).waitFor();
  await dialog.getByLabel(`Include ${all} already delivered`).check();
  const replay = dialog.getByRole('button', { name: `Replay ${all} deliveries` });
  await replay.waitFor();
  expect(await replay.isEnabled()).toBe(false);
  await expectAccessible(page);
  const count = dialog.getByLabel(`Type ${all} to replay`);
  await count.focus();
  await page.keyboard.type(`${all - 1}`, { delay });
  await page.keyboard.press('Enter');
  expect(await replay.isEnabled()).toBe(false);
  await count.fill('');
  await page.keyboard.type(`${all}`, { delay });
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/replays\/[0-9a-f-]{36}$/);
  await expect.poll(async () => (await sluice.listReplays())[0]?.replayed).toBe(all);
});

test('composed text, modifiers and Caps Lock trigger no shortcut', async () => {
  const page = await visitor.signedIn(`/streams/${streamId}`);
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  const press = (init: KeyInit) =>
    page.evaluate(
      (each) =>
        void document.body.dispatchEvent(
          new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...each }),
        ),
      init,
    );
  await press({ key: 'p', isComposing: true });
  await press({ key: 'Process', code: 'KeyP' });
  await press({ key: 'p', ctrlKey: true });
  await press({ key: 'p', metaKey: true });
  await press({ key: 'p', altKey: true });
  await press({ key: 'P', shiftKey: true });
  await press({ key: 'p', repeat: true });
  // Ctrl+G does not start the key sequence `g s`.
  await press({ key: 'g', ctrlKey: true });
  await press({ key: 's' });
  await page.getByText('Paused passes').waitFor({ state: 'hidden' });
  expect(new URL(page.url()).pathname).toBe(`/console/streams/${streamId}`);

  // An Enter that ends the composition of an input method does not run a command.
  await page.keyboard.press('Control+k');
  await page.getByRole('option').first().waitFor();
  await search(page).evaluate((field) => {
    const init = { key: 'Enter', isComposing: true, bubbles: true, cancelable: true };
    field.dispatchEvent(new KeyboardEvent('keydown', init));
  });
  expect(await search(page).isVisible()).toBe(true);
  await page.keyboard.press('Escape');
  expect(await statusNow()).toBe('active');

  // With Caps Lock, the P key still pauses the stream.
  await press({ key: 'P' });
  await page.getByText('Paused passes').waitFor();
  await page.keyboard.press('u');
  await expect.poll(statusNow).toBe('active');
});
