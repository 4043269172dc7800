/**
 * Adds CORS headers for the allowed origins. Pages of these origins must call with a key, because a
 * session cookie is not accepted from them.
 */
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { IGNORED_QUERY_HEADER } from '../query.ts';

/** Time for which browsers may cache a preflight response. */
const REMEMBERED_SECONDS = 600;

export const allowOrigins = (origins: readonly string[]): MiddlewareHandler =>
  cors({
    origin: [...origins],
    allowMethods: ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'],
    allowHeaders: ['content-type', 'x-api-key', 'authorization', 'last-event-id'],
    exposeHeaders: [
      'x-request-id',
      'retry-after',
      'ratelimit',
      'ratelimit-policy',
      IGNORED_QUERY_HEADER,
    ],
    maxAge: REMEMBERED_SECONDS,
  });
