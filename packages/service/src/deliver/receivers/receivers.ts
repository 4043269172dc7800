/**
 * How the receivers of all streams are doing, judged by the attempts of this process: how much may be
 * sent to each, and whether its stream goes into `error` or comes back from it.
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
import { createSparing } from './sparing.ts';

export interface Receivers {
  start(): Promise<void>;
  /** Learns what other processes have said of certificates. */
  learn(): Promise<void>;
  /** By stream, room that claims must leave alone: what is under way, and all of a receiver that must wait. */
  taken(underWay: Readonly<Record<string, number>>): Record<string, number>;
  /** Judges a receiver by an attempt that ended now, whose delivery was claimed at this time. */
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
    | 'listSpared'
    | 'spareStream'
    | 'endSparing'
    | 'listCertificates'
    | 'noteCertificate'
  >;
  log: Log;
  hostPace: Pick<HostPace, 'waiting'>;
  /** More of some stream may be claimed than before. */
  onRoom(): void;
}): Receivers {
  /** Only of streams whose receivers fail, or did a moment ago. */
  const breakers = new Map<string, Breaker>();
  const certificates = createCertificates({ store, log });
  const sparing = createSparing({ store, log, onHastened: onRoom });

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
        ? 'The receiver answered 410 Gone: correct its URL, then set the stream active'
        : `Success rate below 70; the last attempt failed: ${error}`;
    if ((await store.failStream(streamId, reason)) === undefined) return;
    log.warn('stream in error', { stream: streamId, delivery: id, reason });
    // From here on the stream's own probes ask.
    breakers.delete(streamId);
    void sparing.note(streamId, undefined);
    onRoom();
  };

  return {
    start: sparing.start,
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
      // All is well, as it nearly always is: there is nothing to remember.
      if (succeeded && known === undefined && !isProbe) return;
      const breaker = known ?? createBreaker();
      const isThrottled = result.status === THROTTLED;
      const throttledMs = isThrottled ? (result.retryAfterMs ?? 0) : undefined;
      // What was claimed before the receiver was found failing is no probe of it, whenever it began.
      const { exhausted } = breaker.note({ succeeded, throttledMs, startedAt: claimedAt }, now);
      if (breaker.isIdle(now)) breakers.delete(streamId);
      else breakers.set(streamId, breaker);
      void sparing.note(streamId, breakers.get(streamId));
      try {
        if (succeeded && isProbe) await recover(delivery);
        else if (!succeeded && (exhausted || result.status === GONE)) await fail(delivery, result);
      } catch (error) {
        log.error('cannot change the state of a stream', {
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
    stop: sparing.stop,
  };
}

export interface Certificates {
  /** Of streams that this process or another has said something of. */
  learn(): Promise<void>;
  /** What an attempt that ended at this time showed; null where it showed none. */
  note(
    { streamId, webhookUrl }: Pick<ClaimedDelivery, 'streamId' | 'webhookUrl'>,
    certificate: ReceiverCertificate | null,
    nowMs: number,
  ): void;
}

/** Of several hosts behind one name the one whose certificate ends first counts, while it is met. */
const MET_MS = 60_000;

/**
 * Says in the ledger which receivers have a certificate that ends soon, for those who look at a stream
 * rather than at a delivery. An attempt that shows nothing new costs a look into a map.
 */
export function createCertificates({
  store,
  log,
}: {
  store: Pick<Store, 'listCertificates' | 'noteCertificate'>;
  log: Log;
}): Certificates {
  /** By stream; a time by the clock of attempts, and the URL where this process has met it. */
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
      // Of another URL the ledger knows nothing.
      const known = last?.url === undefined || last.url === url ? last : undefined;
      if (known?.endsAt === endsAt) Object.assign(known, { metAt: nowMs, url });
      if ((known?.endsAt ?? null) === endsAt) return;
      const isLater = known !== undefined && (endsAt === null || endsAt > known.endsAt);
      if (isLater && nowMs - known.metAt < MET_MS) return;
      if (endsAt === null) soon.delete(streamId);
      else soon.set(streamId, { endsAt, metAt: nowMs, url });
      store.noteCertificate(streamId, endsAt).catch((error: unknown) => {
        log.warn('cannot say when a certificate ends', {
          stream: streamId,
          error: describeError(error),
        });
      });
    },
  };
}
