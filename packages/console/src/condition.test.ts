import type { DeliverySummary, StreamSummary } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import {
  deliveryCondition,
  newestTried,
  streamCondition,
  streamReason,
  streamScope,
} from './condition.ts';

const delivery = (changes: Partial<DeliverySummary>): DeliverySummary => ({
  id: 'a',
  streamId: 's',
  matchId: 'm',
  tag: '',
  chainId: '0x1',
  blockNumber: 1,
  phase: 'unconfirmed',
  state: 'succeeded',
  records: 1,
  attempts: 1,
  status: 200,
  error: null,
  durationMs: 5,
  createdAt: 0,
  updatedAt: 0,
  nextAttemptAt: null,
  ...changes,
});

const failed = delivery({
  state: 'pending',
  attempts: 2,
  status: 500,
  error: 'the receiver answered 500',
  nextAttemptAt: 60_000,
});

const stream = (
  changes: Partial<StreamSummary>,
): Pick<
  StreamSummary,
  'status' | 'statusMessage' | 'queue' | 'deliveredSeries' | 'hourlyFailed'
> => ({
  status: 'active',
  statusMessage: '',
  queue: 0,
  deliveredSeries: [4, 3, 2],
  hourlyFailed: [0, 0],
  ...changes,
});

test('a delivery that is tried again is told from one that waits for its first attempt', () => {
  expect(deliveryCondition({ state: 'pending', attempts: 0 }).word).toBe('pending');
  expect(deliveryCondition({ state: 'pending', attempts: 2 }).word).toBe('retrying');
  expect(deliveryCondition({ state: 'leased', attempts: 0 }).word).toBe('sending');
  expect(deliveryCondition({ state: 'succeeded', attempts: 1 }).word).toBe('delivered');
});

test('no two conditions of a delivery share both shape and tone', () => {
  const looks = (
    ['pending', 'leased', 'succeeded', 'failed', 'quarantined', 'cancelled'] as const
  ).map((state) => {
    const { shape, tone } = deliveryCondition({ state, attempts: 0 });
    return `${shape} ${tone}`;
  });
  expect(new Set(looks).size).toBe(looks.length);
});

test('an active stream fails while its newest tried delivery does', () => {
  expect(streamCondition(stream({}), undefined).word).toBe('active');
  expect(streamCondition(stream({}), delivery({})).word).toBe('active');
  expect(streamCondition(stream({}), failed).word).toBe('failing');
  expect(streamCondition(stream({ status: 'error' }), delivery({})).word).toBe('failing');
  expect(streamCondition(stream({ status: 'paused' }), failed).word).toBe('paused');
  expect(streamCondition(stream({ statusMessage: 'no source' }), undefined).word).toBe('attention');
});

test('a stream whose attempts are far apart fails all the same', () => {
  const stuck = { queue: 1_000, deliveredSeries: [7, 0, 0], hourlyFailed: [0, 12] };
  expect(streamCondition(stream(stuck), undefined).word).toBe('failing');
  expect(streamCondition(stream(stuck), delivery({})).word).toBe('active');
  expect(streamCondition(stream({ ...stuck, queue: 0 }), undefined).word).toBe('active');
  expect(streamCondition(stream({ ...stuck, deliveredSeries: [0, 0, 1] }), undefined).word).toBe(
    'active',
  );
});

test('the reason names error, next attempt and queue', () => {
  expect(streamReason(stream({ queue: 1204 }), failed, 2_000)).toBe(
    'the receiver answered 500 · attempt 3 in 58s · 1,204 deliveries queued',
  );
  expect(
    streamReason(stream({ status: 'error', statusMessage: '500 since 10:42' }), undefined, 0),
  ).toBe('500 since 10:42');
  expect(streamReason(stream({}), delivery({}), 0)).toBeNull();
  expect(streamReason(stream({ status: 'paused', statusMessage: 'x' }), failed, 0)).toBeNull();
});

test('the newest tried delivery is the one updated last; untried ones say nothing', () => {
  const older = delivery({ id: 'older', updatedAt: 5 });
  const newer = delivery({ id: 'newer', updatedAt: 9 });
  const untried = delivery({ id: 'untried', attempts: 0, updatedAt: 20 });
  expect(newestTried([untried, older, newer]).get('s')?.id).toBe('newer');
  expect(newestTried([untried]).has('s')).toBe(false);
});

test('a stream without scope says so', () => {
  expect(streamScope({ allAddresses: true, amountOfAddresses: 0, topic0: ['a'] })).toEqual({
    text: 'ALL ADDRESSES · 1 event',
    unscoped: true,
  });
  expect(streamScope({ allAddresses: false, amountOfAddresses: 48_210, topic0: [] })).toEqual({
    text: '48,210 addresses',
    unscoped: false,
  });
});
