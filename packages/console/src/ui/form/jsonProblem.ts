/** Finds the first syntax error in a JSON text. */
import { parse, printParseErrorCode, type ParseError } from 'jsonc-parser';
import { problemAt, type LineProblem } from './lineProblem.ts';

const REASONS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'Not a JSON value: strings need double quotes.',
  InvalidNumberFormat: 'Invalid number.',
  UnexpectedEndOfNumber: 'Invalid number.',
  PropertyNameExpected: 'Expected a name in double quotes.',
  ValueExpected: 'Expected a value.',
  ColonExpected: 'Expected a colon.',
  CommaExpected: 'Expected a comma.',
  CloseBraceExpected: 'Expected a }.',
  CloseBracketExpected: 'Expected a ].',
  EndOfFileExpected: 'Unexpected text after the JSON value.',
  InvalidCommentToken: 'Comments are not allowed in JSON.',
  UnexpectedEndOfString: 'The string has no closing quote.',
  InvalidUnicode: 'Invalid escape sequence in the string.',
  InvalidEscapeCharacter: 'Invalid escape sequence in the string.',
  InvalidCharacter: 'Unescaped control character in the string.',
};

/** Returns the first problem of a JSON text; undefined if there is none. */
export function jsonProblem(text: string): LineProblem | undefined {
  const errors: ParseError[] = [];
  try {
    parse(text, errors, { disallowComments: true });
  } catch (error) {
    // The parser is recursive, and about 10,000 nested brackets exhaust the stack.
    if (error instanceof RangeError) return problemAt(text, 0, 'The JSON is nested too deeply.');
    throw error;
  }
  const [first] = errors.toSorted((a, b) => a.offset - b.offset);
  if (first === undefined) return undefined;
  const reason = REASONS[printParseErrorCode(first.error)] ?? 'Invalid JSON.';
  return problemAt(text, first.offset, reason);
}
