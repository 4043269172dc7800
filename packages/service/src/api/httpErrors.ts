/**
 * Validates input, and creates errors in the format of the API: a status, a message, and details by
 * field.
 */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ErrorBody } from '@sluice/kit/contract';
import * as z from 'zod';
import { type ApiErrorCode, ServiceError } from '../base/errors.ts';
import { hideSecrets } from '../base/hideSecrets.ts';
import { previewText, previewJson } from '../base/preview.ts';

/** Maximum length of an error message, in characters. */
const MESSAGE_LIMIT = 1_000;
/** Maximum number of fields listed in an error; further problems are only counted. */
const FIELD_LIMIT = 20;
/**
 * Maximum length of an echoed value or name: long enough to recognize it, too short to fill a log.
 */
const ECHO_LIMIT = 200;
/**
 * Length to which a value is truncated before its secrets are hidden. Longer than any webhook URL,
 * so that credentials are never partly shown.
 */
const HIDDEN_LIMIT = 4_096;
/**
 * Number of values above which validation stops at the first problem, because reporting a problem
 * costs more than checking a value.
 */
const VALUES_FOR_ALL_PROBLEMS = 1_000;
/** Maximum number of values in a validated body or query, including lists and objects. */
export const MAX_VALUES = 50_000;

/** The kit's error code for each status; the code for any other status is `server_error`. */
const CODES: Partial<Record<number, ApiErrorCode>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'payload_too_large',
  422: 'validation_failed',
  429: 'rate_limited',
};

/**
 * Error with an HTTP status, for routes and the code that they call. `failures.ts` turns it into
 * the response.
 */
export class HttpError extends ServiceError {
  override readonly name = 'HttpError';
  readonly code: ApiErrorCode;
  readonly status: ContentfulStatusCode;
  readonly details: Record<string, unknown> | undefined;

  constructor(status: ContentfulStatusCode, message: string, details?: Record<string, unknown>) {
    super(message);
    this.code = CODES[status] ?? 'server_error';
    this.status = status;
    this.details = details;
  }

  body(): ErrorBody {
    // In the contract, only a 422 has `details`. Other errors use `fields`, because the official
    // client appends `details` to the message.
    const name = this.status === 422 ? 'details' : 'fields';
    return {
      message: previewText(this.message, MESSAGE_LIMIT),
      ...(this.details && { [name]: this.details }),
    };
  }
}

/** Error of a call that may succeed later. Its response has a `Retry-After` header. */
export class RetryLaterError extends HttpError {
  readonly retryAfterSeconds: number;

  constructor(status: 429 | 503, message: string, retryAfterSeconds: number) {
    super(status, message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Field whose values are never echoed, because a secret may be in the wrong place in it. */
const SECRET_FIELD = 'oauth2';
const SECRET_NAME = /^client_?secret$/i;

const AUDIT_TARGET = 'auditTarget';

/**
 * Sets the target of a call for the audit log. By default, the target is the last path parameter,
 * or empty if the path has no parameters.
 */
export const setAuditTarget = (context: Context, id: string): void => context.set(AUDIT_TARGET, id);

export const auditTargetOf = (context: Context): string =>
  (context.get(AUDIT_TARGET) as string | undefined) ??
  Object.values(context.req.param() as Record<string, string>).at(-1) ??
  '';

export const notFound = (
  what:
    | 'API key'
    | 'Public key'
    | 'Receiver'
    | 'Stream'
    | 'Destination'
    | 'Address'
    | 'Delivery'
    | 'History'
    | 'Stat'
    | 'Job'
    | 'Replay'
    | 'Block'
    | 'Consumer'
    | 'Version'
    | 'Inbox'
    | 'Node'
    | 'Alert URL'
    | 'Request',
): HttpError => new HttpError(404, `${what} not found`);

/**
 * Creates a 422 with one entry per invalid field: what the field should be, and the received value.
 * Lists at most `FIELD_LIMIT` fields, and counts the remaining problems in one more entry.
 *
 * @param hidesInput whether to leave out the received values. Default: false
 */
export function validationFailed(
  where: 'requestBody' | 'query' | 'path',
  problems: readonly { path: readonly PropertyKey[]; message: string }[],
  input: unknown,
  hidesInput = false,
): HttpError {
  const details: Record<string, unknown> = {};
  for (const [n, { path, message }] of problems.entries()) {
    if (Object.keys(details).length === FIELD_LIMIT) {
      const left = problems.length - n;
      const others = left === 1 ? '1 more problem is' : `${left} more problems are`;
      details[where] ??= {
        message: `${others} not listed: fix the listed ones first`,
        ...(!hidesInput && !hasSecret([], input) && { value: echo(input) }),
      };
      break;
    }
    const names = path.map((key) => previewText(String(key), ECHO_LIMIT));
    const field = previewText([where, ...names].join('.'), ECHO_LIMIT);
    details[field] ??= {
      message: previewText(message, MESSAGE_LIMIT),
      ...(!hidesInput &&
        !hasSecret(path, valueAt(input, path)) && { value: echo(valueAt(input, path)) }),
    };
  }
  return new HttpError(422, 'Validation Failed', details);
}

/**
 * Returns the parsed value, or throws a 422 that names the invalid fields, their values and the
 * fixes.
 *
 * @param hidesInput as in `validationFailed`
 */
export function validate<T>(
  schema: z.ZodType<T>,
  where: 'requestBody' | 'query' | 'path',
  input: unknown,
  hidesInput = false,
): T {
  const how: z.core.ParseContextInternal<z.core.$ZodIssue> = {
    abortEarly: refuseTooMany(where, input, hidesInput) > VALUES_FOR_ALL_PROBLEMS,
  };
  const result = schema.safeParse(input, how);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          path: [...issue.path, key],
          message: 'is not a known field: remove it or correct its name',
        }))
      : [{ path: issue.path, message: wordIssue(issue, input) }],
  );
  throw validationFailed(where, problems, input, hidesInput);
}

/**
 * Returns the number of values in a body, query or path.
 * @throws HttpError 422 that names the list or object at which the limit is exceeded.
 */
export function refuseTooMany(
  where: 'requestBody' | 'query' | 'path',
  input: unknown,
  hidesInput = false,
): number {
  const counted = countValues([input], [], MAX_VALUES);
  if (!('fullAt' in counted)) return MAX_VALUES - counted.left;
  const message = `should be smaller: a request may contain at most ${MAX_VALUES} values`;
  throw validationFailed(where, [{ path: counted.fullAt.slice(1), message }], input, hidesInput);
}

/**
 * Returns how many more values are allowed, or the path of the list or object at which the limit is
 * exceeded.
 */
function countValues(
  value: object,
  path: readonly PropertyKey[],
  room: number,
): { left: number } | { fullAt: readonly PropertyKey[] } {
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const size = keys?.length ?? (value as unknown[]).length;
  let left = room - size;
  if (left < 0) return { fullAt: path };
  for (let n = 0; n < size; n++) {
    const key = keys?.[n] ?? n;
    const each = (value as Record<PropertyKey, unknown>)[key];
    if (typeof each !== 'object' || each === null) continue;
    const counted = countValues(each, [...path, key], left);
    if ('fullAt' in counted) return counted;
    left = counted.left;
  }
  return { left };
}

function wordIssue(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.code === 'invalid_type' && valueAt(input, issue.path) === undefined) {
    return `is required and should be ${article(issue.expected)}`;
  }
  // Replaces only Zod's default messages, because a schema's own message is more specific.
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')) {
    return `should be ${article(issue.expected)}`;
  }
  if (issue.code === 'invalid_value' && issue.message.startsWith('Invalid ')) {
    return `should be one of ${issue.values.map(String).join(', ')}`;
  }
  return issue.message;
}

const article = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    // A query with a single value for a list has a string instead of a list.
    if (typeof value === 'string' && key === 0) continue;
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Returns whether a value at this path is or contains a client secret. */
function hasSecret(path: readonly PropertyKey[], value: unknown): boolean {
  if (path[0] === SECRET_FIELD || path.some((name) => SECRET_NAME.test(String(name)))) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, each]) => hasSecret([name], each));
}

/**
 * Returns a value as it appears in errors: shortened and without secrets. Truncates the text before
 * searching it for secrets, because callers control its length.
 */
function echo(value: unknown): unknown {
  const shown = typeof value === 'string' ? hideSecrets(value.slice(0, HIDDEN_LIMIT)) : value;
  const text = previewJson(shown, ECHO_LIMIT);
  return text.length > ECHO_LIMIT ? text : shown;
}
