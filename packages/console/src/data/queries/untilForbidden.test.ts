import { SluiceError } from '@sluice/kit/sluice';
import { expect, test } from 'vitest';
import { untilForbidden } from './untilForbidden.ts';

test.each([
  [null, 5_000],
  [new SluiceError('not_found', 'unknown'), 5_000],
  [new SluiceError('forbidden', 'no scope'), false],
])('after %s, the interval is %s', (error, interval) => {
  expect(untilForbidden(5_000)({ state: { error } })).toBe(interval);
});
