import { expect, test } from 'vitest';
import { isBehind } from './status.ts';

const at = (number: number, timestamp: number) => ({
  ...{ number, timestamp },
  hash: `0x${number}`,
  parentHash: `0x${number - 1}`,
});

test.each([
  ['the head', 0, 0, false],
  ['one block of an hour', 1, 3_600, false],
  ['two blocks of 12 s', 2, 24, true],
  ['20 blocks of 200 ms', 20, 4, false],
  ['30 blocks of 200 ms', 30, 6, true],
  ['33 blocks with one timestamp', 33, 0, true],
])('a chain that is %s behind', (_, blocks, seconds, expected) => {
  expect(isBehind(at(100, 1_000), at(100 + blocks, 1_000 + seconds))).toBe(expected);
});
