/**
 * Measures the latency of new blocks, from the node's `newHeads` notification to the arrival of the
 * block's webhook.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@sluice/testkit';
import { toFigure, type Figures } from '../figures.ts';
import { type EventSink, startEventSink } from './eventSink.ts';
import { startNodeProxy } from './nodeProxy.ts';
import { postingApp, withPonder } from './ponder.ts';
import { type World, startWorld, withSluice } from './world.ts';

const BLOCKS = 60;
/** Number of blocks before the measurement, so that a service can learn the chain's block time. */
const WARM_UP_BLOCKS = 30;

/**
 * Measures the latency over WebSocket. Mines a block every 100 ms, so that the node is idle when
 * the service reads the block.
 */
export async function measureWebSocket(): Promise<Figures> {
  const world = await startWorld();
  const sink = await startEventSink();
  const heads = await watchHeads(world);
  try {
    const mine = async (): Promise<number[]> => {
      sink.expect(Infinity);
      for (let block = 0; block < 200; block++) {
        await world.emit(1);
        await wait(100);
      }
      return waitsOf(heads.times, sink, 20);
    };
    const sluice = await withSluice(world.anvil.wsUrl, async ({ watch }) => {
      await watch(world.contract, sink.url);
      return mine();
    });
    return toPercentiles('websocket', sluice, 'newHeads to webhook received over WebSocket');
  } finally {
    heads.stop();
    await sink.stop();
    await world.stop();
  }
}

/**
 * Measures the latency over HTTP with default settings and a block each second, for Sluice and for
 * Ponder.
 */
export async function measureHttp(): Promise<Figures> {
  const world = await startWorld({ blockTimeSeconds: 1 });
  const sink = await startEventSink();
  const heads = await watchHeads(world);
  const proxy = await startNodeProxy(world.anvil);
  try {
    const mine = async (): Promise<{ waits: number[]; callsPerBlock: number }> => {
      sink.expect(Infinity);
      const total = WARM_UP_BLOCKS + BLOCKS;
      const emitting = setInterval(() => void world.emit(1), 500);
      await until('blocks', () => sink.arrivals.size >= WARM_UP_BLOCKS, 120_000);
      await proxy.takeCalls();
      await until('blocks', () => sink.arrivals.size >= total, 120_000);
      clearInterval(emitting);
      const polls = (await proxy.takeCalls()).get('eth_getBlockByNumber') ?? 0;
      return {
        waits: waitsOf(heads.times, sink, WARM_UP_BLOCKS),
        callsPerBlock: polls / BLOCKS,
      };
    };
    const sluice = await withSluice(proxy.url, async ({ watch }) => {
      await watch(world.contract, sink.url);
      return mine();
    });
    await proxy.takeCalls();
    const startBlock = Number(await world.anvil.request('eth_blockNumber'));
    const ponder = await withPonder(
      { node: proxy.url, contract: world.contract, startBlock, app: postingApp(sink.url) },
      mine,
    );
    return {
      ...toPercentiles('http', sluice.waits, 'the same over HTTP, default settings, 1 s blocks'),
      'http polls': toFigure(sluice.callsPerBlock, '', 'reads of the head per block'),
      ...toPercentiles('http Ponder', ponder.waits, 'the same'),
      'http Ponder polls': toFigure(ponder.callsPerBlock, '', 'reads of the head per block'),
    };
  } finally {
    await proxy.stop();
    heads.stop();
    await sink.stop();
    await world.stop();
  }
}

/** Records when the node announces each block: `performance.now()` by block number. */
async function watchHeads({ anvil }: World): Promise<{
  readonly times: ReadonlyMap<number, number>;
  stop(): void;
}> {
  const times = new Map<number, number>();
  const socket = new WebSocket(anvil.wsUrl);
  socket.addEventListener('message', (event) => {
    const at = performance.now();
    const message = JSON.parse(String(event.data)) as {
      params?: { result: { number: string } };
    };
    if (message.params !== undefined) times.set(Number(message.params.result.number), at);
  });
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  const params = ['newHeads'];
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params }));
  return { times, stop: () => socket.close() };
}

/**
 * Returns the latencies in milliseconds, sorted, of the blocks whose webhook arrived, without the
 * first `skip` blocks.
 */
function waitsOf(heads: ReadonlyMap<number, number>, sink: EventSink, skip: number): number[] {
  return [...sink.arrivals]
    .flatMap(([block, arrivedAt]) => {
      const announcedAt = heads.get(block);
      return announcedAt === undefined ? [] : [arrivedAt - announcedAt];
    })
    .slice(skip)
    .toSorted((a, b) => a - b);
}

export const toPercentiles = (name: string, waits: readonly number[], note: string): Figures => {
  const at = (share: number) =>
    waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]!;
  return {
    [`${name} p50`]: toFigure(at(0.5), 'ms', note),
    [`${name} p95`]: toFigure(at(0.95), 'ms', `${waits.length} blocks`),
  };
};
