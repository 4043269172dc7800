/** Makes one attempt of a claimed delivery: waits for its turn, sends it, and returns the result. */
import { setTimeout as wait } from 'node:timers/promises';
import { describeError } from '../base/log.ts';
import { startStopwatch } from './stopwatch.ts';
import { NO_TRACING, type Tracing } from '../base/tracing.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import { type Leases, STALL_MS } from './leases.ts';
import { hasCode } from '../base/errors.ts';
import type { LocalFailure } from './send/localFailure.ts';
import type { SendResult } from './destinations/destination.ts';
import type { SendRequest } from './send/send.ts';
import type { HostPace } from './hostPace.ts';

export interface AttemptedSend extends SendResult {
  /** Whether the isolated process died, or did not respond in time, while sending this delivery. */
  senderDied: boolean;
}

/**
 * Makes one attempt. Returns undefined if nothing was sent because the lease was lost or the
 * process is stopping.
 */
export type MakeAttempt = (
  delivery: ClaimedDelivery,
  send: (sending: SendRequest) => Promise<SendResult>,
) => Promise<AttemptedSend | undefined>;

export interface AttemptOptions {
  leases: Pick<Leases, 'renew'>;
  /** Rate limits of hosts, shared by everything in this process that sends webhooks. */
  hostPace: HostPace;
  /** Decrypts the credentials in the webhook URL, headers and client credentials of a delivery. */
  openEndpoint(
    delivery: ClaimedDelivery,
  ): Pick<ClaimedDelivery, 'webhookUrl' | 'headers' | 'oauth2'>;
  /** Returns the stream's secrets that were valid for signing when the delivery was claimed. */
  openSecrets(delivery: ClaimedDelivery): string[];
  /** Returns the number of unfinished deliveries of a stream. */
  queued(streamId: string): number;
  /** Returns the milliseconds by which the ledger's clock is ahead of this process's clock. */
  clockSkewMs(): number;
  /** Called when an attempt failed in this process rather than at the receiver. */
  onLocalFailure(cause: LocalFailure): void;
  /**
   * Signal that is aborted when this process stops. Deliveries that it could not send are then not
   * retried.
   */
  stopping: AbortSignal;
  tracing?: Tracing | undefined;
}

/** Milliseconds between retries of a delivery that this process could not send. */
const LOCAL_RETRY_MS = 1_000;

export function createAttempts({
  leases,
  hostPace,
  openEndpoint,
  openSecrets,
  queued,
  clockSkewMs,
  onLocalFailure,
  stopping,
  tracing = NO_TRACING,
}: AttemptOptions): MakeAttempt {
  /**
   * Waits for the turn of a delivery. Returns false if the lease may have expired meanwhile and
   * could not be extended.
   */
  const awaitTurn = async (delivery: ClaimedDelivery): Promise<boolean> => {
    const hostWaitMs = hostPace.take(delivery.streamId, delivery.webhookUrl);
    const waitMs = Math.max(delivery.waitMs, hostWaitMs);
    if (waitMs === 0) return true;
    const elapsedMs = startStopwatch();
    await wait(waitMs);
    if (elapsedMs() <= STALL_MS) return true;
    const held = await leases.renew([delivery]);
    return held !== undefined && held.length > 0;
  };

  /** Waits before the next try. Returns false if the process is stopping or has lost the lease. */
  const awaitRetry = async (delivery: ClaimedDelivery): Promise<boolean> => {
    for (;;) {
      await wait(LOCAL_RETRY_MS);
      if (stopping.aborted) return false;
      const held = await leases.renew([delivery]);
      if (held !== undefined) return held.length > 0;
    }
  };

  const toSending = (delivery: ClaimedDelivery, traceparent: string | undefined): SendRequest => {
    const { webhookUrl, headers, oauth2 } = openEndpoint(delivery);
    return {
      url: webhookUrl,
      id: delivery.id,
      body: delivery.body,
      headers,
      timeoutMs: delivery.timeoutMs,
      oauth2: oauth2 ? { streamId: delivery.streamId, credentials: oauth2 } : undefined,
      traceparent,
      secrets: openSecrets(delivery),
      clockSkewMs: clockSkewMs(),
      part: delivery.parts > 1 ? `${delivery.part + 1}/${delivery.parts}` : undefined,
      origin: delivery.origin,
      unverified: delivery.unverified ?? undefined,
      queueSize: queued(delivery.streamId),
      recordsCharged: delivery.phase === 'confirmed' ? delivery.records : 0,
    };
  };

  return async (delivery, send) => {
    const span = tracing.start('delivery.attempt', {
      'delivery.id': delivery.id,
      'stream.id': delivery.streamId,
      phase: delivery.phase,
      attempt: delivery.attempts + 1,
    });
    if (!(await awaitTurn(delivery))) {
      span.end('the lease expired before the delivery was sent');
      return undefined;
    }
    const began = performance.now();
    const sendOnce = async (): Promise<AttemptedSend> => {
      try {
        // Credentials and secrets are opened inside this `try`, so that one that cannot be opened
        // fails only this attempt.
        return { ...(await send(toSending(delivery, span.traceparent))), senderDied: false };
      } catch (error) {
        return toFailed(error, Math.round(performance.now() - began));
      }
    };
    for (;;) {
      const attempted = await sendOnce();
      const { status, error, localFailure } = attempted;
      if (localFailure !== undefined) onLocalFailure(localFailure.cause);
      // If nothing was sent, this does not count as an attempt.
      const isUnsent = localFailure?.isSent === false;
      if (isUnsent && (await awaitRetry(delivery))) continue;
      if (status !== null) span.set({ 'http.response.status_code': status });
      span.end(error ?? undefined);
      return isUnsent ? undefined : attempted;
    }
  };
}

function toFailed(error: unknown, durationMs: number): AttemptedSend {
  const senderDied = hasCode(error, 'sender_died');
  return {
    startedAt: Date.now() - durationMs,
    durationMs,
    status: null,
    error:
      describeError(error) + (senderDied ? '; replay the delivery once the cause is fixed' : ''),
    responseBody: '',
    transport: null,
    senderDied,
  };
}
