import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

const TYPES = ['address', 'bool', 'string', 'uint256', 'int256'];

test.each([
  ['adress', 'address'],
  ['addresss', 'address'],
  ['Address', 'address'],
  ['uint265', 'uint256'],
  ['srting', 'string'],
  ['boool', 'bool'],
  ['token', undefined],
  ['b', undefined],
  ['a'.repeat(1_000), undefined],
])('%s: the nearest word is %s', (word, meant) => {
  expect(nearest(word, TYPES)).toBe(meant);
});
