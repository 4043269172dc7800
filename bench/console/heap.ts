/**
 * Measures the page's memory while as many deliveries arrive as in half an hour at 200 per second,
 * but at ten times that rate.
 */
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './bench.ts';
import { watch } from './look.ts';

const PER_SECOND = 2_000;
/**
 * Number of readings, during which 360,000 rows arrive. The list is full before the first reading;
 * after a third of the readings, all of its rows have arrived live.
 */
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
    // Lets the page paint the last rows.
    await page.waitForTimeout(1_000);
    heaps.push((await readHeap()) / 1e6);
  }
  const rowsBetween = (PER_SECOND * BETWEEN_MS) / 1_000;
  const filled = heaps.slice(READINGS / 3);
  return {
    'heap, most': toFigure(
      Math.max(...heaps),
      'MB',
      `over ${(READINGS * rowsBetween).toLocaleString('en')} live rows, half an hour of 200 per second; goal 150`,
    ),
    'heap, last': toFigure(heaps.at(-1)!, 'MB', 'at the end'),
    'heap, trend': toFigure(
      (slopeOf(filled) * 100_000) / rowsBetween,
      'MB',
      'growth per 100,000 rows, once every row of the list arrived live; goal: none',
    ),
  };
}

/** Returns the slope per reading by least squares. */
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
