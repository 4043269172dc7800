/**
 * Offline tools to test webhook handlers (`@sluice/kit/testing`): sample webhooks, signed requests,
 * and a sender that retries like the service.
 */
import {
  CONTRACT_SCHEDULE_MS,
  isBrief,
  FAST_RETRY_MS,
  readRetryAfterMs,
} from '../contract/rules/schedule.ts';
import { signStandardWebhook, signWebhook, WEBHOOK_HEADERS } from '../contract/rules/signature.ts';
import { countChargedRecords } from '../families/samples.ts';
import type { AnyWebhook, ReceivedWebhook } from '../families/webhooks.ts';
import type { AnyUnverifiedCode } from '../contract/unverified.ts';
import { signWithPrivateKey } from './testingKeys.ts';

export {
  type AptosSampleKind,
  sampleAptosWebhook,
  type SampleKind,
  sampleWebhook,
} from '../families/samples.ts';
export * from './testingKeys.ts';

/** Options of a signature: the secret, id, time and sender. */
export interface SigningOptions {
  /** The streams secret, or the API key if the account has no streams secret. */
  secret: string;
  /** The delivery's id. Default: a new UUID. */
  id?: string | undefined;
  /** Time at which the request is sent. Default: now. */
  sentAt?: Date | undefined;
  /**
   * The sender to imitate. `sluice` sends `webhook-signature` and `x-signature`; `hosted`, the
   * hosted Streams API, sends only `x-signature`, without an id or timestamp. Default: `sluice`.
   */
  sender?: 'sluice' | 'hosted' | undefined;
  /** Codes of an unverified block, for the header `x-sluice-unverified`. Default: none. */
  unverified?: readonly AnyUnverifiedCode[] | undefined;
}

/** Options of {@link signedRequest}: a webhook or any other text, and how to sign it. */
export type SignedRequestOptions = SigningOptions & {
  /** Target URL. Default: `http://localhost/webhooks`. */
  url?: string | undefined;
} & (
    | { webhook: AnyWebhook; body?: undefined }
    | {
        /** Any text to sign instead of a webhook. */
        body: string;
        webhook?: undefined;
      }
  );

let lastMs = 0;

/** Returns a version 7 UUID. Like those of the service, the IDs sort by creation. */
function newId(): string {
  lastMs = Math.max(Date.now(), lastMs + 1);
  const time = lastMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}

/** Creates a signed POST request with a webhook or another text, to pass to a handler. */
export function signedRequest({ url, webhook, body, ...signing }: SignedRequestOptions): Request {
  const text = body ?? JSON.stringify(webhook);
  return new Request(url ?? 'http://localhost/webhooks', {
    method: 'POST',
    headers: signedHeaders(text, signing, webhook),
    body: text,
  });
}

/**
 * Creates the headers of a signed request, for other test clients (`app.inject`, supertest).
 * @param body the request body, exactly as sent
 * @param webhook the webhook in the body; sets `x-records-charged`, which is 0 without it
 */
export function signedHeaders(
  body: string,
  signing: SigningOptions,
  webhook?: AnyWebhook,
): Record<string, string> {
  const { secret, id = newId(), sentAt = new Date(), sender = 'sluice' } = signing;
  const unverified = signing.unverified?.join(', ');
  const timestamp = Math.floor(sentAt.getTime() / 1000);
  return {
    'content-type': 'application/json',
    [WEBHOOK_HEADERS.signature]: signWebhook(body, secret),
    [WEBHOOK_HEADERS.region]: 'test',
    [WEBHOOK_HEADERS.queueSize]: '0',
    [WEBHOOK_HEADERS.recordsCharged]: String(webhook ? countChargedRecords(webhook) : 0),
    ...(unverified && { [WEBHOOK_HEADERS.unverified]: unverified }),
    ...(sender === 'sluice' && {
      [WEBHOOK_HEADERS.id]: id,
      [WEBHOOK_HEADERS.timestamp]: String(timestamp),
      [WEBHOOK_HEADERS.standardSignature]: signStandardWebhook({ id, timestamp, body, secret }),
    }),
  };
}

/** Options of {@link createFakeSender}. */
export interface FakeSenderOptions extends Omit<SigningOptions, 'id' | 'sentAt'> {
  /** A URL, or the handler itself. */
  to: string | URL | ((request: Request) => Response | Promise<Response>);
  /** Private key that also signs, from {@link createKeyPair}. */
  privateKey?: string | undefined;
  /**
   * The waits between attempts; there is one more attempt than waits. Default: 1 min, 10 min, 1 h,
   * 2 h, 6 h, 12 h and 24 h. With the default, a first attempt that got a 5xx or no response is
   * also retried after 5 s, unless `sender` is `hosted`. The test webhook is sent only once.
   * @unit milliseconds
   */
  scheduleMs?: readonly number[] | undefined;
  /**
   * Timeout of an attempt.
   * @unit milliseconds
   * @defaultValue 15_000
   */
  timeoutMs?: number | undefined;
  /** Called to wait between attempts. Default: does not wait. */
  wait?: ((ms: number) => Promise<void>) | undefined;
  /** Sends the requests if `to` is a URL. Default: `globalThis.fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** An attempt to deliver a webhook, and its result. */
export interface SentAttempt {
  /** HTTP status; null without a complete response. */
  readonly status: number | null;
  /** Body of the response; empty without a complete response. */
  readonly body: string;
  /** Reason for the failure; undefined for a 2xx. */
  readonly error: string | undefined;
  /**
   * Time that the service would wait after this attempt, in milliseconds, without the random
   * extra of up to 10%; undefined after the last attempt.
   */
  readonly waitMs: number | undefined;
}

/** A delivery with all its attempts. */
export interface SentDelivery {
  readonly id: string;
  /** Whether an attempt got a 2xx. */
  readonly delivered: boolean;
  readonly attempts: readonly SentAttempt[];
}

/** Sender that delivers webhooks like the service. */
export interface FakeSender {
  /**
   * Delivers a webhook: POSTs it until it gets a 2xx or the schedule ends. Attempts share the id,
   * but each one has its own `retries`, timestamp and signature. To send a duplicate, call `send`
   * again with the same `id`. Failed attempts do not reject the promise.
   */
  send(webhook: AnyWebhook, options?: { id?: string | undefined }): Promise<SentDelivery>;
  /** Delivers the unconfirmed webhook of a block, then the confirmed one. */
  sendPair(
    webhook: ReceivedWebhook['webhook'],
  ): Promise<{ unconfirmed: SentDelivery; confirmed: SentDelivery }>;
  /** Delivers the removal webhook that revokes this webhook. */
  sendRemoved(webhook: ReceivedWebhook['webhook']): Promise<SentDelivery>;
}

/** Creates a sender that delivers and retries like the service. */
export function createFakeSender({
  to,
  secret,
  privateKey,
  sender,
  unverified,
  scheduleMs,
  timeoutMs = 15_000,
  wait = () => Promise.resolve(),
  fetch = globalThis.fetch,
}: FakeSenderOptions): FakeSender {
  const url = typeof to === 'function' ? undefined : String(to);

  const attempt = async (webhook: AnyWebhook, id: string) => {
    const signed = signedRequest({ url, webhook, secret, id, sender, unverified });
    const full = privateKey === undefined ? signed : await signWithPrivateKey(signed, privateKey);
    const signal = AbortSignal.timeout(timeoutMs);
    const request = new Request(full, { redirect: 'manual', signal });
    try {
      const responding = Promise.resolve(typeof to === 'function' ? to(request) : fetch(request));
      const response = await unlessAborted(responding, signal);
      // As in the service, the status decides even if the body is cut or never ends.
      const body = await unlessAborted(response.text(), signal).catch(() => '');
      const error = response.ok ? undefined : `HTTP ${response.status}`;
      const { status } = response;
      const retryAfter = response.headers.get('retry-after');
      const retryAfterMs = readRetryAfterMs(status, retryAfter, Date.now()) ?? 0;
      return { status, body, error, retryAfterMs };
    } catch (error) {
      const why = signal.aborted ? `no complete response within ${timeoutMs} ms` : toWord(error);
      return { status: null, body: '', error: why, retryAfterMs: 0 };
    }
  };

  const send: FakeSender['send'] = async (webhook, { id = newId() } = {}) => {
    const attempts: SentAttempt[] = [];
    let schedule = webhook.streamId === '' ? [] : (scheduleMs ?? CONTRACT_SCHEDULE_MS);
    for (;;) {
      const retries = attempts.length;
      const { retryAfterMs, ...result } = await attempt({ ...webhook, retries }, id);
      if (retries === 0 && isQuick(webhook, result.status)) schedule = [FAST_RETRY_MS, ...schedule];
      const scheduled = schedule[retries];
      const isLast = result.error === undefined || scheduled === undefined;
      const waitMs = isLast ? undefined : Math.max(scheduled, retryAfterMs);
      attempts.push({ ...result, waitMs });
      if (waitMs === undefined) return { id, delivered: result.error === undefined, attempts };
      await wait(waitMs);
    }
  };

  const isQuick = ({ streamId }: { streamId: string }, status: number | null): boolean =>
    sender !== 'hosted' && scheduleMs === undefined && streamId !== '' && isBrief(status);

  return {
    send,
    async sendPair(webhook) {
      const unconfirmed = await send({ ...webhook, confirmed: false });
      return { unconfirmed, confirmed: await send({ ...webhook, confirmed: true }) };
    },
    sendRemoved(webhook) {
      const { confirmed: _, ...rest } = webhook;
      // Puts `removed` directly after `confirmed`, as the service does.
      return send({ confirmed: false, removed: true, ...rest });
    },
  };
}

/** Returns the code of an error's cause. The message of a fetch error is only "fetch failed". */
function toWord(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(error);
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    promise.then(resolve, reject);
  });
}
