import type { DeliverySummary } from '@sluice/kit/contract';
import type { Store } from '../store.ts';

/**
 * Runs a write. Returns its result, and the deliveries that it moved into or out of the queues of
 * streams.
 */
export async function movedBy<Result>(
  store: Pick<Store, 'queueChanges'>,
  write: () => Promise<Result>,
): Promise<{ result: Result; moved: DeliverySummary[] }> {
  const moved: DeliverySummary[] = [];
  const forget = store.queueChanges.on((deliveries) => void moved.push(...deliveries));
  try {
    return { result: await write(), moved };
  } finally {
    forget();
  }
}
