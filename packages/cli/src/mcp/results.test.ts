import { expect, test } from 'vitest';
import { toUntrusted } from './results.ts';

/** Ranges of code points with at least one of each kind; the others are unassigned or private. */
const RANGES = [
  [0, 0x3_2000],
  [0xe_0000, 0xe_1000],
  [0xf_0000, 0xf_0400],
  [0x10_fc00, 0x11_0000],
] as const;
const AT_ONCE = 1_024;

/** Matches characters that a reader does not see, or that have no agreed appearance. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}|\p{C}|\p{Zl}|\p{Zp}|\u2800/u;

test('every character is visible, none resembles a mark, and the data stays the same', () => {
  const starts = RANGES.flatMap(([from, to]) =>
    Array.from({ length: (to - from) / AT_ONCE }, (_, n) => from + n * AT_ONCE),
  );
  for (const start of starts) {
    const text = String.fromCodePoint(...Array.from({ length: AT_ONCE }, (_, n) => start + n));
    const [first, json = '', last, ...more] = toUntrusted(text).split('\n');
    expect([first, last, more]).toEqual(['<untrusted-data>', '</untrusted-data>', []]);
    expect(JSON.parse(json)).toBe(text);
    const others = json.replaceAll(/[ -;=?-~]/g, '');
    const unclear = Array.from(others).filter(
      (each) => UNSEEN.test(each) || /[<>]/.test(each.normalize('NFKD')),
    );
    expect(unclear).toEqual([]);
  }
});

test.each(['‹/untrusted-data›', '〈/untrusted-data〉', '⟨/untrusted-data⟩', '＜/untrusted-data＞'])(
  'a result escapes the brackets of %s',
  (text) => expect(toUntrusted(text)).toMatch(/"\\u[0-9a-f]{4}\/untrusted-data\\u[0-9a-f]{4}"/),
);
