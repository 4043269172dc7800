/** Validates and converts the reads of a draft. */
import type { AbiItem, AbiParameter } from '@sluice/kit';
import {
  type ReadCondition,
  type StreamRead,
  itemSignature,
  parseFunctionSignature,
  toAddress,
  writeFunction,
} from '@sluice/kit/contract';
import { linesOf } from '../../../routes/streamForm/draft/draft.ts';
import { problemsOfLines } from '../../../routes/streamForm/draft/lineProblems.ts';
import type { LineProblem } from '../../../ui/form/lineProblem.ts';
import type { ConditionKind, ReadDraft } from '../draft.ts';
import { toInput } from './triggers.ts';
import { valueProblem } from '../values.ts';

export const NEW_READ: ReadDraft = {
  source: 'function',
  contract: '',
  function: '',
  arguments: [],
  output: '',
  of: '',
  decimals: '',
  when: { kind: 'changes', limit: '' },
};

export const SOURCES: readonly { value: ReadDraft['source']; label: string }[] = [
  { value: 'function', label: 'a view function' },
  { value: 'native', label: 'native balances' },
  { value: 'token', label: 'token balances' },
];

export const CONDITIONS: readonly { value: ConditionKind; label: string; limit?: string }[] = [
  { value: 'changes', label: 'when it changes' },
  { value: 'blocks', label: 'every N blocks', limit: 'Blocks' },
  { value: 'seconds', label: 'every N seconds', limit: 'Seconds' },
  { value: 'below', label: 'when it falls below', limit: 'Threshold' },
  { value: 'above', label: 'when it rises above', limit: 'Threshold' },
  { value: 'crosses', label: 'when it crosses', limit: 'Threshold' },
];

const MAX_INTERVAL = 100_000_000;
const MAX_DECIMALS = 77;
const NATIVE_DECIMALS = 18;

export const isComparison = ({ kind }: ReadDraft['when']): boolean =>
  kind === 'below' || kind === 'above' || kind === 'crosses';

/** Returns the view functions of an ABI, as text that needs no ABI. */
export const functionTexts = (abi: readonly AbiItem[]): string[] => [
  ...new Set(
    abi
      .filter(
        ({ type, stateMutability, outputs = [] }) =>
          type === 'function' &&
          (stateMutability === 'view' || stateMutability === 'pure') &&
          outputs.length > 0,
      )
      .map((item) => writeFunction(item, 'with outputs')),
  ),
];

/** Returns the function that a text means, with its outputs; undefined if it means none, or several. */
export function functionOf(text: string, abi: readonly AbiItem[]): AbiItem | undefined {
  const item = parseFunctionSignature(text)?.item;
  if (item?.outputs !== undefined) return item.outputs.length > 0 ? item : undefined;
  const functions = abi.filter(({ type }) => type === 'function');
  const [found, ...others] = functions.filter((each) =>
    item === undefined ? each.name === text.trim() : itemSignature(each) === itemSignature(item),
  );
  return others.length === 0 && (found?.outputs ?? []).length > 0 ? found : undefined;
}

/** An output of a function, or a part of a struct in its outputs. */
export interface Output {
  /** Path of names or positions, such as `price.value`. */
  path: string;
  type: string;
}

/** Returns the outputs of a function from which one can be chosen; empty if it has only one value. */
export function outputsOf({ outputs = [] }: AbiItem): Output[] {
  const found = outputs.flatMap(partsOf);
  return found.length > 1 ? found : [];
}

function partsOf({ name, type, components }: AbiParameter, position: number): Output[] {
  const path = name || String(position);
  const inside = type === 'tuple' ? (components ?? []).flatMap(partsOf) : [];
  return [{ path, type }, ...inside.map((part) => ({ ...part, path: `${path}.${part.path}` }))];
}

/** Returns the type of the value that a function returns; `list` for all of several outputs. */
function typeOf(item: AbiItem, output: string): string | undefined {
  const { outputs = [] } = item;
  if (output === '') return outputs.length === 1 ? outputs[0]!.type : 'list';
  const named = outputs.flatMap(partsOf).find(({ path }) => path === output);
  return named?.type ?? outputs.find((_, position) => String(position) === output)?.type;
}

/** Returns the decimals of a value's unit; null if they are those of a token, and not known. */
export function decimalsOf(
  { source, decimals }: ReadDraft,
  tokenDecimals: number | undefined,
): number | null {
  if (decimals.trim() !== '') return Number(decimals);
  if (source === 'native') return NATIVE_DECIMALS;
  return source === 'token' ? (tokenDecimals ?? null) : 0;
}

/** Matches a decimal number with optional thousands separators. */
const THRESHOLD = /^-?(?:\d{1,3}(?:,\d{3})+|\d{1,78})(?:\.\d{1,78})?$/;

const INTEGER = /^u?int\d*$/;

const toThreshold = (text: string): string => text.trim().replaceAll(',', '');

export const accountProblems = (text: string): LineProblem[] =>
  problemsOfLines(text, (line) =>
    toAddress(line) === undefined
      ? `“${line}” is not an address: 0x and 40 hex digits.`
      : undefined,
  );

/**
 * Returns the problems of a read by field, each a sentence. Arguments are `arguments.0` and so on,
 * and the condition is `when`.
 */
export function readProblems(read: ReadDraft, abi: readonly AbiItem[]): Record<string, string> {
  const { source, contract, when } = read;
  const problems: Record<string, string> = {};
  if (source !== 'native' && toAddress(contract.trim()) === undefined) {
    const what = source === 'token' ? 'token' : 'contract';
    problems['contract'] = `Enter the address of the ${what}: 0x and 40 hex digits.`;
  }
  const item = source === 'function' ? functionOf(read.function, abi) : undefined;
  if (source === 'function') {
    if (item === undefined) {
      problems['function'] =
        'Enter a view function with its result, such as totalSupply() returns (uint256).';
    } else Object.assign(problems, callProblems(read, item));
  } else {
    const [wrong] = accountProblems(read.of);
    if (wrong !== undefined) problems['of'] = wrong.message;
  }
  if (!/^\d*$/.test(read.decimals.trim()) || Number(read.decimals) > MAX_DECIMALS) {
    problems['decimals'] = `Enter a number from 0 to ${MAX_DECIMALS}, or leave the field empty.`;
  }
  const limit = limitProblem(when);
  if (limit !== undefined) problems['when'] = limit;
  return problems;
}

function callProblems(read: ReadDraft, item: AbiItem): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const [n, { type }] of (item.inputs ?? []).entries()) {
    const problem = argumentProblem(type, read.arguments[n] ?? '');
    if (problem !== undefined) problems[`arguments.${n}`] = problem;
  }
  const type = typeOf(item, read.output);
  if (type === undefined) problems['output'] = 'Choose an output of the function.';
  else if (isComparison(read.when) && !INTEGER.test(type)) {
    problems['output'] =
      read.output === '' && outputsOf(item).length > 0
        ? 'Choose the output to compare.'
        : `Only integers can be compared, not ${type}. Choose another condition.`;
  }
  return problems;
}

function argumentProblem(type: string, text: string): string | undefined {
  if (type === 'string') return undefined;
  if (text.trim() === '') return 'Enter a value.';
  if (type.endsWith(']') || type === 'tuple') {
    return Array.isArray(toInput(text)) ? undefined : 'Enter a JSON array, such as ["1", "2"].';
  }
  return valueProblem(type, text.trim());
}

function limitProblem(when: ReadDraft['when']): string | undefined {
  const text = when.limit.trim();
  if (isComparison(when)) {
    return THRESHOLD.test(text) ? undefined : 'Enter a number, such as 1,000.5.';
  }
  if (when.kind === 'changes') return undefined;
  const isInterval = /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_INTERVAL;
  return isInterval ? undefined : 'Enter a whole number from 1 to 100,000,000.';
}

/** Converts a read to the format of the API. */
export function toRead(read: ReadDraft, abi: readonly AbiItem[]): StreamRead {
  const { source, contract, output, decimals } = read;
  const of = linesOf(read.of);
  const inputs = toArguments(read, functionOf(read.function, abi));
  return {
    ...(source === 'function'
      ? {
          contract: contract.trim(),
          function: read.function.trim(),
          ...(inputs.length > 0 && { arguments: inputs }),
          ...(output !== '' && { output }),
        }
      : {
          balance: source === 'native' ? 'native' : contract.trim(),
          ...(of.length > 0 && { of }),
        }),
    ...(decimals.trim() !== '' && { decimals: Number(decimals) }),
    when: toCondition(read.when),
  };
}

/** Returns the arguments for the parameters of a function, or those as typed if it is unknown. */
function toArguments({ arguments: given }: ReadDraft, item: AbiItem | undefined): unknown[] {
  if (item === undefined) return given.map(toInput);
  return (item.inputs ?? []).map(({ type }, n) =>
    type === 'string' ? (given[n] ?? '') : toInput(given[n] ?? ''),
  );
}

function toCondition({ kind, limit }: ReadDraft['when']): ReadCondition {
  if (kind === 'changes') return kind;
  if (kind === 'blocks') return { every: Number(limit) };
  if (kind === 'seconds') return { every: Number(limit), unit: 'seconds' };
  return { [kind]: toThreshold(limit) } as ReadCondition;
}

export function fromRead(read: StreamRead): ReadDraft {
  const { balance, function: called, when } = read;
  return {
    source: balance === undefined ? 'function' : balance === 'native' ? 'native' : 'token',
    contract: read.contract ?? (balance === 'native' ? '' : (balance ?? '')),
    function: typeof called === 'object' ? writeFunction(called, 'with outputs') : (called ?? ''),
    arguments: (read.arguments ?? []).map((value) =>
      typeof value === 'string' ? value : JSON.stringify(value),
    ),
    output: read.output ?? '',
    of: (read.of ?? []).join('\n'),
    decimals: String(read.decimals ?? ''),
    when: fromCondition(when),
  };
}

function fromCondition(when: ReadCondition): ReadDraft['when'] {
  if (when === 'changes') return { kind: when, limit: '' };
  if ('every' in when) {
    return { kind: when.unit === 'seconds' ? 'seconds' : 'blocks', limit: String(when.every) };
  }
  const [[kind, limit]] = Object.entries(when) as [[ConditionKind, string]];
  return { kind, limit };
}
