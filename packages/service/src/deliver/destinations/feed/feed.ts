/**
 * The destination of streams that consumers read. Nothing is sent: recording the outcome gives the
 * webhook the next position in the feed of its stream.
 */
import { FEED_URL } from '@sluice/kit/contract';
import type { Destination } from '../destination.ts';

export const createFeed = (): Destination => ({
  takes: (url) => url === FEED_URL,
  isIsolable: false,
  refuse: () => Promise.resolve(undefined),
  hostOf: () => undefined,
  send: () =>
    Promise.resolve({
      startedAt: Date.now(),
      durationMs: 0,
      status: null,
      error: null,
      entersFeed: true,
      responseBody: '',
      transport: null,
    }),
  tidy() {},
  close: () => Promise.resolve(),
});
