import { expect, test } from 'vitest';
import { attemptGuidance } from './guidance.ts';

const figures = {
  bodyBytes: 132_400,
  p95Ms: 812,
  nextAttemptAt: new Date(2026, 10, 22, 9, 5, 7).getTime(),
};
const guidanceOf = (status: number | null, error: string | null, address: string | null = null) =>
  attemptGuidance({ status, error, durationMs: 15_000, address }, figures);
const status = (value: number) => guidanceOf(value, `answered ${value}`)?.advice;
const transport = (error: string, address?: string) => guidanceOf(null, error, address)?.advice;

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
  expect(transport('The attempt timed out after 15 s')).toContain('No answer after 15 s');
  expect(transport('certificate has expired')).toContain('certificate');
  expect(transport('10.0.0.1 is a private address')).toContain('private');
  expect(transport('socket hang up')).toContain('closed the connection');
});

test('a refused certificate is told as the service tells it, a refused connection with its address', () => {
  const error =
    'the certificate is not for a.test: CN=b.test; for b.test, timeout.test; valid from 2026-01-01 to 2026-11-01; signed by CN=X';
  expect(guidanceOf(null, error)).toMatchObject({
    advice: expect.stringContaining(`The secure connection failed: ${error}`) as string,
    offer: 'curl',
  });
  expect(transport('connect ECONNREFUSED 10.1.2.3:443', '10.1.2.3:443')).toContain(
    'Nothing listens at this address and port. Tried 10.1.2.3:443.',
  );
  expect(transport('wrong version number (SSL routines)', '10.1.2.3:443')).toContain('speaks TLS');
});

test('nothing is said where nothing helps', () => {
  expect(guidanceOf(200, null)).toBeNull();
  expect(guidanceOf(null, null)).toBeNull();
  expect(guidanceOf(418, 'teapot')).toBeNull();
  expect(transport('?')).toBeUndefined();
});

test('advice leads to where it can be followed', () => {
  expect(guidanceOf(401, '')?.offer).toBe('verify');
  expect(guidanceOf(404, '')?.offer).toBe('edit');
  expect(guidanceOf(429, '')?.offer).toBe('limit');
  expect(guidanceOf(500, '')?.offer).toBe('local');
});

test('advice has the figures of this delivery in it', () => {
  expect(status(413)).toContain('This body of 132.4 kB');
  expect(status(429)).toContain('waits until 09:05:07');
  expect(status(408)).toContain('gave up after 15 s; what gets a 2xx takes up to 812 ms (p95)');
  const unknown = { ...figures, p95Ms: null, nextAttemptAt: null };
  const attempt = { status: null, error: 'timed out', durationMs: 5_000, address: null };
  expect(attemptGuidance(attempt, unknown)?.advice).toContain('No answer after 5.0 s. Answer');
});
