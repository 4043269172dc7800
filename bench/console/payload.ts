/// <reference lib="dom" />
/** Measures a 5 MB body: opening it next to the list, searching it, and expanding it fully. */
import type { Page } from 'playwright-core';
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './bench.ts';
import { LAST_WORD } from './front.ts';
import { watch } from './look.ts';

export async function measurePayload({ page, front }: Bench): Promise<Figures> {
  await page.goto(`${front.url}/console/deliveries?view=payload`);
  await page.locator('[data-row-link]').first().waitFor();
  // Loads the code before the measurement.
  await page.locator('[data-row-link]').nth(1).click();
  await page.getByRole('button', { name: 'Open all' }).waitFor();
  const { workOf } = await watch(page);
  const open = await workOf(() => measureOpen(page));
  const search = await workOf(() => measureSearch(page));
  const all = await workOf(() => measureOpenAll(page));
  const work = (workMs: number, goal: number) =>
    `goal ${goal}; ${Math.round(workMs)} ms of it on the main thread`;
  return {
    'payload of 5 MB, open': toFigure(
      open.result,
      'ms',
      `from the click on its row to its lines; ${work(open.workMs, 150)}`,
    ),
    'payload of 5 MB, search': toFigure(search.result, 'ms', work(search.workMs, 50)),
    'payload of 5 MB, all open': toFigure(all.result, 'ms', work(all.workMs, 150)),
  };
}

const measureOpen = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const frame = () => new Promise<number>(requestAnimationFrame);
    const lines = () => document.querySelectorAll('section[aria-label=Body] .group').length;
    const started = performance.now();
    document.querySelectorAll<HTMLElement>('[data-row-link]')[2]?.click();
    while (lines() > 0) await frame();
    while (lines() === 0) await frame();
    return performance.now() - started;
  });

const measureSearch = (page: Page): Promise<number> =>
  page.evaluate(async (word) => {
    const frame = () => new Promise<number>(requestAnimationFrame);
    const field = document.querySelector<HTMLInputElement>('input[aria-label="Find in body"]');
    const setValue = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
    const started = performance.now();
    setValue?.call(field, word);
    field?.dispatchEvent(new Event('input', { bubbles: true }));
    while (field?.parentElement?.querySelector('output')?.textContent !== '1') await frame();
    return performance.now() - started;
  }, LAST_WORD);

const measureOpenAll = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const frame = () => new Promise<number>(requestAnimationFrame);
    const height = () => document.querySelector('section[aria-label=Body]')?.scrollHeight ?? 0;
    const press = (label: string): void =>
      [...document.querySelectorAll('button')]
        .find(({ textContent }) => textContent === label)
        ?.click();
    press('Close all');
    while (height() > 2_000) await frame();
    const started = performance.now();
    press('Open all');
    while (height() < 100_000) await frame();
    await frame();
    return performance.now() - started;
  });
