import type { DeliverySummary } from '@sluice/kit/contract';

/** Reports deliveries that writes of this process moved into or out of the queues of streams. */
export interface QueueChanges {
  /**
   * Adds a listener, which is called with the deliveries in their new state. Returns a function that
   * removes the listener.
   */
  on(listener: (deliveries: readonly DeliverySummary[]) => void): () => void;
  /** Calls the listeners. */
  report(deliveries: readonly DeliverySummary[]): void;
}

export function createQueueChanges(): QueueChanges {
  const listeners = new Set<(deliveries: readonly DeliverySummary[]) => void>();
  return {
    on(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    report(deliveries) {
      if (deliveries.length > 0) for (const listener of listeners) listener(deliveries);
    },
  };
}
