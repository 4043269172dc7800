/** Whether this process is fit for traffic: what `/ready` answers to a load balancer. */
import { type Log, describeError } from './observe.ts';
import { NoStandby } from './store/postgresServers.ts';
import type { Store } from './store/store.ts';

export interface Readiness {
  /** Why not, for people; empty when it is ready. */
  read(): Promise<string[]>;
  /** Its parts run; before, it is starting. */
  started(): void;
  /** From here on it takes nothing new. */
  stopping(): void;
}

/** However many ask, the ledger is written to no more often. */
const LOOK_MS = 1_000;
const PATIENCE_MS = 3_000;

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}

export function createReadiness(store: Store, log: Log): Readiness {
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  let looked: { at: number; reasons: Promise<string[]> } | undefined;
  /** One at a time, however long it takes: a write that waits holds a connection. */
  let writing: Promise<void> | undefined;

  /** What went wrong stands in the log alone: it may name hosts and users. */
  const look = async (): Promise<string[]> => {
    writing ??= store.checkWritable().finally(() => (writing = undefined));
    try {
      await inTime(writing);
      return [];
    } catch (error) {
      log.warn('not ready: the ledger cannot be written', { error: describeError(error) });
      const isWaiting = await inTime(store.countWaitingCommits()).then(
        (commits) => commits > 0,
        (reason: unknown) => reason instanceof NoStandby,
      );
      return [
        isWaiting
          ? 'commits wait for a standby of the database, and none answers'
          : 'the ledger cannot be written: the log says why',
      ];
    }
  };

  return {
    async read() {
      if (phase !== 'running') return [`the service is ${phase}`];
      const now = performance.now();
      if (looked === undefined || now - looked.at >= LOOK_MS) {
        looked = { at: now, reasons: look() };
      }
      return looked.reasons;
    },
    started: () => void (phase = 'running'),
    stopping: () => void (phase = 'stopping'),
  };
}
