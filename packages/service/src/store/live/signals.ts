/**
 * Signals about changes of the ledger, for every process that uses it. A signal may be lost:
 * listeners also poll, and find in the ledger all that they missed.
 */

/**
 * - `deliveries`: some may have become due, or matches wait for enrichment
 * - `rules`: streams or their addresses changed
 * - `jobs`: one was created or changed
 * - `settings`: the secret or the region changed
 * - `leases`: one became free, or was taken by force
 * - `events`: there are more for watchers
 */
export type Signal = 'deliveries' | 'rules' | 'jobs' | 'settings' | 'leases' | 'events';

export interface Signals {
  /** Signals this process at once, and the others as soon as possible. */
  send(what: readonly Signal[]): void;
  /** Returns a function that removes the listener. */
  on(what: Signal, listener: () => void): () => void;
  close(): Promise<void>;
}

/** Creates signals within one process. */
export function createSignals(): Signals {
  const listeners = new Map<Signal, Set<() => void>>();
  return {
    send(what) {
      for (const each of what) for (const listener of listeners.get(each) ?? []) listener();
    },
    on(what, listener) {
      const theirs = listeners.get(what) ?? new Set();
      listeners.set(what, theirs.add(listener));
      return () => void theirs.delete(listener);
    },
    close: () => Promise.resolve(),
  };
}
