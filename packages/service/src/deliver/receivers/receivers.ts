/**
 * Tracks the receivers of all streams by the attempts of this process: how many deliveries each one
 * may get, and whether its stream enters or leaves `error`.
 */
import type { Log } from '../../base/log.ts';
import type { ClaimedDelivery } from '../../store/deliveries/contract.ts';
import type { Store } from '../../store/store.ts';
import type { HostPace } from '../hostPace.ts';
import { IN_FLIGHT_PER_STREAM } from '../capacity.ts';
import type { SendResult } from '../destinations/destination.ts';
import { type Breaker, type BreakerState, createBreaker } from './breaker.ts';
import { createBackOffs } from './backOffs.ts';
import { createCertificates } from './certificates.ts';

export interface Receivers {
  start(): Promise<void>;
  /** Loads the certificate expiries that this or another process recorded. */
  learn(): Promise<void>;
  /**
   * Returns, by stream id, the capacity that claims must not use: the deliveries in flight, or more
   * if the receiver is backed off or the next turns of its host are taken.
   */
  taken(underWay: Readonly<Record<string, number>>): Record<string, number>;
  /**
   * Updates a receiver after an attempt. `claimedAt` is the time at which the delivery was claimed.
   */
  judge(
    delivery: Pick<ClaimedDelivery, 'id' | 'streamId' | 'isProbe' | 'webhookUrl'>,
    result: SendResult,
    claimedAt: number,
  ): Promise<void>;
  breakers(): Record<BreakerState, number>;
  stop(): Promise<void>;
}

const THROTTLED = 429;

export function createReceivers({
  store,
  log,
  hostPace,
  onRoom,
}: {
  store: Pick<
    Store,
    | 'isShared'
    | 'recoverStream'
    | 'failStream'
    | 'listBackOffs'
    | 'backOffStream'
    | 'endBackOff'
    | 'listCertificates'
    | 'recordCertificate'
  >;
  log: Log;
  hostPace: Pick<HostPace, 'waiting'>;
  /** Called when more deliveries of a stream may be claimed. */
  onRoom(): void;
}): Receivers {
  /** Circuit breakers by stream id, only for receivers that recently failed or throttled. */
  const breakers = new Map<string, Breaker>();
  const certificates = createCertificates({ store, log });
  const backOffs = createBackOffs({ store, log, onHastened: onRoom });

  const recover = async ({ id, streamId }: { id: string; streamId: string }): Promise<void> => {
    if ((await store.recoverStream(streamId)) === undefined) return;
    log.info('stream recovered', { stream: streamId, delivery: id });
    onRoom();
  };

  const fail = async (
    { id, streamId }: { id: string; streamId: string },
    result: SendResult,
  ): Promise<void> => {
    const reason =
      result.urlProblem ?? `Success rate below 70; the last attempt failed: ${result.error}`;
    if ((await store.failStream(streamId, reason)) === undefined) return;
    log.warn('stream in error', { stream: streamId, delivery: id, reason });
    // Probes of a stream in `error` already check its receiver, so no circuit breaker is needed.
    breakers.delete(streamId);
    void backOffs.note(streamId, undefined);
    onRoom();
  };

  return {
    start: backOffs.start,
    learn: certificates.learn,
    taken(underWay) {
      const taken = { ...underWay };
      const now = performance.now();
      for (const [streamId, breaker] of breakers) {
        const begun = underWay[streamId] ?? 0;
        const room = breaker.room(begun, now);
        const left = IN_FLIGHT_PER_STREAM - room;
        if (begun < left) taken[streamId] = left;
      }
      for (const streamId of hostPace.waiting()) taken[streamId] = IN_FLIGHT_PER_STREAM;
      return taken;
    },
    async judge(delivery, result, claimedAt) {
      const { id, streamId, isProbe } = delivery;
      const now = performance.now();
      certificates.note(delivery, result.transport?.certificate ?? null, now);
      if (result.localFailure !== undefined) return;
      const succeeded = result.error === null;
      const known = breakers.get(streamId);
      // A success without recent failures needs no state.
      if (succeeded && known === undefined && !isProbe) return;
      const breaker = known ?? createBreaker();
      const isThrottled = result.status === THROTTLED;
      const throttledMs = isThrottled ? (result.retryAfterMs ?? 0) : undefined;
      // An attempt whose delivery was claimed before the breaker opened is not a probe, even if it
      // started later.
      const { exhausted } = breaker.note({ succeeded, throttledMs, startedAt: claimedAt }, now);
      if (breaker.isIdle(now)) breakers.delete(streamId);
      else breakers.set(streamId, breaker);
      void backOffs.note(streamId, breakers.get(streamId));
      try {
        if (succeeded && isProbe) await recover(delivery);
        else if (exhausted || result.urlProblem !== undefined) await fail(delivery, result);
      } catch (error) {
        log.error('failed to change the status of a stream', {
          stream: streamId,
          delivery: id,
          error: String(error),
        });
      }
    },
    breakers() {
      const counts: Record<BreakerState, number> = { open: 0, 'half-open': 0, held: 0 };
      for (const breaker of breakers.values()) {
        const state = breaker.state(performance.now());
        if (state !== undefined) counts[state]++;
      }
      return counts;
    },
    stop: backOffs.stop,
  };
}
