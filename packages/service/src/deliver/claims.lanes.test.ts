import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLanes } from './claims.ts';

const delivery = fc.record({
  streamId: fc.constantFrom('a', 'b'),
  bodyBytes: fc.nat(9),
});

test('property: deliveries that entered and have not left are in flight, per stream and in total', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(delivery, fc.boolean())), (steps) => {
      const lanes = createLanes();
      const left: { streamId: string; bodyBytes: number }[] = [];
      for (const [each, leaves] of steps) {
        lanes.enter(each);
        if (leaves) lanes.leave(each);
        else left.push(each);
      }
      const byStream = Object.groupBy(left, ({ streamId }) => streamId);
      expect(lanes.total()).toBe(left.length);
      expect(lanes.bytes()).toBe(left.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0));
      expect(lanes.underWay()).toEqual(
        Object.fromEntries(
          Object.entries(byStream).map(([streamId, entered]) => [streamId, entered!.length]),
        ),
      );
    }),
  );
});

test('a drain ends with the last delivery in flight, or at once', async () => {
  const lanes = createLanes();
  await lanes.emptied();
  const one = { streamId: 'a', bodyBytes: 1 };
  lanes.enter(one);
  lanes.enter(one);
  let isEmpty = false;
  const emptied = lanes.emptied().then(() => (isEmpty = true));
  lanes.leave(one);
  await Promise.resolve();
  expect(isEmpty).toBe(false);
  lanes.leave(one);
  await emptied;
});

test('a queue is counted from the last recount, and is never negative', () => {
  const lanes = createLanes();
  lanes.count('a', -1);
  lanes.count('b', 2);
  lanes.recount([{ streamId: 'a', queue: 5 }]);
  lanes.count('a', -1);
  expect(['a', 'b'].map(lanes.queued)).toEqual([4, 0]);
});
