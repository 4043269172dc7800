/**
 * Tracks the receivers of all streams by the attempts of this process: how many deliveries each one
 * may get, and whether its stream enters or leaves `error`.
 */
import type { ReceiverCertificate } from '@sluice/kit/contract';
import { type Log, describeError } from '../../base/log.ts';
import type { ClaimedDelivery } from '../../store/deliveries/contract.ts';
import type { Store } from '../../store/store.ts';
import type { HostPace } from '../attempt.ts';
import { IN_FLIGHT_PER_STREAM } from '../claims.ts';
import { whyUrlMustChange } from '../outcomes.ts';
import type { SendResult } from '../send/send.ts';
import { type Breaker, type BreakerState, createBreaker } from './breaker.ts';
import { createBackOffs } from './backOffs.ts';

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
      whyUrlMustChange(result) ?? `Success rate below 70; the last attempt failed: ${result.error}`;
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
        else if (exhausted || whyUrlMustChange(result) !== undefined) await fail(delivery, result);
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
 * Time for which an expiry must not be observed before a later one replaces it, because several
 * hosts behind a name may have different certificates.
 */
const CERTIFICATE_MS = 60_000;

/**
 * Records in the ledger the expiry of receiver certificates that expire soon, so that streams can
 * show it. If nothing changed, an attempt costs one map lookup.
 */
export function createCertificates({
  store,
  log,
}: {
  store: Pick<Store, 'listCertificates' | 'recordCertificate'>;
  log: Log;
}): Certificates {
  /**
   * Expiries by stream, in Unix milliseconds. `metAt` (monotonic) and `url` come from the last
   * attempt that observed the certificate. An expiry that was loaded from the ledger has no `url`
   * until an attempt observes the certificate.
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
      // An expiry without a URL came from the ledger, which deletes it when the URL changes.
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
