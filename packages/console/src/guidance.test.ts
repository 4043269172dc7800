import { expect, test } from 'vitest';
import { attemptGuidance } from './guidance.ts';

const status = (value: number) =>
  attemptGuidance({ status: value, error: `answered ${value}` })?.advice;
const transport = (error: string) => attemptGuidance({ status: null, error })?.advice;

test('each family of answers has its own advice', () => {
  expect(status(401)).toContain('signature');
  expect(status(404)).toContain('URL');
  expect(status(408)).toContain('Answer 2xx first');
  expect(status(413)).toContain('limit');
  expect(status(429)).toContain('fewer');
  expect(status(503)).toContain('crashed');
  expect(status(301)).toContain('Redirects');
  expect(status(410)).toContain('Gone');
});

test('a call without answer is told apart by its cause', () => {
  expect(transport('connect ECONNREFUSED 127.0.0.1:3000')).toContain('Nothing listens');
  expect(transport('getaddrinfo ENOTFOUND api.example')).toContain('does not resolve');
  expect(transport('The attempt timed out after 15 s')).toContain('deadline');
  expect(transport('certificate has expired')).toContain('certificate');
  expect(transport('10.0.0.1 is a private address')).toContain('private');
  expect(transport('socket hang up')).toContain('closed the connection');
});

test('nothing is said where nothing helps', () => {
  expect(attemptGuidance({ status: 200, error: null })).toBeNull();
  expect(attemptGuidance({ status: null, error: null })).toBeNull();
  expect(attemptGuidance({ status: 418, error: 'teapot' })).toBeNull();
  expect(transport('?')).toBeUndefined();
});

test('advice leads to where it can be followed', () => {
  expect(attemptGuidance({ status: 401, error: '' })?.offer).toBe('verify');
  expect(attemptGuidance({ status: 404, error: '' })?.offer).toBe('edit');
  expect(attemptGuidance({ status: 500, error: '' })?.offer).toBe('curl');
});
