import { expect, onTestFinished, test, vi } from 'vitest';
import {
  formatAbout,
  formatAgo,
  formatBytes,
  formatClock,
  formatCount,
  formatDateTime,
  formatDay,
  formatDue,
  formatDuration,
  formatHash,
  formatMoment,
  formatId,
  formatQuantity,
  formatRowTime,
  formatShare,
  formatLength,
  formatSpan,
  formatWait,
} from './format.ts';
import { sizeOf } from './sizeOf.ts';
import { formatAmount } from './formatAmount.ts';
import { parseInZone, setUtc, zoneName } from './timeZone.ts';

test('counts have separators and the correct plural', () => {
  expect(formatCount(48_210)).toBe('48,210');
  expect(formatQuantity(1, 'address', 'addresses')).toBe('1 address');
  expect(formatQuantity(48_210, 'address', 'addresses')).toBe('48,210 addresses');
  expect(formatQuantity(0, 'event')).toBe('0 events');
});

test('an estimate has two significant figures and a sign', () => {
  expect(formatAbout(1247.3)).toBe('≈ 1,200');
  expect(formatAbout(0.0346)).toBe('≈ 0.035');
});

test('times are local and have a fixed width', () => {
  const time = new Date(2026, 10, 5, 9, 4, 7, 21).getTime();
  expect(formatClock(time)).toBe('09:04:07.021');
  expect(formatDateTime(time)).toBe('2026-11-05 09:04:07');
});

test('spans use their largest unit', () => {
  expect([0, 999, 59_999, 60_000, 3_599_999, 86_399_999, 200_000_000].map(formatSpan)).toEqual([
    '0s',
    '0s',
    '59s',
    '1m',
    '59m',
    '23h',
    '2d',
  ]);
  expect(formatSpan(-5)).toBe('0s');
  expect(
    [3, 1_400, 59_000, 60_000, 144_900, 3_600_000, 43_500_000, 187_200_000].map(formatLength),
  ).toEqual(['3 ms', '1.4 s', '59 s', '1m', '2m 24s', '1h', '12h 5m', '2d 4h']);
});

test('ago and due tolerate clock differences', () => {
  expect(formatAgo(1_000, 2_500)).toBe('now');
  expect(formatAgo(5_000, 1_000)).toBe('now');
  expect(formatAgo(1_000, 42_000)).toBe('41s ago');
  expect(formatDue(60_000, 2_000)).toBe('in 58s');
  const waits = [250, 5_000, 60_000, 600_000, 3_600_000, 86_400_000];
  expect(waits.map(formatWait)).toEqual(['0.3 s', '5 s', '1 min', '10 min', '1 h', '24 h']);
  expect(formatDue(2_000, 60_000)).toBe('due');
});

test('durations have at most three significant figures', () => {
  expect([0.4, 91, 999, 1000, 5003, 9949, 9950, 15_000].map(formatDuration)).toEqual([
    '0 ms',
    '91 ms',
    '999 ms',
    '1.0 s',
    '5.0 s',
    '9.9 s',
    '10 s',
    '15 s',
  ]);
});

test('bytes are decimal', () => {
  expect([0, 999, 1000, 48_200, 999_949, 999_950, 8_388_608].map(formatBytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '48.2 kB',
    '999.9 kB',
    '1.0 MB',
    '8.4 MB',
  ]);
  expect(sizeOf('ä€')).toBe(5);
});

test('100 % is only shown if nothing failed', () => {
  expect(formatShare(0, 0)).toBe('–');
  expect(formatShare(10, 0)).toBe('100 %');
  expect(formatShare(1_000_000, 1)).toBe('99.99 %');
  expect(formatShare(9994, 6)).toBe('99.94 %');
  expect(formatShare(1, 1)).toBe('50 %');
  expect(formatShare(0, 3)).toBe('0 %');
  expect(formatShare(1, 1_000_000)).toBe('0.01 %');
});

test('hashes are shortened in the middle', () => {
  expect(formatHash('0x28C6c06298d514Db089934071355E5743bf21d60')).toBe('0x28C6…1d60');
  expect(formatHash('0x1234')).toBe('0x1234');
  expect(formatId('6ecf6082-2b6a-47f9-ae3c-0559da258841')).toBe('da258841');
});

test('token amounts are exact', () => {
  expect(formatAmount('1200000000000', 6)).toBe('1,200,000');
  expect(formatAmount('1', 18)).toBe('0.000000000000000001');
  expect(formatAmount('250500000', 6)).toBe('250.5');
  expect(formatAmount('7', 0)).toBe('7');
  expect(formatAmount(String(2n ** 256n - 1n), 18)).toMatch(/^115,792,.*,457\.584007913129639935$/);
});

test('invalid amounts return null', () => {
  expect(formatAmount('-1', 6)).toBeNull();
  expect(formatAmount('1e18', 6)).toBeNull();
  expect(formatAmount('1', Number.NaN)).toBeNull();
  expect(formatAmount('1', 1e9)).toBeNull();
});

test('a time today has no date', () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour, 38, 40).getTime();
  expect(formatMoment(at(22, 10), at(22, 12))).toBe('10:38');
  expect(formatMoment(at(21, 23), at(22, 0))).toBe('11-21 23:38');
  expect(formatMoment(new Date(2025, 11, 31, 9, 5).getTime(), at(22, 0))).toBe('2025-12-31 09:05');
  expect(formatRowTime(at(22, 10), formatDay(at(22, 12)))).toBe('10:38:40.000');
  expect(formatRowTime(at(21, 23), formatDay(at(22, 0)))).toBe('11-21 23:38:40');
});

test('times follow the chosen zone', () => {
  const time = Date.UTC(2026, 10, 5, 23, 4, 7, 21);
  setUtc(true);
  onTestFinished(() => setUtc(false));
  expect(formatClock(time)).toBe('23:04:07.021');
  expect(formatDateTime(time)).toBe('2026-11-05 23:04:07');
  expect(parseInZone('2026-11-05T23:04')).toBe(Date.UTC(2026, 10, 5, 23, 4));
  expect(zoneName(time)).toBe('UTC');
  setUtc(false);
  const offset = vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(210);
  onTestFinished(() => offset.mockRestore());
  expect(formatDateTime(time)).toBe('2026-11-05 19:34:07');
  expect(zoneName(time)).toBe('UTC−3:30');
  offset.mockReturnValue(-120);
  expect(formatDateTime(time)).toBe('2026-11-06 01:04:07');
  expect(zoneName(time)).toBe('UTC+2');
});
