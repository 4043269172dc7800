/** What the page keeps while deliveries come: the rows of half an hour, ten times as fast as those. */
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './bench.ts';
import { watch } from './look.ts';

const PER_SECOND = 2_000;
/** Together 360,000 rows. The list is full before the first, and every row of it has come live after a third. */
const READINGS = 12;
const BETWEEN_MS = 15_000;

export async function measureHeap({ page, front }: Bench): Promise<Figures> {
  await page.goto(`${front.url}/console/deliveries`);
  await page.locator('[data-row-link]').first().waitFor();
  const { readHeap } = await watch(page);
  const heaps: number[] = [];
  while (heaps.length < READINGS) {
    front.append(PER_SECOND);
    await page.waitForTimeout(BETWEEN_MS);
    front.stopAppending();
    // The last of them are painted.
    await page.waitForTimeout(1_000);
    heaps.push((await readHeap()) / 1e6);
  }
  const rowsBetween = (PER_SECOND * BETWEEN_MS) / 1_000;
  const filled = heaps.slice(READINGS / 3);
  return {
    'heap, most': toFigure(
      Math.max(...heaps),
      'MB',
      `over ${(READINGS * rowsBetween).toLocaleString('en')} live rows, half an hour of 200 a second; goal 150`,
    ),
    'heap, last': toFigure(heaps.at(-1)!, 'MB', 'after the last of them'),
    'heap, trend': toFigure(
      (slopeOf(filled) * 100_000) / rowsBetween,
      'MB',
      'more per 100,000 rows, once every row of the list has come live; goal: none',
    ),
  };
}

/** Of the straight line nearest to the values, from one to the next. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let together = 0;
  let alone = 0;
  for (const [index, value] of values.entries()) {
    together += (index - middle) * (value - mean);
    alone += (index - middle) ** 2;
  }
  return together / alone;
}
