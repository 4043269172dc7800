import { expect, test } from 'vitest';
import { listParts, reusedConnection } from './attemptParts.ts';

const none = { dnsMs: null, connectMs: null, tlsMs: null, waitMs: null, bodyMs: null };
const wordsOf = (parts: Parameters<typeof listParts>[0]['parts']): string =>
  listParts({ parts })
    .map(({ name, ms }) => `${name} ${ms}`)
    .join(' ');

test('parts are in order, without those that took no time', () => {
  expect(wordsOf({ dnsMs: 2, connectMs: 0, tlsMs: 31, waitMs: 4_966, bodyMs: 4 })).toBe(
    'dns 2 tls 31 wait 4966 body 4',
  );
  expect(wordsOf({ ...none, waitMs: 0, bodyMs: 0 })).toBe('wait 0');
});

test('a failed attempt ends with the part that failed', () => {
  expect(wordsOf({ ...none, dnsMs: 3_000 })).toBe('dns 3000');
  expect(wordsOf({ ...none, dnsMs: 1, connectMs: 5_000 })).toBe('dns 1 connect 5000');
  expect(wordsOf(none)).toBe('');
  expect(wordsOf(null)).toBe('');
});

test('a connection is reused if the attempt sent without connecting', () => {
  expect(reusedConnection({ parts: { ...none, waitMs: 3, bodyMs: 0 } })).toBe(true);
  expect(reusedConnection({ parts: { ...none, connectMs: 0, waitMs: 3 } })).toBe(false);
  expect(reusedConnection({ parts: none })).toBe(false);
  expect(reusedConnection({ parts: null })).toBe(false);
});
