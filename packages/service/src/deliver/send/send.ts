/**
 * Sends one signed POST to a webhook URL, with limits on the time and on the size of the response.
 */
import {
  WEBHOOK_HEADERS,
  type WebhookOrigin,
  readInboxName,
  readRetryAfterMs,
} from '@sluice/kit/contract';
import { type CleanText, cleanReceiverText } from '../../base/foreignText.ts';
import { describeError } from '../../base/log.ts';
import { isUnavailable } from '../../store/engine/unavailable.ts';
import type { AttemptTransport } from '../../store/deliveries/contract.ts';
import type { ShownCertificate } from '../destinations/http/certificate.ts';
import { type OriginOptions, IDLE_MS, createOrigins } from '../destinations/http/origins.ts';
import type { PostResult } from '../destinations/http/post.ts';
import { toTransport } from '../destinations/http/transport.ts';
import type { AddressGuard } from '../destinations/http/guard.ts';
import { startDeadline } from './deadline.ts';
import type { LocalFailure } from './localFailure.ts';
import { createSigner } from './signer.ts';
import { sendAuthorized } from '../destinations/http/oauth2/authorized.ts';
import {
  type StreamOAuth2,
  TOKEN_RESPONSE_BYTES,
  type TokenFailure,
  createTokens,
} from '../destinations/http/oauth2/tokens.ts';

export interface SendRequest {
  url: string;
  /** Value of the `webhook-id` header. */
  id: string;
  /** UTF-8. */
  body: Uint8Array;
  /** The stream's custom headers. */
  headers: Record<string, string>;
  /**
   * Client credentials for the access token that is sent with the webhook; undefined for none. An
   * inbox gets no token.
   */
  oauth2?: StreamOAuth2 | undefined;
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

export interface SendResult {
  startedAt: number;
  durationMs: number;
  status: number | null;
  /** Reason for the failure; null on success. */
  error: string | null;
  /** Milliseconds to wait, as requested by a 429 or 503, at most 24 hours. */
  retryAfterMs?: number | undefined;
  /** The first 4 KiB of the response, as text. */
  responseBody: string;
  /**
   * Timing, address and certificate of the attempt; null for an inbox, or if {@link toTransport}
   * has nothing to report.
   */
  transport: AttemptTransport | null;
  /**
   * Cause of a failure in this process, and whether the receiver may have received the webhook
   * anyway.
   */
  localFailure?: { cause: LocalFailure; isSent: boolean } | undefined;
}

export interface Sender {
  send(sending: SendRequest): Promise<SendResult>;
  /** Closes idle connections and aborts attempts in flight. */
  close(): Promise<void>;
}

/** Timeout from the start of an attempt to the last byte read: connection, headers and body. */
const TOTAL_TIMEOUT_MS = 15_000;
/**
 * The share of the timeout that an attempt may wait for an access token, in addition to the timeout
 * of the webhook: 10 s by default.
 */
const TOKEN_SHARE = 2 / 3;

/** The parsed destination of a webhook URL. */
type Target = { headers: Record<string, string>; clean: CleanText } & (
  | { origin: string; path: string }
  | { inbox: string }
  | { refused: string }
);

export interface SenderOptions extends Omit<OriginOptions, 'timeoutMs'> {
  guard: AddressGuard;
  /** Returns the account's streams secret. Called for each attempt. */
  secret(): string;
  /** Returns the value of the contract's `x-region`. */
  region(): string;
  /** Returns the private keys that sign at this time by the ledger's clock. Default: none. */
  privateKeys?: ((at: number) => readonly string[]) | undefined;
  timeoutMs?: number | undefined;
  /** Maximum time for an attempt, whatever the stream sets. Default: none. */
  maxTimeoutMs?: number | undefined;
  /**
   * Receives webhooks for the service's own inboxes; undefined if this process cannot reach them.
   */
  inbox?:
    | ((
        name: string,
        request: { headers: Record<string, string>; body: Uint8Array },
      ) => Promise<{
        status: number;
        body: string;
      }>)
    | undefined;
}

export function createSender({
  guard,
  secret,
  region,
  privateKeys = () => [],
  timeoutMs = TOTAL_TIMEOUT_MS,
  maxTimeoutMs = Infinity,
  clientCertificate,
  egressProxy,
  inbox = () => Promise.reject(new Error('inboxes cannot be reached from this process')),
}: SenderOptions): Sender {
  const origins = createOrigins({ guard, clientCertificate, egressProxy, timeoutMs });
  /** Targets by webhook URL. Streams have few URLs and use them thousands of times. */
  const targets = new Map<string, Target>();
  const signer = createSigner();

  const targetOf = (webhookUrl: string): Target => {
    let target = targets.get(webhookUrl);
    if (target === undefined) {
      target = readTarget(webhookUrl, guard);
      targets.set(webhookUrl, target);
    }
    return target;
  };

  const sweep = setInterval(() => {
    targets.clear();
    signer.forget();
    tokens.forget();
    origins.closeIdle();
  }, IDLE_MS);
  sweep.unref();

  const headersFor = (sending: SendRequest, startedAt: number): Record<string, string> => {
    const { id, body, secrets = [], queueSize, recordsCharged, clockSkewMs = 0 } = sending;
    const ledgerTime = startedAt + clockSkewMs;
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
      ...toOptionalHeaders(sending),
      'content-type': 'application/json',
      'user-agent': 'Sluice',
      'accept-encoding': 'identity',
      'x-region': region(),
      'x-queue-size': String(queueSize),
      'x-records-charged': String(recordsCharged),
      [WEBHOOK_HEADERS.signature]: signed.signature,
      [WEBHOOK_HEADERS.id]: id,
      [WEBHOOK_HEADERS.timestamp]: String(timestamp),
      [WEBHOOK_HEADERS.standardSignature]: signed.standardSignature,
    };
  };

  const tokens = createTokens({
    async post(url, request, limitMs) {
      const target = targetOf(url);
      if ('refused' in target) return { ...UNSENT, failure: target.refused };
      if ('inbox' in target) return { ...UNSENT, failure: 'an inbox issues no tokens' };
      const { posted } = await origins.post(target, request, limitMs, TOKEN_RESPONSE_BYTES);
      return { ...posted, failure: posted.failure && target.clean(posted.failure) };
    },
    timeoutMs: timeoutMs * TOKEN_SHARE,
  });

  const sendOnce = async (sending: SendRequest, limitMs: number): Promise<SendResult> => {
    const startedAt = Date.now();
    const beganAt = performance.now();
    const target = targetOf(sending.url);
    const end = (posted: PostResult, certificate: ShownCertificate | null = null): SendResult => {
      const { status, failure, localFailure, retryAfter, responseBody, isSent } = posted;
      const endedAt = performance.now();
      return {
        startedAt,
        durationMs: Math.round(endedAt - beganAt),
        status,
        // Once the status has arrived, it decides, whatever happens to the rest of the response.
        error: status === null ? failure && target.clean(failure) : statusError(status),
        retryAfterMs: readRetryAfterMs(status, retryAfter, Date.now() + (sending.clockSkewMs ?? 0)),
        responseBody: target.clean(responseBody),
        transport: toTransport(posted, { beganAt, endedAt }, certificate),
        localFailure:
          status === null && localFailure !== undefined
            ? { cause: localFailure, isSent }
            : undefined,
      };
    };
    if ('refused' in target) return end({ ...UNSENT, failure: target.refused });
    const request = {
      headers: { ...target.headers, ...sending.headers, ...headersFor(sending, startedAt) },
      body: sending.body,
    };
    if ('inbox' in target) {
      const posted = await hand(inbox(target.inbox, request), limitMs);
      return { ...end(posted), transport: null };
    }
    const { posted, certificate } = await origins.post(target, request, limitMs);
    return end(posted, certificate);
  };

  return {
    async send(sending) {
      const { oauth2, headers } = sending;
      const limitMs = Math.min(sending.timeoutMs ?? timeoutMs, maxTimeoutMs);
      if (oauth2 === undefined || !('origin' in targetOf(sending.url))) {
        return sendOnce(sending, limitMs);
      }
      const startedAt = Date.now();
      const beganAt = performance.now();
      const sent = await sendAuthorized(
        oauth2,
        tokens,
        (authorization, leftMs) =>
          sendOnce({ ...sending, headers: { ...headers, authorization } }, leftMs),
        limitMs,
      );
      if (!('failure' in sent)) return sent;
      const durationMs = Math.round(performance.now() - beganAt);
      return { ...toUnsent(sent), startedAt, durationMs };
    },
    async close() {
      clearInterval(sweep);
      await origins.close();
    },
  };
}

function toOptionalHeaders({
  part,
  origin,
  unverified,
  traceparent,
}: SendRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  if (part !== undefined) headers[WEBHOOK_HEADERS.part] = part;
  if (origin !== undefined) headers[WEBHOOK_HEADERS.origin] = origin;
  if (unverified !== undefined) headers[WEBHOOK_HEADERS.unverified] = unverified;
  if (traceparent !== undefined) headers['traceparent'] = traceparent;
  return headers;
}

const UNSENT: PostResult = {
  status: null,
  retryAfter: undefined,
  responseBody: '',
  isCut: false,
  failure: null,
  localFailure: undefined,
  connecting: undefined,
  isSent: false,
  answeredAt: undefined,
};

/** Returns the result of an attempt without an access token. */
const toUnsent = ({
  failure,
  localFailure,
}: TokenFailure): Omit<SendResult, 'startedAt' | 'durationMs'> => ({
  status: null,
  error: failure,
  responseBody: '',
  transport: null,
  localFailure: localFailure && { cause: localFailure, isSent: false },
});

/** Returns an inbox's response in the form of a network response. */
async function hand(
  answer: Promise<{ status: number; body: string }>,
  timeoutMs: number,
): Promise<PostResult> {
  let endDeadline = (): void => {};
  const deadline = new Promise<PostResult>((resolve) => {
    const failure = `no complete response within ${timeoutMs / 1000} s`;
    endDeadline = startDeadline(timeoutMs, () => resolve({ ...UNSENT, failure }));
  });
  const answered = answer.then(
    ({ status, body }): PostResult => ({ ...UNSENT, status, responseBody: body }),
    (error: unknown): PostResult => ({
      ...UNSENT,
      failure: describeError(error),
      localFailure: isUnavailable(error) ? 'LEDGER' : undefined,
    }),
  );
  try {
    return await Promise.race([answered, deadline]);
  } finally {
    endDeadline();
  }
}

function statusError(status: number | null): string | null {
  if (status === null || (status >= 200 && status < 300)) return null;
  return status >= 300 && status < 400
    ? `HTTP ${status}: redirects are not followed; set the stream's URL to the final address`
    : `HTTP ${status}`;
}

/**
 * Parses and checks a URL. The result may be cached, because the addresses of a name are checked
 * for each connection.
 */
function readTarget(webhookUrl: string, guard: AddressGuard): Target {
  const url = new URL(webhookUrl);
  const headers: Record<string, string> =
    url.username === '' ? {} : { authorization: basicAuthorization(url) };
  const its = { headers, clean: cleanReceiverText(webhookUrl) };
  const inbox = readInboxName(webhookUrl);
  if (inbox !== undefined) return { ...its, inbox };
  const refused = guard.refuse(url);
  if (refused !== undefined) return { ...its, refused };
  return { ...its, origin: url.origin, path: url.pathname + url.search };
}

function basicAuthorization({ username, password }: URL): string {
  const login = `${decode(username)}:${decode(password)}`;
  return `Basic ${Buffer.from(login).toString('base64')}`;
}

/** Decodes percent escapes. If any of them is invalid, returns the text unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
