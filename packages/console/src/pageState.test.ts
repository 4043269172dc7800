import { expect, test } from 'vitest';
import { titleOf } from './pageState.ts';

test('the title of a background tab says what matters', () => {
  expect(titleOf('Streams', 0, false)).toBe('Streams · Sluice');
  expect(titleOf('Streams', 2, false)).toBe('▲ 2 failing · Streams · Sluice');
  expect(titleOf('Deliveries', 2, true)).toBe('◌ reconnecting · Deliveries · Sluice');
});
