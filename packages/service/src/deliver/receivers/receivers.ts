/**
 * Tracks the receivers of all streams by the attempts of this process: the amount that may be sent
 * to each one, and whether its stream enters or leaves `error`.
 */
import type { ReceiverCertificate } from '@sluice/kit/contract';
import { type Log, describeError } from '../../base/log.ts';
import type { ClaimedDelivery } from '../../store/deliveries/contract.ts';
import type { Store } from '../../store/store.ts';
import type { HostPace } from '../attempt.ts';
import { IN_FLIGHT_PER_STREAM } from '../claims.ts';
import { GONE } from '../outcomes.ts';
import type { SendResult } from '../send/send.ts';
import { type Breaker, type BreakerState, createBreaker } from './breaker.ts';
import { createBackOffs } from './backOffs.ts';

export interface Receivers {
  start(): Promise<void>;
  /** Loads the certificate expiries that other processes recorded. */
  learn(): Promise<void>;
  /**
   * Returns the capacity of each stream that claims must not use: attempts in flight, or all of it
   * while the receiver is backed off.
   */
  taken(underWay: Readonly<Record<string, number>>): Record<string, number>;
  /**
   * Updates a receiver with an attempt that just ended; `claimedAt` is the time at which its
   * delivery was claimed.
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
    | 'engine'
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
  /** Contains only streams with receivers that fail or failed recently. */
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
    { status, error }: SendResult,
  ): Promise<void> => {
    const reason =
      status === GONE
        ? 'The receiver answered 410 Gone. Correct the webhook URL, then activate the stream'
        : `Success rate below 70; the last attempt failed: ${error}`;
    if ((await store.failStream(streamId, reason)) === undefined) return;
    log.warn('stream in error', { stream: streamId, delivery: id, reason });
    // The stream's own probes check the receiver after this.
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
      // Returns in the usual case, which needs no state.
      if (succeeded && known === undefined && !isProbe) return;
      const breaker = known ?? createBreaker();
      const isThrottled = result.status === THROTTLED;
      const throttledMs = isThrottled ? (result.retryAfterMs ?? 0) : undefined;
      // An attempt that was claimed before the breaker opened is not a probe, even if it started
      // later.
      const { exhausted } = breaker.note({ succeeded, throttledMs, startedAt: claimedAt }, now);
      if (breaker.isIdle(now)) breakers.delete(streamId);
      else breakers.set(streamId, breaker);
      void backOffs.note(streamId, breakers.get(streamId));
      try {
        if (succeeded && isProbe) await recover(delivery);
        else if (!succeeded && (exhausted || result.status === GONE)) await fail(delivery, result);
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

export interface Certificates {
  /** Loads the expiries that this or another process recorded. */
  learn(): Promise<void>;
  /** Records the certificate that an attempt received; null if it received no certificate. */
  note(
    { streamId, webhookUrl }: Pick<ClaimedDelivery, 'streamId' | 'webhookUrl'>,
    certificate: ReceiverCertificate | null,
    nowMs: number,
  ): void;
}

/**
 * If several hosts behind a name have different certificates, the earliest expiry is kept while it
 * is still observed.
 */
const CERTIFICATE_MS = 60_000;

/**
 * Records receiver certificates that expire soon in the ledger, so that the stream can show them.
 * An attempt without news costs one map lookup.
 */
export function createCertificates({
  store,
  log,
}: {
  store: Pick<Store, 'listCertificates' | 'recordCertificate'>;
  log: Log;
}): Certificates {
  /**
   * Expiries by stream, by the clock of the attempts. `url` is set after this process has observed
   * the certificate.
   */
  const soon = new Map<string, { endsAt: number; metAt: number; url: string | undefined }>();
  return {
    async learn() {
      for (const { streamId, endsAt } of await store.listCertificates()) {
        if (soon.has(streamId)) continue;
        soon.set(streamId, { endsAt, url: undefined, metAt: Number.NEGATIVE_INFINITY });
      }
    },
    note({ streamId, webhookUrl: url }, certificate, nowMs) {
      if (certificate === null) return;
      const endsAt = certificate.expiresSoon ? certificate.expiresAt : null;
      const last = soon.get(streamId);
      // The ledger does not record which URL an expiry belongs to.
      const known = last?.url === undefined || last.url === url ? last : undefined;
      if (known?.endsAt === endsAt) Object.assign(known, { metAt: nowMs, url });
      if ((known?.endsAt ?? null) === endsAt) return;
      const isLater = known !== undefined && (endsAt === null || endsAt > known.endsAt);
      if (isLater && nowMs - known.metAt < CERTIFICATE_MS) return;
      if (endsAt === null) soon.delete(streamId);
      else soon.set(streamId, { endsAt, metAt: nowMs, url });
      store.recordCertificate(streamId, endsAt).catch((error: unknown) => {
        log.warn('failed to record when a certificate expires', {
          stream: streamId,
          error: describeError(error),
        });
      });
    },
  };
}
