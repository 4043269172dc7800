/**
 * Tests the API reference: finding and trying calls, masked secrets, and the confirmation of
 * changes.
 */
import { eachCall } from '@sluice/kit/calls';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import {
  expectAccessible,
  expectContrast,
  expectNoSidewaysScroll,
  PHONE,
  smallTargets,
} from './visitor.ts';
import { startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);
let stream: { id: string };

beforeAll(async () => {
  stream = await world.createStream('treasury');
}, 120_000);

const callsOf = (page: Page) => page.getByRole('navigation', { name: 'Calls' }).getByRole('link');
const responseOf = (page: Page) => page.getByRole('region', { name: 'Response', exact: true });

/** Opens a call and the form to try it. */
async function openForm(name: string, options: object = {}): Promise<Page> {
  const page = await visitor.signedIn(`/settings/api?call=${name}`, options);
  await page.getByRole('button', { name: 'Try it' }).click();
  return page;
}

test('every call is listed, found by its words, and has a link', async () => {
  const page = await visitor.signedIn('/settings');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('api ref');
  await page.keyboard.press('Enter');
  await callsOf(page).first().waitFor();
  const listed = await callsOf(page).allInnerTexts();
  for (const [name, { method, path, summary }] of eachCall) {
    const isCall = (text: string): boolean =>
      text.split(/\s*\n\s*/).join(' ') === `${method} ${path} ${summary}`;
    expect(listed.filter(isCall), name).toHaveLength(1);
  }
  await page.keyboard.press('/');
  await page.keyboard.insertText('secret rotate');
  await expect.poll(() => callsOf(page).count()).toBe(1);
  await callsOf(page).click();
  await page.waitForURL(/call=rotateStreamSecret/);
  await page.reload();
  const call = page.getByRole('region', { name: 'rotateStreamSecret' });
  await call.getByText('settings:admin').waitFor();
  const body = call.getByRole('region', { name: /^Request body/ });
  await body.getByText('overlapSeconds').waitFor();
  await call.getByRole('region', { name: 'Errors' }).getByText('Not found').waitFor();
  await call.getByRole('button', { name: 'Fields of previous' }).click();
  await call.getByText('endsAt').waitFor();
});

test('hostile text in the document and the link is shown as text', async () => {
  const hostile = `<img src=x onerror="alert(1)"> \`<script>alert(1)</script>\` {{1+1}} \u202E`;
  const page = await visitor.signedIn('/settings');
  await page.route('**/openapi.json', async (route) => {
    const text = await (await route.fetch()).text();
    const json: unknown = JSON.parse(text, (key, value: unknown) =>
      ['summary', 'description'].includes(key) && typeof value === 'string' ? hostile : value,
    );
    await route.fulfill({ json });
  });
  let dialogs = 0;
  page.on('dialog', (dialog) => {
    dialogs++;
    void dialog.dismiss();
  });
  const open = (search: Record<string, string>) =>
    page.goto(
      `${world.url}/console/settings/api?${new URLSearchParams(search).toString()}#${hostile}`,
    );
  await open({ call: 'createEvmStream', q: '<img' });
  const call = page.getByRole('region', { name: 'createEvmStream' });
  await call.getByRole('heading', { level: 2 }).getByText('<img src=x').waitFor();
  await call.getByText('<script>alert(1)</script>').first().waitFor();
  await open({ call: hostile, q: '' });
  await page.getByText('This service has no call named').getByText('<img src=x').waitFor();
  expect(await page.locator('main img, body script:not([src])').count()).toBe(0);
  expect(dialogs).toBe(0);
});

test('a request that is not a GET is sent only after confirmation', async () => {
  const page = await openForm('setEvmStreamStatus');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${request.url()}`);
  });
  const statusOf = async (): Promise<string> => (await world.client.streams.get(stream.id)).status;
  const send = page.getByRole('button', { name: 'Send…' });
  await send.click();
  await page.getByText('Enter id.').waitFor();
  await page.getByLabel('id, required').fill(stream.id);
  await page.getByRole('textbox', { name: 'Body' }).fill('{"status": "paused"');
  await send.click();
  await page.getByText(/^Line 1: /).waitFor();
  await page.getByRole('textbox', { name: 'Body' }).fill('{"status": "paused"}');
  await send.click();
  const dialog = page.getByRole('dialog', { name: 'Send POST request?' });
  await dialog.getByText(`/streams/evm/${stream.id}/status`).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(sent).toEqual([]);
  expect(await statusOf()).toBe('active');
  await send.click();
  await dialog.getByRole('button', { name: 'Send POST' }).click();
  await responseOf(page).getByText('200', { exact: true }).waitFor();
  expect(sent).toEqual([`POST ${world.url}/streams/evm/${stream.id}/status`]);
  expect(await statusOf()).toBe('paused');
});

test('secrets stay masked until they are revealed', async () => {
  const page = await openForm('readSettings', { ...PHONE, colorScheme: 'dark' });
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const response = responseOf(page);
  await response.getByText('secretKey').waitFor();
  expect(await page.content()).not.toContain(world.secret);
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectAccessible(page);
  await page.emulateMedia({ colorScheme: 'light' });
  await expectContrast(page);
  await response.getByRole('button', { name: 'Reveal secrets' }).click();
  await response.getByText(`"${world.secret}"`).waitFor();
});

test('a long response is read by a worker and cut at the limit', async () => {
  const page = await openForm('listDeliveries');
  let bytes = 12_000_000;
  await page.route('**/sluice/deliveries?*', (route) => {
    const row = { id: 'a'.repeat(1_000) };
    const result = Array.from({ length: Math.ceil(bytes / 1_010) }, () => row);
    return route.fulfill({ json: { result, end: 'the very end' } });
  });
  await page.getByLabel('error', { exact: true }).fill('long');
  const send = page.getByRole('button', { name: 'Send', exact: true });
  await send.click();
  await responseOf(page).getByText('result').waitFor();
  expect(page.workers()).toHaveLength(1);
  await responseOf(page).getByLabel('Find in response body').fill('the very end');
  await page.keyboard.press('Enter');
  await responseOf(page).getByText('"the very end"').waitFor();
  // Only the lines that fit on the screen are rendered.
  expect(
    await responseOf(page)
      .getByRole('button', { name: /^Copy path/ })
      .count(),
  ).toBeLessThan(80);
  bytes = 20_000_000;
  await send.click();
  await responseOf(page).getByText('Incomplete: reading stopped early.').waitFor();
  const shown = await responseOf(page).getByLabel('Response body', { exact: true }).innerText();
  expect(shown.length).toBeLessThan(600_000);
});

test('a response without an end is shown when it is stopped', async () => {
  const page = await openForm('liveEvents');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText(/[1-9]\d* k?B received$/).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await responseOf(page).getByText('Incomplete: reading stopped early.').waitFor();
  await responseOf(page)
    .locator('pre')
    .getByText(/^(event|data|id|retry|:)/m)
    .first()
    .waitFor();
});

test('the list fits a phone, and an unknown call is explained', async () => {
  const page = await visitor.signedIn('/settings/api', PHONE);
  await callsOf(page).first().waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectAccessible(page);
  await page.goto(`${world.url}/console/settings/api?call=getMoon`);
  await page.getByText('This service has no call named getMoon.').waitFor();
  await page.getByRole('link', { name: 'All calls' }).click();
  await callsOf(page).first().waitFor();
});
