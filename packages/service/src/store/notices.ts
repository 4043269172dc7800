/**
 * Word of what changed in the ledger, for every process that works on it. A notice may be lost: whoever
 * waits for one also looks from time to time, and finds in the ledger all that it missed.
 */
import type { Writes } from './store.ts';

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

/** What a write changed, by what it answered. */
type Told = { [Name in keyof Writes]?: (answer: Awaited<ReturnType<Writes[Name]>>) => Notice[] };

const always = (...what: Notice[]) => {
  return (): Notice[] => what;
};
const ofDeliveries = (deliveries: readonly unknown[] | undefined): Notice[] =>
  deliveries === undefined || deliveries.length === 0 ? [] : ['deliveries'];

const TOLD: Told = {
  saveSetting: always('settings'),
  createStream: always('rules'),
  updateStream: always('rules', 'deliveries'),
  setStreamStatus: always('rules', 'deliveries'),
  deleteStream: always('rules'),
  recoverStream: always('deliveries'),
  changeAddresses: always('rules'),
  activateAddressChange: always('rules'),
  takeLease: (epoch) => (epoch === undefined ? [] : ['leases']),
  giveUpLease: always('leases'),
  startChain: ofDeliveries,
  commitBlock: (answer) => (answer.outcome === 'committed' ? ofDeliveries(answer.deliveries) : []),
  rewindChain: ofDeliveries,
  releaseLeases: ({ released }) => (released > 0 ? ['deliveries'] : []),
  replayDelivery: (answer) => (answer?.after.state === 'pending' ? ['deliveries'] : []),
  completeEnrichments: ofDeliveries,
  createJob: always('jobs'),
  setJobState: always('jobs'),
  commitJob: (answer) => ofDeliveries(answer?.deliveries),
  commitManual: ofDeliveries,
};

/** These writes, each of which tells what it changed once it is done. */
export function tellOf(writes: Writes, notices: Notices): Writes {
  const telling = Object.entries(TOLD).map(([name, toNotices]) => {
    const write = writes[name as keyof Writes] as (...args: unknown[]) => Promise<unknown>;
    return [
      name,
      async (...args: unknown[]): Promise<unknown> => {
        const answer = await write(...args);
        notices.tell((toNotices as (answer: unknown) => Notice[])(answer));
        return answer;
      },
    ];
  });
  return { ...writes, ...(Object.fromEntries(telling) as Partial<Writes>) };
}
