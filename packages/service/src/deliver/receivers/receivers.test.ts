import { expect, test } from 'vitest';
import { createLog } from '../../base/log.ts';
import { IN_FLIGHT_PER_STREAM } from '../capacity.ts';
import type { SendResult } from '../destinations/destination.ts';
import { createReceivers } from './receivers.ts';

function open({ waiting = [] as string[] } = {}) {
  const changes: string[] = [];
  const receivers = createReceivers({
    log: createLog(() => {}),
    hostPace: { waiting: () => waiting },
    onRoom: () => changes.push('room'),
    store: {
      isShared: true,
      recoverStream: (id) => Promise.resolve(void changes.push(`recover ${id}`) as never),
      failStream(id, why) {
        changes.push(`fail ${id}: ${why}`);
        return Promise.resolve({} as never);
      },
      listBackOffs: () => Promise.resolve([]),
      backOffStream: () => Promise.resolve(0),
      endBackOff: () => Promise.resolve([]),
      listCertificates: () => Promise.resolve([]),
      recordCertificate: () => Promise.resolve(true),
    },
  });
  const judge = (
    streamId: string,
    status: number,
    more: Partial<SendResult> = {},
    isProbe = false,
  ) =>
    receivers.judge(
      { id: 'delivery', streamId, isProbe, webhookUrl: 'https://receiver.test/' },
      {
        startedAt: 0,
        durationMs: 0,
        status,
        error: status === 200 ? null : `HTTP ${status}`,
        responseBody: '',
        transport: null,
        ...more,
      },
      performance.now(),
    );
  return { receivers, judge, changes };
}

test('a failing receiver has no capacity; for others, deliveries in flight are counted', async () => {
  const { receivers, judge } = open({ waiting: ['paced'] });
  for (let n = 0; n < 10; n++) await judge('failing', 500);
  await judge('busy', 429, { retryAfterMs: 60_000 });
  await judge('fine', 200);
  expect(receivers.taken({ fine: 3, failing: 2 })).toEqual({
    fine: 3,
    failing: IN_FLIGHT_PER_STREAM,
    busy: IN_FLIGHT_PER_STREAM,
    paced: IN_FLIGHT_PER_STREAM,
  });
  expect(receivers.breakers()).toEqual({ open: 1, 'half-open': 0, held: 1 });
});

test('a local failure does not count against the receiver', async () => {
  const { receivers, judge } = open();
  const localFailure = { cause: 'STALLED', isSent: true } as const;
  for (let n = 0; n < 20; n++) await judge('stream', 500, { localFailure });
  expect(receivers.taken({})).toEqual({});
});

test('a stream goes into error when its URL must change, and a probe recovers it', async () => {
  const { receivers, judge, changes } = open();
  await judge('stream', 410, { urlProblem: 'the receiver is gone' });
  expect(changes).toEqual(['fail stream: the receiver is gone', 'room']);
  // Probes of a stream in `error` already check its receiver, so no circuit breaker is needed.
  expect(receivers.taken({})).toEqual({});
  await judge('stream', 200, {}, true);
  expect(changes.at(-1)).toBe('recover stream');
});
