/**
 * A kind of place that webhooks are sent to, recognized by the webhook URL. The rest of the delivery
 * engine knows only this interface.
 */
import type { AttemptTransport } from '../../store/deliveries/contract.ts';
import type { LocalFailure } from '../send/localFailure.ts';
import type { StreamOAuth2 } from './http/oauth2/tokens.ts';

export interface Destination {
  /** Returns whether webhooks with this URL belong here. */
  takes(url: string): boolean;
  /** Whether an isolated process can send here. If not, only a process with the ledger can. */
  readonly isIsolable: boolean;
  /** Returns why no stream may have this URL; undefined if it is allowed. */
  refuse(url: URL): Promise<string | undefined>;
  /** Returns the host whose webhooks per second are limited; undefined if there is no limit. */
  hostOf(url: string): string | undefined;
  /** Sends a webhook. A failure is part of the result, so the promise never rejects. */
  send(webhook: OutgoingWebhook, limitMs: number): Promise<SendResult>;
  /** Frees what was not used for a while. Called every minute. */
  tidy(): void;
  /** Aborts attempts in flight and closes all connections. */
  close(): Promise<void>;
}

export interface OutgoingWebhook {
  /** ID of the delivery. */
  id: string;
  url: string;
  /** UTF-8. */
  body: Uint8Array;
  /** Returns the stream's own headers and those of the webhook, signed at this time. */
  sign(at: number): Record<string, string>;
  /** Client credentials for an access token; undefined for none. */
  oauth2: StreamOAuth2 | undefined;
  /** Milliseconds by which the ledger's clock is ahead of this process's clock. */
  clockSkewMs: number;
}

export interface SendResult {
  startedAt: number;
  durationMs: number;
  /** HTTP status; null without one. */
  status: number | null;
  /** Reason for the failure; null on success. */
  error: string | null;
  /** Whether the recorded outcome gives the webhook the next position in its stream's feed. */
  entersFeed?: true | undefined;
  /** Why each attempt fails until the webhook URL changes; undefined if a retry may succeed. */
  urlProblem?: string | undefined;
  /** Milliseconds to wait, as requested by the receiver, at most 24 hours. */
  retryAfterMs?: number | undefined;
  /** The first 4 KiB of the response, as text. */
  responseBody: string;
  /** Timing, address and certificate of the attempt; null if there is nothing to report. */
  transport: AttemptTransport | null;
  /**
   * Cause of a failure in this process, and whether the receiver may have received the webhook
   * anyway.
   */
  localFailure?: { cause: LocalFailure; isSent: boolean } | undefined;
}
