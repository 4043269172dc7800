import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonProblem } from './jsonProblem.ts';

test.each([
  ['', 1, 1, 'Expected a value.'],
  ['{"gt": ["value", 1]', 1, 20, 'Expected a }.'],
  ['{\n  "gt": ["value" 1]\n}', 2, 18, 'Expected a comma.'],
  ['{"gt" ["value"]}', 1, 7, 'Expected a colon.'],
  ['["a",\n]', 2, 1, 'Expected a value.'],
  ['{"a": 1,}', 1, 9, 'Expected a name in double quotes.'],
  ['{a: 1}', 1, 2, 'Not a JSON value: strings need double quotes.'],
  ['{"a": 1.}', 1, 7, 'Invalid number.'],
  ['{"a": "b}', 1, 7, 'The string has no closing quote.'],
  ['["\\x"]', 1, 2, 'Invalid escape sequence in the string.'],
  ['["\t"]', 1, 2, 'Unescaped control character in the string.'],
  ['[1 // one\n]', 1, 4, 'Comments are not allowed in JSON.'],
  ['{} {}', 1, 4, 'Unexpected text after the JSON value.'],
])('%j is not JSON: line %i, column %i', (text, line, column, message) => {
  expect(jsonProblem(text)).toEqual({ line, column, message });
});

test('a problem is found exactly when JSON.parse rejects the text', () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const piece = fc.constantFrom(
    ...['{', '}', '[', ']', ':', ',', '"a"', '"\\u12aF"', '"\\x"', '"', ' ', '\n', '\u00a0'],
    ...['0', '-1', '01', '1.5e3', '1.', 'true', 'null', 'nul', '-', 'é'],
  );
  const pieces = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
  const nearly = fc
    .tuple(fc.json(), fc.nat(60), piece)
    .map(([text, at, more]) => text.slice(0, at) + more + text.slice(at));
  fc.assert(
    fc.property(fc.oneof(pieces, nearly, fc.json()), (text) => {
      expect(jsonProblem(text) === undefined).toBe(isJson(text));
    }),
    { numRuns: 2_000 },
  );
});

test('deep nesting is a problem, not a crash', () => {
  expect(jsonProblem('['.repeat(1_000_000))).toMatchObject({
    message: 'The JSON is nested too deeply.',
  });
});
