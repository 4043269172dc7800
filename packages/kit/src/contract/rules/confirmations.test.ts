import { expect, test } from 'vitest';
import { parseConfirmations } from './confirmations.ts';

test.each([
  ['latest', 'latest'],
  [' Safe ', 'safe'],
  ['finalized', 'finalized'],
  ['0', 0],
  ['8192', 8_192],
  ['8193', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['pending', undefined],
  ['', undefined],
])('%j is read as %j', (text, expected) => {
  expect(parseConfirmations(text)).toBe(expected);
});
