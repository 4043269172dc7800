/// <reference lib="dom" />
/** Measures the charts of a stream's metrics: drawing them, and moving the cursor. */
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './bench.ts';
import { POINTS } from './front.ts';
import { p95Of } from './look.ts';

export async function measureChart({ page, front, streamId }: Bench): Promise<Figures> {
  await page.goto(`${front.url}/console/streams/${streamId}?tab=coverage`);
  const tab = page.getByRole('link', { name: 'metrics' });
  // Loads the code first, so that only drawing is measured.
  await tab.click();
  await page.getByText('Show as table').waitFor();
  await page.getByRole('link', { name: 'coverage' }).click();
  await page.waitForTimeout(500);
  const { firstMs, moves } = await page.evaluate(async () => {
    const frame = () => new Promise<number>(requestAnimationFrame);
    const link = [...document.querySelectorAll('a')].find(
      ({ textContent }) => textContent === 'metrics',
    );
    const started = performance.now();
    link?.click();
    while (document.querySelector('svg path') === null) await frame();
    while (document.querySelector('section[aria-label=Metrics] svg') === null) await frame();
    await frame();
    const firstMs = performance.now() - started;
    const chart = document.querySelector('section[aria-label=Metrics] svg');
    const moves: number[] = [];
    for (let each = 0; each < 40; each++) {
      const moved = performance.now();
      chart?.dispatchEvent(
        new PointerEvent('pointermove', { clientX: 300 + each * 10, bubbles: true }),
      );
      // React has finished when the next task runs.
      await new Promise((resolve) => setTimeout(resolve));
      moves.push(performance.now() - moved);
      await frame();
    }
    return { firstMs, moves };
  });
  return {
    'chart, first': toFigure(firstMs, 'ms', `${POINTS} points in nine lines; goal 80 for three`),
    'chart, cursor moved': toFigure(p95Of(moves), 'ms', 'goal 16'),
  };
}
