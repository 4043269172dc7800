/** Types of {@link createHandler} and {@link createHandlerWithPublicKey}. */
import type { Abi } from 'abitype';
import type { AbiItem, AptosWebhook } from '../../contract/shapes.generated.ts';
import type { DecodedLog, DecodedLogOf, DecodeOptions, UndecodedLog } from '../decode.ts';
import type { DecodedCall, DecodedCallOf } from '../decodeCalls.ts';
import type { WebhookHeaders } from '../adapters/headers.ts';
import type { Diagnosis } from '../diagnose.ts';
import type { SeenStore } from '../seen.ts';
import type { PublicKeys } from '../publicKey.ts';
import type { ReceivedAptosWebhook, ReceivedWebhook, UnwrapRules, WebhookKey } from '../unwrap.ts';

export type AnyAbi = Abi | readonly AbiItem[];

/** Options of both kinds of handlers. */
export interface HandlerRules<A extends AnyAbi = readonly AbiItem[]> extends DecodeOptions {
  /**
   * ABI for decoding logs and calls. If it is `as const`, names and arguments are typed. Default: the
   * ABI and the functions in each webhook, which come from its stream.
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
}

/** Verifies requests with the keys of a handler, and explains why one is rejected. */
export interface Verifier {
  verify(request: ReadRequest): AnyReceived | Promise<AnyReceived>;
  diagnose(request: ReadRequest): Diagnosis | undefined | Promise<Diagnosis | undefined>;
}

/** A verified delivery of either chain family. */
export type AnyReceived = ReceivedWebhook | ReceivedAptosWebhook;

/** A function that handles a webhook or log. It is awaited, and its result is ignored. */
export type HandlerFunction<T> = (value: T, delivery: ReceivedWebhook) => unknown;

/**
 * A function that is called only for confirmed deliveries, or functions by phase. Most blocks are
 * delivered twice: unconfirmed when they appear, and confirmed once enough blocks have followed. In
 * one process, the functions of a pair never run at the same time for the same block. A pair skips
 * an unconfirmed delivery that arrives after the confirmed one was handled, unless `seen` is
 * `false`.
 */
export type HandlerFunctions<T> =
  | HandlerFunction<T>
  | { readonly unconfirmed: HandlerFunction<T>; readonly confirmed?: HandlerFunction<T> }
  | { readonly unconfirmed?: HandlerFunction<T>; readonly confirmed: HandlerFunction<T> };

type EventName<A extends AnyAbi> = DecodedLogOf<A>['name'];

type LogNamed<A extends AnyAbi, Name> = WithChainId<
  number extends A['length'] ? DecodedLog : Extract<DecodedLogOf<A>, { readonly name: Name }>
>;

type FunctionName<A extends AnyAbi> = DecodedCallOf<A>['name'];

type CallNamed<A extends AnyAbi, Name> = WithChainId<
  number extends A['length'] ? DecodedCall : Extract<DecodedCallOf<A>, { readonly name: Name }>
>;

/** A log or a call with the id of its chain. */
export type WithChainId<Item> = Item & {
  /**
   * Chain id in hex, such as `0x1`. Chain, transaction and `logIndex` together identify a log;
   * chain, transaction and `traceAddress` identify a call.
   */
  readonly chainId: string;
};

/** A request of any framework, from an adapter. */
export interface IncomingWebhook {
  /** HTTP method. Default: POST. */
  readonly method?: string | undefined;
  readonly headers: WebhookHeaders;
  /** Raw text or bytes, or an async iterable of chunks; anything else counts as already parsed. */
  readonly body: unknown;
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
export interface WebhookHandler<A extends AnyAbi = readonly AbiItem[]> extends WebhookReceiver {
  /** Handles a web request. The promise never rejects. */
  (request: Request): Promise<Response>;
  /**
   * Registers functions that are called for each event of this name, in log order. To store an
   * event, use (`chainId`, `transactionHash`, `logIndex`) as its key. Without an ABI here or on the
   * stream, `onError` gets `missing_abi` once per stream, unless {@link onUndecoded} is used.
   * @throws SluiceError `invalid_argument` if the given ABI has no such event.
   */
  on<Name extends EventName<A>>(name: Name, handles: HandlerFunctions<LogNamed<A, Name>>): this;
  /**
   * Registers functions that are called for each log that the ABI cannot decode, with the reason.
   * Without an ABI, they are called for all logs.
   */
  onUndecoded(handles: HandlerFunctions<WithChainId<UndecodedLog>>): this;
  /**
   * Registers functions that are called for each call of a function of this name, after the
   * functions for logs. Calls that cannot be decoded are left out.
   * @throws SluiceError `invalid_argument` if the given ABI has no such function.
   */
  onCall<Name extends FunctionName<A>>(
    name: Name,
    handles: HandlerFunctions<CallNamed<A, Name>>,
  ): this;
  /**
   * Registers functions that are called for each webhook of an EVM stream, after the functions for
   * its logs and calls. They are not called for removal webhooks.
   */
  onWebhook(handles: HandlerFunctions<ReceivedWebhook['webhook']>): this;
  /**
   * Registers a function that is called for removal webhooks: a delivered block left the chain, so
   * delete what you stored for its hash. Sluice sends removal webhooks for streams with
   * `notifyRemoved`, and no other function is called for them. The events may then be in another
   * block, and the block itself may return and be delivered again.
   */
  onRemoved(handle: HandlerFunction<ReceivedWebhook['webhook']>): this;
  /**
   * Registers a function that is called for each webhook of an Aptos stream. No other function is
   * called for it. Aptos blocks are final, so each one is delivered once.
   */
  onAptosWebhook(handle: (webhook: AptosWebhook, delivery: ReceivedAptosWebhook) => unknown): this;
}
