/// <reference lib="dom" />
/** A file of 100,000 addresses: checked, sent in parts, and stopped on the way. */
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './console.ts';

const ADDRESSES = 100_000;
/** Until it is stopped, to be gone on with. */
const SENT = 10_000;

export async function measureImport({ page, front, streamId }: Bench): Promise<Figures> {
  await page.goto(`${front.url}/console/streams/${streamId}?tab=addresses`);
  await page.getByRole('button', { name: 'Import', exact: false }).first().click();
  const lines = Array.from(
    { length: ADDRESSES },
    (_, index) => `0x${(index + 1).toString(16).padStart(40, '0')},label ${index}`,
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
    let last = '';
    new MutationObserver(() => {
      const now = document.querySelector('progress')?.parentElement?.textContent ?? '';
      if (now !== last) steps.push(performance.now());
      last = now;
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await send.click();
  await page.waitForFunction(
    (enough) => (document.querySelector('progress')?.value ?? 0) >= enough,
    SENT,
    { timeout: 120_000 },
  );
  await page.getByRole('button', { name: 'Stop here' }).click();
  await page.getByRole('button', { name: /^Go on with/ }).waitFor();
  const steps = await page.evaluate(() => Reflect.get(globalThis, 'steps') as number[]);
  const gaps = steps.slice(1).map((at, index) => at - (steps[index] ?? at));
  return {
    'addresses checked': toFigure(
      checkedAt - changedAt,
      'ms',
      `${ADDRESSES.toLocaleString('en')} from a file, in a worker, until told; goal 500`,
    ),
    'addresses, progress': toFigure(
      Math.max(...gaps),
      'ms',
      'longest without, on SQLite; goal 250',
    ),
  };
}
