import { expect, test } from 'vitest';
import { toHeader } from './header.ts';

const hash = `0x${'12'.repeat(32)}`;
const block = { number: '0x1', hash, parentHash: hash, timestamp: '0x64' };

test('a header is read in the forms that nodes use', () => {
  const header = { number: 1, hash, parentHash: hash, timestamp: 100 };
  expect(toHeader(block)).toEqual(header);
  expect(toHeader({ ...block, number: '1', timestamp: 100 })).toEqual(header);
});

test.each([
  ['hash', '0x12'],
  ['hash', null],
  ['parentHash', 'nothing'],
  ['number', '-1'],
  ['number', '0xffffffffffffffff'],
  ['timestamp', {}],
])('a header with an invalid %s is rejected: %j', (name, value) => {
  expect(() => toHeader({ ...block, [name]: value })).toThrow(/invalid|out of range/);
});
