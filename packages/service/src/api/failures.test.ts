import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { CallerError, RetryableError } from '../base/errors.ts';
import { createLog } from '../base/log.ts';
import { HttpError, RetryLaterError } from './httpErrors.ts';
import { createFailureHandler, createUnknownRouteHandler } from './failures.ts';

const ID = 'a-request-id';

/** Calls an app whose only route throws; returns the response and the logged lines. */
async function failWith(error: Error) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog((line) => lines.push(JSON.parse(line) as Record<string, unknown>), 'json');
  const app = new Hono<{ Variables: { requestId: string } }>();
  app.use((context, next) => {
    context.set('requestId', ID);
    return next();
  });
  app.get('/', () => {
    throw error;
  });
  app.onError(createFailureHandler(log));
  const response = await app.request('/');
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    retryAfter: response.headers.get('retry-after'),
    lines,
  };
}

test.each([
  [409, new HttpError(409, 'is changed by another'), 'is changed by another', 0],
  [404, new CallerError('not_found', 'no such stream'), 'no such stream', 0],
  [503, new RetryableError('unavailable', 'the chain is away'), 'the chain is away', 0],
  [503, new Error('database or disk is full'), expect.stringContaining('try again in 5 s'), 1],
  [500, new Error('password of the database: hunter2'), expect.stringContaining('its log'), 1],
])('the response has status %i for %s', async (status, error, message, logged) => {
  const failed = await failWith(error);
  expect(failed).toMatchObject({ status, body: { message, requestId: ID } });
  expect(failed.lines).toHaveLength(logged);
  if (logged > 0) {
    expect(failed.lines[0]).toMatchObject({
      requestId: ID,
      error: expect.stringContaining(error.message),
    });
  }
});

test('only temporary errors and errors of the ledger set Retry-After', async () => {
  expect((await failWith(new RetryLaterError(503, 'too many clients', 30))).retryAfter).toBe('30');
  expect((await failWith(new Error('database or disk is full'))).retryAfter).toBe('5');
  expect((await failWith(new Error('anything else'))).retryAfter).toBeNull();
});

test.each([
  ['GET', '/streams/1', 405, 'PUT, DELETE'],
  ['POST', '/streams', 405, 'GET'],
  ['GET', '/streams/', 404, null],
  ['GET', '/streams/1/more', 404, null],
  ['GET', '/elsewhere', 404, null],
])('%s %s has status %i if no route matches', async (method, path, status, allow) => {
  const app = new Hono();
  app.notFound(
    createUnknownRouteHandler([
      { method: 'GET', path: '/streams' },
      { method: 'PUT', path: '/streams/{id}' },
      { method: 'DELETE', path: '/streams/{id}' },
    ]),
  );
  const response = await app.request(path, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
});
