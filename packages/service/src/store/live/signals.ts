/**
 * Signals about changes of the ledger, for every process that uses it. Signals may be lost, so
 * listeners also poll the ledger.
 */

/**
 * - `deliveries`: deliveries may have become due, or matches wait for enrichment
 * - `rules`: streams or their addresses changed
 * - `jobs`: a job was created or changed
 * - `settings`: the secret or the region changed
 * - `leases`: a lease became free, or was taken by force - `events`: there are new events for
 *   watchers
 */
export type Signal = 'deliveries' | 'rules' | 'jobs' | 'settings' | 'leases' | 'events';

export interface Signals {
  /** Signals this process at once, and other processes as soon as possible. */
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
