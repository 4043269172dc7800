import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { setUtc } from '../text/timeZone.ts';
import { timeTicks } from './timeTicks.ts';

const MINUTE_MS = 60_000;
const labelsOf = (from: string, stepMinutes: number, count: number, most = 8): string[] =>
  timeTicks({ from: Date.parse(from), stepMs: stepMinutes * MINUTE_MS, count, most }).map(
    ({ label }) => label,
  );

const browserZone = process.env['TZ'];
afterEach(() => {
  setUtc(false);
  if (browserZone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = browserZone;
});

test('ticks are at round times, with the date at midnight', () => {
  setUtc(true);
  expect(labelsOf('2026-11-24T09:58Z', 1, 60)).toEqual([
    '10:00',
    '10:10',
    '10:20',
    '10:30',
    '10:40',
    '10:50',
  ]);
  expect(labelsOf('2026-11-23T10:05Z', 5, 288)).toEqual([
    '12:00',
    '15:00',
    '18:00',
    '21:00',
    '11-24',
    '03:00',
    '06:00',
    '09:00',
  ]);
  expect(labelsOf('2026-11-23T10:05Z', 5, 288, 4)).toEqual(['12:00', '18:00', '11-24', '06:00']);
  expect(labelsOf('2026-11-17T11:00Z', 60, 168)).toEqual([
    '11-18',
    '11-19',
    '11-20',
    '11-21',
    '11-22',
    '11-23',
    '11-24',
  ]);
});

test('ticks follow the zone, also if its offset is not a multiple of a step or changes', () => {
  process.env['TZ'] = 'Asia/Kolkata';
  expect(labelsOf('2026-11-23T10:00Z', 60, 24)).toEqual([
    '18:00',
    '21:00',
    '11-24',
    '03:00',
    '06:00',
    '09:00',
    '12:00',
  ]);
  process.env['TZ'] = 'Europe/Berlin';
  expect(labelsOf('2026-10-24T10:00Z', 60, 48, 4)).toEqual(['12:00', '10-25', '12:00', '10-26']);
});

test('there are never more than the maximum, and each is inside the chart', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 41 }),
      fc.constantFrom(1, 5, 60),
      fc.integer({ min: 0, max: 360 }),
      fc.integer({ min: 2, max: 12 }),
      (from, stepMinutes, count, most) => {
        const ticks = timeTicks({ from, stepMs: stepMinutes * MINUTE_MS, count, most });
        expect(ticks.length).toBeLessThanOrEqual(most + 1);
        for (const { place } of ticks) {
          expect(place).toBeGreaterThanOrEqual(0);
          expect(place).toBeLessThanOrEqual(1);
        }
      },
    ),
  );
});
