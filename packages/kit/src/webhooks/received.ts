/** A verified webhook, without what depends on the chain family. */
import type { WebhookOrigin } from '../contract/rules/signature.ts';
import type { AnyUnverifiedCode } from '../contract/unverified.ts';

export interface Received<Webhook> {
  /**
   * The delivery id (`webhook-id`), the same on every attempt; handle each id once. With
   * `x-signature`, which does not cover an id, it is a hash of the body without `retries`.
   */
  readonly id: string;
  /**
   * Time at which this attempt was sent; undefined with `x-signature`, which does not cover a
   * timestamp.
   */
  readonly sentAt: Date | undefined;
  readonly webhook: Webhook;
  /** Whether this is the test webhook, which only checks that the URL responds with a 2xx. */
  readonly isTest: boolean;
  /** The header that verified the webhook; undefined for a feed that is read without a secret. */
  readonly verifiedBy: 'webhook-signature' | 'x-signature' | undefined;
  /**
   * Reason why the webhook was sent, from `x-sluice-origin`; undefined for test webhooks and other
   * senders. The header is not signed, so do not use it for access control.
   */
  readonly origin: WebhookOrigin | undefined;
  /**
   * Codes of what the evidence for the block does not cover, from `x-sluice-unverified`; empty if
   * the block is verified, and for other senders. {@link UNVERIFIED_CODES} has their meanings; a
   * newer service may send other codes. The header is not signed, so do not use it for access
   * control.
   */
  readonly unverified: readonly AnyUnverifiedCode[];
}
