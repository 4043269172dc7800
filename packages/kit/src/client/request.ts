/** Sends requests with a key and a deadline, retries them, and reports failures as SluiceErrors. */
import { isSluiceError, SluiceError } from '../errors.ts';
import { redact, showHeaders } from './http/redact.ts';
import {
  toJson,
  parseBaseUrl,
  type RequestTarget,
  urlOf,
  headersOf,
  checkApiKey,
} from './http/requestParts.ts';
import { readText, errorOf, readJson, requestIdOf } from './http/responses.ts';

/** The service to call, and defaults for its calls. */
export interface ConnectionOptions {
  /**
   * Base URL of the API, such as `http://localhost:4400`. It must not contain credentials. On a web
   * page, it may be relative to the page's origin.
   */
  baseUrl: string;
  /** API key, sent as `x-api-key`: visible ASCII characters without spaces. */
  apiKey?: string | undefined;
  /** Replacement for the platform's `fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * Timeout of each attempt, from sending it to the end of its response.
   * @unit milliseconds
   * @default 30000
   */
  timeoutMs?: number | undefined;
  /**
   * Maximum number of attempts after the first. Reads are retried on network errors, timeouts and
   * the statuses 408, 429 and 5xx; writes only if that is safe, see {@link Call.repeatable}. 0
   * turns retries off.
   * @default 2
   */
  maxRetries?: number | undefined;
  /**
   * Headers sent with every call. They cannot replace the client's `x-api-key` and `content-type`.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Called before each attempt, including retries. Hooks are for logs and metrics: they receive no
   * secrets, are not awaited, and their errors are ignored.
   */
  onRequest?: ((request: SentRequest) => void) | undefined;
  /** Called when the headers of a response are received, whatever its status. */
  onResponse?: ((response: ReceivedResponse) => void) | undefined;
  /** Called before the wait for the next attempt. */
  onRetry?: ((retry: Retry) => void) | undefined;
}

/** An attempt, as passed to hooks. Keys, tokens, cookies and other secrets are `[secret]`. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  /** Header names are in lowercase. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; undefined without a body. */
  readonly body: string | undefined;
  /** Number of the attempt, starting at 1. */
  readonly attempt: number;
}

/** The status and headers of a response, as passed to hooks. */
export interface ReceivedResponse {
  readonly request: SentRequest;
  readonly status: number;
  /** Header names are in lowercase; secrets are `[secret]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The `x-request-id` of the response. */
  readonly requestId: string | undefined;
  /**
   * Time from sending the request to receiving the headers of its response.
   * @unit milliseconds
   */
  readonly durationMs: number;
}

/** A failed attempt that will be retried. */
export interface Retry {
  readonly method: string;
  readonly url: string;
  /** Number of the failed attempt, starting at 1. */
  readonly attempt: number;
  readonly error: SluiceError;
  /**
   * Wait until the next attempt.
   * @unit milliseconds
   */
  readonly waitMs: number;
}

/** Options of a single call. */
export interface CallOptions {
  /**
   * Signal that aborts the call, even during the wait for a retry. The call then rejects with
   * `aborted`.
   */
  signal?: AbortSignal | undefined;
  /** Timeout of each attempt in milliseconds; overrides the client's option. */
  timeoutMs?: number | undefined;
  /** Maximum retries; overrides the client's option. */
  maxRetries?: number | undefined;
  /** Headers in addition to the client's; they replace the client's headers of the same name. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export interface Call extends RequestTarget {
  /** Request body, sent as JSON with bigints as decimal strings. */
  readonly body?: unknown;
  /**
   * True for a write with the same effect and response each time, which is retried like a read.
   * Other writes are retried only if the service cannot have processed them: on 429, or without a
   * connection.
   */
  readonly repeatable?: boolean;
  /** Statuses other than 2xx that are not errors. */
  readonly accepts?: readonly number[];
  /** Strings, in addition to the API key, that messages and hooks must not contain. */
  readonly secrets?: readonly string[];
  /** Whether the response is returned as text instead of parsed JSON. */
  readonly asText?: boolean;
}

/** The data of a call with its HTTP response. */
export interface WithResponse<Data> {
  readonly data: Data;
  /** The HTTP response, for its status and headers. Its body has been read. */
  readonly response: Response;
  /** The `x-request-id` of the response, to quote in support requests. */
  readonly requestId: string | undefined;
}

/**
 * The promise of a call's response.
 * ```ts
 * const stream = await client.streams.get(id);
 * const { data, response, requestId } = await client.streams.get(id).withResponse();
 * ```
 */
export interface CallResult<Data> extends Promise<Data> {
  /** Returns the data with the HTTP response, without sending the call again. */
  withResponse(): Promise<WithResponse<Data>>;
}

export function createCallResult<Data>(sent: Promise<WithResponse<Data>>): CallResult<Data> {
  const result = sent.then(({ data }) => data);
  return Object.assign(result, {
    withResponse() {
      // The returned promise reports a failure, so a rejection of `result` must not count as
      // unhandled.
      result.catch(() => {});
      return sent.then((it) => it);
    },
  });
}

export interface Connection {
  /** Sends a call and reads its response; `data` is undefined for an empty body. */
  send(call: Call, options?: CallOptions): Promise<WithResponse<unknown>>;
  /** Sends a call once and returns its successful response with the body unread. */
  open(call: Call, options?: CallOptions): Promise<Response>;
}

const DEFAULT_TIMEOUT_MS = 30_000;

const DEFAULT_MAX_RETRIES = 2;

const BACKOFF_BASE_MS = 500;

const BACKOFF_CAP_MS = 8_000;

/** Maximum wait that the service may request. If it requests more, the call fails. */
const MAX_RETRY_AFTER_MS = 60_000;

export function connect(settings: ConnectionOptions): Connection {
  const base = parseBaseUrl(settings.baseUrl);
  const { apiKey } = settings;
  // Without a key, a session cookie may be sent. Cloudflare Workers do not support `credentials`.
  const init: RequestInit = apiKey === undefined ? { credentials: 'same-origin' } : {};
  if (apiKey !== undefined) checkApiKey(apiKey);
  const defaultTimeoutMs = atLeast('timeoutMs', settings.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1);
  const defaultMaxRetries = atLeast('maxRetries', settings.maxRetries ?? DEFAULT_MAX_RETRIES, 0);

  const secretsOf = (call: Call): string[] =>
    [apiKey, ...(call.secrets ?? [])].filter((it) => it !== undefined);

  const open = async (
    call: Call,
    given: CallOptions['headers'],
    signal: AbortSignal,
    attempt = 1,
  ) => {
    const send = settings.fetch ?? globalThis.fetch;
    const url = urlOf(base, call);
    const headers = headersOf(call.body, { ...settings.headers, ...given }, apiKey);
    const { method } = call.route;
    const request: RequestInit = { ...init, method, headers, redirect: 'manual', signal };
    if (call.body !== undefined) request.body = toJson(call.body);
    const secrets = secretsOf(call);
    const { onRequest, onResponse } = settings;
    let sent: SentRequest | undefined;
    if (onRequest || onResponse) {
      const body = call.body === undefined ? undefined : redact(toJson(call.body, true), secrets);
      const address = redact(url.href, secrets);
      sent = { method, url: address, headers: showHeaders(headers, secrets), body, attempt };
      notify(onRequest, sent);
    }
    const startedAt = performance.now();
    let response: Response;
    try {
      response = await send(url.href, request);
    } catch (cause) {
      throw new SluiceError('network_error', `No response from ${url.origin}`, { cause });
    }
    if (sent && onResponse) {
      notify(onResponse, {
        request: sent,
        status: response.status,
        headers: showHeaders(response.headers, secrets),
        requestId: requestIdOf(response),
        durationMs: performance.now() - startedAt,
      });
    }
    if (response.ok || call.accepts?.includes(response.status)) return response;
    throw await errorOf(response, secrets);
  };

  const send = async (call: Call, options: CallOptions = {}): Promise<WithResponse<unknown>> => {
    const { headers, signal } = options;
    const timeoutMs = atLeast('timeoutMs', options.timeoutMs ?? defaultTimeoutMs, 1);
    const maxRetries = atLeast('maxRetries', options.maxRetries ?? defaultMaxRetries, 0);
    for (let attempt = 1; ; attempt++) {
      try {
        return await withDeadline(timeoutMs, signal, async (deadline) => {
          const response = await open(call, headers, deadline, attempt);
          const data = await (call.asText ? readText : readJson)(response);
          return { data, response, requestId: requestIdOf(response) };
        });
      } catch (error) {
        if (attempt > maxRetries || !mayRepeat(call, error)) throw error;
        const waitMs = retryWaitMs(attempt - 1, error.retryAfterMs);
        if (waitMs === undefined) throw error;
        const { method } = call.route;
        const url = redact(urlOf(base, call).href, secretsOf(call));
        notify(settings.onRetry, { method, url, attempt, error, waitMs });
        await sleep(waitMs, signal);
      }
    }
  };

  return {
    open: (call, { headers, signal, timeoutMs = defaultTimeoutMs } = {}) =>
      withDeadline(timeoutMs, signal, (deadline) => open(call, headers, deadline), 'keep signal'),
    send,
  };
}

/** Calls a hook and ignores its errors. */
function notify<Event>(hook: ((event: Event) => unknown) | undefined, event: Event): void {
  try {
    // An unhandled rejection of an async hook would end the process.
    void Promise.resolve(hook?.(event)).catch(() => {});
  } catch {
    // An error in a hook must not make the call fail.
  }
}

/**
 * Returns the milliseconds to wait before the next attempt: the wait that the service requests, or
 * a random part of a limit that doubles from 500 ms to 8 s. Returns undefined if the service
 * requests more than a minute.
 *
 * @param attempt number of earlier retries.
 */
export function retryWaitMs(attempt: number, retryAfterMs: number | undefined): number | undefined {
  if (retryAfterMs === undefined) {
    return Math.random() * Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** attempt);
  }
  return retryAfterMs <= MAX_RETRY_AFTER_MS ? retryAfterMs : undefined;
}

function mayRepeat(call: Call, error: unknown): error is SluiceError {
  if (!isSluiceError(error)) return false;
  if (error.code === 'rate_limited') return true;
  if (error.code === 'network_error' && neverConnected(error.cause)) return true;
  if (call.route.method !== 'GET' && !call.repeatable) return false;
  return (
    error.code === 'network_error' ||
    error.code === 'timeout' ||
    error.code === 'server_error' ||
    error.status === 408
  );
}

const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Returns whether `fetch` failed before it sent anything, according to the code of the error. */
function neverConnected(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (typeof code === 'string' && NEVER_CONNECTED.has(code)) || neverConnected(error.cause);
}

/**
 * Runs `work` with a signal that fires after `timeoutMs` or when the caller's signal does. The
 * result then rejects, even if `work` ignores the signal. With `keep signal`, the caller's signal
 * can still abort after `work` has ended.
 */
async function withDeadline<Result>(
  timeoutMs: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
  after: 'keep signal' | 'release signal' = 'release signal',
): Promise<Result> {
  if (caller?.aborted) throw aborted(caller);
  const controller = new AbortController();
  let stop: (error: SluiceError) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = (error) => {
      reject(error);
      controller.abort(error);
    };
  });
  const onAbort = () => {
    if (caller) stop(aborted(caller));
  };
  caller?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(() => {
    stop(new SluiceError('timeout', `No complete response within ${timeoutMs} ms`));
  }, timeoutMs);
  let done = false;
  try {
    const result = await Promise.race([work(controller.signal), stopped]);
    done = true;
    return result;
  } finally {
    clearTimeout(timer);
    if (!done || after === 'release signal') caller?.removeEventListener('abort', onAbort);
  }
}

const aborted = (signal: AbortSignal): SluiceError =>
  new SluiceError('aborted', 'The call was aborted', { cause: signal.reason });

/** Resolves after `waitMs`, or rejects with `aborted` when the signal fires. */
export function sleep(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(aborted(signal));
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      if (signal) reject(aborted(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, waitMs);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The maximum delay of `setTimeout`. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function atLeast(name: string, value: number, least: number): number {
  if (typeof value === 'number' && value >= least && value <= MAX_TIMER_MS) return value;
  throw new SluiceError(
    'invalid_argument',
    `${name} should be a number from ${least} to ${MAX_TIMER_MS}`,
  );
}
