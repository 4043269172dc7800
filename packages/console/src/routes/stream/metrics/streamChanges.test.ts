import type { ActivityPoint, StreamChange } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { describeChange, placeChanges } from './streamChanges.ts';

const edited: StreamChange = { at: 0, kind: 'edited', fields: ['topic0', 'abi'], by: 'maya' };

test.each([
  [edited, 'edited topic0, abi by maya'],
  [{ ...edited, kind: 'paused', fields: [], by: 'bootstrap' }, 'paused by first key'],
  [{ ...edited, kind: 'failed', fields: [], by: null }, 'set to error: the receiver kept failing'],
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
