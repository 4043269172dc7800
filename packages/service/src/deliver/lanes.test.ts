import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLanes } from './lanes.ts';

const delivery = fc.record({
  streamId: fc.constantFrom('a', 'b'),
  bodyBytes: fc.nat(9),
  attempts: fc.nat(2),
});

test('property: deliveries that entered and have not left are in flight, per stream and in total, and so are retries', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(delivery, fc.boolean())), (steps) => {
      const lanes = createLanes();
      const left: (typeof steps)[number][0][] = [];
      for (const [each, leaves] of steps) {
        lanes.enter(each);
        if (leaves) lanes.leave(each);
        else left.push(each);
      }
      const bytesOf = (entered: typeof left): number =>
        entered.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0);
      const toLoad = (entered: typeof left) => ({
        byStream: Object.fromEntries(
          Object.entries(Object.groupBy(entered, ({ streamId }) => streamId)).map(
            ([streamId, each]) => [streamId, each.length],
          ),
        ),
        total: entered.length,
        bytes: bytesOf(entered),
        bytesByStream: Object.fromEntries(
          Object.entries(Object.groupBy(entered, ({ streamId }) => streamId)).map(
            ([streamId, each]) => [streamId, bytesOf(each)],
          ),
        ),
      });
      expect(lanes.underWay).toEqual(toLoad(left));
      expect(lanes.retries).toEqual(toLoad(left.filter(({ attempts }) => attempts > 0)));
    }),
  );
});

test('a drain ends with the last delivery in flight, or at once', async () => {
  const lanes = createLanes();
  await lanes.emptied();
  const one = { streamId: 'a', bodyBytes: 1, attempts: 0 };
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
