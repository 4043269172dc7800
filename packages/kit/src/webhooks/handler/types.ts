/** Types of {@link createHandler}. */
import type { Abi } from 'abitype';
import type { AbiItem, AptosWebhook } from '../../contract/shapes.generated.ts';
import type { AddressSpelling, DecodedLog, DecodedLogOf, UndecodedLog } from '../decode.ts';
import type { WebhookHeaders } from '../adapters/headers.ts';
import type { SeenStore } from '../seen.ts';
import type { ReceivedAptosWebhook, ReceivedWebhook, UnwrapRules, WebhookKey } from '../unwrap.ts';

export type AnyAbi = Abi | readonly AbiItem[];

/** Options of {@link createHandler}. */
export type HandlerOptions<A extends AnyAbi = readonly AbiItem[]> = WebhookKey &
  UnwrapRules & {
    /**
     * Decodes the logs; if `as const`, also types names and arguments. Default: the ABI in each
     * webhook, which comes from its stream.
     */
    abi?: A | undefined;
    /** Spelling of decoded addresses, see {@link DecodeOptions}. Default: `lower`. */
    addresses?: AddressSpelling | undefined;
    /**
     * Store of handled deliveries. Default: {@link createMemorySeenStore}, for a single process.
     * With `false`, every attempt is handled.
     */
    seen?: SeenStore | false | undefined;
    /**
     * Maximum body size. Sluice sends at most 8 MiB unless `--max-webhook-bytes` changes it; the
     * hosted service sends more.
     * @unit bytes
     * @defaultValue 52_428_800 (50 MiB)
     */
    maxBodyBytes?: number | undefined;
    /**
     * Receives errors of your handlers with the delivery, and a `SluiceError` for rejected requests
     * without a delivery, at most once per second. For a rejected signature, `details` contains a
     * {@link diagnose diagnosis} if the body has at most 1 MiB. Default: `console.error`.
     */
    onError?: ((error: unknown, delivery: AnyReceived | undefined) => void) | undefined;
  };

/** A delivery of either family. */
export type AnyReceived = ReceivedWebhook | ReceivedAptosWebhook;

/** A function for webhooks. It is awaited; its result is ignored. */
export type Handle<T> = (value: T, delivery: ReceivedWebhook) => unknown;

/**
 * Every block is delivered twice: unconfirmed when it appears, and confirmed once enough blocks
 * have followed. A single function is called only for the confirmed delivery. Two functions of a
 * pair never run at the same time, and an unconfirmed delivery that arrives after the confirmed one
 * was handled is skipped.
 */
export type Handles<T> =
  | Handle<T>
  | { readonly unconfirmed: Handle<T>; readonly confirmed?: Handle<T> }
  | { readonly unconfirmed?: Handle<T>; readonly confirmed: Handle<T> };

type EventName<A extends AnyAbi> = DecodedLogOf<A>['name'];

type LogNamed<A extends AnyAbi, Name> = OnChain<
  number extends A['length'] ? DecodedLog : Extract<DecodedLogOf<A>, { readonly name: Name }>
>;

/** A log with its chain. */
export type OnChain<Log> = Log & {
  /** Chain id in hex, such as `0x1`. Chain, transaction and `logIndex` together identify a log. */
  readonly chainId: string;
};

/** A request of any framework, from an adapter. */
export interface IncomingWebhook {
  /** Default: POST. */
  readonly method?: string | undefined;
  readonly headers: WebhookHeaders;
  /** Raw text or bytes, or chunks of bytes; anything else counts as already parsed. */
  readonly body: unknown;
}

/** The response, for adapters. */
export interface WebhookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON with a `message`. */
  readonly body: string;
}

/** The part of a {@link WebhookHandler} that an adapter needs. */
export interface WebhookReceiver {
  /** Never rejects. */
  receive(request: IncomingWebhook): Promise<WebhookAnswer>;
  readonly maxBodyBytes: number;
}

/**
 * A handler of web requests, with methods to register functions. Each method returns the handler
 * itself.
 */
export interface WebhookHandler<A extends AnyAbi = readonly AbiItem[]> extends WebhookReceiver {
  /** Never rejects. */
  (request: Request): Promise<Response>;
  /**
   * Called for each event of this name, in log order. To store an event, use (`chainId`,
   * `transactionHash`, `logIndex`) as its key. Without an ABI here or on the stream, `onError` gets
   * `missing_abi` once per stream, unless {@link onUndecoded} is used.
   * @throws SluiceError `invalid_argument` if the given ABI has no such event.
   */
  on<Name extends EventName<A>>(name: Name, handles: Handles<LogNamed<A, Name>>): this;
  /**
   * Called for each log that the ABI cannot decode, with the reason; without an ABI, for all logs.
   */
  onUndecoded(handles: Handles<OnChain<UndecodedLog>>): this;
  /** Called for each webhook, after its events. */
  onWebhook(handles: Handles<ReceivedWebhook['webhook']>): this;
  /**
   * Called with the removal webhook when a delivered block left the chain: delete what you stored
   * for that block hash. Sluice sends it for streams with `notifyRemoved`, and calls no other
   * function for it. The events may then be in another block, and the block itself may return and
   * be delivered again.
   */
  onRemoved(handle: Handle<ReceivedWebhook['webhook']>): this;
  /**
   * Called for each webhook of an Aptos stream, for which no other function is called. Aptos blocks
   * are final, so each one is delivered once.
   */
  onAptosWebhook(handle: (webhook: AptosWebhook, delivery: ReceivedAptosWebhook) => unknown): this;
}
