/// <reference lib="dom" />
/** Measures a list of 2,000 streams: the response time of the service, mounting, and scrolling. */
import type { Page } from 'playwright-core';
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './bench.ts';
import { measureMount, p95Of, readScrollFrames, watch } from './look.ts';

const STREAMS = 2_000;
const SCROLLS = 60;
const SCROLL_PX = 900;

/** Creates streams and does not delete them, so it must run last. */
export async function measureFleet({ page, front, client }: Bench): Promise<Figures> {
  for (let count = 1; count < STREAMS; count++) {
    await client.streams.create({
      webhookUrl: 'sluice://inbox/bench',
      description: `number ${count}`,
      tag: `fleet-${count}`,
      chainIds: ['0x1'],
      topic0: ['Transfer(address,address,uint256)'],
      allAddresses: true,
      includeContractLogs: true,
    });
  }
  await page.goto(`${front.url}/console/chains`);
  await page.waitForTimeout(2_000);
  const { workOf } = await watch(page);
  const streams = await measureStreams(page);
  const mount = await workOf(() => measureMount(page, 'Streams'));
  const rows = await page.locator('[data-row-link]').count();
  const scroll = await workOf(() => readScrollFrames(page, 'main', SCROLLS, SCROLL_PX));
  return {
    'streams answered': toFigure(streams.ms, 'ms', `${STREAMS.toLocaleString('en')} of them`),
    'streams answered, sent': toFigure(streams.bytes / 1_000, 'kB', 'compressed'),
    'streams mounted': toFigure(mount.result, 'ms', 'from the click on the link; goal 150'),
    'streams mounted, work': toFigure(mount.workMs, 'ms', 'of the main thread'),
    'streams in the document': toFigure(rows, '', 'goal: 60 at most'),
    'streams, fast scroll': toFigure(p95Of(scroll.result), 'ms', 'frame, p95; goal 34'),
    'streams, fast scroll, work': toFigure(
      scroll.workMs / SCROLLS,
      'ms',
      'of the main thread per frame',
    ),
  };
}

const measureStreams = (page: Page): Promise<{ ms: number; bytes: number }> =>
  page.evaluate(async () => {
    const started = performance.now();
    const response = await fetch('/sluice/streams');
    await response.text();
    const ms = performance.now() - started;
    const entry = performance
      .getEntriesByType('resource')
      .findLast(({ name }) => name.endsWith('/sluice/streams')) as PerformanceResourceTiming;
    return { ms, bytes: entry.encodedBodySize };
  });
