import { afterEach, expect, test, vi } from 'vitest';
import { createLog } from '../base/log.ts';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import { createClaims } from './claims.ts';
import { createLanes } from './lanes.ts';

afterEach(() => void vi.restoreAllMocks());

test('after a stall, only deliveries whose leases are still held are sent', async () => {
  const now = performance.now.bind(performance);
  let stalledMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + stalledMs);
  const claimed = ['a', 'b'].map(
    (id) => ({ id, streamId: id, claimedAt: Date.now() }) as ClaimedDelivery,
  );
  const attempted: string[] = [];
  const givenUp: string[] = [];
  let batches = [claimed];
  const claims = createClaims({
    store: {
      claimDeliveries() {
        const [next = [], ...others] = batches;
        batches = others;
        if (next.length > 0) stalledMs = 60_000;
        return Promise.resolve(next);
      },
    },
    log: createLog(() => {}),
    lanes: createLanes(),
    leases: { renew: (held) => Promise.resolve(held.slice(1)) },
    taken: (inFlight) => inFlight,
    enter() {},
    giveUp: ({ id }) => void givenUp.push(id),
    attempt({ id }) {
      attempted.push(id);
      return Promise.resolve();
    },
    onAllBegun() {},
    overdue: new AbortController().signal,
  });
  claims.start();
  await vi.waitFor(() => expect(attempted.length + givenUp.length).toBe(2));
  await claims.stop();
  expect({ attempted, givenUp }).toEqual({ attempted: ['b'], givenUp: ['a'] });
});
