/**
 * Measures the latency of new blocks at different paces, and how fast the service catches up after
 * an outage of the node. The chains run at the same time, each with its own service.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { until } from '@sluice/testkit';
import { type Figures, toFigure } from '../figures.ts';
import { type EventSink, startEventSink } from './eventSink.ts';
import type { Mined, PacedChain, PacedRequest } from './pacedChain.ts';
import { toPercentiles } from './latency.ts';
import { withSluice } from './world.ts';

const PACES_MS = [200, 400, 1_017, 2_100];
const JITTER_MS = 20;
/** Number of blocks, and duration, before the measurement, to learn the chain's pace. */
const WARM_UP_BLOCKS = 60;
const WARM_UP_MS = 30_000;
/** Duration of the outage as a share of the measurement. */
const OUTAGE_SHARE = 0.2;

export async function measurePaces(transport: 'http' | 'ws', minutes: number): Promise<Figures> {
  const running: Promise<Figures>[] = [];
  for (const pace of PACES_MS) {
    // The services start one after another, because a start takes much processor time.
    const { promise: started, resolve: onStarted } = Promise.withResolvers<void>();
    running.push(measurePace(pace, { transport, minutes, onStarted }));
    await Promise.race([started, running.at(-1)]);
  }
  return Object.assign({}, ...(await Promise.all(running))) as Figures;
}

async function measurePace(
  blockMs: number,
  {
    transport,
    minutes,
    onStarted,
  }: { transport: 'http' | 'ws'; minutes: number; onStarted: () => void },
): Promise<Figures> {
  const worker = new Worker(new URL('./pacedChain.ts', import.meta.url), {
    workerData: { blockMs, jitterMs: JITTER_MS },
  });
  const next = <T>(): Promise<T> => new Promise((resolve) => worker.once('message', resolve));
  const request = (what: PacedRequest): Promise<Mined> => {
    const answer = next<Mined>();
    worker.postMessage(what);
    return answer;
  };
  const chain = await next<PacedChain>();
  const sink = await startEventSink();
  const name = `${transport === 'http' ? 'HTTP' : 'WebSocket'} ${blockMs} ms`;
  try {
    return await withSluice(transport === 'http' ? chain.url : chain.wsUrl, async ({ watch }) => {
      await watch(chain.contract, sink.url);
      sink.expect(Infinity);
      onStarted();
      await wait(Math.max(WARM_UP_MS, WARM_UP_BLOCKS * blockMs));
      const start = await request('take');
      await wait(minutes * 60_000);
      const end = await request('take');
      const blocks = numbersOf(end).filter((number) => !start.times.has(number));
      const found = () => blocks.filter((number) => sink.arrivals.has(number));
      await until('the last block', () => found().includes(blocks.at(-1)!), 10_000);

      await request('fail');
      await wait(minutes * OUTAGE_SHARE * 60_000);
      const healed = await request('heal');
      const healedAt = performance.now();
      const isMissing = (number: number): boolean => !sink.arrivals.has(number);
      const missed = numbersOf(healed).filter(
        (number) => number >= blocks[0]! && isMissing(number),
      );
      const seconds = await until(
        'the service catches up',
        () => (missed.some(isMissing) ? undefined : (performance.now() - healedAt) / 1_000),
        120_000,
      );
      const waits = found().map((number) => toWait(end, sink, number));
      return {
        ...toPercentiles(
          name,
          waits.toSorted((a, b) => a - b),
          'from block to webhook received',
        ),
        [`${name} polls`]: toFigure(
          (end.polls - start.polls) / blocks.length,
          '',
          'reads of the head per block',
        ),
        [`${name} gaps`]: toFigure(blocks.filter(isMissing).length, '', 'blocks without a webhook'),
        [`${name} catch-up`]: toFigure(
          seconds,
          's',
          `from the end of an outage until ${missed.length} missed blocks are received`,
        ),
      };
    });
  } finally {
    await sink.stop();
    await worker.terminate();
  }
}

const numbersOf = ({ times }: Mined): number[] => [...times.keys()];

const toWait = ({ times }: Mined, { arrivals }: EventSink, number: number): number =>
  performance.timeOrigin + arrivals.get(number)! - times.get(number)!;
