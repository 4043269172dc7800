/** Responds to failed requests and unknown routes. */
import type { ErrorBody } from '@sluice/kit/contract';
import type { Context } from 'hono';
import { hasCode } from '../base/errors.ts';
import { type Log, describeError } from '../base/log.ts';
import { isUnavailable } from '../store/engine/unavailable.ts';
import { HttpError, RetryLaterError } from './httpErrors.ts';

/** Retry-After while the ledger is full, busy or unreachable. */
const RETRY_AFTER_SECONDS = 5;

function fail(context: Context, error: HttpError): Response {
  if (error instanceof RetryLaterError) {
    context.header('retry-after', String(error.retryAfterSeconds));
  }
  return context.json(
    { ...error.body(), requestId: context.get('requestId') as string },
    error.status,
  );
}

/** Responds to errors from routes. Logs errors of an unavailable ledger and unexpected errors. */
export function createFailureHandler(log: Log) {
  return (error: Error, context: Context): Response => {
    if (error instanceof HttpError) return fail(context, error);
    if (hasCode(error, 'not_found')) return fail(context, new HttpError(404, error.message));
    if (hasCode(error, 'unavailable')) return fail(context, new HttpError(503, error.message));
    const requestId = context.get('requestId') as string;
    if (isUnavailable(error)) {
      log.warn('request rejected: the ledger is unavailable', {
        requestId,
        error: describeError(error),
      });
      return fail(
        context,
        new RetryLaterError(
          503,
          `The ledger is full, busy or unreachable: try again in ${RETRY_AFTER_SECONDS} s`,
          RETRY_AFTER_SECONDS,
        ),
      );
    }
    log.error('request failed', {
      requestId,
      method: context.req.method,
      path: context.req.path,
      error: error.stack ?? String(error),
    });
    const body: ErrorBody & { requestId: string } = {
      message: 'The service failed: search its log for this request ID',
      requestId,
    };
    return context.json(body, 500);
  };
}

/**
 * Responds with a 405 that lists the methods of a known path, or with a 404 to an unknown path.
 *
 * @param routes known routes, with path parameters as `{name}`
 */
export function createUnknownRouteHandler(routes: readonly { method: string; path: string }[]) {
  return (context: Context): Response => {
    const { method, path } = context.req;
    const methods = routes
      .filter((route) => isPathOf(route.path, path))
      .map((route) => route.method);
    if (methods.length === 0)
      return fail(context, new HttpError(404, `No route ${method} ${path}`));
    context.header('allow', methods.join(', '));
    return fail(
      context,
      new HttpError(405, `${path} does not support ${method}: use ${methods.join(' or ')}`),
    );
  };
}

/** Returns whether a path matches this route with any parameters. */
function isPathOf(route: string, path: string): boolean {
  const parts = path.split('/');
  const own = route.split('/');
  return (
    parts.length === own.length &&
    own.every((part, n) => (part.startsWith('{') ? parts[n] !== '' : parts[n] === part))
  );
}
