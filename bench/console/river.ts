/// <reference lib="dom" />
/** Measures the river: frames while ten chains bring 50 blocks per second, and opening 30 days. */
import type { ChainHealth, LiveEvent } from '@sluice/kit/sluice';
import type { Page } from 'playwright-core';
import { toFigure, type Figures } from '../figures.ts';
import type { Bench } from './bench.ts';
import { p95Of, readFrames, watch } from './look.ts';

const CHAINS = 10;
const BLOCKS_PER_SECOND = 5;
const LIVE_MS = 5_000;
const MONTH_HOURS = 720;
const HOUR_MS = 3_600_000;

const idOf = (chain: number): string => `0x${(chain + 1).toString(16)}`;

const block = (chain: number, number: number, timestamp: number) => ({
  number,
  hash: `0x${chain}${number}`,
  timestamp,
  matches: number % 4,
});

export async function measureRiver({ page, front }: Bench): Promise<Figures> {
  await answer(page);
  await page.goto(`${front.url}/console/chains`);
  await page.getByRole('slider', { name: 'Blocks of chain 9' }).waitFor();
  const { workOf } = await watch(page);
  await page.waitForTimeout(1_000);
  const still = p95Of(await readFrames(page, 1_000));
  front.mine((sequence): LiveEvent => {
    const chain = sequence % CHAINS;
    const number = 101 + Math.floor(sequence / CHAINS);
    return {
      type: 'block',
      chainId: idOf(chain),
      head: number,
      block: block(chain, number, Date.now()),
    };
  }, CHAINS * BLOCKS_PER_SECOND);
  await page.waitForTimeout(1_000);
  const live = await workOf(() => readFrames(page, LIVE_MS));
  front.stopAppending();
  const openMs = await page.evaluate(async () => {
    const frame = () => new Promise<number>(requestAnimationFrame);
    const lane = document.querySelector('[role=slider]');
    const button = [...document.querySelectorAll('button')].find(
      ({ textContent }) => textContent === '30 d',
    );
    const started = performance.now();
    button?.click();
    while (!/records \d{4}/.test(lane?.getAttribute('aria-valuetext')?.replaceAll(',', '') ?? '')) {
      await frame();
    }
    await frame();
    return performance.now() - started;
  });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  const perSecond = live.result.length / (LIVE_MS / 1_000);
  return {
    'river, frame at rest': toFigure(still, 'ms', 'p95; the machine’s share of the figures below'),
    'river, live': toFigure(
      perSecond,
      '/s',
      `frames; ${CHAINS} chains, ${CHAINS * BLOCKS_PER_SECOND} blocks per second; goal 60`,
    ),
    'river, live frame': toFigure(p95Of(live.result), 'ms', 'p95'),
    'river, live work': toFigure(
      live.workMs / (LIVE_MS / 1_000),
      'ms',
      'of the main thread per second',
    ),
    'river, 30 days opened': toFigure(openMs, 'ms', `${CHAINS} chains; goal 300`),
  };
}

/** Answers the calls for chains, which the service of the benchmark does not have. */
async function answer(page: Page): Promise<void> {
  const now = Date.now();
  const chains = Array.from({ length: CHAINS }, (_, chain) => toChain(chain, now));
  await page.route('**/sluice/chains', (route) => route.fulfill({ json: { result: chains } }));
  await page.route('**/sluice/blocks?*', (route) =>
    route.fulfill({ json: { result: chains.map(({ id }) => ({ chainId: id, blocks: [] })) } }),
  );
  await page.route('**/sluice/activity/chains?*', (route) =>
    route.fulfill({
      json: {
        stepMinutes: 60,
        from: now - MONTH_HOURS * HOUR_MS,
        points: MONTH_HOURS,
        isPartial: true,
        chains: chains.map(({ id }) => ({
          chainId: id,
          matched: steps((step) => 3_000 + (step % 17)),
          delivered: steps((step) => 3_000 + (step % 17)),
          failedAttempts: steps((step) => (step % 50 === 0 ? 9 : 0)),
          slowestMs: steps((step) => 100 + (step % 71)),
        })),
      },
    }),
  );
}

const steps = (value: (step: number) => number): number[] =>
  Array.from({ length: MONTH_HOURS }, (_, step) => value(step));

const toChain = (chain: number, now: number): ChainHealth => ({
  id: idOf(chain),
  name: `chain ${chain}`,
  code: `C${chain}`,
  state: 'live',
  message: '',
  trust: null,
  head: 100,
  headAgeMs: 0,
  checkpoint: 100,
  confirmations: 12,
  confirmedUpTo: 88,
  safe: 90,
  finalized: 80,
  agreement: null,
  proof: null,
  providers: [],
  progress: null,
  unverified: null,
  blocks: Array.from({ length: 60 }, (_, index) => block(chain, 100 - index, now - index * 200)),
});
