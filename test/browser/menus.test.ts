/** Tests the menu of actions: with the mouse, by keys, by touch, and where the focus goes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@sluice/kit';
import { startService } from '@sluice/service';
import { startAnvil } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectAccessible, PHONE, startVisitor, type Visitor } from './visitor.ts';
import { buildConsole, DOCS_FOLDER } from './world.ts';

const API_KEY = 'menus_test_key_0123456789';
const stops: (() => unknown)[] = [];
let visitor: Visitor;

beforeAll(async () => {
  const consoleFolder = await buildConsole();
  const anvil = await startAnvil({ chainId: 1 });
  stops.push(() => anvil.stop());
  const dataFolder = await mkdtemp(join(tmpdir(), 'sluice-menus-'));
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
  for (const tag of ['payments', 'refunds']) {
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

test('the button of a row opens its menu next to it, and a click elsewhere closes it', async () => {
  const page = await visitor.signedIn('/');
  const button = page.getByRole('button', { name: 'Actions for refunds' });
  await button.click();
  const menu = page.getByRole('menu', { name: 'refunds' });
  await menu.waitFor();
  await expectAccessible(page);
  const at = (await button.boundingBox())!;
  const shown = (await menu.boundingBox())!;
  expect(Math.abs(shown.y - at.y - at.height)).toBeLessThan(12);
  expect(shown.x + shown.width).toBeLessThanOrEqual(1280);
  // The shortcuts of the page do nothing meanwhile.
  await page.keyboard.press('/');
  expect(await menu.isVisible()).toBe(true);
  await page.mouse.click(20, 780);
  await menu.waitFor({ state: 'detached' });
  await button.click();
  await menu.getByRole('menuitem', { name: /^Pause/ }).click();
  await page.getByRole('button', { name: 'Resume refunds' }).waitFor();
});

test('keys move through the menu, and the focus returns to the row', async () => {
  const page = await visitor.signedIn('/');
  const row = page.getByRole('link', { name: 'payments', exact: true });
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await row.focus();
  await page.keyboard.press('.');
  const menu = page.getByRole('menu', { name: 'payments' });
  await menu.waitFor();
  await expect.poll(focused).toMatch(/^Open/);
  await page.keyboard.press('ArrowUp');
  expect(await focused()).toBe('Settings');
  await page.keyboard.press('ArrowDown');
  expect(await focused()).toMatch(/^Open/);
  await page.keyboard.press('End');
  expect(await focused()).toBe('Settings');
  await page.keyboard.press('f');
  expect(await focused()).toBe('Failed deliveries');
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
  expect(await focused()).toBe('payments');
  // The keycap of an action runs it.
  await page.keyboard.press('.');
  await menu.waitFor();
  await page.keyboard.press('p');
  await page.getByRole('button', { name: 'Resume payments' }).waitFor();
  expect(await focused()).toBe('payments');
});

test('the menu works by touch at 360 px', async () => {
  const page = await visitor.signedIn('/', PHONE);
  await page.getByRole('button', { name: 'Actions for payments' }).tap();
  const menu = page.getByRole('menu', { name: 'payments' });
  const { x, width } = (await menu.boundingBox())!;
  expect(x).toBeGreaterThanOrEqual(0);
  expect(x + width).toBeLessThanOrEqual(360);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await menu.getByRole('menuitem', { name: 'Settings' }).tap();
  await page.waitForURL(/tab=settings/);
});
