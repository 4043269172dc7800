/**
 * Measures how the service reads a chain: backfills, latency of new blocks, memory and startup. For
 * comparison, most parts also run Ponder on the same anvil. The node, the service and the receiver
 * share the machine.
 */
import type { Figures } from '../figures.ts';

const PARTS: Record<string, (minutes: number) => Promise<Figures>> = {
  dense: async () => (await import('./backfill.ts')).measureDense(),
  sparse: async () => (await import('./backfill.ts')).measureSparse(),
  remote: async () => (await import('./ranges.ts')).measureRemote(),
  reads: async () => (await import('./reads.ts')).measureReads(),
  children: async () => (await import('./children.ts')).measureChildren(),
  large: async () => (await import('./large.ts')).measureLarge(),
  refusals: async () => (await import('./refusals.ts')).measureRefusals(),
  websocket: async () => (await import('./latency.ts')).measureWebSocket(),
  http: async () => (await import('./latency.ts')).measureHttp(),
  'paces-http': async (minutes) => (await import('./paces.ts')).measurePaces('http', minutes),
  'paces-websocket': async (minutes) => (await import('./paces.ts')).measurePaces('ws', minutes),
  idle: async () => (await import('./idle.ts')).measureIdle(),
};

/**
 * @param names parts to measure. Default: all
 * @param minutes duration of each pace, without its outage
 */
export async function measureChain(names: readonly string[], minutes: number): Promise<Figures> {
  const parts = (names.length === 0 ? Object.keys(PARTS) : names).map((name) => {
    const part = PARTS[name];
    if (part !== undefined) return part;
    throw new Error(`chain has no part ${name}; its parts are ${Object.keys(PARTS).join(', ')}`);
  });
  const figures: Figures = {};
  for (const part of parts) Object.assign(figures, await part(minutes));
  return figures;
}
