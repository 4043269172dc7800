/** Whether this process is fit for traffic: what `/ready` answers to a load balancer. */
import type { Log } from './observe.ts';
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

export function createReadiness(store: Store, log: Log): Readiness {
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  let looked: { at: number; reasons: Promise<string[]> } | undefined;

  /** What went wrong stands in the log alone: it may name hosts and users. */
  const look = async (): Promise<string[]> => {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in ${PATIENCE_MS} ms`)), PATIENCE_MS);
    });
    try {
      await Promise.race([store.checkWritable(), patience]);
      return [];
    } catch (error) {
      log.warn('not ready: the ledger cannot be written', { error: String(error) });
      return ['the ledger cannot be written: the log says why'];
    } finally {
      clearTimeout(timer);
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
