/**
 * Tests that every regular expression in the packages runs in linear time, because callers, nodes
 * and receivers choose the input.
 */
import { describe, expect, test } from 'vitest';
import { type Pattern, findFault, readPatterns } from '../patterns.ts';

/**
 * Files whose patterns get only truncated strings. The analyzer cannot handle the beginnings of
 * these patterns.
 */
const ON_SHORT_TEXTS: ReadonlySet<string> = new Set([
  // These patterns get the first 1,000 characters of a node's error.
  'packages/service/src/ingest/nodes/rpcError.ts',
  // These patterns get the first 1,000 characters of a node's error; every repetition has a bound.
  'packages/service/src/ingest/nodes/rangeRefusal.ts',
]);

const { patterns, unknown } = readPatterns();
const at = (source: string, flags = ''): Pattern => ({ place: 'here', source, flags });

test('every regular expression of the packages is linear', { timeout: 300_000 }, () => {
  expect(patterns.length).toBeGreaterThan(250);
  const checked = patterns.filter(({ place }) => !ON_SHORT_TEXTS.has(place.split(':')[0]!));
  expect(checked.flatMap((pattern) => findFault(pattern) ?? [])).toEqual([]);
});

test('every regular expression of the packages is a literal', () => {
  expect(unknown).toEqual([
    {
      place: expect.stringMatching(/^packages\/console\/src\/body\/jsonRows\.ts:/) as unknown,
      // This pattern is a search text with all special characters escaped, so it is linear.
      code: expect.stringContaining('text.replaceAll(') as unknown,
    },
  ]);
});

describe('the analyzer', () => {
  // A former pattern, which redacted secrets and could hang the process.
  const urls = at(String.raw`\b[a-z][a-z+.-]*:[/\\]{2,}[^\s"'<>]+`, 'gi');

  test.each([urls, at('^(a+)+$'), at('0+$'), at('^(.*)(.*)x')])(
    'reports that /$source/$flags is not linear',
    (pattern) => {
      expect(findFault(pattern)).toMatch(/paths/);
    },
  );

  test('supports sticky patterns', () => {
    expect(findFault(at('a+b', 'y'))).toBeUndefined();
    expect(findFault(at('a+b', 'g'))).toMatch(/paths/);
  });
});
