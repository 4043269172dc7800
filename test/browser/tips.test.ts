/** Tests tooltips: on hover, on focus, by touch, and in dialogs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { startService } from '@sluice/service';
import { startAnvil } from '@sluice/testkit';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectAccessible, PHONE, startVisitor, type Visitor } from './visitor.ts';
import { buildConsole, DOCS_FOLDER } from './world.ts';

const API_KEY = 'tips_test_key_0123456789';
const LONG_TAG = `payments-of-${'every-customer-'.repeat(9)}end`;
const stops: (() => unknown)[] = [];
let visitor: Visitor;

beforeAll(async () => {
  const consoleFolder = await buildConsole();
  const anvil = await startAnvil({ chainId: 1 });
  stops.push(() => anvil.stop());
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-tips-'));
  stops.push(() => rm(dataFolder, { recursive: true }));
  const service = await startService({
    port: 0,
    host: '127.0.0.1',
    data: dataFolder,
    apiKey: API_KEY,
    consoleFolder,
    docsFolder: DOCS_FOLDER,
    chains: [{ id: '0x1', urls: [anvil.url], pollMs: 50 }],
    aptos: [],
    allowPrivateEndpoints: true,
  });
  stops.push(service.stop);
  const client = createClient({ baseUrl: service.url, apiKey: API_KEY });
  for (const tag of ['short', LONG_TAG]) {
    await client.streams.create({
      webhookUrl: 'sluice://inbox/demo',
      description: '',
      tag,
      chainIds: ['0x1'],
      topic0: ['Transfer(address,address,uint256)'],
      includeContractLogs: true,
    });
  }
  visitor = await startVisitor({ url: service.url, apiKey: API_KEY });
  stops.push(() => visitor.stop());
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

afterEach(() => visitor.leave());

const tooltip = (page: Page) => page.getByRole('tooltip');

test('a tooltip appears on hover, near its element, and stays while it is hovered itself', async () => {
  const page = await visitor.signedIn('/');
  const button = page.getByRole('button', { name: 'Sign out' });
  await button.hover();
  await expect.poll(() => tooltip(page).allInnerTexts()).toEqual(['Sign out']);
  await expectAccessible(page);
  const at = (await button.boundingBox())!;
  const shown = (await tooltip(page).boundingBox())!;
  expect(shown.y).toBeGreaterThanOrEqual(at.y + at.height);
  expect(shown.y - at.y - at.height).toBeLessThan(12);
  expect(shown.x + shown.width).toBeLessThanOrEqual(1280);
  const [x, y] = [shown.x + shown.width / 2, shown.y + shown.height / 2];
  await page.mouse.move(x, y);
  await page.waitForTimeout(300);
  expect(await tooltip(page).isVisible()).toBe(true);
  // A click reaches what the tooltip covers.
  expect(
    await page.evaluate((at) => document.elementFromPoint(...at)?.id, [x, y] as const),
  ).not.toBe('tooltip');
  await page.mouse.move(600, 700);
  await tooltip(page).waitFor({ state: 'detached' });
});

test('text has a tooltip only if it does not fit', async () => {
  const page = await visitor.signedIn('/');
  await page.getByRole('slider').waitFor();
  await page.getByRole('link', { name: LONG_TAG }).hover();
  await expect.poll(() => tooltip(page).allInnerTexts()).toEqual([LONG_TAG]);
  await page.getByRole('link', { name: 'short' }).hover();
  await tooltip(page).waitFor({ state: 'detached' });
  await page.waitForTimeout(700);
  expect(await tooltip(page).count()).toBe(0);
});

test('a disabled button shows why it is disabled', async () => {
  const page = await visitor.signedIn('/deliveries');
  const button = page.getByRole('button', { name: /^Replay/ });
  expect(await button.isDisabled()).toBe(true);
  await button.hover();
  await expect
    .poll(() => tooltip(page).allInnerTexts())
    .toEqual([expect.stringMatching(/^Select deliveries or set a filter first/)]);
});

test('the keyboard focus shows a tooltip, and Escape hides it', async () => {
  const page = await visitor.signedIn('/');
  const button = page.getByRole('button', { name: /^Pause payments/ });
  await page.getByRole('link', { name: LONG_TAG }).focus();
  await page.keyboard.press('Tab');
  await expect.poll(() => button.evaluate((it) => it === document.activeElement)).toBe(true);
  // The name of the button is the action, and its description adds the key.
  expect(await button.getAttribute('aria-describedby')).toBe('tooltip');
  expect(await tooltip(page).textContent()).toBe('Pause (p)');
  await tooltip(page).waitFor();
  await page.keyboard.press('Escape');
  await tooltip(page).waitFor({ state: 'detached' });
  await page.keyboard.press('Shift+Tab');
  expect(await button.getAttribute('aria-describedby')).toBeNull();
});

test('a tooltip changes with its element, and disappears with it', async () => {
  const page = await visitor.signedIn('/settings');
  await page.evaluate(() => {
    const mark = document.createElement('span');
    mark.textContent = 'marked';
    mark.dataset['tip'] = 'Before';
    mark.style.cssText = 'position: fixed; inset: 300px auto auto 600px';
    document.querySelector('main')!.append(mark);
  });
  const marked = page.getByText('marked', { exact: true });
  await marked.hover();
  await expect.poll(() => tooltip(page).allInnerTexts()).toEqual(['Before']);
  await marked.evaluate((it) => void (it.dataset['tip'] = 'After'));
  await expect.poll(() => tooltip(page).allInnerTexts()).toEqual(['After']);
  await marked.evaluate((it) => it.remove());
  await expect.poll(() => tooltip(page).count()).toBe(0);
});

test('a long press shows the tooltip of a button without pressing it', async () => {
  const page = await visitor.signedIn('/', PHONE);
  const button = page.getByRole('button', { name: /^Theme: system/ });
  const { x, y, width, height } = (await button.boundingBox())!;
  const touch = await page.context().newCDPSession(page);
  const points = [{ x: x + width / 2, y: y + height / 2 }];
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: points });
  await expect
    .poll(() => tooltip(page).allInnerTexts())
    .toEqual(['Theme: system. Switch to light']);
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  expect(await tooltip(page).isVisible()).toBe(true);
  expect(await button.count()).toBe(1);
  // A tap next to it hides it, and a tap on text that does nothing else shows the tooltip.
  await page.getByText('live', { exact: true }).first().tap();
  await expect
    .poll(() => tooltip(page).allInnerTexts())
    .toEqual([expect.stringMatching(/^since /)]);
});
