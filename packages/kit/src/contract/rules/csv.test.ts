import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCsvRow, toCsv, toCsvRow } from './csv.ts';

test('each row is one line, with empty cells for null', () => {
  expect(
    toCsv([
      ['at', 'n'],
      ['now', -1],
      [null, true],
    ]),
  ).toBe('at,n\r\nnow,-1\r\n,true\r\n');
});

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', `"'\t=1"`],
  ['a;b', '"a;b"'],
  [' a', '" a"'],
  ['a\u{a0}', '"a\u{a0}"'],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ['a "b", c', '"a ""b"", c"'],
  ['two\nlines', '"two\nlines"'],
  ['a=1', 'a=1'],
  ["'=1", "''=1"],
  ["'a", "'a"],
  ['\uff1d1+1', "'\uff1d1+1"],
])('%j is written as %j', (text, cell) => {
  expect(toCsv([[text]])).toBe(`${cell}\r\n`);
});

/** Parses CSV (RFC 4180). */
function parse(csv: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < csv.length;) {
    let cell = '';
    if (csv[at] === '"') {
      for (at++; csv[at] !== '"' || csv[at + 1] === '"'; at++) {
        if (csv[at] === '"') at++;
        cell += csv[at];
      }
      at++;
    } else {
      for (; csv[at] !== ',' && csv[at] !== '\r'; at++) cell += csv[at];
    }
    row.push(cell);
    if (csv[at] === ',') at++;
    else {
      rows.push(row);
      row = [];
      at += 2;
    }
  }
  return rows;
}

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(...'=+-@;\t\r\n",\' a\u{a0}\uff1d'.split('')) }),
);

test('tables are valid CSV, and no text starts a formula', () => {
  const table = fc.array(fc.array(text, { minLength: 2, maxLength: 3 }), { maxLength: 4 });
  fc.assert(
    fc.property(table, (rows) => {
      const read = parse(toCsv(rows));
      for (const cell of read.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r\n\uff1d]/);
      const asWritten = (cell: string, row: number, column: number) => {
        const written = rows[row]?.[column];
        return cell === `'${written}` ? written : cell;
      };
      expect(read.map((row, y) => row.map((cell, x) => asWritten(cell, y, x)))).toEqual(rows);
    }),
  );
});

test('rows without line breaks read as they were written', () => {
  const cell = text.map((each) => each.replaceAll(/[\r\n]/g, ''));
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1 }), (row) => {
      expect(parseCsvRow(toCsvRow(row))).toEqual(row);
    }),
  );
});

test.each([
  ['a; b\tc', ['a', 'b', 'c']],
  [',"b"', ['', 'b']],
  ['a, "b, c" ,', ['a', 'b, c', '']],
  ['"a" b,"c', ['"a" b', '"c']],
  ['', ['']],
])('%j is read as %j', (line, cells) => {
  expect(parseCsvRow(line)).toEqual(cells);
});

test('a row of 1 MB is read in linear time', () => {
  for (const part of ['\t', '"', '",', '"a', '"""a,', ' ', '" ']) {
    const started = performance.now();
    parseCsvRow(part.repeat(1_000_000 / part.length));
    expect(performance.now() - started).toBeLessThan(2_000);
  }
});
