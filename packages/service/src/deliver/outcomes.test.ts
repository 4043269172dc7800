import { expect, test } from 'vitest';
import type { ClaimedDelivery } from '../store/deliveries/contract.ts';
import type { AttemptedSend } from './attempt.ts';
import { createLog } from '../base/log.ts';
import { createOutcomes, toOutcome } from './outcomes.ts';

const RETRIES = { schedule: [1_000, 2_000], fastRetryMs: 10 };

const claimed = (more: Partial<ClaimedDelivery>): ClaimedDelivery => ({
  id: 'delivery',
  leaseToken: 'token',
  claimedAt: 0,
  streamId: 'stream',
  phase: 'confirmed',
  attempts: 1,
  fastRetried: false,
  body: new Uint8Array(),
  bodyBytes: 0,
  webhookUrl: 'https://name:pass@receiver.test/',
  records: 0,
  headers: {},
  oauth2: null,
  timeoutMs: undefined,
  retryWaitsMs: undefined,
  secrets: [],
  part: 0,
  parts: 1,
  origin: 'live',
  unverified: null,
  isProbe: false,
  waitMs: 0,
  ...more,
});

const answered = (status: number | null, more: Partial<AttemptedSend> = {}): AttemptedSend => ({
  startedAt: 5,
  durationMs: 6,
  status,
  error: status === 200 ? null : 'it failed',
  responseBody: '',
  transport: null,
  senderDied: false,
  ...more,
});

const URL_PROBLEM = { urlProblem: 'change the URL' };

test.each<[string, Partial<ClaimedDelivery>, AttemptedSend, string, number]>([
  ['a 2xx', {}, answered(200), 'succeeded', 2_000],
  ['a first failure without a response', { attempts: 0 }, answered(null), 'retry quick', 10],
  ['a first 5xx', { attempts: 0 }, answered(503), 'retry quick', 10],
  ['a first 404', { attempts: 0 }, answered(404), 'retry', 1_000],
  ['a failure after the fast retry', { fastRetried: true }, answered(500), 'retry', 1_000],
  ['a second failure', {}, answered(500), 'retry', 2_000],
  ['a longer wait that is requested', {}, answered(429, { retryAfterMs: 9_000 }), 'retry', 9_000],
  ['a shorter wait that is requested', {}, answered(429, { retryAfterMs: 5 }), 'retry', 2_000],
  ['a failure after the schedule', { attempts: 2 }, answered(500), 'failed', 0],
  ['a URL that must change', { attempts: 2 }, answered(410, URL_PROBLEM), 'retry', 2_000],
  ['a wait of the stream', { retryWaitsMs: [70_000, 80_000] }, answered(500), 'retry', 80_000],
  [
    'a first 5xx of its own waits',
    { attempts: 0, retryWaitsMs: [900] },
    answered(503),
    'retry',
    900,
  ],
  ['a failure after its own waits', { retryWaitsMs: [9] }, answered(500), 'failed', 0],
  ['no retries', { attempts: 0, retryWaitsMs: [] }, answered(500), 'failed', 0],
  [
    'a URL that must change, without retries',
    { attempts: 0, retryWaitsMs: [] },
    answered(410, URL_PROBLEM),
    'retry',
    2_000,
  ],
  ['a probe that fails', { attempts: 7, isProbe: true }, answered(500), 'retry', 2_000],
  ['a sender that died', {}, answered(null, { senderDied: true }), 'quarantined', 2_000],
])('the deliverer decides the outcome of %s', (_, delivery, attempted, expected, waitMs) => {
  const outcome = toOutcome(claimed(delivery), attempted, RETRIES);
  expect(outcome.result + (outcome.isFastRetry ? ' quick' : '')).toBe(expected);
  expect(outcome.retryInMs).toBeGreaterThanOrEqual(waitMs);
  expect(outcome.retryInMs).toBeLessThanOrEqual(waitMs * 1.11);
});

test('the ledger does not receive the password of a URL', () => {
  expect(toOutcome(claimed({}), answered(200), RETRIES).webhookUrl).not.toContain('pass');
});

test('the lease of a delivery expires if the ledger rejects even its quarantine', async () => {
  const abandoned: string[] = [];
  const results: string[] = [];
  const outcomes = createOutcomes({
    store: {
      completeDeliveries(batch) {
        results.push(...batch.map(({ result }) => result));
        return Promise.reject(new Error('invalid value'));
      },
    },
    log: createLog(() => {}),
    lanes: { count: () => {} },
    leases: { drop: () => {}, abandon: ({ id }) => void abandoned.push(id) },
    isDue: () => true,
    onAttempts: () => {},
    onLostOutcomes: () => {},
    onWritten: () => {},
    overdue: new AbortController().signal,
  });
  outcomes.add(toOutcome(claimed({}), answered(200), RETRIES));
  await outcomes.flush();
  expect(results).toEqual(['succeeded', 'quarantined']);
  expect(abandoned).toEqual(['delivery']);
});
