import { expect, test } from 'vitest';
import { lagWords, progressWords, readCommand } from './consumerWords.ts';

test('the command names the stream by its tag, quoted, or by its ID', () => {
  expect(readCommand({ tag: 'payments', id: 'x' }, 0)).toBe(
    'sluice feed payments --consumer billing',
  );
  expect(readCommand({ tag: "maya's $(id)", id: 'x' }, 0)).toBe(
    String.raw`sluice feed 'maya'\''s $(id)' --consumer billing`,
  );
  expect(readCommand({ tag: 'payments', id: 'x' }, 2)).toBe(
    'sluice feed payments --consumer billing --destination 2',
  );
  expect(readCommand({ tag: '', id: 'x' }, 0)).toBe('sluice feed x --consumer billing');
});

test('the lag of a feed is that of its slowest consumer', () => {
  expect(
    lagWords([
      { name: 'audit', unread: 3 },
      { name: 'billing', unread: 1204 },
      { name: 'mail', unread: 0 },
    ]),
  ).toBe('1,204 unread by billing');
  expect(lagWords([{ name: 'billing', unread: 0 }])).toBeNull();
  expect(lagWords([])).toBeNull();
});

test('the progress of a consumer fits in a line', () => {
  const consumer = { name: 'billing', unread: 3, missed: 0, createdAt: 0, activeAt: 1_000_000 };
  expect(
    progressWords({ ...consumer, position: 1042, leased: 2, oldestAt: 940_000 }, 1_060_000),
  ).toBe('position 1,042 · 2 leased · oldest 2m ago · active 1m ago');
  expect(progressWords({ ...consumer, position: 0, leased: 0, oldestAt: null }, 1_000_000)).toBe(
    'position 0 · active now',
  );
});
