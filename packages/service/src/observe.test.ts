import { expect, test } from 'vitest';
import { createLog } from './observe.ts';

const lineOf = (format: 'text' | 'json'): string => {
  let line = '';
  const log = createLog((text) => (line += text), format);
  log.warn('leases ran out', { delivery: 'd1', why: 'a "b"\nc', count: 2, left: undefined });
  return line;
};

test('a line for people', () => {
  expect(lineOf('text')).toMatch(
    /^\d{4}-\S+Z warn leases ran out delivery=d1 why="a \\"b\\"\\nc" count=2\n$/,
  );
});

test('a line for programs, one JSON object', () => {
  const line = lineOf('json');
  expect(line.match(/\n/g)).toHaveLength(1);
  expect(JSON.parse(line)).toEqual({
    time: expect.stringMatching(/^\d{4}-\S+Z$/),
    level: 'warn',
    event: 'leases ran out',
    delivery: 'd1',
    why: 'a "b"\nc',
    count: 2,
  });
});
