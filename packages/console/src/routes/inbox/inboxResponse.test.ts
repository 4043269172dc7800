import { expect, test } from 'vitest';
import { describeResponse } from './inboxResponse.ts';

const WELL = { status: 200, delayMs: 0, failFirst: 0, failEvery: 0, failStatus: 500 };

test('the summary describes the status, the failures and the delay', () => {
  expect(describeResponse(WELL)).toBe('Responds with 200');
  expect(describeResponse({ ...WELL, failEvery: 3, delayMs: 2_000 })).toBe(
    'Responds with 200 · 500 to every 3rd request · delay 2.0 s',
  );
  expect(describeResponse({ ...WELL, failEvery: 1 })).toBe('Responds with 500 to every request');
  expect(describeResponse({ ...WELL, failEvery: 22 })).toContain('to every 22nd request');
  expect(describeResponse({ ...WELL, failFirst: 5, failEvery: 11, failStatus: 503 })).toBe(
    'Responds with 200 · 503 to the first 5 requests · 503 to every 11th request',
  );
});

test('the summary counts down the first requests, which fail', () => {
  const first = { ...WELL, failFirst: 5 };
  expect(describeResponse(first)).toBe('Responds with 200 · 500 to the first 5 requests');
  expect(describeResponse(first, 4)).toBe('Responds with 200 · 500 to 1 more request');
  expect(describeResponse(first, 5)).toBe('Responds with 200');
});
