/**
 * What is done from time to time, whatever comes in: counts rolled up, old rows forgotten. One process at
 * a time does it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Term } from './duty.ts';
import type { InvariantCheck } from './invariants.ts';
import type { Log } from './observe.ts';
import { NEXT_SWEEP, type Store } from './store/store.ts';

export interface HousekeepingOptions {
  /** How long a delivery is kept that succeeded or was cancelled. */
  deliveredMs: number;
  /** How long a delivery is kept that did not reach its receiver. */
  undeliveredMs: number;
  /** Hours a stream may be in `error` before it is terminated; undefined for ever. */
  terminateAfterHours: number | undefined;
}

const ROLL_UP_MS = 2_000;
const TRIM_MS = 10_000;
const SWEEP_MS = 10 * 60_000;
const TIDY_MS = 60_000;
const CHECK_MS = 60_000;
/** A matcher that has not looked for so long reads whole lists of addresses again. */
const ADDRESS_CHANGES_KEPT_MS = 3_600_000;
/** A change of addresses that nobody goes on with for so long was begun by a process that is gone. */
const ADDRESS_CHANGE_STALE_MS = 60_000;
/**
 * Rows looked at in one transaction, and the time left to others after one that forgot some. SQLite has
 * one writer, who is held up; PostgreSQL has many partitions to plan for each time.
 */
const BATCH_ROWS = { sqlite: 500, postgres: 5_000 } as const;
const BATCH_PAUSE_MS = 50;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function startHousekeeping({
  store,
  log,
  invariants,
  options,
}: {
  store: Store;
  log: Log;
  invariants: InvariantCheck;
  options: HousekeepingOptions;
}): Term {
  const stopping = new AbortController();

  const forget = async (): Promise<void> => {
    const { dropped, shrunk } = await store.tendPartitions(options);
    if (dropped.length > 0) log.info('partitions dropped', { partitions: dropped.join(' ') });
    if (shrunk.length > 0) log.info('partitions emptied', { partitions: shrunk.join(' ') });
    // A partition goes when the youngest in it may: row by row goes only what is left after that.
    const spareMs = store.engine === 'postgres' ? DAY_MS : 0;
    let deliveries = 0;
    let undelivered = 0;
    let after: string | undefined = '';
    while (after !== undefined && !stopping.signal.aborted) {
      const done = await store.deleteExpired({
        deliveredMs: options.deliveredMs + spareMs,
        undeliveredMs: options.undeliveredMs + spareMs,
        limit: BATCH_ROWS[store.engine],
        after,
      });
      deliveries += done.deliveries;
      undelivered += done.undelivered;
      after = done.next;
      if (after !== undefined) await wait(done.deliveries > 0 ? BATCH_PAUSE_MS : 0);
    }
    if (deliveries > 0) log.info('old deliveries forgotten', { count: deliveries });
    if (undelivered > 0)
      log.warn('deliveries expired before they were sent', { count: undelivered });
  };

  /** When it comes next is for those to read who ask what is about to go. */
  const sweep = async (): Promise<void> => {
    await forget();
    await store.saveSetting(NEXT_SWEEP, String((await store.readLedgerTime()) + SWEEP_MS));
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
    every(TRIM_MS, 'forget old events', () => store.trimEvents()),
    every(TIDY_MS, 'tidy lists of addresses', tidyAddresses),
    every(CHECK_MS, 'check the ledger', () => invariants.look()),
    every(SWEEP_MS, 'forget old deliveries', sweep),
    every(SWEEP_MS, 'terminate streams', terminate),
  ]);
  return {
    report: () => null,
    async stop() {
      // After the batch under way.
      stopping.abort();
      await running;
    },
  };
}
