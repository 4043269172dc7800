/** What is done from time to time, whatever comes in: counts rolled up, old rows forgotten. */
import { setTimeout as wait } from 'node:timers/promises';
import type { InvariantCheck } from './invariants.ts';
import type { Log } from './observe.ts';
import type { Store } from './store/store.ts';

export interface Housekeeping {
  /** Ends after the batch under way. */
  stop(): Promise<void>;
}

export interface HousekeepingOptions {
  /** How long a delivery is kept that succeeded or was cancelled. */
  deliveredMs: number;
  /** How long a delivery is kept that did not reach its receiver. */
  undeliveredMs: number;
  /** Hours a stream may be in `error` before it is terminated; undefined for ever. */
  terminateAfterHours: number | undefined;
}

const ROLL_UP_MS = 2_000;
const SWEEP_MS = 10 * 60_000;
const TIDY_MS = 60_000;
const CHECK_MS = 60_000;
/** A matcher that has not looked for so long reads whole lists of addresses again. */
const ADDRESS_CHANGES_KEPT_MS = 3_600_000;
/** A change of addresses that nobody goes on with for so long was begun by a process that is gone. */
const ADDRESS_CHANGE_STALE_MS = 60_000;
/** Rows forgotten in one transaction, and the time left to others before the next. */
const BATCH_ROWS = 500;
const BATCH_PAUSE_MS = 50;
const HOUR_MS = 3_600_000;

export function startHousekeeping({
  store,
  log,
  invariants,
  options,
  onStreamChange,
}: {
  store: Store;
  log: Log;
  invariants: InvariantCheck;
  options: HousekeepingOptions;
  onStreamChange(streamId: string): void;
}): Housekeeping {
  const stopping = new AbortController();

  const forget = async (): Promise<void> => {
    let deliveries = 0;
    let undelivered = 0;
    let more = true;
    while (more && !stopping.signal.aborted) {
      const done = await store.deleteExpired({
        deliveredMs: options.deliveredMs,
        undeliveredMs: options.undeliveredMs,
        limit: BATCH_ROWS,
      });
      deliveries += done.deliveries;
      undelivered += done.undelivered;
      more = done.more;
      if (more) await wait(BATCH_PAUSE_MS);
    }
    if (deliveries > 0) log.info('old deliveries forgotten', { count: deliveries });
    if (undelivered > 0)
      log.warn('deliveries expired before they were sent', { count: undelivered });
  };

  /** In small pieces; whoever waits to write has a turn between them. */
  const tidyAddresses = async (): Promise<void> => {
    const ages = { keepMs: ADDRESS_CHANGES_KEPT_MS, staleMs: ADDRESS_CHANGE_STALE_MS };
    while (!stopping.signal.aborted && (await store.cleanUpAddresses(ages)));
  };

  const terminate = async (): Promise<void> => {
    if (options.terminateAfterHours === undefined) return;
    for (const { id } of await store.terminateStreams(options.terminateAfterHours * HOUR_MS)) {
      log.warn('stream terminated', { stream: id, afterHours: options.terminateAfterHours });
      onStreamChange(id);
    }
  };

  const every = async (ms: number, what: string, work: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await work();
      } catch (error) {
        log.error(`cannot ${what}, trying again`, { error: String(error) });
      }
      await wait(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const running = Promise.all([
    every(ROLL_UP_MS, 'roll up counts', () => store.rollUpStats()),
    every(TIDY_MS, 'tidy lists of addresses', tidyAddresses),
    every(CHECK_MS, 'check the ledger', () => invariants.look()),
    every(SWEEP_MS, 'forget old deliveries', forget),
    every(SWEEP_MS, 'terminate streams', terminate),
  ]);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
