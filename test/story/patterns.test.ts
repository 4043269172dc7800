/**
 * Tests that every pattern runs in linear time, because callers, nodes and receivers choose the
 * input.
 */
import { describe, expect, test } from 'vitest';
import { type Pattern, findFault, readPatterns, worstTexts } from '../patterns.ts';

/**
 * Files with patterns that only get truncated strings. The analyzer cannot handle their beginnings.
 */
const ON_SHORT_TEXTS: ReadonlySet<string> = new Set([
  // The first 300 characters of a node's error.
  'packages/service/src/ingest/nodes/rpcError.ts',
  // The first 1,000 characters; every repetition has a bound.
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
      // A search text with every special character escaped has a single path.
      code: expect.stringContaining('text.replaceAll(') as unknown,
    },
  ]);
});

describe('the analyser', () => {
  // A former pattern that hid secrets and hung the process.
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

  test('returns texts on which a pattern is slow', () => {
    expect(worstTexts(urls, 10)).toContain('a-a-a-a-a-');
  });
});
