/** Types of {@link createHandler} and {@link createHandlerWithPublicKey}. */
import type { AbiItem } from '../../contract/shapes.generated.ts';
import type { AnyAbi, HandlerMethods } from '../../families/handlerMethods.ts';
import type { AnyReceived } from '../../families/webhooks.ts';
import type { DecodeOptions } from '../decode.ts';
import type { WebhookHeaders } from '../adapters/headers.ts';
import type { Diagnosis } from '../diagnose.ts';
import type { SeenStore } from '../seen.ts';
import type { PublicKeys } from '../publicKey.ts';
import type { UnwrapRules, WebhookKey } from '../unwrap.ts';

/** Options of both kinds of handlers. */
export interface HandlerRules<A extends AnyAbi = readonly AbiItem[]> extends DecodeOptions {
  /**
   * ABI for decoding the logs. If it is `as const`, event names and arguments are typed. Default:
   * the ABI in each webhook, which comes from its stream.
   */
  abi?: A | undefined;
  /**
   * Store of handled deliveries. Default: {@link createMemorySeenStore}, for a single process.
   * With `false`, every attempt is handled.
   */
  seen?: SeenStore | false | undefined;
  /**
   * Maximum body size. By default, Sluice sends at most 8 MiB (`--max-webhook-bytes`); the hosted
   * service sends more.
   *
   * @unit bytes
   * @defaultValue 52_428_800 (50 MiB)
   */
  maxBodyBytes?: number | undefined;
  /**
   * Receives each error of your functions, except `RetryLater` and `DoNotRetry`, and each error
   * of the `seen` store, with its delivery. Also receives a `SluiceError` for most rejected
   * requests, without a delivery and at most once per second. For a rejected signature, its
   * `details` contain a {@link diagnose diagnosis} if the body has at most 1 MiB. Default:
   * `console.error`.
   */
  onError?: ((error: unknown, delivery: AnyReceived | undefined) => void) | undefined;
}

/** Options of {@link createHandler}. */
export type HandlerOptions<A extends AnyAbi = readonly AbiItem[]> = WebhookKey &
  UnwrapRules &
  HandlerRules<A>;

/** Options of {@link createHandlerWithPublicKey}. */
export type PublicKeyHandlerOptions<A extends AnyAbi = readonly AbiItem[]> = PublicKeys &
  Omit<UnwrapRules, 'allowXSignature'> &
  HandlerRules<A>;

/** A request whose body was read. */
export interface ReadRequest {
  headers: WebhookHeaders;
  body: string | Uint8Array;
  /** Returns the time at which the request was received. Default: the current time. */
  now?: () => number;
}

/** Verifies requests with the keys of a handler, and explains why one is rejected. */
export interface Verifier {
  verify(request: ReadRequest): AnyReceived | Promise<AnyReceived>;
  diagnose(request: ReadRequest): Diagnosis | undefined | Promise<Diagnosis | undefined>;
}

/** A request of any framework, from an adapter. */
export interface IncomingWebhook {
  /** HTTP method. Default: POST. */
  readonly method?: string | undefined;
  readonly headers: WebhookHeaders;
  /** Raw text or bytes, or an async iterable of chunks; anything else counts as already parsed. */
  readonly body: unknown;
  /**
   * When the request was received, in Unix milliseconds; `toleranceMs` applies to this time.
   * Default: the current time.
   */
  readonly receivedAt?: number | undefined;
}

/** The response to a webhook, which the adapters send. */
export interface WebhookResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON object with a `message`. */
  readonly body: string;
}

/** The part of a {@link WebhookHandler} that an adapter needs. */
export interface WebhookReceiver {
  /** Handles a webhook and returns the response. The promise never rejects. */
  receive(request: IncomingWebhook): Promise<WebhookResponse>;
  readonly maxBodyBytes: number;
}

/**
 * A handler of web requests, with methods to register functions. Each of these methods returns the
 * handler itself.
 */
export interface WebhookHandler<A extends AnyAbi = readonly AbiItem[]>
  extends WebhookReceiver, HandlerMethods<A> {
  /** Handles a web request. The promise never rejects. */
  (request: Request): Promise<Response>;
}
