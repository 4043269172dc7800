import { expect, test } from 'vitest';
import { describeAnswer } from './inboxAnswer.ts';

const WELL = { status: 200, delayMs: 0, failFirst: 0, failEvery: 0, failStatus: 500 };

test('an answer reads as a sentence', () => {
  expect(describeAnswer(WELL)).toBe('Answers 200, at once');
  expect(describeAnswer({ ...WELL, failEvery: 3, delayMs: 2_000 })).toBe(
    'Answers 500 to every third request, 200 to the others, after 2.0 s',
  );
  expect(describeAnswer({ ...WELL, failEvery: 1 })).toBe('Answers 500 to every request, at once');
  expect(describeAnswer({ ...WELL, failEvery: 22 })).toContain('to every 22nd request');
  expect(describeAnswer({ ...WELL, failFirst: 5, failEvery: 11, failStatus: 503 })).toBe(
    'Answers 503 to the first 5 requests and every 11th request, 200 to the others, at once',
  );
});

test('of the first that fail, those are told that are still to come', () => {
  const first = { ...WELL, failFirst: 5 };
  expect(describeAnswer(first)).toBe('Answers 500 to the first 5 requests, then 200, at once');
  expect(describeAnswer(first, 4)).toBe('Answers 500 to the next request, then 200, at once');
  expect(describeAnswer(first, 5)).toBe('Answers 200, at once');
});
