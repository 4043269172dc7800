/**
 * Performs periodic maintenance, such as rolling up counts and deleting old rows, in one process at
 * a time.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { LeaseTerm } from './duty.ts';
import type { InvariantCheck } from './invariants.ts';
import type { Log } from '../base/log.ts';
import { NEXT_SWEEP } from '../store/retention/contract.ts';
import type { Store } from '../store/store.ts';

export interface HousekeepingOptions {
  /** Retention of deliveries that succeeded or were canceled. */
  deliveredMs: number;
  /** Retention of all other deliveries. */
  undeliveredMs: number;
  /**
   * Number of hours for which a stream may be in `error` before it is terminated; undefined for no
   * limit.
   */
  terminateAfterHours: number | undefined;
}

const ROLL_UP_MS = 2_000;
const CANCEL_MS = 2_000;
const TRIM_MS = 10_000;
const SWEEP_MS = 10 * 60_000;
const TIDY_MS = 60_000;
const CHECK_MS = 60_000;
/**
 * Age at which address changes are deleted. Matchers that are further behind read complete lists.
 */
const ADDRESS_CHANGES_KEPT_MS = 3_600_000;
/** Time without progress after which a change of addresses counts as abandoned. */
const ADDRESS_CHANGE_STALE_MS = 60_000;
/** Time limit of a step, which may block all other writes. Excludes the write to disk. */
const STEP_MS = 20;
const HOUR_MS = 3_600_000;

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
}): LeaseTerm {
  const stopping = new AbortController();

  /**
   * Repeats the step until nothing is left. Pauses after each step for as long as the step took, so
   * that other work gets an equal share of the ledger and the disk.
   */
  const stepByStep = async (step: () => Promise<boolean>): Promise<void> => {
    let began = performance.now();
    while (!stopping.signal.aborted && (await step())) {
      await wait(performance.now() - began);
      began = performance.now();
    }
  };

  const forget = async (): Promise<void> => {
    const { dropped, shrunk, keptMs } = await store.tendDays(options);
    if (dropped.length > 0) log.info('partitions dropped', { partitions: dropped.join(' ') });
    if (shrunk.length > 0) log.info('partitions truncated', { partitions: shrunk.join(' ') });
    let deliveries = 0;
    let undelivered = 0;
    let after = '';
    await stepByStep(async () => {
      const done = await store.deleteExpired({
        deliveredMs: options.deliveredMs + keptMs,
        undeliveredMs: options.undeliveredMs + keptMs,
        forMs: STEP_MS,
        after,
      });
      deliveries += done.deliveries;
      undelivered += done.undelivered;
      after = done.next ?? '';
      return done.next !== undefined;
    });
    if (deliveries > 0) log.info('old deliveries deleted', { count: deliveries });
    if (undelivered > 0)
      log.warn('deliveries expired before they were sent', { count: undelivered });
  };

  /** Moves consumers of feeds past the deliveries that expire before the next sweep. */
  const skipExpiring = async (): Promise<void> => {
    for (const { streamId, consumer, missed } of await store.skipExpiring({
      deliveredMs: options.deliveredMs - SWEEP_MS,
    })) {
      log.warn('deliveries expired before a consumer read them', {
        stream: streamId,
        consumer,
        count: missed,
      });
    }
  };

  /**
   * Deletes old deliveries. Stores the time of the next sweep, so that reports can show what that
   * sweep will delete.
   */
  const sweep = async (): Promise<void> => {
    await skipExpiring();
    await forget();
    await store.saveSetting(NEXT_SWEEP, String((await store.readLedgerTime()) + SWEEP_MS));
  };

  const tidyAddresses = (): Promise<void> => {
    const ages = { keepMs: ADDRESS_CHANGES_KEPT_MS, staleMs: ADDRESS_CHANGE_STALE_MS };
    return stepByStep(
      async () =>
        (await store.cleanUpAddresses(ages)) ||
        (await store.cleanUpChildren()) ||
        store.cleanUpValues(),
    );
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
        log.error(`failed to ${what}, retrying`, { error: String(error) });
      }
      await wait(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const running = Promise.all([
    every(ROLL_UP_MS, 'roll up counts', () => stepByStep(() => store.rollUpStats())),
    every(CANCEL_MS, 'cancel deliveries of deleted streams', () =>
      stepByStep(() => store.cancelDeleted({ forMs: STEP_MS })),
    ),
    every(TRIM_MS, 'delete old events', () => store.events.trim()),
    every(TIDY_MS, 'clean up address lists', tidyAddresses),
    every(TIDY_MS, 'delete feeds of deleted streams', () => store.deleteFeeds()),
    every(CHECK_MS, 'check the ledger', () => invariants.look()),
    every(SWEEP_MS, 'delete old deliveries', sweep),
    every(SWEEP_MS, 'terminate streams', terminate),
  ]);
  return {
    report: () => null,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
