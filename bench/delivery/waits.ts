import { setTimeout as wait } from 'node:timers/promises';
import type { Receiver } from './receiver.ts';
import type { Chain } from './workload.ts';

const BLOCK_EVERY_MS = 100;

/**
 * Commits a block every 100 ms for `forMs`, in which `rate` streams per second match. Returns the
 * milliseconds from the commit of each webhook's block to its first byte at the receiver, sorted.
 *
 * @param beforeBlock called before each block, with its index
 */
export async function measureWaits(
  chain: Chain,
  receiver: Receiver,
  {
    rate,
    forMs,
    beforeBlock,
  }: { rate: number; forMs: number; beforeBlock?: (block: number) => Promise<unknown> },
): Promise<number[]> {
  const committedAt = new Map<string, number>();
  const arrivedAt = new Map<string, number>();
  const collect = async (): Promise<void> => {
    for (const [id, at] of await receiver.takeArrivals()) arrivedAt.set(id, at);
  };
  await collect();
  const started = performance.now();
  for (let block = 0; block * BLOCK_EVERY_MS < forMs; block++) {
    await wait(Math.max(0, started + block * BLOCK_EVERY_MS - performance.now()));
    await beforeBlock?.(block);
    const deliveries = await chain.commit((rate * BLOCK_EVERY_MS) / 1000);
    const at = performance.timeOrigin + performance.now();
    for (const { id } of deliveries) committedAt.set(id, at);
  }
  const deadline = performance.now() + 60_000;
  while ([...committedAt.keys()].some((id) => !arrivedAt.has(id))) {
    if (performance.now() > deadline) throw new Error('Some webhooks did not arrive');
    await wait(50);
    await collect();
  }
  return [...committedAt]
    .map(([id, at]) => Math.max(0, arrivedAt.get(id)! - at))
    .toSorted((a, b) => a - b);
}

/** Returns the figure of a quantile of sorted waits. */
export const quantileOf = (waits: readonly number[], share: number, note: string) => ({
  value: waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]!,
  unit: 'ms',
  note,
});
