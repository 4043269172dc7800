import { expect, test } from 'vitest';
import { createLearnedFacts } from './learned.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function createWorld() {
  let nowMs = 0;
  const learned = createLearnedFacts(() => nowMs);
  return { learned, pass: (ms: number) => (nowMs += ms) };
}

test('a fact is forgotten a day after the last block that confirmed it', () => {
  const { learned, pass } = createWorld();
  expect(learned.knows('blooms-cover')).toBe(false);
  learned.confirm('blooms-cover');
  pass(DAY_MS - 1);
  expect(learned.knows('blooms-cover')).toBe(true);
  learned.confirm('blooms-cover');
  pass(DAY_MS - 1);
  expect(learned.knows('blooms-cover')).toBe(true);
  pass(1);
  expect(learned.knows('blooms-cover')).toBe(false);
});

test('a fact is forgotten if a block contradicts it', () => {
  const { learned } = createWorld();
  learned.confirm('headers-prove');
  learned.confirm('blooms-cover');
  learned.forget('headers-prove');
  expect(learned.knows('headers-prove')).toBe(false);
  expect(learned.knows('blooms-cover')).toBe(true);
});

test('roots are not read for an hour after 16 unproven blocks in a row', () => {
  const { learned, pass } = createWorld();
  const record = (count: number, reason: string): void => {
    for (let n = 0; n < count; n++) learned.recordRoots(reason);
  };
  record(15, 'unknown');
  record(1, '');
  record(15, 'unknown');
  expect(learned.areRootsWorthReading()).toBe(true);
  record(1, 'unknown');
  expect(learned.areRootsWorthReading()).toBe(false);
  expect(learned.proof()).toEqual({ isProven: false, reason: 'unknown' });
  pass(HOUR_MS - 1);
  expect(learned.areRootsWorthReading()).toBe(false);
  pass(1);
  expect(learned.areRootsWorthReading()).toBe(true);
  record(1, '');
  expect(learned.proof()).toEqual({ isProven: true, reason: '' });
});
