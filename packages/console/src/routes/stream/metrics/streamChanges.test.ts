import type { ActivityPoint, StreamChange } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { describeChange, labelChanges, placeChanges } from './streamChanges.ts';

const edited: StreamChange = { at: 0, kind: 'edited', fields: ['topic0', 'abi'], by: 'maya' };

test.each([
  [edited, 'edited topic0, abi by maya'],
  [{ ...edited, kind: 'paused', fields: [], by: 'bootstrap' }, 'paused by --api-key'],
  [{ ...edited, kind: 'failed', fields: [], by: null }, 'set to error by the service'],
] as const)('describes %j', (change, words) => {
  expect(describeChange({ ...change, fields: [...change.fields] })).toBe(words);
});

test('changes are placed at their step; those outside the chart are dropped', () => {
  const at = (minute: number): StreamChange => ({ ...edited, at: minute * 60_000 });
  const result = [10, 15, 20].map((minute) => ({ at: minute * 60_000 }) as ActivityPoint);
  const changes = [at(25), at(24.9), at(15), at(10), at(9.9)];
  expect(placeChanges(changes, { stepMinutes: 5, result }).map(({ index }) => index)).toEqual([
    0, 1, 2,
  ]);
  expect(placeChanges(changes, { stepMinutes: 5, result: [] })).toEqual([]);
});

test('changes that are close to each other share a label, and labels do not overlap', () => {
  const changes = [
    { index: 0, words: 'paused' },
    { index: 10, words: 'resumed' },
    { index: 50, words: 'edited tag' },
    { index: 100, words: 'paused' },
  ];
  expect(labelChanges(changes, 101)).toEqual([
    { place: 0, room: 0.5, text: '2 changes', title: 'paused\nresumed' },
    { place: 0.5, room: 0.5, text: 'edited tag', title: 'edited tag' },
    { place: 1, room: expect.closeTo(0.14) as number, text: 'paused', title: 'paused' },
  ]);
  expect(labelChanges(changes.slice(0, 1), 1)[0]).toMatchObject({ place: 0, room: 1 });
});
