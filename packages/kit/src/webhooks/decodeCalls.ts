/** Decodes the calls of a webhook to named, typed functions. */
import type { Abi } from 'abitype';
import { type CompiledFunction, compileFunction } from '../contract/rules/abi/callData.ts';
import { readFunction } from '../contract/rules/abi/readAbi.ts';
import type { DecodedValue, Malformation, ReadOptions } from '../contract/rules/abi/values.ts';
import { parseFunctionSignature, selectorOf } from '../contract/rules/functions.ts';
import type { AbiItem, WebhookCall, WebhookCallReason } from '../contract/shapes.generated.ts';
import { SluiceError } from '../errors.ts';
import type { DecodedItem } from './argTypes.ts';
import { type AddressFormat, type DecodeOptions, READ_ADDRESS, hasItems } from './decode.ts';

/** The part of a webhook that {@link decodeCalls} reads. */
export interface CallSource {
  readonly calls?: readonly WebhookCall[] | undefined;
}

/** A call decoded with an ABI whose types are not known at compile time. */
export interface DecodedCall {
  /** Name of the function. */
  readonly name: string;
  /** Arguments by name, in order, in the form of the arguments of decoded logs. */
  readonly args: { readonly [name: string]: DecodedValue };
  readonly transactionHash: string;
  /** Position in the transaction's tree of calls; empty for the transaction itself. */
  readonly traceAddress: readonly number[];
  readonly type: WebhookCall['type'];
  readonly from: string;
  readonly to: string;
  /** Native currency that the call moves, in wei. */
  readonly value: bigint;
  /** Null if the chain does not report it. */
  readonly status: WebhookCall['status'];
  /** Why the call failed; undefined for other calls, and if the reason is unknown. */
  readonly reason: WebhookCallReason | undefined;
}

/**
 * A call decoded with an `as const` ABI: a union over the functions of the ABI, discriminated by
 * `name`.
 */
export type DecodedCallOf<A extends Abi | readonly AbiItem[]> = number extends A['length']
  ? DecodedCall
  : DecodedItem<A[number], 'function', DecodedCall>;

/**
 * Reason why a call could not be decoded:
 * - `unknown-function`: the ABI has no function with the selector of the call;
 * - `unsupported-type`: the function has a parameter type that cannot be decoded, such as `fixed`;
 * - `malformed`, `overlapping`, `dirty`: as for logs.
 */
export type UndecodedCallReason = 'unknown-function' | 'unsupported-type' | Malformation;

/** A call that could not be decoded. */
export interface UndecodedCall {
  /** The call as received. */
  readonly call: WebhookCall;
  readonly reason: UndecodedCallReason;
}

/** The calls of a webhook in two lists, each in the order of the webhook. */
export interface DecodedCalls<Call = DecodedCall> {
  readonly decoded: Call[];
  readonly undecoded: UndecodedCall[];
}

/**
 * Decodes the calls of a webhook with the given ABI, or with the functions in the webhook. If the
 * ABI is `as const`, `name` and `args` are typed. Each ABI object is compiled only once, so keep it
 * in a constant and do not change it.
 * @throws SluiceError `invalid_webhook` without `calls`, which only streams that select functions
 * have.
 */
export function decodeCalls(
  webhook: CallSource,
  abi?: undefined,
  options?: DecodeOptions,
): DecodedCalls;
export function decodeCalls<const A extends Abi | readonly AbiItem[]>(
  webhook: CallSource,
  abi: A,
  options?: DecodeOptions,
): DecodedCalls<DecodedCallOf<A>>;
export function decodeCalls(
  webhook: CallSource,
  abi?: Abi | readonly AbiItem[],
  options?: DecodeOptions,
): DecodedCalls {
  const calls: unknown = webhook?.calls;
  if (!Array.isArray(calls)) {
    throw new SluiceError('invalid_webhook', 'Cannot decode the calls. The webhook has none.', {
      hint: 'Set functions on the stream.',
    });
  }
  return decodeKnownCalls(calls as WebhookCall[], abi, options);
}

/** Decodes calls like {@link decodeCalls}. */
export function decodeKnownCalls(
  calls: readonly WebhookCall[],
  abi: Abi | readonly AbiItem[] | undefined,
  { addresses = 'lower', text = 'exact', strict = false }: DecodeOptions = {},
): DecodedCalls {
  const functions = hasItems(abi) ? compiledFunctions(abi, addresses) : undefined;
  const decoded: DecodedCall[] = [];
  const undecoded: UndecodedCall[] = [];
  for (const call of calls) {
    const known =
      functions === undefined
        ? functionOf(call, addresses)
        : functions.get(selectorOf(call.input) ?? '');
    const result = decodeCall(call, known ?? [], { text, strict });
    if (typeof result === 'string') undecoded.push({ call, reason: result });
    else decoded.push(result);
  }
  return { decoded, undecoded };
}

type Functions = ReadonlyMap<string, readonly CompiledFunction[]>;

const compiled: Record<AddressFormat, WeakMap<object, Functions>> = {
  lower: new WeakMap(),
  checksummed: new WeakMap(),
};

function compiledFunctions(abi: readonly unknown[], addresses: AddressFormat): Functions {
  let functions = compiled[addresses].get(abi);
  if (functions === undefined) {
    const bySelector = new Map<string, CompiledFunction[]>();
    for (const given of abi) {
      const item = readFunction(given);
      if ('message' in item || item.type !== 'function') continue;
      const each = compileFunction(item, READ_ADDRESS[addresses]);
      const known = bySelector.get(each.selector);
      if (known) known.push(each);
      else bySelector.set(each.selector, [each]);
    }
    functions = bySelector;
    compiled[addresses].set(abi, functions);
  }
  return functions;
}

/** Returns the function that the service used, with the names of its arguments. */
function functionOf(call: WebhookCall, addresses: AddressFormat): CompiledFunction[] {
  if (typeof call.function !== 'string') return [];
  const name = call.function.slice(0, call.function.indexOf('('));
  const inputs = call.arguments?.map((each) => `${each.type} ${each.name}`).join(', ');
  const item =
    (inputs === undefined ? undefined : parseFunctionSignature(`${name}(${inputs})`)?.item) ??
    parseFunctionSignature(call.function)?.item;
  return item === undefined ? [] : [compileFunction(item, READ_ADDRESS[addresses])];
}

function decodeCall(
  call: WebhookCall,
  functions: readonly CompiledFunction[],
  options: ReadOptions,
): DecodedCall | UndecodedCallReason {
  let reason: UndecodedCallReason = 'unknown-function';
  for (const { item, decode } of functions) {
    const args = decode(call.input, options);
    if (typeof args !== 'string') return toDecoded(call, item.name ?? '', args);
    reason = args;
  }
  return reason;
}

const toDecoded = (
  { transactionHash, traceAddress, type, from, to, value, status, reason }: WebhookCall,
  name: string,
  args: DecodedCall['args'],
): DecodedCall => ({
  name,
  args,
  transactionHash,
  traceAddress,
  type,
  from,
  to,
  value: BigInt(value),
  status,
  reason,
});
