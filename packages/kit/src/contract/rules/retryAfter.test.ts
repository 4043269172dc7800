import { expect, test } from 'vitest';
import { parseRetryAfter } from './retryAfter.ts';

const NOW = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');
test.each<[string | null | undefined, number | undefined]>([
  ['120', 120_000],
  [' 0.5 ', 500],
  ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
  ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
  ['soon', undefined],
  ['-5', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
])('%j is a wait of %j ms', (header, expected) => {
  expect(parseRetryAfter(header, NOW)).toBe(expected);
});
