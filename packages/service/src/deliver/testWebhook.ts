/** Sends the test webhook that a new URL must accept before its stream is saved. */
import { setTimeout as wait } from 'node:timers/promises';
import type { HostPace } from './hostPace.ts';
import { RetryableError } from '../base/errors.ts';
import type { SendResult } from './destinations/destination.ts';
import { LOCAL_FAILURES } from './send/localFailure.ts';
import type { Sender, SendRequest } from './send/send.ts';
import { flagOf } from '../config/settings.ts';

/** Maximum wait for a turn under `maxPerHost`. */
const MAX_WAIT_MS = 5_000;

/**
 * Sends a test webhook. Returns why it failed; undefined on success.
 *
 * @throws RetryableError `unavailable` if this process or the ledger failed, not the receiver
 */
export type TestWebhook = (
  webhook: object,
  endpoint: Pick<SendRequest, 'url' | 'headers' | 'oauth2' | 'secrets'>,
) => Promise<string | undefined>;

export interface TurnNeeds {
  hostPace: Pick<HostPace, 'takeSoon'>;
  /** The rate limit per host, for the error message. */
  maxPerHost: number | undefined;
}

export function createTestWebhook({
  sender,
  hostPace,
  maxPerHost,
}: TurnNeeds & { sender: Pick<Sender, 'send'> }): TestWebhook {
  return async (webhook, endpoint) => {
    const busy = await takeTurn({ hostPace, maxPerHost }, endpoint.url);
    if (busy !== undefined) return busy;
    const result = await sender.send({
      ...endpoint,
      // A new id each time lets receivers detect that a captured test webhook is sent again.
      id: crypto.randomUUID(),
      body: Buffer.from(JSON.stringify(webhook)),
      queueSize: 0,
      recordsCharged: 0,
    });
    refuseLocalFailure(result, 'test webhook');
    return result.error ?? undefined;
  };
}

/** Waits for the URL's turn under the rate limit per host. Returns why that takes too long. */
export async function takeTurn(
  { hostPace, maxPerHost }: TurnNeeds,
  url: string,
): Promise<string | undefined> {
  const waitMs = hostPace.takeSoon(url, MAX_WAIT_MS);
  if (waitMs === undefined) {
    return `webhooks already wait more than ${MAX_WAIT_MS / 1_000} s for this host (${flagOf('maxPerHost')} ${maxPerHost}): try again later`;
  }
  if (waitMs > 0) await wait(waitMs);
  return undefined;
}

/** Throws if this process or the ledger failed, not the receiver. */
export function refuseLocalFailure(
  { localFailure }: Pick<SendResult, 'localFailure'>,
  what: string,
): void {
  if (localFailure === undefined) return;
  const why =
    localFailure.cause === 'STALLED'
      ? 'this process was suspended'
      : LOCAL_FAILURES[localFailure.cause];
  throw new RetryableError('unavailable', `The ${what} was not sent: ${why}`);
}
