import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLog } from './log.ts';

const lineOf = (format: 'text' | 'json'): string => {
  let line = '';
  const log = createLog((text) => (line += text), format);
  log.warn('leases ran out', { delivery: 'd1', why: 'a "b"\nc', count: 2, left: undefined });
  return line;
};

test('a text line has the time, the level, the event and its fields', () => {
  expect(lineOf('text')).toMatch(
    /^\d{4}-\S+Z warn leases ran out delivery=d1 why="a \\"b\\"\\nc" count=2\n$/,
  );
});

test.each(['text', 'json'] as const)(
  'property: a line of %s stays one line, and keeps its values',
  (format) => {
    const nasty = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(nasty, nasty, (why, text) => {
        let said = '';
        const all = `${why}\u009b2J\u2028\u202e${text}\n2026-01-01T00:00:00.000Z error forged`;
        createLog((line) => (said += line), format).info('event', { why: all });
        expect(said.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
        expect(said.endsWith('\n')).toBe(true);
        const json =
          format === 'json'
            ? said
            : `{${said.slice(said.indexOf('why=')).replace('why=', '"why":')}}`;
        expect(JSON.parse(json)).toMatchObject({ why: all });
      }),
      { numRuns: 30 },
    );
  },
);

test('a JSON line is one object with the same fields', () => {
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
