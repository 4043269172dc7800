/** Types of {@link createHandler}. */
import type { Abi } from 'abitype';
import type { AbiItem, AptosWebhook } from '../../contract/shapes.generated.ts';
import type { AddressSpelling, DecodedLog, DecodedLogOf, UndecodedLog } from '../decode.ts';
import type { WebhookHeaders } from '../adapters/headers.ts';
import type { SeenStore } from '../seen.ts';
import type { ReceivedAptosWebhook, ReceivedWebhook, UnwrapRules, WebhookKey } from '../unwrap.ts';

export type AnyAbi = Abi | readonly AbiItem[];

/** What {@link createHandler} takes. */
export type HandlerOptions<A extends AnyAbi = readonly AbiItem[]> = WebhookKey &
  UnwrapRules & {
    /**
     * Decodes the logs; `as const`, it types names and arguments. Default: the ABI that each
     * webhook carries, which is the one set on its stream.
     */
    abi?: A | undefined;
    /** How decoded addresses are spelled, see {@link DecodeOptions}. Default `lower`. */
    addresses?: AddressSpelling | undefined;
    /**
     * Which deliveries have been handled. Default: {@link createMemorySeenStore}, enough for one
     * process. With `false` every attempt is handled.
     */
    seen?: SeenStore | false | undefined;
    /**
     * Largest body that is read. Sluice sends at most 8 MiB unless `--max-webhook-bytes` says otherwise, the hosted service more.
     * @unit bytes
     * @defaultValue 52_428_800 (50 MiB)
     */
    maxBodyBytes?: number | undefined;
    /**
     * Gets what went wrong: what your handlers threw, with the delivery, and `SluiceError`s of
     * requests that were refused, without one and at most once a second. A refused signature comes
     * with its {@link diagnose diagnosis} in `details`, if the body has at most 1 MiB. Default:
     * `console.error`.
     */
    onError?: ((error: unknown, delivery: AnyReceived | undefined) => void) | undefined;
  };

/** A delivery of either family. */
export type AnyReceived = ReceivedWebhook | ReceivedAptosWebhook;

/** Is awaited; what it returns is ignored. */
export type Handle<T> = (value: T, delivery: ReceivedWebhook) => unknown;

/**
 * Every block is delivered twice: unconfirmed as soon as it appears, confirmed once it is deep
 * enough. A function alone is called for the confirmed one, so once for each event. With both, the
 * two of a pair never run at the same time, and an unconfirmed one that arrives late, after its
 * confirmed one was handled, is left out. A block that is reorganised away is not confirmed; see
 * {@link WebhookHandler.onRemoved}.
 */
export type Handles<T> =
  | Handle<T>
  | { readonly unconfirmed: Handle<T>; readonly confirmed?: Handle<T> }
  | { readonly unconfirmed?: Handle<T>; readonly confirmed: Handle<T> };

type EventName<A extends AnyAbi> = DecodedLogOf<A>['name'];

type LogNamed<A extends AnyAbi, Name> = OnChain<
  number extends A['length'] ? DecodedLog : Extract<DecodedLogOf<A>, { readonly name: Name }>
>;

/** A log with the chain it is from. */
export type OnChain<Log> = Log & {
  /** Hex, e.g. `0x1`. A log is known by its chain, its transaction and its `logIndex` together. */
  readonly chainId: string;
};

/** What an adapter hands over: a request of any framework. */
export interface IncomingWebhook {
  /** Absent: POST. */
  readonly method?: string | undefined;
  readonly headers: WebhookHeaders;
  /** Raw (text, bytes) or chunks of bytes; anything else is answered as parsed before. */
  readonly body: unknown;
}

/** What to answer; for adapters. */
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
 * A handler of web requests, to register functions with. Each method returns the handler itself.
 */
export interface WebhookHandler<A extends AnyAbi = readonly AbiItem[]> extends WebhookReceiver {
  /** Never rejects. */
  (request: Request): Promise<Response>;
  /**
   * Calls for each event of that name, in the order of the logs. To store an event use
   * (`chainId`, `transactionHash`, `logIndex`) as its key. Without an ABI (none here, and the stream
   * has none) no log has a name: `onError` gets `missing_abi`, once for each stream, unless
   * {@link onUndecoded} takes the logs.
   * @throws SluiceError `invalid_argument` when the given ABI has no such event.
   */
  on<Name extends EventName<A>>(name: Name, handles: Handles<LogNamed<A, Name>>): this;
  /** Calls for each log that the ABI cannot decode, with the reason; without an ABI for every log. */
  onUndecoded(handles: Handles<OnChain<UndecodedLog>>): this;
  /** Calls for each webhook as a whole, after the events in it. */
  onWebhook(handles: Handles<ReceivedWebhook['webhook']>): this;
  /**
   * Calls for each block that left the chain after it was delivered, with the webhook that is taken
   * back: undo what you stored of that block hash. Sluice tells it of streams with `notifyRemoved`;
   * without a function here the notice is answered with 200, and nothing else is called for it.
   * Never at the same time as the deliveries of its block. The events may have come again in another
   * block by then, and the block itself may return and be delivered again.
   */
  onRemoved(handle: Handle<ReceivedWebhook['webhook']>): this;
  /**
   * Calls for each webhook of an Aptos stream. There every block is final, so each is delivered once,
   * and nothing else that is registered is called for it.
   */
  onAptosWebhook(handle: (webhook: AptosWebhook, delivery: ReceivedAptosWebhook) => unknown): this;
}
