/** Describes why a call failed, from its trace. */
import {
  type AbiItem,
  type CompiledFunction,
  type DecodedValue,
  type WebhookCallReason,
  compileFunction,
  selectorOf,
} from '@sluice/kit/contract';
import { cleanLine } from '../../../base/foreignText.ts';
import { previewText } from '../../../base/preview.ts';
import { readRevert } from './revert.ts';
import { toWireValue } from './wireValue.ts';

/** The failure of one call, as its trace contains it. */
export interface CallFailure {
  /** The node's message, such as `out of gas`. */
  error: string;
  /** Returned bytes in lowercase hex; `0x` if there are none. */
  output: string;
}

/** Why a failed call has no reason before its transaction is traced. */
export const NOT_TRACED = 'the transaction was not traced';

/** The reason of a call that was undone because an enclosing call failed. */
export const FAILED_AROUND: WebhookCallReason = {
  kind: 'caller',
  message: 'an enclosing call failed',
  data: null,
};

/** Maximum length of a message and of the data in hex, in characters. */
const MESSAGE_CHARACTERS = 1_000;
const DATA_CHARACTERS = 2 + 2 * 1_024;

/** Maximum JSON size of a reason: each character of the message may need an escape of 6 bytes. */
export const MAX_REASON_BYTES = 6 * (MESSAGE_CHARACTERS + 1) + DATA_CHARACTERS + 200;

/** Custom errors of an ABI by selector; several errors may share one. */
export type CustomErrors = ReadonlyMap<string, readonly CompiledFunction[]>;

export const compileErrors = (abi: readonly AbiItem[]): CustomErrors =>
  Map.groupBy(
    abi.filter(({ type }) => type === 'error').map((item) => compileFunction(item)),
    ({ selector }) => selector,
  );

export function toReason({ error, output }: CallFailure, errors: CustomErrors): WebhookCallReason {
  const data = output === '0x' || output.length > DATA_CHARACTERS ? null : output;
  const reason = (kind: WebhookCallReason['kind'], message: string): WebhookCallReason => ({
    kind,
    message: previewText(cleanLine(message), MESSAGE_CHARACTERS),
    data,
  });
  if (output !== '0x') {
    const revert = readRevert(output);
    if (revert?.kind === 'error') return reason('error', revert.text);
    if (revert?.kind === 'panic') return reason('panic', describePanic(revert.code));
    const custom = describeCustom(output, errors);
    if (custom !== undefined) return reason('custom', custom);
  }
  if (/out ?of ?gas/i.test(error)) return reason('out-of-gas', 'out of gas');
  if (/revert/i.test(error)) {
    return reason('revert', output === '0x' ? 'reverted without data' : 'reverted with other data');
  }
  return reason('other', error);
}

function describeCustom(output: string, errors: CustomErrors): string | undefined {
  for (const { item, names, decode } of errors.get(selectorOf(output) ?? '') ?? []) {
    const args = decode(output);
    if (typeof args === 'string') continue;
    const values = names.map((name) => `${name}: ${showValue(args[name]!)}`);
    return `${item.name}(${values.join(', ')})`;
  }
  return undefined;
}

const showValue = (value: DecodedValue): string => {
  const wire = toWireValue(value);
  return typeof wire === 'string' ? wire : JSON.stringify(wire);
};

/** Meanings of the panic codes of Solidity. */
const PANICS: Readonly<Record<string, string>> = {
  '0x1': 'assertion failed',
  '0x11': 'arithmetic overflow or underflow',
  '0x12': 'division or modulo by zero',
  '0x21': 'invalid enum value',
  '0x22': 'invalid encoding of a storage byte array',
  '0x31': 'pop of an empty array',
  '0x32': 'array index out of bounds',
  '0x41': 'out of memory',
  '0x51': 'call of an uninitialized function',
};

function describePanic(code: bigint): string {
  const hex = `0x${code.toString(16)}`;
  return `panic ${hex}: ${PANICS[hex] ?? 'unknown code'}`;
}
