import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHostPace } from './hostPace.ts';

const hostOf = (url: string): string | undefined =>
  url.startsWith('https:') ? new URL(url).host : undefined;

test('streams of one host share its turns, and other hosts have their own', () => {
  const pace = createHostPace(10, hostOf);
  expect(pace.take('a', 'https://one.example/a?x=1', 0)).toBe(0);
  expect(pace.take('b', 'https://user@one.example/b', 0)).toBe(100);
  expect(pace.take('c', 'https://two.example/', 0)).toBe(0);
  for (let n = 0; n < 9; n++) expect(pace.take('d', 'sluice://inbox/d', 0)).toBe(0);
  expect(pace.waiting(0)).toEqual([]);
  for (let n = 2; n < 5; n++) expect(pace.take('a', 'https://one.example/', 0)).toBe(n * 100);
  expect(pace.waiting(0)).toEqual(['a', 'b']);
  expect(pace.waiting(300)).toEqual([]);
  // Unused turns do not accumulate.
  expect(pace.take('a', 'https://one.example/', 60_000)).toBe(0);
  expect(pace.take('b', 'https://one.example/', 60_000)).toBe(100);
});

test('a webhook without a stream takes a turn of its host, or none if it would wait too long', () => {
  const pace = createHostPace(1, hostOf);
  expect(pace.take('a', 'https://one.example/', 0)).toBe(0);
  expect(pace.takeSoon('https://one.example/', 5_000, 0)).toBe(1_000);
  expect(pace.take('a', 'https://one.example/', 0)).toBe(2_000);
  expect(pace.takeSoon('https://one.example/', 2_999, 0)).toBeUndefined();
  expect(pace.takeSoon('https://one.example/', 3_000, 0)).toBe(3_000);
  expect(pace.takeSoon('https://two.example/', 0, 0)).toBe(0);
  expect(pace.takeSoon('sluice://inbox/d', 0, 0)).toBe(0);
});

test('without a limit nothing waits', () => {
  const pace = createHostPace(undefined, hostOf);
  for (let n = 0; n < 1_000; n++) expect(pace.take('a', 'https://one.example/', 0)).toBe(0);
  expect(pace.waiting(0)).toEqual([]);
});

test('property: no interval has more turns than the pace allows, plus one', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0.5, 1, 7, 1_000),
      fc.array(fc.nat(500), { minLength: 1, maxLength: 60 }),
      (perSecond, gaps) => {
        const pace = createHostPace(perSecond, hostOf);
        let now = 0;
        const turns = gaps.map((gap, n) => {
          now += gap;
          return now + pace.take(String(n % 5), 'https://one.example/', now);
        });
        for (const [n, first] of turns.entries()) {
          for (const [m, last] of turns.slice(n).entries()) {
            expect(m).toBeLessThanOrEqual(((last - first) * perSecond) / 1000 + 1e-6);
          }
        }
      },
    ),
  );
});
