/** Parses signatures of events and functions in text, and writes those of ABI items. */
import type { AbiItem, AbiParameter } from '../shapes.generated.ts';

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const TYPE = /^([a-z]+)(?:(\d+)(x\d+)?)?((?:\[\d*\])*)$/;
const TOKEN = /\s*([A-Za-z0-9_$]+|\[\d*\]|[(),;])/y;
const SPACE = /\s*/y;
const ARRAY = /^\[\d*\]$/;

/** Maximum length of a signature, and maximum nesting of its tuples. */
const MAX_LENGTH = 4096;
const MAX_DEPTH = 32;

/** Parses an event or a function from text into an ABI item; undefined if the text is invalid. */
export function parseItem(text: string, type: 'event' | 'function'): AbiItem | undefined {
  const read = readItem(text, type);
  return 'expected' in read ? undefined : read;
}

/** Parses a tuple such as `(uint256,address[])` into its components; undefined for other text. */
export function parseTuple(text: string): readonly AbiParameter[] | undefined {
  const [tuple] = parseItem(`_(${text})`, 'event')?.inputs ?? [];
  return tuple?.type === 'tuple' ? tuple.components : undefined;
}

/** The first error in a signature. */
export interface SignatureProblem {
  /** Index of the first wrong character; the length of the text if the text ends too early. */
  at: number;
  /** The word or character at that index; empty if the text ends there or is too long. */
  found: string;
  /**
   * Expected text at that index. `)`: a closing parenthesis or a comma; `end`: the end of the text;
   * `less`: at most 4,096 characters in total.
   */
  expected: 'name' | 'type' | '(' | ')' | 'end' | 'less';
}

/** Returns why {@link parseItem} rejects the text; undefined for a valid signature. */
export function findItemProblem(
  text: string,
  type: 'event' | 'function',
): SignatureProblem | undefined {
  const read = readItem(text, type);
  return 'expected' in read ? read : undefined;
}

/** Returns the canonical signature of an ABI item, such as an event or a function. */
export function itemSignature(item: AbiItem): string {
  return `${item.name ?? ''}(${typeList(item.inputs)})`;
}

/**
 * Returns the canonical name of an elementary Solidity type with its array suffixes (`uint256[]`
 * for `uint[]`), or undefined if the type does not exist.
 */
export function canonicalType(type: string): string | undefined {
  const match = TYPE.exec(type);
  if (!match) return undefined;
  const [, base = '', size = '', decimals = '', arrays = ''] = match;
  const name = canonicalElementary(base, size, decimals);
  return name === undefined ? undefined : name + arrays;
}

function canonicalElementary(base: string, size: string, decimals: string): string | undefined {
  if (size.startsWith('0')) return undefined;
  const number = Number(size);
  switch (base) {
    case 'uint':
    case 'int':
      if (decimals) return undefined;
      if (!size) return `${base}256`;
      return number % 8 === 0 && number <= 256 ? base + size : undefined;
    case 'bytes':
      return decimals || number > 32 ? undefined : base + size;
    case 'fixed':
    case 'ufixed': {
      if (!size && !decimals) return `${base}128x18`;
      const places = Number(decimals.slice(1));
      const known = number >= 8 && number <= 256 && number % 8 === 0 && decimals && places <= 80;
      return known ? `${base}${number}x${places}` : undefined;
    }
    case 'address':
    case 'bool':
    case 'string':
    case 'function':
      return size || decimals ? undefined : base;
    default:
      return undefined;
  }
}

function typeList(parameters: readonly AbiParameter[] = []): string {
  return parameters.map(parameterType).join(',');
}

/** Returns the canonical type of a parameter, such as `(address,uint24)[]`. */
export function parameterType({ type, components }: AbiParameter): string {
  if (type.startsWith('tuple')) return `(${typeList(components)})${type.slice('tuple'.length)}`;
  return canonicalType(type) ?? type;
}

/** Words that Solidity allows after the type of a function's parameter. */
const LOCATIONS = ['payable', 'memory', 'calldata', 'storage'];
/** Words that Solidity allows after the parameters of a function. */
const MODIFIERS = ['external', 'public', 'view', 'pure', 'payable', 'nonpayable'];

/** Returns the item with canonical types, or the first problem in the text. */
function readItem(text: string, itemType: 'event' | 'function'): AbiItem | SignatureProblem {
  if (text.length > MAX_LENGTH) return { at: MAX_LENGTH, found: '', expected: 'less' };
  const tokens = tokenize(text);
  const isEvent = itemType === 'event';
  let at = 0;
  let problem: SignatureProblem | undefined;

  /** Records a problem at the current token. Only the first problem is kept. */
  const stop = (expected: SignatureProblem['expected']): undefined => {
    problem ??= { ...(tokens[at] ?? { at: text.length, found: '' }), expected };
    return undefined;
  };
  const isAt = (found: string): boolean => tokens[at]?.found === found;
  const isName = (): boolean => IDENTIFIER.test(tokens[at]?.found ?? '');
  const skip = (found: string): boolean => {
    const isFound = isAt(found);
    if (isFound) at++;
    return isFound;
  };

  /** Reads a list of parameters in parentheses. Returns undefined if the text is invalid. */
  const readList = (depth: number): AbiParameter[] | undefined => {
    if (depth > MAX_DEPTH || !skip('(')) return stop('(');
    const parameters: AbiParameter[] = [];
    if (skip(')')) return parameters;
    for (;;) {
      const parameter = readParameter(depth);
      if (parameter === undefined) return undefined;
      parameters.push(parameter);
      if (skip(')')) return parameters;
      if (!skip(',')) return stop(')');
    }
  };

  const readParameter = (depth: number): AbiParameter | undefined => {
    const isTuple = skip('tuple') || isAt('(');
    const components = isTuple ? readList(depth + 1) : undefined;
    let type = isTuple ? 'tuple' : canonicalType(tokens[at]?.found ?? '');
    if (type === undefined) return stop('type');
    if (isTuple && components === undefined) return undefined;
    if (!isTuple) at++;
    for (; ARRAY.test(tokens[at]?.found ?? ''); at++) type += tokens[at]?.found ?? '';
    const indexed = isEvent && skip('indexed');
    while (!isEvent && LOCATIONS.some(skip));
    const name = isName() ? (tokens[at++]?.found ?? '') : '';
    const isTopic = isEvent && depth === 0;
    return { name, type, ...(isTopic && { indexed }), ...(components && { components }) };
  };

  if (isAt(itemType) && tokens[1]?.found !== '(') at++;
  const name = isName() ? tokens[at++]?.found : stop('name');
  const inputs = name === undefined ? undefined : readList(0);
  let outputs: AbiParameter[] | undefined;
  const anonymous = isEvent && inputs !== undefined && skip('anonymous');
  if (inputs !== undefined) {
    while (!isEvent && MODIFIERS.some(skip));
    if (!isEvent && skip('returns')) outputs = readList(0);
    skip(';');
    if (at < tokens.length) stop('end');
  }
  if (problem !== undefined) return problem;
  const item = { type: itemType, name: name ?? '', inputs: inputs ?? [] };
  if (isEvent) return { ...item, anonymous };
  return outputs === undefined ? item : { ...item, outputs };
}

/** Splits text into words and punctuation. Stops after the first character that is neither. */
function tokenize(text: string): { at: number; found: string }[] {
  const end = text.trimEnd().length;
  const tokens: { at: number; found: string }[] = [];
  let from = 0;
  while (from < end) {
    TOKEN.lastIndex = from;
    const found = TOKEN.exec(text)?.[1];
    if (found === undefined) {
      SPACE.lastIndex = from;
      const at = from + (SPACE.exec(text)?.[0].length ?? 0);
      return [...tokens, { at, found: String.fromCodePoint(text.codePointAt(at) ?? 0) }];
    }
    from = TOKEN.lastIndex;
    tokens.push({ at: from - found.length, found });
  }
  return tokens;
}
