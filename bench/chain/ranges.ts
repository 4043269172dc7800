/** Measures a backfill of an old chain from a node that is far away and limits requests. */
import { Worker } from 'node:worker_threads';
import { type Figures, toFigure } from '../figures.ts';
import { startEventSink } from './eventSink.ts';
import { readPeak } from './memory.ts';
import type { RemoteChain } from './remoteChain.ts';
import { withSluice } from './world.ts';

const BLOCKS = 1_000_000;
const EVENTS = 2_000;
const PER_QUERY = 2_000;
const PER_SECOND = 25;

/** Number of blocks after the range, because backfills end at the newest confirmed block. */
const CONFIRMED = 64;

export async function measureRemote(): Promise<Figures> {
  const worker = new Worker(new URL('./remoteChain.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 8_192 },
    workerData: {
      blocks: BLOCKS + CONFIRMED,
      events: EVENTS,
      every: BLOCKS / EVENTS,
      blocksPerQuery: PER_QUERY,
      callsPerSecond: PER_SECOND,
      latencyMs: 50,
    },
  });
  const next = <T>(): Promise<T> => new Promise((resolve) => worker.once('message', resolve));
  const { url, contract } = await next<RemoteChain>();
  const sink = await startEventSink();
  const takeCalls = (): Promise<number> => {
    const answer = next<number>();
    worker.postMessage('take');
    return answer;
  };
  try {
    return await withSluice(url, async ({ pid, watch, backfill }) => {
      const id = await watch(contract, sink.url);
      sink.expect(EVENTS);
      await takeCalls();
      const started = performance.now();
      await backfill(id, { from: 1, to: BLOCKS });
      await sink.complete();
      const seconds = (performance.now() - started) / 1_000;
      const calls = await takeCalls();
      const least = (BLOCKS / PER_QUERY + 2 * EVENTS) / PER_SECOND;
      return {
        remote: toFigure(seconds, 's', '2,000 events in 1,000,000 blocks, 25 requests per second'),
        'remote ratio': toFigure(seconds / least, '', `of ${least} s for the necessary calls`),
        'remote calls': toFigure(
          calls,
          '',
          'JSON-RPC calls, including refused ones and reads of the head',
        ),
        'remote peak': toFigure(readPeak(pid) / 1024 ** 2, 'MiB', 'peak resident memory'),
      };
    });
  } finally {
    await sink.stop();
    await worker.terminate();
  }
}
