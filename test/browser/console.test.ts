import { AxeBuilder } from '@axe-core/playwright';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { CHROMIUM_OPTIONS } from './chromium.ts';
import { CONFIRMATIONS, startWorld, type World } from './world.ts';

/** From the chain to the screen; the service looks at the head ten times a second here. */
const LIVE_MS = 10_000;

let world: World;
let browser: Browser;
let stream: { id: string };
let contexts: BrowserContext[] = [];
/** What any page of the test printed as an error, or loaded from elsewhere. */
let complaints: string[] = [];

beforeAll(async () => {
  world = await startWorld();
  stream = await world.createStream('whale-usdt');
  await world.createStream('quiet');
  browser = await chromium.launch(CHROMIUM_OPTIONS);
});

afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

afterEach(async () => {
  await Promise.all(contexts.map((context) => context.close()));
  contexts = [];
  const found = complaints;
  complaints = [];
  expect(found).toEqual([]);
});

type Options = Parameters<Browser['newContext']>[0];

async function openPage(options: Options = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    // Axe would see colours on their way.
    reducedMotion: 'reduce',
    ...options,
  });
  contexts.push(context);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(world.url)) complaints.push(`asked for ${request.url()}`);
  });
  return page;
}

/** A page signed in by link, as `npm start` prints it. */
async function signedIn(path = '/', options: Options = {}): Promise<Page> {
  const page = await openPage(options);
  await page.goto(`${world.url}/console${path}#key=${world.apiKey}`);
  await page.getByText('live', { exact: true }).first().waitFor();
  return page;
}

const rowsOf = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('cell') });

async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join('\n  ')}`,
  );
  expect(found).toEqual([]);
}

async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const overflow = await page.evaluate(() =>
    [document.documentElement, document.getElementById('content')].map(
      (element) => (element?.scrollWidth ?? 0) - (element?.clientWidth ?? 0),
    ),
  );
  expect(overflow).toEqual([0, 0]);
}

/** Things to press that are smaller than a finger's tip allows (WCAG 2.2, target size). */
const smallTargets = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('button, a, select, input')]
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(
        ({ element, box }) =>
          box.width > 1 &&
          (box.width < 24 || box.height < 24) &&
          // A link that its whole row answers for.
          getComputedStyle(element, '::after').position !== 'absolute',
      )
      .map(({ element, box }) => `${element.outerHTML.slice(0, 120)} ${box.width}×${box.height}`),
  );

test('a link with a key signs in, and the key leaves the address at once', async () => {
  const page = await signedIn();
  expect(page.url()).toBe(`${world.url}/console/`);
  await page.getByRole('link', { name: 'whale-usdt' }).waitFor();
  await page.getByRole('link', { name: 'quiet' }).waitFor();
  const stored = await page.evaluate(() =>
    JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]),
  );
  expect(stored).not.toContain(world.apiKey);
  expect(await page.evaluate(() => document.cookie)).toBe('');
});

test('signing in by hand leads back to where one was going', async () => {
  const page = await openPage();
  await page.goto(`${world.url}/console/deliveries?state=failed`);
  await page.getByLabel('API key').fill('not the right key at all');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('does not know this key').waitFor();
  await page.getByLabel('API key').fill(world.apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('State').waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(
    '/console/deliveries?state=failed',
  );
  // The refused calls are the point here; the browser reports each.
  expect(complaints.every((text) => text.includes('401'))).toBe(true);
  complaints = [];
});

test('signing out ends the session', async () => {
  const page = await signedIn();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  await page.goto(`${world.url}/console/deliveries`);
  await page.getByLabel('API key').waitFor();
  expect(complaints.every((text) => text.includes('401'))).toBe(true);
  complaints = [];
});

test('a delivery appears without a reload, and opens with its body and attempts', async () => {
  const page = await signedIn('/deliveries');
  await page.getByText('No deliveries yet').waitFor();
  await world.transfer();
  const row = rowsOf(page).filter({ hasText: 'whale-usdt' }).first();
  await row.waitFor({ timeout: LIVE_MS });
  await row.getByText('delivered').waitFor({ timeout: LIVE_MS });
  await row.getByRole('link').click();

  const inspector = page.getByRole('region', { name: /^Delivery / });
  await inspector.getByText('erc20Transfers').waitFor();
  await inspector.getByText('Transfer(address,address,uint256)').first().waitFor();
  await inspector.getByRole('tab', { name: /attempts/i }).click();
  await inspector.getByText('thank you').waitFor();
  await inspector.getByText('POST http://127.0.0.1').waitFor();
  await inspector.getByRole('tab', { name: /headers/i }).click();
  await inspector.getByText('webhook-id').waitFor();
  await page.keyboard.press('Escape');
  await inspector.waitFor({ state: 'detached' });
});

test('the confirmed delivery of a match is linked with the unconfirmed one', async () => {
  const page = await signedIn('/deliveries');
  await world.transfer();
  await world.mine(CONFIRMATIONS);
  const confirmed = rowsOf(page)
    .filter({ hasText: 'whale-usdt' })
    .filter({ has: page.getByText('confirmed', { exact: true }) });
  await confirmed.first().waitFor({ timeout: LIVE_MS });
  await confirmed.first().getByRole('link').click();
  const before = page.url();
  await page.getByRole('link', { name: /same match, unconfirmed/ }).click();
  await page.getByRole('link', { name: /same match, confirmed/ }).waitFor();
  expect(page.url()).not.toBe(before);
});

test('filter, selection and tab are the URL, and survive a reload', async () => {
  const page = await signedIn('/deliveries');
  await page.getByLabel('Stream').selectOption({ label: 'whale-usdt' });
  await page.getByLabel('State').selectOption({ label: 'delivered' });
  await rowsOf(page).first().getByRole('link').click();
  await page.getByRole('tab', { name: /attempts/i }).click();
  await page.waitForURL(/tab=attempts/);
  await page.reload();
  await page.getByRole('tab', { name: /attempts/i, selected: true }).waitFor();
  expect(await page.getByLabel('Stream').inputValue()).toBe(stream.id);
  expect(await page.getByLabel('State').inputValue()).toBe('succeeded');
  await page.getByText('thank you').waitFor();
  await page.getByLabel('Stream').selectOption({ label: 'quiet' });
  await page.getByText('No delivery passes this filter').or(rowsOf(page).first()).first().waitFor();
});

test('a held list stands still and counts what is new', async () => {
  const page = await signedIn('/deliveries');
  await rowsOf(page).first().waitFor();
  const top = await rowsOf(page).first().innerText();
  await page.keyboard.press('l');
  await world.transfer();
  const pill = page.getByRole('button', { name: /\d+ new/ });
  await pill.waitFor({ timeout: LIVE_MS });
  expect(await rowsOf(page).first().innerText()).toBe(top);
  await page.keyboard.press('l');
  await pill.waitFor({ state: 'detached' });
  expect(await rowsOf(page).first().innerText()).not.toBe(top);
});

test('a stream is paused and resumed by keyboard', async () => {
  const page = await signedIn();
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

test('a failing stream says why, in list, title and inspector', async () => {
  const page = await signedIn();
  world.answerWith(500);
  try {
    await world.transfer();
    await page.getByText('failing', { exact: true }).first().waitFor({ timeout: LIVE_MS });
    await expect.poll(() => page.title()).toMatch(/^▲ \d failing · Streams/);
    await page.getByRole('link', { name: 'Inspect the failure' }).first().click();
    // The receiver's answer is shown as the text it is.
    await page.getByText('TypeError: handler <b>crashed</b>').waitFor();
    await page.getByText('handler crashed or is restarting').waitFor();
  } finally {
    world.answerWith(200);
  }
});

test.each(['light', 'dark'] as const)('both screens are accessible in %s', async (colorScheme) => {
  const page = await signedIn('/', { colorScheme });
  await page.getByRole('link', { name: 'whale-usdt' }).waitFor();
  await expectAccessible(page);
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await rowsOf(page).first().waitFor();
  await expectAccessible(page);
  await rowsOf(page).first().getByRole('link').click();
  for (const tab of [/body/i, /attempts/i, /headers/i]) {
    await page.getByRole('tab', { name: tab }).click();
    await page
      .getByRole('tabpanel')
      .getByText(/block|POST|webhook-id/)
      .first()
      .waitFor();
    await expectAccessible(page);
  }
});

test('everything is in reach on a phone', async () => {
  const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
  const page = await signedIn('/', phone);
  await page.getByRole('link', { name: 'whale-usdt' }).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await page.getByRole('link', { name: 'Deliveries', exact: true }).tap();
  await rowsOf(page).first().waitFor();
  await expectNoSidewaysScroll(page);
  await rowsOf(page).first().getByRole('link').tap();
  await page.getByRole('tab', { name: /attempts/i }).tap();
  await page.getByText('POST http://127.0.0.1').first().waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
});

test('a remembered theme holds after a reload', async () => {
  const page = await signedIn('/', { colorScheme: 'dark' });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByRole('button', { name: /Change to light/ }).click();
  const light = await background();
  expect(light).not.toBe(dark);
  await page.reload();
  await page.getByRole('link', { name: 'whale-usdt' }).waitFor();
  expect(await background()).toBe(light);
});
