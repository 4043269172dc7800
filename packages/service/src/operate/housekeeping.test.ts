import { expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import type { Store } from '../store/store.ts';
import { startHousekeeping } from './housekeeping.ts';

const DAY_MS = 86_400_000;
const SWEEP_MS = 600_000;

test('consumers of feeds are moved past deliveries before these are deleted, and the log names them', async () => {
  let logged = '';
  const calls: string[] = [];
  const swept = Promise.withResolvers<void>();
  const known: Partial<Record<keyof Store, (given: never) => unknown>> = {
    skipExpiring: (ages: object) => {
      calls.push(`skip ${JSON.stringify(ages)}`);
      return [{ streamId: 's', consumer: 'billing', missed: 3 }];
    },
    tendDays: () => {
      calls.push('tend');
      return { dropped: [], shrunk: [], keptMs: 0 };
    },
    deleteExpired: () => {
      calls.push('delete');
      return { deliveries: 0, undelivered: 0, next: undefined };
    },
    saveSetting: () => swept.resolve(),
    terminateStreams: () => [],
    deleteFeeds: vi.fn(),
  };
  const store = new Proxy({ events: { trim: () => Promise.resolve() } } as unknown as Store, {
    get: (target, name) =>
      Reflect.get(target, name) ??
      ((given: never) => Promise.resolve(known[name as keyof Store]?.(given))),
  });
  const term = startHousekeeping({
    store,
    log: createLog((line) => (logged += line)),
    invariants: { look: () => Promise.resolve() } as never,
    options: { deliveredMs: DAY_MS, undeliveredMs: DAY_MS, terminateAfterHours: undefined },
  });
  await swept.promise;
  await term.stop();
  // Those that expire before the next sweep are skipped by this one.
  const deliveredMs = DAY_MS - SWEEP_MS;
  expect(calls).toEqual([`skip ${JSON.stringify({ deliveredMs })}`, 'tend', 'delete']);
  expect(logged).toContain('deliveries expired before a consumer read them');
  expect(logged).toContain('billing');
  expect(known.deleteFeeds).toHaveBeenCalled();
});
