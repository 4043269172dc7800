/** A caller, a node or a receiver chooses the text: no pattern may take more than a time linear in it. */
import { describe, expect, test } from 'vitest';
import { type Pattern, findFault, readPatterns, worstTexts } from '../patterns.ts';

/** Files whose patterns see short texts alone, cut before: the analyser gives up on how these begin. */
const ON_SHORT_TEXTS: ReadonlySet<string> = new Set([
  // The first 300 characters of what a node says.
  'packages/service/src/ingest/nodes/rpcError.ts',
]);

const { patterns, unknown } = readPatterns();
const at = (source: string, flags = ''): Pattern => ({ place: 'here', source, flags });

test('every regular expression of the packages is linear', { timeout: 300_000 }, () => {
  expect(patterns.length).toBeGreaterThan(250);
  const checked = patterns.filter(({ place }) => !ON_SHORT_TEXTS.has(place.split(':')[0]!));
  expect(checked.flatMap((pattern) => findFault(pattern) ?? [])).toEqual([]);
});

test('every regular expression of the packages is written down', () => {
  expect(unknown).toEqual([
    {
      place: expect.stringMatching(/^packages\/console\/src\/body\/jsonRows\.ts:/) as unknown,
      // A text that is looked for, each of its signs escaped: it has one path.
      code: expect.stringContaining('text.replaceAll(') as unknown,
    },
  ]);
});

describe('the analyser', () => {
  // The one that hid secrets, and stopped the process.
  const urls = at(String.raw`\b[a-z][a-z+.-]*:[/\\]{2,}[^\s"'<>]+`, 'gi');

  test.each([urls, at('^(a+)+$'), at('0+$'), at('^(.*)(.*)x')])(
    'knows that /$source/$flags is not linear',
    (pattern) => {
      expect(findFault(pattern)).toMatch(/paths/);
    },
  );

  test('knows where a sticky pattern begins', () => {
    expect(findFault(at('a+b', 'y'))).toBeUndefined();
    expect(findFault(at('a+b', 'g'))).toMatch(/paths/);
  });

  test('gives texts on which such a pattern is slow', () => {
    expect(worstTexts(urls, 10)).toContain('a-a-a-a-a-');
  });
});
