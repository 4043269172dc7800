/**
 * Word of what changed in the ledger, for every process that works on it. A notice may be lost: whoever
 * waits for one also looks from time to time, and finds in the ledger all that it missed.
 */

/**
 * - `deliveries`: some may have become due, or matches wait to be enriched
 * - `rules`: streams or their addresses changed
 * - `jobs`: one was made or changed
 * - `settings`: the secret or the region changed
 * - `leases`: one came free, or was taken by force
 * - `events`: there are more for those who watch
 */
export type Notice = 'deliveries' | 'rules' | 'jobs' | 'settings' | 'leases' | 'events';

export interface Notices {
  /** Tells this process at once, and the others as soon as can be. */
  tell(what: readonly Notice[]): void;
  /** Answers with the way to stop listening. */
  on(what: Notice, listener: () => void): () => void;
  close(): Promise<void>;
}

/** Within one process. */
export function createNotices(): Notices {
  const listeners = new Map<Notice, Set<() => void>>();
  return {
    tell(what) {
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
