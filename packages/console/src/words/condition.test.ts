import type { DeliveryState, DeliverySummary, StreamSummary } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import {
  chainCondition,
  chainProblem,
  DELIVERY_CONDITIONS,
  isChainDown,
  newestTried,
  pausedWords,
  sendVerb,
  destinationCondition,
  streamCondition,
  streamReason,
  idleReasonOf,
  streamScope,
} from './condition.ts';
import type { WatchedChain } from '../chains/timeline.ts';

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
  about: '',
  attempts: 1,
  status: 200,
  error: null,
  durationMs: 5,
  createdAt: 0,
  updatedAt: 0,
  nextAttemptAt: null,
  ...changes,
});

const NO_SOURCES = { amountOfFactories: 0, amountOfReads: 0 };

const failed = delivery({
  state: 'retrying',
  attempts: 2,
  status: 500,
  error: 'the receiver responded with 500',
  nextAttemptAt: 60_000,
});

const stream = (
  changes: Partial<StreamSummary>,
): Pick<
  StreamSummary,
  | 'status'
  | 'statusMessage'
  | 'queue'
  | 'webhookUrl'
  | 'deliveredSeries'
  | 'hourlyFailed'
  | 'failingSince'
  | 'backOff'
  | 'certificateEndsAt'
  | 'allAddresses'
  | 'amountOfAddresses'
  | 'amountOfFactories'
  | 'amountOfReads'
  | 'destinations'
> => ({
  allAddresses: false,
  amountOfAddresses: 1,
  ...NO_SOURCES,
  status: 'active',
  statusMessage: '',
  queue: 0,
  webhookUrl: 'https://api.acme.io/hooks?key=***',
  deliveredSeries: [4, 3, 2],
  hourlyFailed: [0, 0],
  failingSince: null,
  backOff: null,
  certificateEndsAt: null,
  destinations: [],
  ...changes,
});

test('a paused stream shows when and by which key it was paused', () => {
  const paused = { at: 0, by: 'bootstrap' };
  expect(pausedWords({ status: 'paused', paused }, 7_200_000)).toBe('paused by --api-key 2h ago');
  expect(pausedWords({ status: 'paused', paused: null }, 0)).toBeNull();
  // After a stream is resumed, the list of streams contains the record of the pause until the list
  // is reloaded.
  expect(pausedWords({ status: 'active', paused }, 0)).toBeNull();
});

test('no two conditions of a delivery share the word, or both shape and tone', () => {
  const { enriching: _, ...conditions } = DELIVERY_CONDITIONS;
  const looks = Object.values(conditions).map(({ shape, tone }) => `${shape} ${tone}`);
  expect(new Set(looks).size).toBe(looks.length);
  const words = Object.values(DELIVERY_CONDITIONS).map(({ word }) => word);
  expect(new Set(words).size).toBe(words.length);
});

test('a held delivery is released, and a settling chain is not down', () => {
  expect(
    ['held', 'pending', 'retrying', 'failed'].map((state) => sendVerb(state as DeliveryState)),
  ).toEqual(['Release', 'Retry now', 'Retry now', 'Replay']);
  const settling = { state: 'settling', message: 'a check failed' } as WatchedChain;
  expect(chainCondition(settling).word).toBe('settling');
  expect(isChainDown(settling)).toBe(false);
  expect(chainProblem(settling, 0)).toBe('a check failed');
});

test('an active stream is failing while its newest attempted delivery is', () => {
  expect(streamCondition(stream({}), undefined).word).toBe('active');
  expect(streamCondition(stream({}), delivery({})).word).toBe('active');
  expect(streamCondition(stream({}), failed).word).toBe('failing');
  const empty = { allAddresses: false, amountOfAddresses: 0 };
  expect(streamCondition(stream(empty), undefined)).toMatchObject({
    word: 'no addresses',
    tone: 'warn',
  });
  expect(streamCondition(stream({ ...empty, allAddresses: true }), undefined).tone).toBe('ok');
  expect(streamCondition(stream({ ...empty, status: 'paused' }), undefined).word).toBe('paused');
  expect(streamCondition(stream({ status: 'error' }), delivery({})).word).toBe('failing');
  expect(streamCondition(stream({ status: 'paused' }), failed).word).toBe('paused');
  expect(streamCondition(stream({ statusMessage: 'no source' }), undefined).word).toBe('attention');
  const statusMessage = 'No source for 0x1: start the service with --chain 0x1=<rpcUrl>';
  expect(streamReason(stream({ statusMessage }), undefined, 0)).toBe(statusMessage);
});

test('a stream whose attempts are far apart is failing, too', () => {
  const stuck = { queue: 1_000, deliveredSeries: [7, 0, 0], hourlyFailed: [0, 12] };
  expect(streamCondition(stream(stuck), undefined).word).toBe('failing');
  expect(streamCondition(stream(stuck), delivery({})).word).toBe('active');
  expect(streamCondition(stream({ ...stuck, queue: 0 }), undefined).word).toBe('active');
  expect(streamCondition(stream({ ...stuck, deliveredSeries: [0, 0, 1] }), undefined).word).toBe(
    'active',
  );
});

test('the reason names the response, the host, the start, the next retry and the queue', () => {
  const since = new Date(2026, 10, 22, 10, 42).getTime();
  const now = since + 58_000;
  const waiting = { ...failed, nextAttemptAt: now + 58_500 };
  expect(streamReason(stream({ queue: 1204, failingSince: since }), waiting, now, 7)).toBe(
    '500 from api.acme.io · since 10:42 · retry 2 of 7 in 58s · 1,204 queued',
  );
  // Without `failingSince` and the maximum number of retries, the reason omits both.
  expect(streamReason(stream({}), waiting, now)).toBe('500 from api.acme.io · retry 2 in 58s');
});

test('while sending is paused the reason counts down, then names the trial delivery', () => {
  const until = new Date(2026, 10, 22, 10, 43, 12).getTime();
  const backOff = { reason: 'failures', since: until - 30_000, until } as const;
  const waiting = { ...failed, nextAttemptAt: until - 20_000 };
  const reasonAt = (now: number, of: StreamSummary['backOff'] = backOff) =>
    streamReason(stream({ queue: 40, backOff: of }), waiting, now, 7);
  expect(reasonAt(until - 29_400)).toBe(
    '500 from api.acme.io · sending is paused for 30s, until 10:43:12, then one delivery is sent as a probe · 40 queued',
  );
  expect(reasonAt(until)).toBe('500 from api.acme.io · probing with one delivery now · 40 queued');
  expect(reasonAt(until - 1, { ...backOff, reason: 'throttled' })).toContain(
    ' · rate limited by the receiver · sending is paused for 1s, until 10:43:12 · ',
  );
  const later = { ...waiting, nextAttemptAt: until + 60_000 };
  expect(streamReason(stream({ backOff }), later, until - 1_000)).toContain('retry 2 in 1m');
});

test('a stream with a backed-off receiver is not active, even if its newest delivery succeeded', () => {
  const times = { since: 0, until: 1 };
  const failures = stream({ backOff: { reason: 'failures', ...times } });
  const throttled = stream({ backOff: { reason: 'throttled', ...times } });
  expect(streamCondition(failures, delivery({})).word).toBe('failing');
  expect(streamCondition(throttled, delivery({})).word).toBe('attention');
});

test('a failing destination needs attention, and the reason names it', () => {
  const its = {
    destination: 1,
    webhookUrl: 'https://billing.example/hook',
    status: 'active',
    statusMessage: '',
    queue: 0,
    lastDeliveryAt: null,
    backOff: null,
  } as const;
  const ofOne = (changes: object) => stream({ destinations: [{ ...its, ...changes }] });
  expect(streamCondition(ofOne({}), delivery({})).word).toBe('active');
  expect(streamReason(ofOne({}), delivery({}), 0)).toBeNull();
  const gone = ofOne({ status: 'error', statusMessage: 'HTTP 410', queue: 3 });
  expect(streamCondition(gone, delivery({})).word).toBe('attention');
  expect(streamReason(gone, delivery({}), 0)).toBe(
    'destination 1, billing.example: HTTP 410; 3 queued',
  );
  const backOff = { reason: 'failures', since: 0, until: 1 } as const;
  expect(streamCondition(ofOne({ backOff }), delivery({})).word).toBe('attention');
  expect(streamReason(ofOne({ backOff }), delivery({}), 1)).toContain('probing');
  expect(destinationCondition({ ...its, backOff }).word).toBe('failing');
});

test('a failed delivery to a destination does not make the webhook URL failing', () => {
  const other = { ...failed, id: 'b', destination: 1, updatedAt: failed.updatedAt + 1 };
  expect([...newestTried([other, delivery({ attempts: 1 })]).values()]).toEqual([
    delivery({ attempts: 1 }),
  ]);
});

test('a certificate that expires soon is reported; an expired one shows in the failed attempts', () => {
  const endsAt = new Date(2026, 10, 25, 9, 30).getTime();
  const ending = stream({ certificateEndsAt: endsAt });
  expect(streamCondition(ending, delivery({})).word).toBe('attention');
  expect(streamReason(ending, delivery({}), endsAt - 3 * 86_400_000)).toBe(
    'the receiver’s certificate expires in 3d, 2026-11-25 09:30:00: renew it',
  );
  expect(streamReason(ending, delivery({}), endsAt)).toBeNull();
});

test('without a response the reason has the error; an inbox is identified as one', () => {
  const refused = { ...failed, status: null, error: 'connection refused', nextAttemptAt: null };
  expect(streamReason(stream({}), refused, 0)).toBe(
    'no response from api.acme.io: connection refused',
  );
  expect(streamReason(stream({ webhookUrl: 'sluice://inbox/demo' }), refused, 0)).toContain(
    'from inbox demo',
  );
});

test('the status message comes first; a stream that delivers has no reason', () => {
  const ended = stream({ status: 'error', statusMessage: 'Success rate below 70' });
  expect(streamReason(ended, undefined, 0)).toBe('Success rate below 70');
  expect(streamReason(ended, { ...failed, nextAttemptAt: null }, 0)).toBe(
    'Success rate below 70 · api.acme.io',
  );
  expect(streamReason(stream({}), delivery({}), 0)).toBeNull();
  expect(streamReason(stream({ status: 'paused', statusMessage: 'x' }), failed, 0)).toBeNull();
});

test('the newest attempted delivery is the one updated last; unattempted ones are ignored', () => {
  const older = delivery({ id: 'older', updatedAt: 5 });
  const newer = delivery({ id: 'newer', updatedAt: 9 });
  const untried = delivery({ id: 'untried', attempts: 0, updatedAt: 20 });
  expect(newestTried([untried, older, newer]).get('s')?.id).toBe('newer');
  expect(newestTried([untried]).has('s')).toBe(false);
});

test('a stream that matches nothing has a reason; one in error still matches', () => {
  const stream = {
    status: 'active',
    allAddresses: false,
    amountOfAddresses: 2,
    ...NO_SOURCES,
  } as const;
  expect(idleReasonOf(stream)).toBeNull();
  expect(idleReasonOf({ ...stream, status: 'error' })).toBeNull();
  expect(idleReasonOf({ ...stream, status: 'paused', amountOfAddresses: 0 })).toBe('paused');
  expect(idleReasonOf({ ...stream, status: 'terminated' })).toBe('terminated');
  expect(idleReasonOf({ ...stream, amountOfAddresses: 0 })).toBe('without addresses');
  expect(idleReasonOf({ ...stream, amountOfAddresses: 0, allAddresses: true })).toBeNull();
  for (const source of [{ amountOfFactories: 1 }, { amountOfReads: 1 }]) {
    expect(idleReasonOf({ ...stream, amountOfAddresses: 0, ...source })).toBeNull();
  }
});

const none = {
  allAddresses: false,
  amountOfAddresses: 0,
  amountOfChildren: 0,
  topic0: [],
  ...NO_SOURCES,
};

test('a stream without a scope is marked', () => {
  expect(streamScope({ ...none, allAddresses: true, topic0: ['a'] })).toEqual({
    text: 'ALL ADDRESSES · 1 event',
    unscoped: true,
  });
  expect(streamScope({ ...none, amountOfAddresses: 48_210 })).toEqual({
    text: '48,210 addresses',
    unscoped: false,
  });
});

test('the scope of a stream counts its factories, children and values, and addresses if it has any', () => {
  expect(streamScope(none).text).toBe('0 addresses');
  expect(streamScope({ ...none, amountOfFactories: 1, topic0: ['a'] }).text).toBe(
    '1 factory · 1 event',
  );
  const all = { amountOfAddresses: 1, amountOfFactories: 2, amountOfChildren: 1, amountOfReads: 3 };
  expect(streamScope({ ...none, ...all }).text).toBe(
    '1 address · 2 factories · 1 child · 3 values',
  );
});
