import { onTestFinished, expect, test } from 'vitest';
import { setUtc } from '../../text/timeZone.ts';
import { formatPeriod, parseTimeText, presetPeriod, toTimeText } from './period.ts';

const NOW = Date.UTC(2026, 10, 5, 9, 4, 41);

const inUtc = (): void => {
  setUtc(true);
  onTestFinished(() => setUtc(false));
};

test('presets start at a minute or at midnight', () => {
  inUtc();
  expect(presetPeriod('1h', NOW)).toEqual({ from: Date.UTC(2026, 10, 5, 8, 4) });
  expect(presetPeriod('24h', NOW)).toEqual({ from: Date.UTC(2026, 10, 4, 9, 4) });
  expect(presetPeriod('7d', NOW)).toEqual({ from: Date.UTC(2026, 9, 29, 9, 4) });
  expect(presetPeriod('30d', NOW)).toEqual({ from: Date.UTC(2026, 9, 6, 9, 4) });
  expect(presetPeriod('today', NOW)).toEqual({ from: Date.UTC(2026, 10, 5) });
  expect(presetPeriod('yesterday', NOW)).toEqual({
    from: Date.UTC(2026, 10, 4),
    until: Date.UTC(2026, 10, 5) - 1,
  });
});

test('a typed time is read back as it is shown', () => {
  inUtc();
  const minute = Date.UTC(2026, 10, 5, 9, 4);
  expect(parseTimeText(toTimeText(NOW))).toBe(minute);
  expect(parseTimeText('2026-11-05T09:04')).toBe(minute);
  expect(parseTimeText(' 2026-11-05 09:04 ', true)).toBe(minute + 59_999);
  expect(parseTimeText('2026-11-05')).toBe(Date.UTC(2026, 10, 5));
  expect(parseTimeText('2026-11-05', true)).toBe(Date.UTC(2026, 10, 6) - 1);
});

test('an empty text is no time, and anything else is invalid', () => {
  inUtc();
  expect(parseTimeText(' ')).toBeUndefined();
  for (const text of ['2026-02-30', '2026-11-05 24:30', '2026-11-05 9:04', '05.11.2026', 'now']) {
    expect(parseTimeText(text), text).toBeNull();
  }
});

test('a period is shown without what repeats', () => {
  inUtc();
  const from = Date.UTC(2026, 10, 5, 9, 4);
  expect(formatPeriod({})).toBe('');
  expect(formatPeriod({ from })).toBe('since 2026-11-05 09:04');
  expect(formatPeriod({ until: from })).toBe('until 2026-11-05 09:04');
  expect(formatPeriod({ from, until: from + 3_599_999 })).toBe('2026-11-05 09:04 – 10:03');
  expect(formatPeriod({ from, until: from + 86_399_999 })).toBe(
    '2026-11-05 09:04 – 2026-11-06 09:03',
  );
  expect(formatPeriod({ from, until: Date.UTC(2026, 10, 6) - 1 })).toBe('2026-11-05 09:04 – 23:59');
  expect(formatPeriod(presetPeriod('yesterday', NOW))).toBe('2026-11-04');
  const week = { from: Date.UTC(2026, 10, 1), until: Date.UTC(2026, 10, 8) - 1 };
  expect(formatPeriod(week)).toBe('2026-11-01 – 2026-11-07');
});
