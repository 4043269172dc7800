import { expect, test } from 'vitest';
import { TURNS_AHEAD_MS, isLimited, planTurns } from './turns.ts';

const NOW = 1_000_000;
const lane = { id: 'a', max_in_flight: null, max_per_second: null, strict_order: 0 };

test('a lane without limits is not limited', () => {
  expect(isLimited(lane)).toBe(false);
  expect(isLimited({ ...lane, max_in_flight: 1 })).toBe(true);
  expect(isLimited({ ...lane, max_per_second: 1 })).toBe(true);
  expect(isLimited({ ...lane, strict_order: 1 })).toBe(true);
});

test('deliveries in flight reduce the room of a lane', () => {
  const limited = { ...lane, max_in_flight: 3 };
  expect(planTurns(limited, { leased: 1, nextSendAt: null }, NOW)).toMatchObject({ room: 2 });
  expect(planTurns(limited, { leased: 3, nextSendAt: null }, NOW)).toBeUndefined();
});

test('a lane in strict order has room for one delivery, whatever its other limit', () => {
  const strict = { ...lane, max_in_flight: 9, strict_order: 1 };
  expect(planTurns(strict, { leased: 0, nextSendAt: null }, NOW)).toMatchObject({ room: 1 });
  expect(planTurns(strict, { leased: 1, nextSendAt: null }, NOW)).toBeUndefined();
});

test('turns follow the last one at the rate of the stream, and are assigned only shortly before', () => {
  const paced = { ...lane, max_per_second: 20 };
  const last = NOW + 100;
  expect(planTurns(paced, { leased: 0, nextSendAt: last }, NOW)).toEqual({
    room: (TURNS_AHEAD_MS - 100) / 50 + 1,
    firstAt: last,
    intervalMs: 50,
  });
  // Unused turns do not accumulate.
  expect(planTurns(paced, { leased: 0, nextSendAt: NOW - 9_000 }, NOW)).toMatchObject({
    firstAt: NOW,
    room: TURNS_AHEAD_MS / 50 + 1,
  });
  const ahead = { leased: 0, nextSendAt: NOW + TURNS_AHEAD_MS + 1 };
  expect(planTurns(paced, ahead, NOW)).toBeUndefined();
});
