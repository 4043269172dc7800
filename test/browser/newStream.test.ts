/** Tests the form of a new stream: its steps, its sentence, and what stays in view. */
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

beforeAll(async () => {
  for (let count = 0; count < 3; count++) await world.transfer();
});

const stepsOf = (page: Page) => page.getByRole('navigation', { name: 'Steps' });
const currentOf = (page: Page) => stepsOf(page).locator('[aria-current=step]').innerText();
const textsOf = (page: Page) => stepsOf(page).getByRole('link').allTextContents();
const untilCurrent = (page: Page, name: string) =>
  expect.poll(() => currentOf(page)).toMatch(new RegExp(`^${name}`));

test('steps show what is left, and follow focus, scrolling and the keyboard', async () => {
  const page = await visitor.signedIn('/streams/new');
  const addresses = page.getByLabel('Addresses', { exact: true });
  await addresses.waitFor();
  await expect
    .poll(() => textsOf(page))
    .toEqual(['Watch, to do', 'Match, done', 'Deliver, done', 'Review, to do']);
  await untilCurrent(page, 'Watch');
  await page.keyboard.press('Control+Enter');
  await expect.poll(() => textsOf(page)).toContain('Watch, has a problem');
  await expectAccessible(page);
  // The review leads to the step with the problem.
  await stepsOf(page).getByRole('link', { name: 'Review' }).click();
  await untilCurrent(page, 'Review');
  const todo = page.getByRole('list', { name: 'To do' });
  await todo.getByText('Paste an address, or watch all addresses.').waitFor();
  await todo.getByRole('button', { name: 'Watch' }).click();
  await untilCurrent(page, 'Watch');
  await addresses.fill(world.token);
  await expect
    .poll(() => textsOf(page))
    .toEqual(['Watch, done', 'Match, done', 'Deliver, done', 'Review, done']);

  // Tab continues in the step that a link leads to.
  await stepsOf(page).getByRole('link', { name: 'Deliver' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  const part = page.getByRole('region', { name: 'Deliver' });
  expect(await part.evaluate((region) => region.contains(document.activeElement))).toBe(true);
  await untilCurrent(page, 'Deliver');
  await page.getByLabel('Tag', { exact: true }).fill('');
  await expect.poll(() => textsOf(page)).toContain('Deliver, has a problem');
  await page.getByLabel('Tag', { exact: true }).fill('steps');
  // Without a visible focus, the position decides.
  await page.mouse.move(400, 400);
  await page.mouse.wheel(0, -10_000);
  await untilCurrent(page, 'Watch');
  await page.mouse.wheel(0, 10_000);
  await untilCurrent(page, 'Review');
});

test('the sentence changes with the form, in the panel and in the review', async () => {
  const page = await visitor.signedIn(`/streams/new?recipe=payments&address=${world.token}`);
  const run = page.getByRole('region', { name: 'Dry run' });
  await page.getByLabel('Value', { exact: true }).fill('1');
  const sentence = /^Sends Transfer events of .* on Local chain to inbox default, /;
  await run.getByText(sentence).waitFor();
  await run.getByText('Only Transfer where value at least 1 SLD.').waitFor();
  await page.getByRole('checkbox', { name: /^Confirmed only/ }).check();
  await run.getByText(/inbox default, when confirmed\./).waitFor();
  const review = page.getByRole('region', { name: 'Review' });
  await review.getByText(/inbox default, when confirmed\./).waitFor();
  // Both stay in view while the form scrolls.
  await stepsOf(page).getByRole('link', { name: 'Review' }).click();
  await untilCurrent(page, 'Review');
  const places = await Promise.all(
    [run.getByText(sentence), run.getByText(/records? in \d+/), stepsOf(page)].map((each) =>
      each.first().boundingBox(),
    ),
  );
  for (const place of places) expect(place?.y).toBeGreaterThan(0);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('navigation', { name: 'Stream' }).waitFor();
  await page.getByRole('link', { name: 'Rules' }).click();
  const saved = page.getByText(/^Sends Transfer events of 1 address on Local chain/);
  await saved.waitFor();
  await page.getByRole('checkbox', { name: /^Exclude possible spam/ }).scrollIntoViewIfNeeded();
  await expect.poll(async () => (await saved.boundingBox())?.y).toBeGreaterThan(0);
});

test('a phone keeps the steps, the sentence, the count and the button in view', async () => {
  const page = await visitor.signedIn(`/streams/new?address=${world.token}`, {
    ...PHONE,
    colorScheme: 'dark',
  });
  await page.getByText(/^\d+ records? in \d+ blocks?\./).waitFor();
  await expectNoSidewaysScroll(page);
  expect(await smallTargets(page)).toEqual([]);
  await expectContrast(page);
  for (const name of ['Deliver', 'Watch', 'Match']) {
    await stepsOf(page).getByRole('link', { name }).tap();
    await untilCurrent(page, name);
    const steps = (await stepsOf(page).boundingBox())!;
    const bar = (await page.getByRole('button', { name: 'Create stream' }).boundingBox())!;
    const part = (await page.getByRole('region', { name }).boundingBox())!;
    expect(steps.y).toBeGreaterThanOrEqual(44);
    expect(bar.y + bar.height).toBeLessThan(PHONE.viewport.height);
    // The heading is below the steps, not behind them.
    expect(part.y).toBeGreaterThanOrEqual(steps.y + steps.height - 1);
  }
});
