/** Signs a webhook and sends it to the destination of its URL within a time limit. */
import { WEBHOOK_HEADERS, type WebhookOrigin } from '@sluice/kit/contract';
import type { Destination, OutgoingWebhook, SendResult } from '../destinations/destination.ts';
import { createSigner } from './signer.ts';
import { DEFAULT_TIMEOUT_MS } from './timeouts.ts';

export interface SendRequest extends Pick<OutgoingWebhook, 'id' | 'url' | 'body'> {
  /** The stream's custom headers. */
  headers: Record<string, string>;
  /** Client credentials for an access token. Default: none. */
  oauth2?: OutgoingWebhook['oauth2'];
  /** Time for the attempt. Default: the sender's timeout. */
  timeoutMs?: number | undefined;
  /**
   * The stream's own secrets, which sign `webhook-signature` together with the account's secret.
   * Default: none.
   */
  secrets?: readonly string[] | undefined;
  /** Trace context of the attempt's span, if tracing is on. */
  traceparent?: string | undefined;
  /** Part number and number of parts, as `i/n`, if a match is split across several webhooks. */
  part?: string | undefined;
  /** Reason for sending the webhook; undefined for test webhooks and alerts. */
  origin?: WebhookOrigin | undefined;
  /** Codes of an unverified block, separated by `, `; undefined if the block is verified. */
  unverified?: string | undefined;
  /** Milliseconds by which the ledger's clock is ahead of this process's clock. Default: 0. */
  clockSkewMs?: number | undefined;
  /** Value of the `x-queue-size` header; `recordsCharged` is the value of `x-records-charged`. */
  queueSize: number;
  recordsCharged: number;
}

/** A webhook, as far as its headers depend on it. */
export type SignedWebhook = Omit<SendRequest, 'url' | 'oauth2' | 'timeoutMs'>;

export interface Sender {
  send(sending: SendRequest): Promise<SendResult>;
  /**
   * Returns the headers that describe a webhook, signed at this time: the stream's own and those of
   * the contract.
   */
  headersFor(webhook: SignedWebhook, at: number): Record<string, string>;
  /**
   * Returns the destination of a webhook URL.
   *
   * @throws Error if this process has none for the URL
   */
  destinationOf(url: string): Destination;
  /** Closes idle connections and aborts attempts in flight. */
  close(): Promise<void>;
}

export interface SenderOptions {
  destinations: readonly Destination[];
  /** Returns the account's streams secret. Called for each attempt. */
  secret(): string;
  /** Returns the value of the contract's `x-region`. */
  region(): string;
  /** Returns the private keys that sign at this time by the ledger's clock. Default: none. */
  privateKeys?: ((at: number) => readonly string[]) | undefined;
  timeoutMs?: number | undefined;
  /** Maximum time for an attempt, whatever the stream sets. Default: none. */
  maxTimeoutMs?: number | undefined;
}

const TIDY_MS = 60_000;
/** The headers of each request that carries a webhook. */
const REQUEST_HEADERS = { 'user-agent': 'Sluice', 'accept-encoding': 'identity' };

export function createSender({
  destinations,
  secret,
  region,
  privateKeys = () => [],
  timeoutMs = DEFAULT_TIMEOUT_MS,
  maxTimeoutMs = Infinity,
}: SenderOptions): Sender {
  const signer = createSigner();
  const timer = setInterval(() => {
    signer.forget();
    for (const each of destinations) each.tidy();
  }, TIDY_MS);
  timer.unref();

  const headersFor = (webhook: SignedWebhook, at: number): Record<string, string> => {
    const { id, body, headers, secrets = [], queueSize, recordsCharged, clockSkewMs = 0 } = webhook;
    const ledgerTime = at + clockSkewMs;
    const timestamp = Math.floor(ledgerTime / 1000);
    const signed = signer.sign({
      id,
      timestamp,
      body,
      secret: secret(),
      secrets,
      privateKeys: privateKeys(ledgerTime),
    });
    return {
      ...headers,
      ...toOptionalHeaders(webhook),
      'content-type': 'application/json',
      'x-region': region(),
      'x-queue-size': String(queueSize),
      'x-records-charged': String(recordsCharged),
      [WEBHOOK_HEADERS.signature]: signed.signature,
      [WEBHOOK_HEADERS.id]: id,
      [WEBHOOK_HEADERS.timestamp]: String(timestamp),
      [WEBHOOK_HEADERS.standardSignature]: signed.standardSignature,
    };
  };

  const destinationOf = (url: string): Destination => {
    const destination = destinations.find((each) => each.takes(url));
    if (destination === undefined) {
      throw new Error(`this process cannot send to ${new URL(url).protocol} URLs`);
    }
    return destination;
  };

  return {
    destinationOf,
    headersFor,
    async send(sending) {
      const { id, url, body, oauth2, clockSkewMs = 0 } = sending;
      const sign = (at: number) => ({ ...headersFor(sending, at), ...REQUEST_HEADERS });
      return destinationOf(url).send(
        { id, url, body, oauth2, clockSkewMs, sign },
        Math.min(sending.timeoutMs ?? timeoutMs, maxTimeoutMs),
      );
    },
    async close() {
      clearInterval(timer);
      await Promise.all(destinations.map((each) => each.close()));
    },
  };
}

function toOptionalHeaders({
  part,
  origin,
  unverified,
  traceparent,
}: SignedWebhook): Record<string, string> {
  const headers: Record<string, string> = {};
  if (part !== undefined) headers[WEBHOOK_HEADERS.part] = part;
  if (origin !== undefined) headers[WEBHOOK_HEADERS.origin] = origin;
  if (unverified !== undefined) headers[WEBHOOK_HEADERS.unverified] = unverified;
  if (traceparent !== undefined) headers['traceparent'] = traceparent;
  return headers;
}
