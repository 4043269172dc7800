/// <reference lib="dom" />
/**
 * Measures on a real chain how long it takes from the receiver's response until the row of a
 * delivery shows that it was delivered.
 */
import { createSluiceClient } from '@sluice/kit/sluice';
import { startWorld } from '../../test/browser/world.ts';
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './bench.ts';
import { p95Of } from './look.ts';

const TRANSFERS = 40;
const EVERY_MS = 300;

export async function measureArrival({ browser }: Bench): Promise<Figures> {
  const world = await startWorld();
  try {
    await world.createStream('bench');
    const page = await browser.newPage();
    await page.goto(`${world.url}/console/#key=${world.apiKey}`);
    await page.getByText('live', { exact: true }).first().waitFor();
    await page.goto(`${world.url}/console/deliveries`);
    await page.getByText('No deliveries yet').waitFor();
    await page.evaluate(() => {
      const shown: Record<string, number> = {};
      Object.assign(globalThis, { shown });
      new MutationObserver(() => {
        for (const link of document.querySelectorAll('[data-row-link]')) {
          const id = link.getAttribute('data-row-link') ?? '';
          const isDone = link.closest('[role=row]')?.textContent.includes('delivered') ?? false;
          if (isDone) shown[id] ??= Date.now();
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    for (let count = 0; count < TRANSFERS; count++) {
      await world.transfer();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
    await page.waitForTimeout(3_000);
    const times = await page.evaluate(
      () => Reflect.get(globalThis, 'shown') as Record<string, number>,
    );
    const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
    const { result } = await sluice.listDeliveries({ limit: 100, state: 'succeeded' });
    const missing = result.filter(({ id }) => times[id] === undefined).length;
    if (missing > 0) throw new Error(`${missing} of ${result.length} deliveries were never shown`);
    const waits = result.map(({ id, updatedAt }) => (times[id] ?? 0) - updatedAt);
    return {
      'row on the screen': toFigure(
        p95Of(waits),
        'ms',
        `after the receiver's response, p95 of ${waits.length}; goal 1,000`,
      ),
    };
  } finally {
    await world.stop();
  }
}
