import type { DeliveryCounts, StreamSummary } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { toFilterGroups } from './filterChoices.ts';

const COUNTS: DeliveryCounts = {
  total: 100,
  isCapped: false,
  state: [
    { value: 'succeeded', count: 90 },
    { value: 'failed', count: 10 },
  ],
  status: [
    { value: '200', count: 90 },
    { value: '503', count: 4 },
    { value: '500', count: 3 },
    { value: 'none', count: 3 },
  ],
  streamId: [{ value: 'a', count: 100 }],
  destination: [],
  chainId: [{ value: '0x1', count: 100 }],
  phase: [
    { value: 'confirmed', count: 60 },
    { value: 'unconfirmed', count: 40 },
  ],
  reorged: [{ value: 'false', count: 100 }],
  attempts: [
    { value: '1', count: 90 },
    { value: '7', count: 8 },
    { value: '2', count: 2 },
  ],
  age: [
    { value: '15m', count: 1 },
    { value: '24h', count: 20 },
    { value: 'older', count: 79 },
  ],
};

const choicesOf = (name: string, search = {}) =>
  toFilterGroups(COUNTS, search, [], [])
    .find((group) => group.name === name)
    ?.choices.map(({ value, count }) => [value, count]);

test('several codes are listed under their class', () => {
  expect(choicesOf('status')).toEqual([
    ['2xx', 90],
    ['5xx', 7],
    ['503', 4],
    ['500', 3],
    ['none', 3],
  ]);
});

test('counts of periods and of attempt ranges are cumulative', () => {
  expect(choicesOf('since')).toEqual([
    ['15m', 1],
    ['24h', 21],
  ]);
  expect(choicesOf('attempts')).toEqual([
    ['one', 90],
    ['several', 10],
    ['many', 8],
  ]);
});

test('the selected value is listed even if no delivery has it', () => {
  expect(choicesOf('state', { state: 'quarantined' })).toContainEqual(['quarantined', 0]);
  expect(choicesOf('state', { state: 'failed' })).toEqual([
    ['succeeded', 90],
    ['failed', 10],
  ]);
  expect(choicesOf('status', { status: '404' })).toEqual(
    expect.arrayContaining([
      ['4xx', 0],
      ['404', 0],
    ]),
  );
  expect(choicesOf('status', { status: '4xx' })).toContainEqual(['4xx', 0]);
  expect(choicesOf('status', { status: '200' })).toContainEqual(['200', 90]);
  expect(choicesOf('attempts', { attempts: 'none' })).toContainEqual(['none', 0]);
  expect(choicesOf('reorged', { reorged: true })).toContainEqual(['true', 0]);
});

test('pending and retrying are choices of their own', () => {
  const counts = {
    ...COUNTS,
    state: [
      { value: 'pending', count: 2 },
      { value: 'retrying', count: 1 },
    ],
  };
  const [group] = toFilterGroups(counts, {}, [], []);
  expect(group?.choices.map(({ label, count }) => `${label} ${count}`)).toEqual([
    'pending 2',
    'retrying 1',
  ]);
});

test('a value that all deliveries share is omitted unless it is selected', () => {
  expect(choicesOf('chain')).toBeUndefined();
  expect(choicesOf('chain', { chain: '0x1' })).toEqual([['0x1', 100]]);
  expect(choicesOf('reorged')).toBeUndefined();
});

test('destinations are listed with their receivers', () => {
  const stream = {
    webhookUrl: 'https://api.acme.io/hooks',
    destinations: [{ destination: 1, webhookUrl: 'sluice://feed' }],
  } as StreamSummary;
  const destination = [
    { value: '0', count: 60 },
    { value: '1', count: 30 },
    { value: '2', count: 10 },
  ];
  const groups = toFilterGroups({ ...COUNTS, destination }, {}, null, [], stream);
  const choices = groups.find(({ name }) => name === 'destination')?.choices;
  expect(choices?.map(({ label, count }) => [label, count])).toEqual([
    ['0: api.acme.io', 60],
    ['1: the feed', 30],
    ['2, removed', 10],
  ]);
  expect(choicesOf('destination')).toBeUndefined();
});
