import type { Context } from 'hono';
import { FEED_URL } from '@sluice/kit/contract';
import { expect, test } from 'vitest';
import type { PlacedDelivery } from '../../../store/feeds/contract.ts';
import { createWaitingReads } from '../../waitingReads.ts';
import { createFeedHandlers } from './feeds.ts';

const NOW = 1_790_000_000_000;

/** Handlers of a feed with a delivery, and what was released. The reader leaves during its lease. */
function createLeavingReader() {
  const leaving = new AbortController();
  const released: unknown[] = [];
  const delivery = { id: 'd', position: 7 } as PlacedDelivery;
  const store = {
    readStream: async () => ({ id: 's', webhookUrl: FEED_URL }),
    leaseFeed: async () => {
      leaving.abort();
      return { placed: [delivery], position: 6, head: 7, now: NOW };
    },
    readFeedAfter: async () => {
      leaving.abort();
      return { placed: [delivery], position: 6, head: 7, now: NOW };
    },
    readFeedBodies: async () => [],
    releaseFeed: async (...given: unknown[]) => void released.push(given),
    readStreamSecrets: async () => [],
    signals: { on: () => () => {} },
    isShared: false,
  } as never;
  const handlers = createFeedHandlers({
    store,
    auth: { watch: (_: Context, signal: AbortSignal) => signal } as never,
    endpoints: { open: () => ({ headers: {} }) } as never,
    streamSecrets: { open: () => [] } as never,
    headersFor: () => ({}),
    waitingReads: createWaitingReads(store),
  });
  const req = { method: 'GET', raw: { signal: leaving.signal } };
  const context = { req, get: () => ({ keyId: 'k' }) } as never;
  const read = (mode: 'share' | 'each') => {
    const query = { mode, consumer: 'billing', limit: 1, leaseMs: 5_000, waitMs: 0 };
    return handlers.readFeed({ context, params: { id: 's' }, query } as never);
  };
  return { read, released };
}

test('a reader that leaves during its lease gives the deliveries back', async () => {
  const { read, released } = createLeavingReader();
  await read('share');
  expect(released).toEqual([['s', 'billing', { leaseEndsAt: NOW + 5_000, positions: [7] }]]);
});

test('a reader without leases gives nothing back', async () => {
  const { read, released } = createLeavingReader();
  expect(await read('each')).toMatchObject({ nextPosition: 7, leaseEndsAt: null });
  expect(released).toEqual([]);
});
