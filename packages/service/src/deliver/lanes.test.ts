import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { createLanes, sumLoads } from './lanes.ts';

afterEach(() => void vi.useRealTimers());

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
      const toLoad = (entered: typeof left) => ({
        total: entered.length,
        bytes: entered.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0),
      });
      const toLoads = (entered: typeof left) => ({
        ...toLoad(entered),
        retries: toLoad(entered.filter(({ attempts }) => attempts > 0)),
      });
      const expected = Map.groupBy(left, ({ streamId }) => streamId);
      expect(lanes.loads()).toEqual(
        new Map([...expected].map(([streamId, entered]) => [streamId, toLoads(entered)])),
      );
      expect(lanes.total()).toBe(left.length);
      expect(sumLoads(lanes.loads().values())).toEqual(toLoads(left));
    }),
  );
});

test('a drain ends with the last delivery in flight, or at once', async () => {
  const lanes = createLanes();
  await lanes.emptied();
  const one = { streamId: 'a', bodyBytes: 1, attempts: 0 };
  const other = { ...one };
  lanes.enter(one);
  lanes.enter(other);
  let isEmpty = false;
  const emptied = lanes.emptied().then(() => (isEmpty = true));
  lanes.leave(one);
  await Promise.resolve();
  expect(isEmpty).toBe(false);
  lanes.leave(other);
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

test('a stream is quick from a quick attempt until an attempt takes longer than a second', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const lanes = createLanes();
  const enter = () => {
    const delivery = { streamId: 'a', bodyBytes: 1, attempts: 0 };
    lanes.enter(delivery);
    return delivery;
  };
  const isQuick = (): boolean => lanes.quick().has('a');
  const slow = enter();
  expect(isQuick()).toBe(false);
  lanes.leave(enter());
  expect(isQuick()).toBe(true);
  vi.advanceTimersByTime(1_001);
  expect(isQuick()).toBe(false);
  lanes.leave(enter());
  expect(isQuick()).toBe(false);
  lanes.leave(slow);
  expect(isQuick()).toBe(false);
  lanes.leave(enter());
  expect(isQuick()).toBe(true);
  const late = enter();
  vi.advanceTimersByTime(1_001);
  lanes.leave(late);
  expect(isQuick()).toBe(false);
});
