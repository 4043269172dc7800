import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonProblem, parseJson } from './json.ts';

test.each([
  ['', 1, 1, 'There is nothing yet.'],
  ['{"gt": ["value", 1]', 1, 20, 'It ends here, and a } is missing.'],
  ['{\n  "gt": ["value" 1]\n}', 2, 18, 'A comma is missing before “1”.'],
  ['{"gt" ["value"]}', 1, 7, 'A colon is missing before “[”.'],
  ['["a",\n]', 2, 1, 'There is a comma too many before “]”.'],
  ['{"a": 1,}', 1, 9, 'There is a comma too many before “}”.'],
  ["{'a': 1}", 1, 2, 'Texts stand in double quotes.'],
  ['{a: 1}', 1, 2, '“a” is no name: names stand in double quotes.'],
  ['{"a": value}', 1, 7, '“value” is no value: texts stand in double quotes.'],
  ['{"a": 01}', 1, 7, '“01” is no value: texts stand in double quotes.'],
  ['{"a": "b}', 1, 7, 'The text that begins here has no end, or a \\ that means nothing.'],
  ['{"a": }', 1, 7, 'A value is missing before “}”.'],
  ['[1}', 1, 3, '“}” stands where ] closes.'],
  [']', 1, 1, '“]” closes nothing.'],
  ['{} {}', 1, 4, '“{” stands behind the end.'],
])('%j is no JSON: line %i, column %i', (text, line, column, message) => {
  expect(jsonProblem(text)).toEqual({ line, column, message });
});

test('what JSON.parse takes has no problem, and nothing else', () => {
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
      expect(jsonProblem(text) === undefined).toBe(parseJson(text) !== null);
    }),
    { numRuns: 2_000 },
  );
});

test('what is nested deeply is read as well', () => {
  const deep = '['.repeat(50_000);
  expect(jsonProblem(deep + ']'.repeat(50_000))).toBeUndefined();
});
