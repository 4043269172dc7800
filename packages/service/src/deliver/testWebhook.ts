/** Sends the test webhook that a new URL must accept before its stream is saved. */
import { setTimeout as wait } from 'node:timers/promises';
import type { HostPace } from './hostPace.ts';
import { RetryableError } from '../base/errors.ts';
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

export function createTestWebhook({
  sender,
  hostPace,
  maxPerHost,
}: {
  sender: Pick<Sender, 'send'>;
  hostPace: Pick<HostPace, 'takeSoon'>;
  /** The rate limit per host, for the error message. */
  maxPerHost: number | undefined;
}): TestWebhook {
  return async (webhook, endpoint) => {
    const waitMs = hostPace.takeSoon(endpoint.url, MAX_WAIT_MS);
    if (waitMs === undefined) {
      return `webhooks already wait more than ${MAX_WAIT_MS / 1_000} s for this host (${flagOf('maxPerHost')} ${maxPerHost}): try again later`;
    }
    if (waitMs > 0) await wait(waitMs);
    const { error, localFailure } = await sender.send({
      ...endpoint,
      // A new id each time lets receivers detect that a captured test webhook is sent again.
      id: crypto.randomUUID(),
      body: Buffer.from(JSON.stringify(webhook)),
      queueSize: 0,
      recordsCharged: 0,
    });
    if (localFailure !== undefined) {
      const why =
        localFailure.cause === 'STALLED'
          ? 'this process was suspended'
          : LOCAL_FAILURES[localFailure.cause];
      throw new RetryableError('unavailable', `The test webhook was not sent: ${why}`);
    }
    return error ?? undefined;
  };
}
