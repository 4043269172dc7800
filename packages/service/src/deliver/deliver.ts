/**
 * Takes due deliveries from the ledger, sends them, and records the outcome of each attempt.
 * Attempts in flight are limited in total and per stream, so that a slow receiver does not delay
 * deliveries to other receivers.
 */
import { once } from 'node:events';
import type { DeliverySummary } from '@sluice/kit/contract';
import type { Log } from '../base/log.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { Store } from '../store/store.ts';
import { type AttemptOptions, createAttempts } from './attempt.ts';
import { IN_FLIGHT_PER_STREAM } from './capacity.ts';
import { createClaims } from './claims.ts';
import { createLanes, toCounts } from './lanes.ts';
import { laneOf } from '../store/rows/laneIds.ts';
import { LEASE_MS, createLeases } from './leases.ts';
import { createOutcomes, toOutcome } from './outcomes.ts';
import type { RetryOptions } from './schedule.ts';
import type { BreakerState } from './receivers/breaker.ts';
import { createReceivers } from './receivers/receivers.ts';
import type { Isolation } from './send/isolation.ts';
import type { Sender } from './send/send.ts';
import { createSuspects } from './suspects.ts';

export interface Deliverer {
  start(): Promise<void>;
  /**
   * Returns the number of deliveries in flight, including claimed ones that have not been started.
   */
  inFlight(): number;
  /**
   * Returns the number of streams with failing or throttling receivers, by the state of their
   * circuit breaker.
   */
  breakers(): Record<BreakerState, number>;
  /** Stops claiming and waits at most `drainMs` for attempts in flight. */
  stop(drainMs: number): Promise<void>;
}

export interface DeliverOptions
  extends
    RetryOptions,
    Pick<
      AttemptOptions,
      'hostPace' | 'openEndpoint' | 'openSecrets' | 'onLocalFailure' | 'tracing'
    > {
  store: Store;
  sender: Sender;
  /** Sender in a separate process, for deliveries that may have crashed the service. */
  isolation: Isolation;
  log: Log;
  /** Called with the deliveries whose attempts were recorded. */
  onAttempts(deliveries: DeliverySummary[]): void;
  onLostLeases(count: number): void;
  /**
   * Called with the number of attempts whose lease was lost before their outcome was recorded.
   * Another process may have repeated them.
   */
  onLostOutcomes(count: number): void;
}

/** States of deliveries that count as queued. */
const QUEUED: ReadonlySet<DeliverySummary['state']> = new Set([
  'enriching',
  'held',
  'pending',
  'retrying',
]);
/**
 * Number of waiting outcomes at which they are written even while more attempts are being started.
 */
const GATHERED = 512;
/**
 * Interval of recounts, and therefore the maximum age of `x-queue-size`, if other processes use the
 * same ledger.
 */
const RECOUNT_MS = 10_000;

export function createDeliverer(options: DeliverOptions): Deliverer {
  const { store, sender, isolation, log, hostPace } = options;
  const stopping = new AbortController();
  /** Aborted after the drain time. Leases of attempts without a recorded outcome then expire. */
  const overdue = new AbortController();
  let recounter: NodeJS.Timeout | undefined;
  let forget: (() => void)[] = [];

  const lanes = createLanes();
  const receivers = createReceivers({ store, log, hostPace, onRoom: () => claims.wake() });
  const leases = createLeases({
    store,
    log,
    onReleased({ released, suspects: lostTwice, quarantined, canceled }) {
      if (lostTwice > 0) suspects.look();
      const ended = [...quarantined, ...canceled];
      options.onLostLeases(released + ended.length);
      for (const each of ended) lanes.count(laneOf(each), -1);
      for (const each of quarantined) {
        log.error('delivery quarantined', { delivery: each.id, stream: laneOf(each) });
      }
      if (released === 0) return;
      log.warn('leases expired', { count: released });
    },
  });
  const makeAttempt = createAttempts({
    ...options,
    leases,
    queued: lanes.queued,
    clockSkewMs: () => claims.clockSkewMs(),
    stopping: stopping.signal,
  });

  const enter = (delivery: ClaimedDelivery): void => {
    leases.hold(delivery);
    lanes.enter(delivery);
  };

  /** Drops a delivery that this process claimed and did not send. */
  const giveUp = (delivery: ClaimedDelivery): void => {
    leases.abandon(delivery);
    lanes.leave(delivery);
  };

  const attempt = async (
    delivery: ClaimedDelivery,
    send = sender.send,
    claimedAt = performance.now(),
  ): Promise<void> => {
    const attempted = await makeAttempt(delivery, send);
    if (attempted === undefined) return giveUp(delivery);
    outcomes.add(toOutcome(delivery, attempted, options));
    lanes.leave(delivery);
    void outcomes.flush();
    if (!attempted.senderDied) return receivers.judge(delivery, attempted, claimedAt);
    log.error('delivery quarantined', {
      delivery: delivery.id,
      stream: delivery.streamId,
      reason: attempted.error,
    });
  };

  const outcomes = createOutcomes({
    ...options,
    lanes,
    leases,
    // Outcomes accumulate while more attempts start, so that many share the fixed cost of a write.
    isDue: (size) => !claims.isBeginning() || size >= GATHERED,
    onWritten: () => claims.wake(),
    overdue: overdue.signal,
  });

  const claims = createClaims({
    store,
    log,
    lanes,
    leases,
    taken: receivers.taken,
    enter,
    giveUp,
    attempt: (delivery, claimedAt) => attempt(delivery, sender.send, claimedAt),
    onAllBegun: () => void outcomes.flush(),
    overdue: overdue.signal,
  });

  const suspects = createSuspects({
    store,
    isolation,
    log,
    leases,
    leaseMs: LEASE_MS,
    attempt(delivery, send) {
      enter(delivery);
      return attempt(delivery, send);
    },
    isIsolable: (url) => sender.destinationOf(url).isIsolable,
    failingStreams: () =>
      Object.entries(receivers.taken(toCounts(lanes.loads())))
        .filter(([, n]) => n >= IN_FLIGHT_PER_STREAM)
        .map(([streamId]) => streamId),
  });

  /** Counts deliveries that this process moved into or out of queues. */
  const count = (moved: readonly DeliverySummary[]): void => {
    for (const delivery of moved) {
      const { state, createdAt, updatedAt } = delivery;
      // Deliveries that were quarantined on creation were never in the queue.
      if (state === 'quarantined' && updatedAt === createdAt) continue;
      lanes.count(laneOf(delivery), QUEUED.has(state) ? 1 : -1);
    }
  };

  /** Updates the queue sizes and certificates, which other processes change too. */
  const recount = async (): Promise<void> => {
    lanes.recount(await store.readStreamStats());
    await receivers.learn();
  };

  return {
    async start() {
      await recount();
      await receivers.start();
      forget = [store.queueChanges.on(count), store.signals.on('deliveries', claims.wake)];
      claims.start();
      suspects.start();
      leases.start();
      if (!store.isShared) return;
      recounter = setInterval(() => void recount().catch(() => {}), RECOUNT_MS);
    },
    inFlight: lanes.total,
    breakers: receivers.breakers,
    async stop(drainMs) {
      stopping.abort();
      for (const each of forget) each();
      clearInterval(recounter);
      const timer = setTimeout(() => overdue.abort(), drainMs);
      const drain = async (): Promise<void> => {
        await Promise.all([claims.stop(), suspects.stop(), receivers.stop()]);
        await lanes.emptied();
        await outcomes.flush();
      };
      await Promise.race([drain(), once(overdue.signal, 'abort')]);
      clearTimeout(timer);
      overdue.abort();
      leases.stop();
      await Promise.all([sender.close(), isolation.close()]);
    },
  };
}
