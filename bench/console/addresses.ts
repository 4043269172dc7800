/// <reference lib="dom" />
/**
 * Measures the import of a file of 100,000 addresses in random order: parsing, and upload in parts.
 */
import { createHash } from 'node:crypto';
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './bench.ts';

const ADDRESSES = 100_000;

export async function measureImport({ page, front, streamId }: Bench): Promise<Figures> {
  await page.goto(`${front.url}/console/streams/${streamId}?tab=addresses`);
  await page.getByRole('button', { name: 'Import', exact: false }).first().click();
  const lines = Array.from(
    { length: ADDRESSES },
    (_, index) => `0x${createHash('sha1').update(String(index)).digest('hex')},label ${index}`,
  );
  await page.evaluate(() => {
    const times: number[] = [];
    Object.assign(globalThis, { times });
    document.addEventListener('change', () => times.push(performance.now()), { once: true });
    new MutationObserver(() => {
      if (times.length === 1 && document.body.textContent.includes('Import 100,000')) {
        times.push(performance.now());
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await page.locator('input[type=file]').setInputFiles({
    name: 'addresses.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(lines.join('\n')),
  });
  const send = page.getByRole('button', { name: 'Import 100,000 addresses' });
  await send.waitFor();
  const [changedAt = 0, checkedAt = 0] = await page.evaluate(
    () => Reflect.get(globalThis, 'times') as number[],
  );
  await page.evaluate(() => {
    const steps: number[] = [];
    Object.assign(globalThis, { steps });
    let last: string | null = null;
    const note = (): void => {
      // At the end, the progress bar is missing, because the result has replaced it.
      const bar = document.querySelector('dialog progress, [role=dialog] progress');
      const now = bar?.parentElement?.textContent ?? '';
      if (now !== last) steps.push(performance.now());
      last = now;
    };
    document.addEventListener('submit', note, { once: true, capture: true });
    new MutationObserver(() => last !== null && note()).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  await send.click();
  await page.getByText('100,000 addresses imported').waitFor({ timeout: 120_000 });
  const steps = await page.evaluate(() => Reflect.get(globalThis, 'steps') as number[]);
  const gaps = steps.slice(1).map((at, index) => at - (steps[index] ?? at));
  return {
    'addresses checked': toFigure(
      checkedAt - changedAt,
      'ms',
      `${ADDRESSES.toLocaleString('en')} from a file, parsed in a worker; goal 500`,
    ),
    'addresses uploaded': toFigure(
      (steps.at(-1) ?? 0) - (steps[0] ?? 0),
      'ms',
      'from the click, with labels, on SQLite',
    ),
    'addresses, progress': toFigure(Math.max(...gaps), 'ms', 'longest wait for progress; goal 250'),
  };
}
