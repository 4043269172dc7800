import { expect, test } from 'vitest';
import { selectRow } from './selection.ts';

const toRow = (address: string): { address: string } => ({ address });
const rows = [toRow('0x1'), toRow('0x2'), toRow('0x3'), toRow('0x4')] as const;
const none = new Map();
const namesOf = (selected: ReadonlyMap<string, unknown>): string[] => [...selected.keys()];

test('a row is selected, and deselected', () => {
  const one = selectRow(none, rows, rows[1], null);
  expect(namesOf(one)).toEqual(['0x2']);
  expect(namesOf(selectRow(one, rows, rows[1], null))).toEqual([]);
});

test('a range includes both ends, in either direction, and keeps other rows', () => {
  const first = selectRow(none, rows, rows[0], null);
  expect(namesOf(selectRow(first, rows, rows[1], '0x4'))).toEqual(['0x1', '0x2', '0x3', '0x4']);
  expect(namesOf(selectRow(none, rows, rows[2], '0x1'))).toEqual(['0x1', '0x2', '0x3']);
});

test('a range from a row that left the list selects its end', () => {
  expect(namesOf(selectRow(none, rows, rows[2], '0x9'))).toEqual(['0x3']);
});
