/** Validates the reads of a stream, and compiles them to calls and decoders of their results. */
import {
  type AbiItem,
  type AbiParameter,
  type DecodedValue,
  type StreamRead,
  type WebhookRead,
  compileParameters,
  functionSelector,
  itemSignature,
  keccak256,
  parseFunctionSignature,
} from '@sluice/kit/contract';
import { encodeAbiParameters } from 'viem/utils';
import { CallerError } from '../../../../base/errors.ts';
import type { StreamOptions } from '../../../../store/streams/contract.ts';
import { toWireValue } from '../../base/wireValue.ts';
import { MAX_CALL_BYTES, isSupported, toAbiValue, unnamed } from '../../enrich/abiValues.ts';
import type { StateCall } from '../../enrich/state.ts';
import { FilterError } from '../../match/filter.ts';
import { thresholdOf } from './condition.ts';

/** Maximum number of values that a stream reads in a block. */
export const MAX_READ_VALUES = 1_000;
/** Maximum size of a result in bytes, because the ledger keeps each value. */
const MAX_VALUE_BYTES = 4_096;

const NATIVE_DECIMALS = 18;
const BALANCE_OF = '0x70a08231';

/** One value that a stream reads. */
export interface ReadValue {
  /** Identifies the value and its condition in the ledger. */
  readonly key: string;
  /** The call, or the account whose native balance is read. */
  readonly source: StateCall | { readonly account: string };
  /** The token whose decimals apply; undefined if `decimals` is known. */
  readonly token: string | undefined;
  /** Decimals of the value; null if they are unknown, or those of `token`. */
  readonly decimals: number | null;
  readonly when: StreamRead['when'];
  /** The part of a webhook that describes the value. */
  readonly about: Omit<WebhookRead, 'decimals' | 'before' | 'after'>;
  /**
   * Converts the result to the JSON of the value; undefined if it does not have the declared
   * outputs.
   */
  toValue(result: string): string | undefined;
}

export interface CompiledReads {
  /** The values, except balances of the addresses of the stream. */
  readonly fixed: readonly ReadValue[];
  /** Returns the balances of an address of the stream. */
  readonly ofAddress: readonly ((address: string) => ReadValue)[];
}

type ReadOptions = Pick<StreamOptions, 'reads' | 'abi'>;

/** @throws FilterError with a path that starts at the stream's options */
export function compileReads({ reads, abi }: ReadOptions): CompiledReads {
  const fixed: ReadValue[] = [];
  const ofAddress: ((address: string) => ReadValue)[] = [];
  for (const [n, read] of (reads ?? []).entries()) {
    if (read.balance === undefined) fixed.push(compileCall(read, abi ?? [], ['reads', n]));
    else if (read.of === undefined) ofAddress.push((address) => compileBalance(read, address));
    else fixed.push(...read.of.map((address) => compileBalance(read, address)));
  }
  return { fixed, ofAddress };
}

/** Validates the reads of a stream. Returns the problems with their paths. */
export function checkReads(options: ReadOptions): Pick<FilterError, 'path' | 'message'>[] {
  try {
    if (compileReads(options).fixed.length <= MAX_READ_VALUES) return [];
    const message = `should read at most ${MAX_READ_VALUES} values in all: divide them among streams`;
    return [{ path: ['reads'], message }];
  } catch (error) {
    if (error instanceof FilterError) return [error];
    throw error;
  }
}

const keyOf = (...parts: unknown[]): string => keccak256(JSON.stringify(parts)).slice(2, 18);

function compileBalance({ balance, decimals, when }: StreamRead, of: string): ReadValue {
  const isNative = balance === 'native';
  return {
    key: keyOf(balance, of, decimals ?? null, when),
    source: isNative
      ? { account: of }
      : {
          to: balance!,
          data: BALANCE_OF + of.slice(2).padStart(64, '0'),
          maxBytes: MAX_VALUE_BYTES,
        },
    token: isNative || decimals !== undefined ? undefined : balance,
    decimals: decimals ?? (isNative ? NATIVE_DECIMALS : null),
    when,
    about: { balance: balance!, of, when },
    toValue: isNative
      ? (wei) => JSON.stringify(wei)
      : // Some tokens return more than the balance.
        (result) =>
          result.length < 66 ? undefined : JSON.stringify(String(BigInt(result.slice(0, 66)))),
  };
}

function compileCall(read: StreamRead, abi: readonly AbiItem[], path: Path): ReadValue {
  const { contract, function: text, arguments: given, output, decimals, when } = read;
  const item = findFunction(text as string, abi, [...path, 'function']);
  const { inputs = [], outputs = [] } = item;
  const data = encodeCall(item, given ?? [], [...path, 'arguments']);
  const picked = pickOutput(outputs, output, [...path, 'output']);
  if (thresholdOf(when) !== undefined && !/^u?int\d+$/.test(picked.type)) {
    const names = outputs.map(({ name }, n) => name || `${n}`).join(', ');
    throw new FilterError(
      outputs.length > 1 && output === undefined ? [...path, 'output'] : [...path, 'when'],
      outputs.length > 1 && output === undefined
        ? `should name the output to compare: ${names}`
        : `should be changes or every: ${picked.type} is not an integer`,
    );
  }
  const results = compileParameters(unnamed(outputs))!;
  return {
    key: keyOf(
      contract,
      data,
      outputs.map(({ type }) => type),
      picked.positions,
      decimals ?? null,
      when,
    ),
    source: { to: contract!, data, maxBytes: MAX_VALUE_BYTES },
    token: undefined,
    decimals: decimals ?? (/^u?int\d+$/.test(picked.type) ? 0 : null),
    when,
    about: {
      contract: contract!,
      function: itemSignature(item),
      ...(inputs.length > 0 && { arguments: given ?? [] }),
      ...(output !== undefined && { output }),
      when,
    },
    toValue(result) {
      let values: readonly DecodedValue[];
      try {
        values = results.decode(result);
      } catch {
        return undefined;
      }
      let value: unknown = values.map(toWireValue);
      for (const position of picked.positions) value = (value as readonly unknown[])[position];
      return JSON.stringify(value);
    },
  };
}

type Path = (string | number)[];

/** Finds the function that the text names, with its outputs. */
function findFunction(text: string, abi: readonly AbiItem[], path: Path): AbiItem {
  const item = parseFunctionSignature(text)?.item;
  const functions = abi.filter(({ type }) => type === 'function');
  const named =
    item === undefined
      ? functions.filter(({ name }) => name === text.trim())
      : functions.filter((each) => itemSignature(each) === itemSignature(item));
  const found = item?.outputs === undefined ? named : [item];
  const [first] = found;
  if (first === undefined || found.length > 1 || (first.outputs ?? []).length === 0) {
    throw new FilterError(
      path,
      'should be a signature with its outputs, e.g. totalSupply() returns (uint256), or one function of abi',
    );
  }
  for (const parameter of [...(first.inputs ?? []), ...first.outputs!]) {
    if (isSupported(parameter)) continue;
    throw new FilterError(
      path,
      `should have only parameters that can be decoded, not ${parameter.type}`,
    );
  }
  return first;
}

function encodeCall(item: AbiItem, given: readonly unknown[], path: Path): string {
  const { inputs = [] } = item;
  if (given.length !== inputs.length) {
    const wanted = inputs.map(({ name, type }) => `${type} ${name}`.trim()).join(', ');
    throw new FilterError(
      path,
      inputs.length === 0
        ? 'should be left out: the function has no parameters'
        : `should have one entry for each parameter of the function: ${wanted}`,
    );
  }
  const room = { bytes: MAX_CALL_BYTES };
  const values = inputs.map((parameter, n) => {
    try {
      return toAbiValue(parameter, given[n], room);
    } catch (error) {
      if (!(error instanceof CallerError)) throw error;
      throw new FilterError([...path, n], error.message);
    }
  });
  return functionSelector(item) + encodeAbiParameters(unnamed(inputs), values).slice(2);
}

/**
 * Finds an output by its path of names or positions. By default, the only output, or all of them.
 */
function pickOutput(
  outputs: readonly AbiParameter[],
  output: string | undefined,
  path: Path,
): { positions: readonly number[]; type: string } {
  if (output === undefined) {
    return outputs.length === 1
      ? { positions: [0], type: outputs[0]!.type }
      : { positions: [], type: 'list' };
  }
  const positions: number[] = [];
  let among: readonly AbiParameter[] = outputs;
  let type = '';
  for (const name of output.split('.')) {
    const at = among.findIndex((each, n) => each.name === name || `${n}` === name);
    const found = among[at];
    if (found === undefined) {
      const names = among.map((each, n) => each.name || `${n}`).join(', ');
      throw new FilterError(
        path,
        names === '' ? `should end before ${name}` : `should be one of ${names}`,
      );
    }
    positions.push(at);
    ({ type } = found);
    among = type === 'tuple' ? (found.components ?? []) : [];
  }
  return { positions, type };
}
