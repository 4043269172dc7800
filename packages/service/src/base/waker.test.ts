import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createWaker } from './waker.ts';

const LONG_MS = 60_000;

test('a waker sleeps until the time has passed or it is woken', async () => {
  const waker = createWaker();
  await waker.sleep(1);
  const sleeping = waker.sleep(LONG_MS);
  waker.wake();
  await sleeping;
});

test('a waker wakes once for all signals that arrived while it was awake', async () => {
  const waker = createWaker();
  waker.wake();
  waker.wake();
  await waker.sleep(LONG_MS);
  let awake = false;
  const sleeping = waker.sleep(LONG_MS).then(() => (awake = true));
  await wait(5);
  expect(awake).toBe(false);
  waker.wake();
  await sleeping;
});
