import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnsOf } from './columns.test-only.ts';
import { toLine } from './table.ts';
import { cutText, padText, widthOf, wrapText } from './text.ts';

const plain = { tint: (_: string, text: string) => text, width: 80 };

test('sentences wrap; a word that is too long is not split', () => {
  const url = `https://example.com/${'a'.repeat(90)}`;
  expect(wrapText('short', 4, 80)).toEqual(['short']);
  expect(wrapText(`  ✗ url  ${'word '.repeat(20)}${url} end`, 8, 80)).toEqual([
    `  ✗ url  ${'word '.repeat(14).trimEnd()}`,
    `        ${'word '.repeat(6).trimEnd()}`,
    url,
    '        end',
  ]);
});

test('property: no word is lost, and only a single word is wider than 80 columns', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,100}$/), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(words, fc.nat(20), (given, indent) => {
      const lines = wrapText(given.join(' '), indent, 80);
      expect(lines.flatMap((line) => line.trim().split(' '))).toEqual(given);
      const wide = lines.filter((line) => line.length > 80);
      expect(wide.filter((line) => line.trim().includes(' '))).toEqual([]);
    }),
  );
});

test('a line that is too long loses its optional parts first, then the widest part is cut', () => {
  const parts = [
    { text: '10:44:07' },
    { text: 'a-stream-with-a-long-name', cut: 'end' as const },
    { text: '' },
    { text: `Transfer 250 USDC ${'0x7099…79c8 → '.repeat(4)}`, cut: 'end' as const },
    { text: '9k2f81aa', optional: true as const },
  ];
  const line = toLine(plain, parts);
  expect(line).toHaveLength(80);
  expect(line).toMatch(/^10:44:07 {2}a-stream-with-a-long-name {2}Transfer 250 USDC 0x7099.+…$/);
  expect(toLine(plain, parts.with(3, { text: 'short', cut: 'end' }))).toMatch(/short {2}9k2f81aa$/);
});

/** Mixed text with CJK, emoji, combining marks and joined emoji. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        '財務',
        '支払い',
        '입금',
        '📦',
        '👨‍👩‍👧',
        '❤️',
        'e\u0301',
        'ｶﾅ',
        '！',
        ' ',
        'word',
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

test('property: text is never wider than its computed width', () => {
  for (let code = 0x20; code < 0x2_0000; code++) {
    if ((code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code < 0xe000)) continue;
    const text = `x${String.fromCodePoint(code)}`;
    const [counted, taken] = [widthOf(text), columnsOf(text)];
    if (counted < taken) expect.fail(`U+${code.toString(16)} takes ${taken}, not ${counted}`);
  }
  expect(['abc', '財務', 'e\u0301', 'ｶﾅ', '한국'].map(widthOf)).toEqual([3, 4, 1, 2, 4]);
  fc.assert(fc.property(anyText, (text) => widthOf(text) >= columnsOf(text)));
});

test('property: text is cut and padded to columns, and no combining mark follows the …', () => {
  const where = fc.constantFrom('middle' as const, 'end' as const);
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 40 }), where, (text, width, place) => {
      const cut = cutText(text, width, place);
      expect(columnsOf(cut)).toBeLessThanOrEqual(width);
      if (widthOf(text) <= width) expect(cut).toBe(text);
      else if (!text.includes('…')) expect(cut).not.toMatch(/…\p{Mn}/u);
      expect(widthOf(padText(cut, width))).toBe(width);
    }),
  );
  expect(cutText('支払いe\u0301', 5)).toBe('支払…');
  expect(cutText('支払い入金', 8, 'middle')).toBe('支払…金');
});

test('property: wrapped CJK text loses nothing and is never too wide', () => {
  const text = fc.stringMatching(/^[財務部支払入金 ]{1,200}$/);
  fc.assert(
    fc.property(text, fc.integer({ min: 20, max: 120 }), (given, width) => {
      const lines = wrapText(`why: ${given}`, 4, width);
      expect(lines.filter((line) => columnsOf(line) > width)).toEqual([]);
      expect(lines.join('').replaceAll(' ', '')).toBe(`why:${given}`.replaceAll(' ', ''));
    }),
  );
  expect(wrapText('why: 財務部a/bの支払い', 2, 12)).toEqual(['why: 財務部', '  a/bの支払', '  い']);
  expect(wrapText('why: 財務部支  支払い入', 4, 12)).toEqual([
    'why:',
    '    財務部支',
    '    支払い入',
  ]);
});
