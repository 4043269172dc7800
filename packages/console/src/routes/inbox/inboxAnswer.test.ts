import { expect, test } from 'vitest';
import { describeAnswer } from './inboxAnswer.ts';

const WELL = { status: 200, delayMs: 0, failFirst: 0, failEvery: 0, failStatus: 500 };

test('describes the status, the failures and the delay', () => {
  expect(describeAnswer(WELL)).toBe('Responds with 200');
  expect(describeAnswer({ ...WELL, failEvery: 3, delayMs: 2_000 })).toBe(
    'Responds with 200 · 500 for every 3rd request · delay 2.0 s',
  );
  expect(describeAnswer({ ...WELL, failEvery: 1 })).toBe('Responds with 500 for every request');
  expect(describeAnswer({ ...WELL, failEvery: 22 })).toContain('for every 22nd request');
  expect(describeAnswer({ ...WELL, failFirst: 5, failEvery: 11, failStatus: 503 })).toBe(
    'Responds with 200 · 503 for the first 5 requests · 503 for every 11th request',
  );
});

test('counts down the first requests, which fail', () => {
  const first = { ...WELL, failFirst: 5 };
  expect(describeAnswer(first)).toBe('Responds with 200 · 500 for the first 5 requests');
  expect(describeAnswer(first, 4)).toBe('Responds with 200 · 500 for 1 more request');
  expect(describeAnswer(first, 5)).toBe('Responds with 200');
});
