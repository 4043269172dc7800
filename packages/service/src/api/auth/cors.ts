/** Pages of other origins that the operator lets call: with a key, never with the cookie of a session. */
import type { MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { IGNORED_QUERY_HEADER } from '../query.ts';

/** How long a browser remembers that it may ask. */
const REMEMBERED_SECONDS = 600;

export const allowPages = (origins: readonly string[]): MiddlewareHandler =>
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
