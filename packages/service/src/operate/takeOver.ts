/**
 * Cleans up after the previous process, in a ledger that only one process uses at a time: ends its
 * leases, and abandons its unfinished address changes.
 */
import type { Log } from '../base/log.ts';
import { laneOf } from '../store/rows/laneIds.ts';
import type { Store } from '../store/store.ts';

/**
 * Takes over the ledger, and returns the number of deliveries whose leases were released. They are
 * due again, quarantined or canceled.
 */
export async function takeOverLedger(
  store: Pick<Store, 'endLeases' | 'releaseLeases' | 'cleanUpAddresses'>,
  log: Log,
): Promise<number> {
  await store.endLeases();
  const { released, quarantined, canceled } = await store.releaseLeases('all');
  if (released > 0) log.warn('released leases of the previous process', { count: released });
  for (const each of quarantined) {
    log.error('delivery quarantined', { delivery: each.id, stream: laneOf(each) });
  }
  await store.cleanUpAddresses({ keepMs: Number.MAX_SAFE_INTEGER, staleMs: 0 });
  return released + quarantined.length + canceled.length;
}
