import type { DeliveryPhase, DeliverySummary } from '@sluice/kit/sluice';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDeliveryPairs } from './deliveryPairs.ts';

const row = (id: string, matchId: string, phase: DeliveryPhase) =>
  ({ id, matchId, phase }) as DeliverySummary;

test('both phases of a match are a pair', () => {
  const pairs = createDeliveryPairs();
  const first = row('a', 'm', 'unconfirmed');
  const second = row('b', 'm', 'confirmed');
  const other = row('c', 'n', 'unconfirmed');
  const pairOf = pairs.follow([other, second, first]);
  expect(pairOf(first)).toBe(second);
  expect(pairOf(second)).toBe(first);
  expect(pairOf(other)).toBeUndefined();
});

test('rows that left the list have no pair, and changed rows are updated', () => {
  const pairs = createDeliveryPairs();
  const first = row('a', 'm', 'unconfirmed');
  const second = row('b', 'm', 'confirmed');
  pairs.follow([second, first]);
  const changed = { ...second };
  expect(pairs.follow([changed, first])(first)).toBe(changed);
  expect(pairs.follow([first])(first)).toBeUndefined();
});

test('a removal webhook replaces the confirmed delivery as the pair', () => {
  const pairs = createDeliveryPairs();
  const first = row('a', 'm', 'unconfirmed');
  const removal = row('c', 'm', 'removed');
  const pairOf = pairs.follow([removal, row('b', 'm', 'confirmed'), first]);
  expect(pairOf(first)).toBe(removal);
});

test('an index that followed each change equals the index of the last state', () => {
  const lists = fc
    .uniqueArray(fc.nat(25), { maxLength: 12 })
    .map((ids) => ids.toSorted((a, b) => b - a))
    .map((ids) =>
      ids.map((id) =>
        row(String(id).padStart(2, '0'), `m${id >> 1}`, id % 2 === 0 ? 'unconfirmed' : 'confirmed'),
      ),
    );
  fc.assert(
    fc.property(fc.array(lists, { minLength: 1, maxLength: 6 }), (states) => {
      const followed = createDeliveryPairs();
      for (const state of states) followed.follow(state);
      const last = states.at(-1) ?? [];
      const pairOf = followed.follow(last);
      const fresh = createDeliveryPairs().follow(last);
      for (const each of last) expect(pairOf(each)).toBe(fresh(each));
    }),
  );
});
