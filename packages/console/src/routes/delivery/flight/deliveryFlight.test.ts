import type { DeliveryAttempt, DeliveryDetail } from '@sluice/kit/sluice';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attemptOf, deliveryFlight } from './deliveryFlight.ts';
import type { Flight } from './flight.ts';

const BLOCK = 1_700_000_000_000;

const attempt = (number: number, startedAt: number, over: Partial<DeliveryAttempt> = {}) => ({
  number,
  startedAt,
  durationMs: 50,
  status: 200,
  error: null,
  webhookUrl: 'https://api.acme.io/hooks',
  responseBody: '',
  parts: null,
  address: null,
  certificate: null,
  ...over,
});
const failure = { status: 500, error: 'HTTP 500' };

const detail = (over: Partial<DeliveryDetail> = {}): DeliveryDetail => {
  const attemptList = over.attemptList ?? [];
  return {
    id: 'a',
    streamId: 's',
    matchId: 'm',
    tag: '',
    chainId: '0x1',
    blockNumber: 7,
    blockHash: '0x07',
    blockTime: BLOCK,
    committedAt: BLOCK + 1_400,
    createdAt: BLOCK + 1_400,
    updatedAt: BLOCK + 1_500,
    phase: 'unconfirmed',
    state: 'succeeded',
    records: 1,
    about: '',
    attempts: attemptList.length,
    status: null,
    error: null,
    durationMs: null,
    nextAttemptAt: null,
    confirmations: null,
    unverified: [],
    witnesses: null,
    webhookUrl: '',
    bodyBytes: 1,
    labels: {},
    pair: null,
    remainingWaitsMs: [],
    ...over,
    attemptList,
  };
};

const AT_REST = { now: BLOCK, dueAt: null, isPaused: false };
const legsOf = ({ legs }: Flight) =>
  legs.map(
    ({ label, parts }) => `${label} ${parts.reduce((sum, { from, to }) => sum + to! - from!, 0)}`,
  );
const namesOf = ({ legs }: Flight) =>
  legs.flatMap(({ parts }) => parts.map(({ name, look }) => `${look} ${name}`));

test('a delivery goes from its block over the commit and the queue to the response', () => {
  const parts = { dnsMs: 3, connectMs: 10, tlsMs: 20, waitMs: 60, bodyMs: 2 };
  const flight = deliveryFlight(
    detail({ attemptList: [attempt(1, BLOCK + 1_420, { durationMs: 96, parts })] }),
    AT_REST,
  );
  expect(legsOf(flight)).toEqual(['commit 1400', 'queue 20', '200 96']);
  expect(namesOf(flight).slice(2)).toEqual([
    'setup Attempt 1: DNS',
    'setup Attempt 1: connect',
    'setup Attempt 1: TLS',
    'send Attempt 1: wait',
    'receive Attempt 1: body',
  ]);
  expect(flight.summary).toBe('1.5 s after the block');
  expect(flight.now).toBeNull();
});

test('the time of a block may be ahead of the clock of the service', () => {
  const committedAt = BLOCK - 300;
  const attemptList = [attempt(1, BLOCK - 250)];
  const flight = deliveryFlight(
    detail({ committedAt, createdAt: committedAt, attemptList }),
    AT_REST,
  );
  expect(legsOf(flight)).toEqual(['queue 50', '200 50']);
  expect(flight.summary).toBe('0 ms after the block');
});

test('waits, replays and the confirmation are on the same axis', () => {
  const pair = { ...detail(), id: 'b', phase: 'confirmed', createdAt: BLOCK + 100_000 } as const;
  const flight = deliveryFlight(
    detail({
      attemptList: [
        attempt(1, BLOCK + 1_500, failure),
        attempt(2, BLOCK + 6_500),
        attempt(3, BLOCK + 50_000),
      ],
      pair,
    }),
    AT_REST,
  );
  expect(legsOf(flight)).toEqual([
    'commit 1400',
    'queue 100',
    '500 50',
    'wait 4950',
    '200 50',
    'replay 43450',
    '200 50',
    'confirm 49950',
  ]);
  expect(flight.marks).toMatchObject([
    { at: BLOCK + 50_050, twin: null },
    { at: BLOCK + 100_000, twin: { id: 'b' } },
  ]);
});

test('a confirmed delivery waits for its block first, and a removal webhook until the reorg', () => {
  const over = { createdAt: BLOCK + 60_000, attemptList: [attempt(1, BLOCK + 60_010)] };
  expect(namesOf(deliveryFlight(detail({ ...over, phase: 'confirmed' }), AT_REST))[1]).toBe(
    'gap Until the block was confirmed',
  );
  expect(namesOf(deliveryFlight(detail({ ...over, phase: 'removed' }), AT_REST))[1]).toBe(
    'gap Until the block was removed',
  );
});

test('an open delivery goes on until now, and then to its next attempt', () => {
  const now = BLOCK + 10_000;
  const open = (over: Partial<DeliveryDetail>, moment = {}) =>
    deliveryFlight(
      detail({ state: 'retrying', attemptList: [attempt(1, BLOCK + 1_500, failure)], ...over }),
      {
        now,
        dueAt: null,
        isPaused: false,
        ...moment,
      },
    );
  const retrying = open({}, { dueAt: now + 58_000 });
  expect(legsOf(retrying).slice(-2)).toEqual(['wait 8450', 'in 58s 58000']);
  expect(namesOf(retrying).at(-1)).toBe('ahead Until attempt 2');
  expect(retrying).toMatchObject({ now, summary: '1 attempt, next in 58s', marks: [{ at: now }] });
  const paused = open({}, { dueAt: now + 58_000, isPaused: true });
  expect(legsOf(paused).at(-1)).toBe('paused 8450');
  expect(paused.summary).toBe('1 attempt, until the stream is resumed');
  for (const [state, leg] of [
    ['enriching', 'enriching 8600'],
    ['held', 'held 8600'],
    ['pending', 'queue 8600'],
    ['leased', 'sending 8600'],
  ] as const) {
    expect(legsOf(open({ state, attemptList: [] })).at(-1), state).toBe(leg);
  }
  // The browser's clock is behind.
  expect(open({}, { now: BLOCK }).now).toBe(BLOCK + 1_550);
});

test('a delivery that was stopped while it waited ends when it was stopped', () => {
  const attemptList = [attempt(1, BLOCK + 1_500, failure)];
  const failed = (updatedAt: number) =>
    deliveryFlight(detail({ state: 'failed', attemptList, updatedAt }), AT_REST);
  expect(legsOf(failed(BLOCK + 1_560)).at(-1)).toBe('500 50');
  expect(legsOf(failed(BLOCK + 9_550)).at(-1)).toBe('wait 8000');
});

test('a delivery that was canceled in the moment of its commit has a part, too', () => {
  const at = { committedAt: BLOCK, createdAt: BLOCK, updatedAt: BLOCK };
  expect(legsOf(deliveryFlight(detail({ ...at, state: 'cancelled' }), AT_REST))).toEqual([
    'queue 0',
  ]);
});

test('many attempts are drawn as one leg and the last eight', () => {
  const attemptList = Array.from({ length: 20 }, (_, n) =>
    attempt(n + 1, BLOCK + 2_000 + n * 1_000, failure),
  );
  const flight = deliveryFlight(detail({ state: 'failed', attemptList }), AT_REST);
  expect(legsOf(flight).slice(0, 4)).toEqual([
    'commit 1400',
    'queue 600',
    '12 earlier 12000',
    '500 50',
  ]);
  expect(flight.legs.filter(({ label }) => label === '500')).toHaveLength(8);
});

test('a request in an inbox belongs to the attempt closest in time', () => {
  const attemptList = [attempt(1, 1_000), attempt(2, 5_000)];
  expect(attemptOf({ attemptList }, 1_020)).toBe(1);
  expect(attemptOf({ attemptList }, 4_990)).toBe(2);
  expect(attemptOf({ attemptList: [] }, 4_990)).toBeUndefined();
  const flight = deliveryFlight(detail({ attemptList }), { ...AT_REST, pickedAttempt: 2 });
  expect(flight.legs.filter(({ isPicked }) => isPicked)).toHaveLength(1);
});

test('each part starts where the previous one ends, whatever the clocks say', () => {
  const ms = fc.integer({ min: -5_000, max: 100_000 });
  const part = fc.option(fc.integer({ min: 0, max: 9_000 }));
  const attempts = fc.array(
    fc.record({
      after: ms,
      durationMs: fc.integer({ min: 0, max: 20_000 }),
      parts: fc.option(
        fc.record({ dnsMs: part, connectMs: part, tlsMs: part, waitMs: part, bodyMs: part }),
      ),
      error: fc.option(fc.constant('HTTP 500')),
    }),
    { maxLength: 12 },
  );
  const states = fc.constantFrom(
    'enriching',
    'held',
    'pending',
    'retrying',
    'leased',
    'succeeded',
    'failed',
    'quarantined',
    'cancelled',
  );
  fc.assert(
    fc.property(
      ms,
      ms,
      ms,
      ms,
      ms,
      attempts,
      states,
      (commit, create, update, due, pairMs, given, state) => {
        let at = BLOCK;
        const attemptList = given.map(({ after, ...each }, n) => {
          at += after;
          return attempt(n + 1, at, each);
        });
        const flight = deliveryFlight(
          detail({
            attemptList,
            state,
            committedAt: BLOCK + commit,
            createdAt: BLOCK + create,
            updatedAt: BLOCK + update,
            pair: { ...detail(), phase: 'confirmed', createdAt: BLOCK + pairMs },
          }),
          { now: BLOCK + 50_000, dueAt: BLOCK + due, isPaused: false },
        );
        const parts = flight.legs.flatMap((leg) => leg.parts);
        for (const [n, { from, to }] of parts.entries()) {
          expect(to!).toBeGreaterThanOrEqual(from!);
          if (n > 0) expect(from).toBe(parts[n - 1]?.to);
        }
        const drawn = parts.filter(({ look }) => ['setup', 'send', 'receive'].includes(look));
        expect(drawn.length).toBeGreaterThanOrEqual(Math.min(8, attemptList.length));
      },
    ),
  );
});
