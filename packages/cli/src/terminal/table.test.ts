import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toLine } from './table.ts';
import { wrapText } from './text.ts';

const plain = { tint: (_: string, text: string) => text, width: 80 };

test('a sentence goes on in the next line; a word that is too long for one stays whole', () => {
  const url = `https://example.com/${'a'.repeat(90)}`;
  expect(wrapText('short', 4)).toEqual(['short']);
  expect(wrapText(`  ✗ url  ${'word '.repeat(20)}${url} end`, 8)).toEqual([
    `  ✗ url  ${'word '.repeat(14).trimEnd()}`,
    `        ${'word '.repeat(6).trimEnd()}`,
    url,
    '        end',
  ]);
});

test('law: no word is lost, and only a word alone is wider than 80 columns', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{1,100}$/), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(words, fc.nat(20), (given, indent) => {
      const lines = wrapText(given.join(' '), indent);
      expect(lines.flatMap((line) => line.trim().split(' '))).toEqual(given);
      const wide = lines.filter((line) => line.length > 80);
      expect(wide.filter((line) => line.trim().includes(' '))).toEqual([]);
    }),
  );
});

test('of a line that is too long, what is optional goes, and then the widest gives way', () => {
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
