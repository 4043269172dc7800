/** Converts expressions of OpenZeppelin Monitor, such as `value >= 1000 AND to == '0x…'`, to filters. */
import { cutText } from '../terminal/text.ts';
import { type Filter, UnmappedError, allOf, anyOf } from './filters.ts';

/** A condition of an expression. */
export interface Comparison {
  readonly text: string;
  /** The name on the left, without the path to a part of its value, such as `[0].amount`. */
  readonly name: string;
  readonly path: string;
  /** In lowercase, such as `>=` and `contains`. */
  readonly operator: string;
  readonly value: string;
}

/** Maximum length of an expression in characters. */
const MAX_LENGTH = 100_000;
/** Each level of parentheses adds up to two levels to a filter, which may have 32. */
const MAX_DEPTH = 14;
/** Maximum length of parts of the expression in messages, in columns. */
const SHOWN = 80;

interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Returns a filter that passes whenever the expression holds; undefined if it always passes.
 *
 * @param convert converts a comparison; throws an UnmappedError if filters have no equivalent
 * @param leaveOut is called with each part that the filter does not check, and the reason
 * @throws UnmappedError if the expression is invalid, too long, or nested too deep
 */
export function convertExpression(
  text: string,
  convert: (comparison: Comparison) => Filter | undefined,
  leaveOut: (part: string, why: string) => void,
): Filter | undefined {
  if (text.length > MAX_LENGTH) {
    throw new UnmappedError(`has more than ${MAX_LENGTH} characters`);
  }
  const tokens = tokenize(text);
  let at = 0;
  const isWord = (word: string): boolean => tokens[at]?.text.toUpperCase() === word;
  const textFrom = (first: number): string =>
    cutText(text.slice(tokens[first]?.from, tokens[at - 1]?.to), SHOWN);

  const readOr = (depth: number): Filter | undefined => {
    const first = at;
    const parts = [readAnd(depth)];
    for (; isWord('OR'); parts.push(readAnd(depth))) at++;
    if (parts.includes(undefined) && parts.some((part) => part !== undefined)) {
      leaveOut(textFrom(first), 'an alternative is not checked');
    }
    return anyOf(parts);
  };
  const readAnd = (depth: number): Filter | undefined => {
    const parts = [readPart(depth)];
    for (; isWord('AND'); parts.push(readPart(depth))) at++;
    return allOf(parts);
  };
  const readPart = (depth: number): Filter | undefined => {
    if (tokens[at]?.text !== '(') return readComparison();
    if (depth === MAX_DEPTH)
      throw new UnmappedError(`has more than ${MAX_DEPTH} nested parentheses`);
    at++;
    const inside = readOr(depth + 1);
    if (tokens[at++]?.text !== ')') throw new UnmappedError('has an unclosed parenthesis');
    return inside;
  };
  const readComparison = (): Filter | undefined => {
    const first = at;
    const [left, operator, right] = tokens.slice(at, (at += 3));
    if (left === undefined || operator === undefined || right === undefined) {
      throw new UnmappedError('ends in the middle of a comparison');
    }
    const [name = ''] = left.text.split(PATH, 1);
    const path = left.text.slice(name.length);
    if (
      name === '' ||
      FOREIGN.test(left.text) ||
      !OPERATORS.test(operator.text) ||
      !VALUE.test(right.text)
    ) {
      throw new UnmappedError(`has an invalid comparison: ${textFrom(first)}`);
    }
    const comparison: Comparison = {
      text: textFrom(first),
      name,
      path,
      operator: operator.text.toLowerCase(),
      value: /^['"]/.test(right.text) ? right.text.slice(1, -1) : right.text,
    };
    try {
      return convert(comparison);
    } catch (error) {
      if (!(error instanceof UnmappedError)) throw error;
      leaveOut(comparison.text, error.message);
      return undefined;
    }
  };

  const filter = readOr(0);
  const rest = tokens[at];
  if (rest !== undefined)
    throw new UnmappedError(`has an unexpected "${cutText(rest.text, SHOWN)}"`);
  return filter;
}

/** The start of a path, and a character that neither names nor paths have. */
const PATH = /[.[]/;
const FOREIGN = /[^\p{L}\d_.[\]]/u;
const OPERATORS = /^(?:[=!<>]=|[<>]|contains|starts_with|ends_with)$/i;
const VALUE = /^[^()=!<>]|^['"]/;

/** Parentheses and operators, quoted values, and words. */
const TOKEN = /([()]|[=!<>]=|[<>])|'(?:[^'\\]|\\['\\])*'|"(?:[^"\\]|\\["\\])*"|[^\s()=!<>'"]+/y;
const SPACE = /\s*/y;

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let from = 0;
  const skipSpace = (): void => {
    SPACE.lastIndex = from;
    from += SPACE.exec(text)?.[0].length ?? 0;
  };
  for (skipSpace(); from < text.length; skipSpace()) {
    TOKEN.lastIndex = from;
    const [found] = TOKEN.exec(text) ?? [];
    if (found === undefined) {
      throw new UnmappedError(`has an unexpected "${cutText(text.slice(from), SHOWN)}"`);
    }
    tokens.push({ text: found, from, to: (from += found.length) });
  }
  return tokens;
}
