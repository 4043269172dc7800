import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mixRetries, toRetryCapacity } from './retryShare.ts';

const dueOf = (first: number, retries: number) =>
  Array.from({ length: first + retries }, (_, n) => ({
    id: `${n}`,
    stream_id: 'a',
    attempts: n < first ? 0 : 1,
    body_bytes: 1,
  }));

test('property: the mix fills the room, keeps the order of each kind, and takes no more retries than allowed', () => {
  const few = fc.nat(9);
  fc.assert(
    fc.property(few, few, few, few, fc.nat(3), (first, retries, room, retryRoom, turn) => {
      const due = dueOf(first, retries);
      const mixed = mixRetries(due, { room, retryRoom }, turn);
      expect(mixed).toHaveLength(Math.min(room, first + Math.min(retries, retryRoom)));
      for (const isKind of [0, 1]) {
        const ofKind = mixed.filter(({ attempts }) => attempts === isKind);
        expect(ofKind).toEqual(
          due.filter(({ attempts }) => attempts === isKind).slice(0, ofKind.length),
        );
      }
      expect(mixed.filter(({ attempts }) => attempts > 0).length).toBeLessThanOrEqual(retryRoom);
    }),
  );
});

test.each([0, 1, 2, 3])(
  'every fourth delivery of a mix is a retry, starting at turn %i',
  (turn) => {
    const mixed = mixRetries(dueOf(12, 12), { room: 12, retryRoom: 12 }, turn);
    const isRetry = mixed.map(({ attempts }) => attempts > 0);
    expect(isRetry).toEqual(Array.from({ length: 12 }, (_, n) => (turn + n) % 4 === 3));
  },
);

test('retries may use three quarters of a capacity, and at least one place', () => {
  expect([1, 2, 4, 64].map(toRetryCapacity)).toEqual([1, 1, 3, 48]);
});
