import { expect, test } from 'vitest';
import type { FleetStream } from '../../data/fleet.ts';
import { sortStreams } from './streamOrder.ts';

const row = (tag: string, lastDeliveryAt: number | null, failedAttempts24h: number): FleetStream =>
  ({
    stream: { id: tag, tag, description: '', lastDeliveryAt, failedAttempts24h },
    isFailing: false,
    down: [] as readonly string[],
  }) as FleetStream;

const ROWS = [row('whale-10', 600_000, 0), row('Deposits', null, 3), row('whale-2', 660_500, 3)];

const tagsBy = (...given: Parameters<typeof sortStreams>): string[] =>
  sortStreams(...given).map(({ stream }) => stream.tag);

test('streams are sorted by last event, name or failures, or keep their order', () => {
  expect(tagsBy(ROWS, undefined)).toEqual(['whale-10', 'Deposits', 'whale-2']);
  expect(tagsBy(ROWS, 'last')).toEqual(['whale-2', 'whale-10', 'Deposits']);
  expect(tagsBy(ROWS, 'name')).toEqual(['Deposits', 'whale-2', 'whale-10']);
  expect(tagsBy(ROWS, 'failures')).toEqual(['Deposits', 'whale-2', 'whale-10']);
});

test('streams with events in the same minute are sorted by name', () => {
  const [a, b] = [row('a', 600_000, 0), row('b', 659_999, 0)];
  expect(tagsBy([b, a], 'last')).toEqual(['a', 'b']);
});

test('without a chosen order, streams with a problem are first', () => {
  const [a, b, c] = ROWS as [FleetStream, FleetStream, FleetStream];
  const rows = [a, { ...b, isFailing: true }, { ...c, down: ['0x1'] }];
  expect(tagsBy(rows, undefined)).toEqual(['Deposits', 'whale-2', 'whale-10']);
  expect(tagsBy(rows, 'last')).toEqual(['whale-2', 'whale-10', 'Deposits']);
});
