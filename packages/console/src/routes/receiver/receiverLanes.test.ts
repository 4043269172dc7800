import type { BackOff, DestinationSummary } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import type { FleetStream } from '../../data/fleet.ts';
import { lanesOf, receiverCondition } from './receiverLanes.ts';

const NOW = 1_000_000;

const its = (changes: Partial<DestinationSummary> = {}): DestinationSummary => ({
  destination: 0,
  webhookUrl: 'https://api.example/hook',
  status: 'active',
  statusMessage: '',
  queue: 0,
  lastDeliveryAt: null,
  backOff: null,
  ...changes,
});

const row = (
  id: string,
  isFailing: boolean,
  ...destinations: DestinationSummary[]
): FleetStream => {
  const [{ destination: _number, ...own } = its(), ...others] = destinations;
  return { stream: { id, ...own, destinations: others }, isFailing } as FleetStream;
};

const word = (...destinations: DestinationSummary[]): string =>
  receiverCondition(
    destinations.map((each) => ({ row: row('s', false), its: each })),
    NOW,
  ).word;

const backOff = (until: number, reason: BackOff['reason'] = 'failures'): BackOff => ({
  reason,
  since: 0,
  until,
});

test('a receiver has the destinations of all streams with its host, failing ones first', () => {
  const other = its({ webhookUrl: 'https://api.example:8443/' });
  const added = its({ destination: 2, webhookUrl: 'https://user:***@api.example/x?key=***' });
  const fleet = [row('a', false, its()), row('b', false, other, added), row('c', true, its())];
  expect(
    lanesOf(fleet, 'api.example').map((lane) => [lane.row.stream.id, lane.its.destination]),
  ).toEqual([
    ['c', 0],
    ['a', 0],
    ['b', 2],
  ]);
  expect(lanesOf(fleet, 'api.example:8443')).toHaveLength(1);
  expect(lanesOf(fleet, 'example')).toEqual([]);
});

test('its state is the worst of its destinations', () => {
  expect(word(its(), its())).toBe('healthy');
  expect(word(its(), its({ status: 'error' }))).toBe('failing');
  expect(receiverCondition([{ row: row('s', true), its: its() }], NOW).word).toBe('failing');
  expect(word(its(), its({ backOff: backOff(NOW + 1, 'throttled') }))).toBe('rate limited');
  const backedOff = its({ status: 'error', backOff: backOff(NOW + 1) });
  expect(word(its(), backedOff)).toBe('backed off');
  expect(word(backedOff, its({ backOff: backOff(NOW) }))).toBe('probing');
  expect(word(its({ status: 'paused' }), its({ status: 'paused' }))).toBe('paused');
  expect(word(its({ status: 'paused' }), its())).toBe('healthy');
});
