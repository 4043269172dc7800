import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  CONTRACT_SCHEDULE_MS,
  MAX_RETRIES,
  MAX_RETRY_WAIT_SECONDS,
  formatRetries,
  parseRetries,
  readRetryAfterMs,
  retryWaitsMs,
} from './schedule.ts';

test('a named schedule has its waits; the standard one is the service’s', () => {
  expect(retryWaitsMs('standard')).toBeUndefined();
  expect(retryWaitsMs('short')).toEqual([5_000, 30_000, 120_000, 600_000]);
  expect(retryWaitsMs('long')?.slice(0, 7)).toEqual(CONTRACT_SCHEDULE_MS);
  expect(retryWaitsMs('long')).toHaveLength(13);
  expect(retryWaitsMs('none')).toEqual([]);
  expect(retryWaitsMs([7])).toEqual([7_000]);
});

test('property: a formatted schedule is read as itself', () => {
  const waits = fc.array(fc.integer({ min: 1, max: MAX_RETRY_WAIT_SECONDS }), {
    minLength: 1,
    maxLength: MAX_RETRIES,
  });
  fc.assert(
    fc.property(waits, (retries) => {
      expect(parseRetries(formatRetries(retries))).toEqual(retries);
    }),
  );
});

test.each([
  ['30s,5m 1h, 2d', [30, 300, 3_600, 172_800]],
  ['90', [90]],
  [' Short ', 'short'],
  ['', undefined],
  [',', undefined],
  ['0', undefined],
  ['8d', undefined],
  ['1w', undefined],
  ['5m soon', undefined],
  [Array.from({ length: MAX_RETRIES + 1 }, () => '1').join(), undefined],
])('the schedule %j is read', (text, expected) => {
  expect(parseRetries(text)).toEqual(expected);
});

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
