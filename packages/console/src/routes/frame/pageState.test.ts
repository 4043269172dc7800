import { expect, test } from 'vitest';
import { titleOf } from './pageState.ts';

test('the title of a background tab shows failures', () => {
  expect(titleOf({ page: 'Sign in' })).toBe('Sign in · Sluice');
  expect(titleOf({ page: 'Streams', environment: 'dev' })).toBe('Streams · Sluice dev');
  const failing = { page: 'Streams', failing: 2, environment: 'prod' } as const;
  expect(titleOf(failing)).toBe('▲ 2 failing · Streams · Sluice prod');
  expect(titleOf({ ...failing, down: 'ETH' })).toBe(
    '▲ ETH down, 2 failing · Streams · Sluice prod',
  );
  expect(titleOf({ page: 'Streams', down: 'ETH, BASE' })).toBe(
    '▲ ETH, BASE down · Streams · Sluice',
  );
  expect(titleOf({ ...failing, offline: true })).toBe('◌ reconnecting · Streams · Sluice prod');
});
