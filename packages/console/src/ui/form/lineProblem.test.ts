import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexOf, problemAt } from './lineProblem.ts';

test('lines and columns start at 1', () => {
  expect(problemAt('a\nbc', 0, 'wrong')).toEqual({ line: 1, column: 1, message: 'wrong' });
  expect(problemAt('a\nbc', 3, 'wrong')).toEqual({ line: 2, column: 2, message: 'wrong' });
});

test('every position is restored', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', 'é') });
  fc.assert(
    fc.property(text, fc.nat(20), (given, at) => {
      const index = Math.min(at, given.length);
      expect(indexOf(given, problemAt(given, index, ''))).toBe(index);
    }),
  );
});
