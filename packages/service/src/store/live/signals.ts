/**
 * Signals about changes to the ledger, for all processes that use it. A signal can be lost, so
 * listeners also poll the ledger.
 */

/**
 * - `deliveries`: deliveries may have become due, or matches wait for enrichment
 * - `rules`: streams or their addresses changed
 * - `jobs`: a job was created, or its state was set
 * - `replays`: a replay was created
 * - `settings`: a setting changed, such as the secret or an added URL
 * - `leases`: a lease was taken or released, or a reader left
 * - `events`: there are new live events
 * - `feeds`: feeds have new deliveries
 * - `consumers`: a consumer of a feed was moved, or can read on after its limit
 */
export type Signal =
  | 'deliveries'
  | 'rules'
  | 'jobs'
  | 'replays'
  | 'settings'
  | 'leases'
  | 'events'
  | 'feeds'
  | 'consumers';

export interface Signals {
  /** Sends signals to this process at once, and to other processes as soon as possible. */
  send(what: readonly Signal[]): void;
  /** Adds a listener. Returns a function that removes the listener. */
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
