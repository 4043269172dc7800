/** Tests unsaved drafts, copying on plain HTTP, and pages during and after an outage. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSluiceClient } from '@sluice/kit/sluice';
import { chromium, type Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { CHROMIUM_OPTIONS } from './chromium.ts';
import { useRunning, useVisitor } from './hooks.ts';
import { startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);

const description = (page: Page) => page.getByLabel('Description', { exact: true });
const savedDescription = async (id: string) => (await world.client.streams.get(id)).description;

test('an unsaved draft survives its own pause and changes elsewhere, which are shown', async () => {
  const { id } = await world.createStream('rebased');
  const page = await visitor.signedIn(`/streams/${id}?tab=settings`);
  await description(page).fill('mine');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await expect.poll(() => description(page).inputValue()).toBe('mine');

  // Another client changes a field without edits, which follows, and then the edited one.
  await world.client.streams.update(id, { tag: 'theirs' });
  const elsewhere = page.getByRole('definition').filter({ hasText: 'theirs' });
  await elsewhere.first().waitFor();
  expect(await page.getByLabel('Tag', { exact: true }).inputValue()).toBe('theirs');
  expect(await description(page).inputValue()).toBe('mine');
  await page.getByText('Your changes are kept.').waitFor();
  await world.client.streams.update(id, { description: 'other' });
  await page.getByText('You changed Description, too').waitFor();
  expect(await description(page).inputValue()).toBe('mine');

  await page.getByRole('button', { name: 'Save 1 change' }).click();
  await page.getByText('Saved 1 change').waitFor();
  await expect.poll(() => savedDescription(id)).toBe('mine');
  expect((await world.client.streams.get(id)).tag).toBe('theirs');
  await page.getByText('You changed Description, too').waitFor({ state: 'hidden' });
  // The button that had the focus is gone.
  expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY');
});

test('the other change can replace an edit', async () => {
  const { id } = await world.createStream('taken');
  const page = await visitor.signedIn(`/streams/${id}?tab=settings`);
  await description(page).fill('mine');
  await world.client.streams.update(id, { description: 'other' });
  await page.getByRole('button', { name: 'Use the other change' }).click();
  await expect.poll(() => description(page).inputValue()).toBe('other');
  await page.getByRole('button', { name: /^Save/ }).waitFor({ state: 'hidden' });
});

test('a draft survives a reload, a crash of the tab and an expired session, and not a sign-out', async () => {
  const { id } = await world.createStream('kept');
  const page = await visitor.signedIn(`/streams/${id}?tab=rules`);
  const isChecked = (on: Page) => on.getByRole('checkbox', { name: /^Transactions/ }).isChecked();
  await page.getByRole('checkbox', { name: /^Transactions/ }).check();
  await page.getByRole('button', { name: 'Save 1 change' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Save 1 change' }).waitFor();
  expect(await isChecked(page)).toBe(true);

  const crashed = page.waitForEvent('crash');
  void page.goto('chrome://crash').catch(() => {});
  await crashed;
  const next = await page.context().newPage();
  await next.goto(`${world.url}/console/streams/${id}?tab=rules`);
  await next.getByRole('button', { name: 'Save 1 change' }).waitFor();
  expect(await isChecked(next)).toBe(true);

  await next.context().clearCookies();
  await next.getByRole('button', { name: 'Save 1 change' }).click();
  await next.getByLabel('API key').fill(world.apiKey);
  await next.keyboard.press('Enter');
  await next.getByRole('button', { name: 'Save 1 change' }).waitFor();
  expect(await isChecked(next)).toBe(true);

  await next.getByRole('button', { name: 'Sign out' }).click();
  await next.getByLabel('API key').waitFor();
  expect(await next.evaluate(() => Object.keys(localStorage).join())).not.toContain('draft');
  // The browser logs the rejected request of the expired session.
  visitor.expectComplaints((text) => text.includes('401'));
});

test('the draft of a new stream survives a reload until it is discarded', async () => {
  const page = await visitor.signedIn('/streams/new');
  await page.getByLabel('Tag', { exact: true }).fill('half done');
  await page.reload();
  await expect.poll(() => page.getByLabel('Tag', { exact: true }).inputValue()).toBe('half done');
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.waitForURL(/\/deliveries$/);
  await page.goto(`${world.url}/console/streams/new`);
  await page.getByLabel('Tag', { exact: true }).waitFor();
  expect(await page.getByLabel('Tag', { exact: true }).inputValue()).not.toBe('half done');
});

/** Starts a proxy of the service, which accepts only local names itself. Returns its port. */
async function startProxy(): Promise<{ port: number; stop: () => void }> {
  const proxy = createServer((incoming, response) => {
    const { host: _host, origin: _origin, ...headers } = incoming.headers;
    const outgoing = request(
      new URL(incoming.url ?? '/', world.url),
      { method: incoming.method, headers },
      (received) => {
        response.writeHead(received.statusCode ?? 502, received.headers);
        received.pipe(response);
      },
    );
    response.on('close', () => outgoing.destroy());
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (proxy.address() as AddressInfo).port,
    stop: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

/** Opens the console over plain HTTP at a name that is not local, and runs a test there. */
async function onPlainHttp(use: (page: Page) => Promise<void>): Promise<void> {
  const proxy = await startProxy();
  const browser = await chromium.launch({
    ...CHROMIUM_OPTIONS,
    args: [...CHROMIUM_OPTIONS.args, '--host-resolver-rules=MAP sluice.example 127.0.0.1'],
  });
  try {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://sluice.example:${proxy.port}/console/settings/api#key=${world.apiKey}`);
    await page.getByText('live', { exact: true }).first().waitFor();
    expect(await page.evaluate(() => isSecureContext || 'clipboard' in navigator)).toBe(false);
    await use(page);
  } finally {
    await browser.close();
    proxy.stop();
  }
}

/** Adds a field, and pastes the clipboard into it. */
async function pasted(page: Page): Promise<string> {
  await page.evaluate(() => {
    const field = document.createElement('textarea');
    field.id = 'pasted';
    document.querySelector('main')?.append(field);
    field.focus();
  });
  await page.keyboard.press('Control+v');
  return page.locator('#pasted').inputValue();
}

test('copying works on plain HTTP, and keeps the focus', async () => {
  await onPlainHttp(async (page) => {
    const button = page.getByRole('button', { name: 'Copy base URL' });
    await button.click();
    await page.getByText('Copied', { exact: true }).waitFor({ state: 'attached' });
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await pasted(page)).toMatch(/^http:\/\/sluice\.example:\d+$/);
  });
});

test('a copy that the browser blocks is reported', async () => {
  await onPlainHttp(async (page) => {
    await page.evaluate(() => {
      document.execCommand = () => false;
    });
    await page.getByRole('button', { name: 'Copy base URL' }).click();
    await page.getByText('Base URL not copied').waitFor();
  });
});

test('a toast stays for 4 s', async () => {
  const { id } = await world.createStream('toast');
  const page = await visitor.signedIn(`/streams/${id}`);
  await page.getByRole('button', { name: 'Send test', exact: true }).waitFor();
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.keyboard.press('y');
  const toast = page.getByText('Link copied');
  await toast.waitFor();
  await page.clock.runFor(3_900);
  expect(await toast.isVisible()).toBe(true);
  await page.clock.runFor(200);
  await toast.waitFor({ state: 'hidden' });
});

test('the frame is shown while the session is checked', async () => {
  const page = await visitor.signedIn();
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route('**/sluice/session', async (route) => {
    await promise;
    await route.continue();
  });
  await page.goto(`${world.url}/console/deliveries`);
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
  expect(await page.getByLabel('Search deliveries').count()).toBe(0);
  resolve();
  await page
    .getByRole('navigation', { name: 'Filter' })
    .or(page.getByRole('table'))
    .first()
    .waitFor();
});

/** By page: its address, and the calls whose failure leaves the page without content. */
const PAGES: [name: string, path: (id: string) => string, calls: string][] = [
  ['streams', () => '/', '/sluice/streams'],
  ['stream', (id) => `/streams/${id}`, '/sluice/streams'],
  ['coverage', (id) => `/streams/${id}?tab=coverage`, '/coverage'],
  ['addresses', (id) => `/streams/${id}?tab=addresses`, '/addresses'],
  ['metrics', (id) => `/streams/${id}?tab=metrics`, '/sluice/activity'],
  ['settings of a stream', (id) => `/streams/${id}?tab=settings`, '/streams/evm/'],
  ['deliveries', () => '/deliveries', '/sluice/deliveries'],
  ['explain', () => `/explain?q=0x${'12'.repeat(32)}`, '/sluice/explain'],
  ['inboxes', () => '/inbox', '/sluice/inboxes'],
  ['replays', () => '/replays', '/sluice/replays'],
  ['chains', () => '/chains', '/sluice/chains'],
  ['keys', () => '/settings', '/sluice/keys'],
  ['audit log', () => '/settings/audit', '/sluice/audit'],
];

test('each page recovers by itself after an outage', { timeout: 180_000 }, async () => {
  const { id } = await world.createStream('recovers');
  const page = await visitor.signedIn();
  const retry = page.getByRole('button', { name: /Retry|Try again/ });
  for (const [name, path, calls] of PAGES) {
    const isCall = (url: URL): boolean =>
      url.pathname.includes(calls) && !url.pathname.startsWith('/console');
    await page.route(isCall, (route) => route.abort());
    await page.goto(`${world.url}/console${path(id)}`);
    await retry.first().waitFor();
    await page.unrouteAll();
    await expect.poll(() => retry.count(), { message: name }).toBe(0);
  }
  visitor.expectComplaints((text) => text.includes('Failed to load resource'));
});

test('a stream without addresses is not green', async () => {
  await world.client.streams.create({
    webhookUrl: world.webhookUrl,
    description: 'empty',
    tag: 'no addresses yet',
    chainIds: ['0x7a69'],
    includeContractLogs: true,
  });
  const nothing = await world.client.streams.create({
    webhookUrl: world.webhookUrl,
    description: 'nothing',
    tag: 'selects nothing',
    chainIds: ['0x7a69'],
    topic0: ['Transfer(address,address,uint256)'],
    allAddresses: true,
  });
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const summaries = await sluice.listStreamSummaries();
  expect(summaries.find(({ id }) => id === nothing.id)?.statusMessage).toContain('Matches nothing');
  const page = await visitor.signedIn();
  const rowOf = (tag: string) => page.getByRole('row').filter({ hasText: tag });
  await rowOf('no addresses yet').getByText('no addresses', { exact: true }).waitFor();
  await rowOf('selects nothing').getByText('attention', { exact: true }).waitFor();
});
