import { expect, test } from 'vitest';
import { isUnavailable } from './unavailable.ts';

const withCode = (message: string, code: string): Error =>
  Object.assign(new Error(message), { code });

test.each([
  new Error('database or disk is full'),
  new Error('Connection terminated unexpectedly'),
  new Error('timeout exceeded when trying to connect'),
  withCode('could not extend file', '53100'),
  withCode('ENOSPC: no space left on device, write', 'ENOSPC'),
  withCode('deadlock detected', '40P01'),
  withCode('terminating connection due to administrator command', '57P01'),
  withCode('cannot execute INSERT in a read-only transaction', '25006'),
  withCode('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED'),
  new Error('step failed', { cause: withCode('the database system is starting up', '57P03') }),
])('an error is temporary: %s', (error) => {
  expect(isUnavailable(error)).toBe(true);
});

test.each([
  new Error('UNIQUE constraint failed: stream.id'),
  withCode('duplicate key value violates unique constraint', '23505'),
  withCode('canceling statement due to statement timeout', '57014'),
  new TypeError('undefined is not a function'),
  'text',
])('an error is a bug: %s', (error) => {
  expect(isUnavailable(error)).toBe(false);
});
