/** Converts calls to the webhook format. */
import {
  type WebhookCall,
  type WebhookCaller,
  itemSignature,
  parameterType,
  selectorOf,
} from '@sluice/kit/contract';
import {
  type CustomErrors,
  FAILED_AROUND,
  NOT_TRACED,
  compileErrors,
  toReason,
} from '../base/callFailure.ts';
import { toWireValue } from '../base/wireValue.ts';
import type { EvmCall, EvmTransaction } from './block.ts';
import type { CallSelection } from './callSelection.ts';
import type { CompiledStream } from './match.ts';

export function toWebhookCall(call: EvmCall, { record, selection }: CompiledStream): WebhookCall {
  const { transactionHash, traceAddress, type, from, to, value, input, isFailed } = call;
  return {
    transactionHash,
    transactionIndex: String(call.transactionIndex),
    traceAddress: [...traceAddress],
    type,
    from,
    to,
    value: BigInt(value).toString(),
    input,
    ...decode(selection.calls, input),
    status: isFailed === null ? null : isFailed ? 'failed' : 'success',
    ...(isFailed === true && reasonOf(call, errorsOf(record.options))),
  };
}

function reasonOf(
  { failure, traceAddress }: EvmCall,
  errors: CustomErrors,
): Pick<WebhookCall, 'reason' | 'reasonUnavailable'> {
  if (failure !== undefined) return { reason: toReason(failure, errors) };
  // A call inside a transaction comes from its trace, which has the failure of each call.
  return traceAddress.length > 0 ? { reason: FAILED_AROUND } : { reasonUnavailable: NOT_TRACED };
}

/** Compiled errors by options object, which a change to the stream replaces. */
const errorsByOptions = new WeakMap<object, CustomErrors>();

function errorsOf(options: CompiledStream['record']['options']): CustomErrors {
  let errors = errorsByOptions.get(options);
  if (errors === undefined) {
    errors = compileErrors(options.abi ?? []);
    errorsByOptions.set(options, errors);
  }
  return errors;
}

export const toWebhookCaller = (
  { from, to, input }: EvmTransaction,
  { selection }: CompiledStream,
): WebhookCaller => ({
  from,
  to,
  selector: to === null ? null : (selectorOf(input) ?? null),
  ...decode(to === null ? undefined : selection.calls, input),
});

function decode(
  calls: CallSelection | undefined,
  input: string,
): Pick<WebhookCall, 'function' | 'arguments'> {
  const decoded = calls?.decode(input);
  if (decoded === undefined) return { function: null, arguments: null };
  const {
    called: { item, names },
    args,
  } = decoded;
  return {
    function: itemSignature(item),
    arguments:
      args &&
      names.map((name, n) => ({
        name,
        type: parameterType(item.inputs![n]!),
        value: toWireValue(args[name]!),
      })),
  };
}
