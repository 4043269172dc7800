import { expect, test } from 'vitest';
import { createBodyReader } from './bodyReader.ts';
import { OPEN_AT_FIRST, toJsonLines, type OpenState } from './jsonRows.ts';

const body = {
  logs: Array.from({ length: 30 }, (_, index) => ({ logIndex: String(index), data: '0x' })),
};
const ALL: OpenState = { ...OPEN_AT_FIRST, start: 'all' };
const NONE: OpenState = { ...OPEN_AT_FIRST, start: 'none' };

test('lines of the body are returned in parts', () => {
  const reader = createBodyReader(body);
  const { count, row } = toJsonLines(body, ALL);
  expect(reader.count(ALL)).toBe(count);
  expect(reader.lines(ALL, 10, 12)).toEqual({ first: 10, rows: [row(10), row(11)] });
  expect(reader.lines(ALL, count - 1, count + 9).rows).toEqual([row(count - 1)]);
  expect(row(reader.lineOf(ALL, '$.logs[2].data')).path).toBe('$.logs[2].data');
  expect(reader.lineOf(NONE, '$.logs[2].data')).toBe(-1);
});

test('a change of open rows is not served from the cache', () => {
  const reader = createBodyReader(body);
  expect(reader.count(NONE)).toBe(1);
  const toggled = (...paths: string[]): OpenState => ({ ...NONE, toggled: new Set(paths) });
  expect(reader.count(toggled('$.logs'))).toBe(31);
  // Uses an equal state in a new object, like one that was sent between threads.
  expect(reader.count(toggled('$.logs'))).toBe(31);
  expect(reader.count(toggled('$.logs', '$.logs[0]'))).toBe(33);
  expect(reader.count(toggled('$.logs', '$.logs[1]'))).toBe(33);
  expect(reader.count({ ...NONE, revealed: new Set(['$.logs']) })).toBe(31);
});

test('records are counted and returned on request', () => {
  const reader = createBodyReader({ ...body, block: {} });
  expect(reader.recordCount()).toBe(30);
  expect(reader.records(2, 5)).toEqual(reader.records(0, 30).slice(2, 5));
  expect(reader.records(28, 60)).toHaveLength(2);
  expect(createBodyReader('text').recordCount()).toBeNull();
  expect(createBodyReader('text').records(0, 3)).toEqual([]);
});
