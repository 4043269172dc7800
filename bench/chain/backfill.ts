/** Measures backfills, from the call that starts a backfill to the arrival of its last webhook. */
import { toFigure, type Figures } from '../figures.ts';
import { readPeak } from './memory.ts';
import { startNodeProxy, totalOf } from './nodeProxy.ts';
import { type Ponder, postingApp, withPonder } from './ponder.ts';
import { type EventSink, startEventSink } from './eventSink.ts';
import { type World, startWorld, withSluice } from './world.ts';

export const measureDense = (): Promise<Figures> =>
  measure(
    'dense',
    100_000,
    'backfill of 100,000 events in 2,000 blocks',
    async ({ anvil, emit }) => {
      await anvil.request('evm_setAutomine', [false]);
      for (let block = 0; block < 2_000; block++) {
        await emit(50);
        await anvil.request('evm_mine', []);
      }
    },
  );

export const measureSparse = (): Promise<Figures> =>
  measure('sparse', 200, 'backfill of 200 events in 30,000 blocks', async ({ anvil, emit }) => {
    for (let event = 0; event < 200; event++) {
      await emit(1);
      await anvil.request('anvil_mine', [149]);
    }
  });

interface Result {
  seconds: number;
  /**
   * Part of `seconds` that passed before the program could read the chain; 0 for Sluice, which
   * starts before the measurement.
   */
  startSeconds: number;
  calls: number;
  peakBytes: number;
}

async function measure(
  name: string,
  events: number,
  what: string,
  fill: (world: World) => Promise<void>,
): Promise<Figures> {
  const world = await startWorld();
  const sink = await startEventSink();
  try {
    const from = Number(await world.anvil.request('eth_blockNumber')) + 1;
    await fill(world);
    const to = Number(await world.anvil.request('eth_blockNumber'));
    // Adds blocks after the range, because a backfill ends at the newest confirmed block.
    await world.anvil.request('anvil_mine', [64]);
    const range = { from, to, events };
    const sluice = await runSluice(world, sink, range);
    const ponder = await runPonder(world, sink, range);
    return {
      ...toFigures(name, sluice, `${what}, until the last webhook is received`),
      ...toFigures(`${name} Ponder`, ponder, `the same, including its start`),
      [`${name} Ponder after start`]: toFigure(
        ponder.seconds - ponder.startSeconds,
        's',
        'the same, without its start',
      ),
    };
  } finally {
    await sink.stop();
    await world.stop();
  }
}

const toFigures = (name: string, result: Result, note: string): Figures => ({
  [name]: toFigure(result.seconds, 's', note),
  [`${name} calls`]: toFigure(result.calls, '', 'JSON-RPC calls, each member of a batch counted'),
  [`${name} peak`]: toFigure(result.peakBytes / 1024 ** 2, 'MiB', 'peak resident memory'),
});

interface Range {
  from: number;
  to: number;
  events: number;
}

async function runSluice(world: World, sink: EventSink, range: Range): Promise<Result> {
  const proxy = await startNodeProxy(world.anvil);
  try {
    return await withSluice(proxy.url, async ({ pid, watch, backfill }) => {
      const id = await watch(world.contract, sink.url);
      await proxy.takeCalls();
      sink.expect(range.events);
      const started = performance.now();
      await backfill(id, range);
      await sink.complete();
      const seconds = (performance.now() - started) / 1_000;
      const calls = totalOf(await proxy.takeCalls());
      return { seconds, startSeconds: 0, calls, peakBytes: readPeak(pid) };
    });
  } finally {
    await proxy.stop();
  }
}

async function runPonder(world: World, sink: EventSink, range: Range): Promise<Result> {
  const proxy = await startNodeProxy(world.anvil);
  try {
    sink.expect(range.events);
    const started = performance.now();
    const run = async ({ pid, startedAt }: Ponder): Promise<Result> => {
      await sink.complete();
      const seconds = (performance.now() - started) / 1_000;
      const calls = totalOf(await proxy.takeCalls());
      const startSeconds = (startedAt - started) / 1_000;
      return { seconds, startSeconds, calls, peakBytes: readPeak(pid) };
    };
    return await withPonder(
      {
        node: proxy.url,
        contract: world.contract,
        startBlock: range.from,
        app: postingApp(sink.url),
      },
      run,
    );
  } finally {
    await proxy.stop();
  }
}
