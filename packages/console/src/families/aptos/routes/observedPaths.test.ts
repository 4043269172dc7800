import type { ObservedMovePath } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import {
  emptyObserved,
  withObserved,
  type Observed,
} from '../../../routes/streamForm/dryRun/observed.ts';
import { countPaths, separatelyCountedPaths, withoutPath, withPath } from './observedPaths.ts';

const TRANSFER = '0x1::aptos_account::transfer';
const LONG = `0x${'0'.repeat(63)}1::aptos_account::transfer`;
const PLAY = `0x${'5a09'.repeat(16)}::game::play`;

const observedPath = (
  kind: ObservedMovePath['kind'],
  path: string,
  count: number,
): ObservedMovePath => ({
  kind,
  path,
  count,
});
const observed: Observed = [
  [observedPath('function', TRANSFER, 2), observedPath('event', PLAY, 9)],
  [observedPath('function', PLAY, 4), observedPath('function', TRANSFER, 1)],
].reduce((before, found, n) => withObserved(before, 'here', n, found), emptyObserved('here'));

test('entered paths come first, however they are written, even if not observed', () => {
  expect(countPaths(observed, 'function', '')).toEqual({
    listed: [],
    offered: [
      { path: TRANSFER, count: 3 },
      { path: PLAY, count: 4 },
    ],
  });
  const text = ` 0x22::a::b \n\n0x1::coin\n${LONG}\n${TRANSFER}\n0x1::a::B< 0x01::c::D, u8 >`;
  expect(countPaths(observed, 'function', text)).toEqual({
    listed: [
      { path: `0x${'0'.repeat(62)}22::a::b`, count: 0 },
      { path: TRANSFER, count: 3 },
      { path: '0x1::a::B<0x1::c::D,u8>', count: 0 },
    ],
    offered: [{ path: PLAY, count: 4 }],
  });
  expect(countPaths(observed, 'event', PLAY.replace('5a09', '5A09'))).toEqual({
    listed: [{ path: PLAY, count: 9 }],
    offered: [],
  });
});

test('paths that are counted only if listed are found before the request', () => {
  const text = '0x1::a::B\n 0x01::a::B<u8> \n0x1::a::B<u';
  expect(separatelyCountedPaths(text)).toEqual(['0x1::a::B<u8>']);
});

test('a path is one line; removing it leaves the other lines unchanged', () => {
  expect(withPath('', TRANSFER)).toBe(TRANSFER);
  expect(withPath('0x1::a::b', TRANSFER)).toBe(`0x1::a::b\n${TRANSFER}`);
  expect(withPath('0x1::a::b\n', TRANSFER)).toBe(`0x1::a::b\n${TRANSFER}`);
  const text = `  0x01::a::b \n${LONG}\nno path\n ${TRANSFER}\n`;
  expect(withoutPath(text, TRANSFER)).toBe('  0x01::a::b \nno path\n');
  expect(withoutPath(withPath(text, PLAY), PLAY)).toBe(text.slice(0, -1));
});
