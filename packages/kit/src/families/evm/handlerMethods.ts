/** Methods of a webhook handler for EVM streams. */
import type { Abi } from 'abitype';
import type { AbiItem } from '../../contract/shapes.generated.ts';
import type { DecodedLog, DecodedLogOf, UndecodedLog } from '../../webhooks/decode.ts';
import type { DecodedCall, DecodedCallOf } from '../../webhooks/decodeCalls.ts';
import type { DecodedRead } from '../../webhooks/decodeReads.ts';
import type { ReceivedWebhook } from './webhook.ts';

export type AnyAbi = Abi | readonly AbiItem[];

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

/** A log, a call or a value with the id of its chain. */
export type WithChainId<Item> = Item & {
  /**
   * Chain id in hex, such as `0x1`. Chain, transaction and `logIndex` together identify a log;
   * chain, transaction and `traceAddress` identify a call; the other fields identify a value.
   */
  readonly chainId: string;
};

/** Registers functions for webhooks of EVM streams. Each method returns the handler itself. */
export interface EvmHandlerMethods<A extends AnyAbi> {
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
   * Registers functions that are called for each value on chain of the function with this name, or
   * for each balance if the name is `balance`.
   */
  onRead(name: string, handles: HandlerFunctions<WithChainId<DecodedRead>>): this;
  /**
   * Registers functions that are called for each webhook of an EVM stream, after the functions for
   * its logs, calls and values. They are not called for removal webhooks.
   */
  onWebhook(handles: HandlerFunctions<ReceivedWebhook['webhook']>): this;
  /**
   * Registers a function that is called for removal webhooks: a delivered block left the chain, so
   * delete what you stored for its hash. Sluice sends removal webhooks for streams with
   * `notifyRemoved`, and no other function is called for them. The events may then be in another
   * block, and the block itself may return and be delivered again.
   */
  onRemoved(handle: HandlerFunction<ReceivedWebhook['webhook']>): this;
}
