import { expect, test } from 'vitest';
import { isOpen, progressOf } from './replayStatus.ts';

const running = {
  state: 'running',
  total: 100,
  replayed: 40,
  perSecond: 20,
  succeeded: 30,
  failed: 2,
  waiting: 5,
} as const;

test('the time left follows the rate; deliveries of a later replay are counted separately', () => {
  expect(progressOf(running)).toEqual({ total: 100, left: 60, elsewhere: 3, secondsLeft: 3 });
  expect(progressOf({ ...running, state: 'cancelled' })).toMatchObject({
    left: 60,
    secondsLeft: null,
  });
});

test('a finished replay has nothing left, whatever its estimate was', () => {
  expect(progressOf({ ...running, state: 'done' })).toMatchObject({ total: 40, left: 0 });
  expect(progressOf({ ...running, replayed: 120 })).toMatchObject({ total: 120, left: 0 });
});

test('a replay stays open until its last delivery has ended', () => {
  expect(isOpen(running)).toBe(true);
  expect(isOpen({ state: 'done', waiting: 1 })).toBe(true);
  expect(isOpen({ state: 'cancelled', waiting: 0 })).toBe(false);
});
