import { expect, test } from 'vitest';
import { createLag } from './lag.ts';

test('a node is stalled once others have passed it and its head has not moved for a minute', () => {
  const lag = createLag();
  const at = (number: number) => ({ number, hash: `0x${number}` });
  const now = performance.now();
  lag.recordHead(at(1), now);
  expect(lag.isStalled(now + 90_000)).toBe(false);
  lag.compare({ blocks: 4, seconds: 48 }, now + 90_000);
  expect(lag.share()).toBeGreaterThan(1);
  expect(lag.isStalled(now + 140_000)).toBe(false);
  expect(lag.isStalled(now + 160_000)).toBe(true);
  lag.recordHead(at(1), now + 160_000);
  expect(lag.isStalled(now + 160_001)).toBe(true);
  lag.recordHead(at(2), now + 160_002);
  expect(lag.isStalled(now + 160_003)).toBe(false);
  lag.compare({ blocks: -1, seconds: -12 }, now + 160_004);
  expect([lag.share(), lag.head()]).toEqual([0, 2]);
});

test('a node of a fast chain lags only if it is more than 5 s behind', () => {
  const lag = createLag();
  lag.compare({ blocks: 4, seconds: 1 }, 0);
  expect(lag.share()).toBeLessThan(1);
  lag.compare({ blocks: 30, seconds: 6 }, 0);
  expect(lag.share()).toBeGreaterThan(1);
  // One block of a slow chain may be 12 s old.
  lag.compare({ blocks: 1, seconds: 12 }, 0);
  expect(lag.share()).toBeLessThan(1);
});
