/**
 * What is done from time to time, whatever comes in: counts rolled up, old rows forgotten. One process at
 * a time does it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Term } from './duty.ts';
import type { InvariantCheck } from './invariants.ts';
import type { Log } from '../base/log.ts';
import { NEXT_SWEEP } from '../store/upkeep/contract.ts';
import type { Store } from '../store/store.ts';

export interface HousekeepingOptions {
  /** How long a delivery is kept that succeeded or was cancelled. */
  deliveredMs: number;
  /** How long a delivery is kept that did not reach its receiver. */
  undeliveredMs: number;
  /** Hours a stream may be in `error` before it is terminated; undefined for ever. */
  terminateAfterHours: number | undefined;
}

const ROLL_UP_MS = 2_000;
const CANCEL_MS = 2_000;
const TRIM_MS = 10_000;
const SWEEP_MS = 10 * 60_000;
const TIDY_MS = 60_000;
const CHECK_MS = 60_000;
/** A matcher that has not looked for so long reads whole lists of addresses again. */
const ADDRESS_CHANGES_KEPT_MS = 3_600_000;
/** A change of addresses that nobody goes on with for so long was begun by a process that is gone. */
const ADDRESS_CHANGE_STALE_MS = 60_000;
/** A step of what is long holds up the one writer of SQLite for so long, and for the disk to take it. */
const STEP_MS = 20;
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

  /** Until a step says that nothing is left. Others have as much of the ledger's time, and of a slow disk's. */
  const stepByStep = async (step: () => Promise<boolean>): Promise<void> => {
    let began = performance.now();
    while (!stopping.signal.aborted && (await step())) {
      await wait(performance.now() - began);
      began = performance.now();
    }
  };

  const forget = async (): Promise<void> => {
    const { dropped, shrunk } = await store.tendPartitions(options);
    if (dropped.length > 0) log.info('partitions dropped', { partitions: dropped.join(' ') });
    if (shrunk.length > 0) log.info('partitions emptied', { partitions: shrunk.join(' ') });
    // A partition goes when the youngest in it may: row by row goes only what is left after that.
    const spareMs = store.engine === 'postgres' ? DAY_MS : 0;
    let deliveries = 0;
    let undelivered = 0;
    let after = '';
    await stepByStep(async () => {
      const done = await store.deleteExpired({
        deliveredMs: options.deliveredMs + spareMs,
        undeliveredMs: options.undeliveredMs + spareMs,
        forMs: STEP_MS,
        after,
      });
      deliveries += done.deliveries;
      undelivered += done.undelivered;
      after = done.next ?? '';
      return done.next !== undefined;
    });
    if (deliveries > 0) log.info('old deliveries forgotten', { count: deliveries });
    if (undelivered > 0)
      log.warn('deliveries expired before they were sent', { count: undelivered });
  };

  /** When it comes next is for those to read who ask what is about to go. */
  const sweep = async (): Promise<void> => {
    await forget();
    await store.saveSetting(NEXT_SWEEP, String((await store.readLedgerTime()) + SWEEP_MS));
  };

  const tidyAddresses = (): Promise<void> => {
    const ages = { keepMs: ADDRESS_CHANGES_KEPT_MS, staleMs: ADDRESS_CHANGE_STALE_MS };
    return stepByStep(() => store.cleanUpAddresses(ages));
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
    every(ROLL_UP_MS, 'roll up counts', () => stepByStep(() => store.rollUpStats())),
    every(CANCEL_MS, 'cancel what a deleted stream left', () =>
      stepByStep(() => store.cancelDeleted({ forMs: STEP_MS })),
    ),
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
