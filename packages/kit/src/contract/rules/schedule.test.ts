import { expect, test } from 'vitest';
import { readRetryAfterMs } from './schedule.ts';

const NOW = Date.UTC(2026, 0, 1);
test.each<[string | undefined, number | undefined]>([
  ['120', 120_000],
  [' 120 ', 120_000],
  ['0', undefined],
  [new Date(NOW + 90_000).toUTCString(), 90_000],
  [new Date(NOW - 90_000).toUTCString(), undefined],
  ['315360000', 24 * 3_600_000],
  [new Date(NOW + 10 * 365 * 86_400_000).toUTCString(), 24 * 3_600_000],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j is a wait of %j ms', (header, expected) => {
  expect(readRetryAfterMs(503, header, NOW)).toBe(expected);
});

test.each([200, 302, 404, 500, null])('the header is ignored for status %j', (status) => {
  expect(readRetryAfterMs(status, '120', NOW)).toBeUndefined();
});
