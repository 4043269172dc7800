import { expect, test } from 'vitest';
import { createOutage } from './outage.ts';

test('an outage is probed after waits that double up to a minute, and reset when it ends', () => {
  const outage = createOutage();
  const waits: number[] = [];
  for (let n = 0, now = 5; n < 8; n++) {
    outage.note(now);
    // Failures before the next probe do not extend the wait.
    outage.note(outage.probeAt() - 1);
    waits.push(outage.probeAt() - now);
    now = outage.probeAt();
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000));
  outage.end();
  expect(outage.probeAt()).toBe(0);
  outage.note(0);
  expect(outage.probeAt()).toBe(1_000);
});
