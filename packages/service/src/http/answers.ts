/** Errors as the contract words them: a status, a message, and details by field (section 1.4). */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ErrorBody } from '@sluice/kit/contract';
import * as z from 'zod';
import { hideSecrets } from '../hideSecrets.ts';

/** Thrown anywhere below a route; `app.ts` turns it into the answer. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: ContentfulStatusCode;
  readonly details: Record<string, unknown> | undefined;

  constructor(status: ContentfulStatusCode, message: string, details?: Record<string, unknown>) {
    super(message);
    this.status = status;
    this.details = details;
  }

  body(): ErrorBody {
    return { message: this.message, ...(this.details && { details: this.details }) };
  }
}

const AUDIT_TARGET = 'auditTarget';

/** What an audited call was made about, where the path does not say it: the id of what it made. */
export const setAuditTarget = (context: Context, id: string): void => context.set(AUDIT_TARGET, id);

export const auditTargetOf = (context: Context): string =>
  (context.get(AUDIT_TARGET) as string | undefined) ??
  Object.values(context.req.param() as Record<string, string>).at(-1) ??
  '';

export const notFound = (
  what:
    | 'API key'
    | 'Stream'
    | 'Address'
    | 'Delivery'
    | 'History'
    | 'Stat'
    | 'Job'
    | 'Replay'
    | 'Block'
    | 'Version'
    | 'Inbox'
    | 'Request',
): HttpError => new HttpError(404, `${what} not found`);

/** A value is echoed so that it can be found, not so that it can fill a log. */
const ECHO_LIMIT = 200;

/** 422 with one entry per field: what it should be, and what came. */
export function validationFailed(
  where: 'requestBody' | 'query' | 'path',
  problems: readonly { path: readonly PropertyKey[]; message: string }[],
  input: unknown,
): HttpError {
  const details: Record<string, unknown> = {};
  for (const { path, message } of problems) {
    const field = [where, ...path.map(String)].join('.');
    details[field] ??= { message, value: echo(valueAt(input, path)) };
  }
  return new HttpError(422, 'Validation Failed', details);
}

/** An id of the path, or a 422: what is no UUID is never looked up. */
export function readId(
  context: Context,
  what: 'stream' | 'delivery' | 'history' | 'job' | 'replay' | 'request',
  name: 'id' | 'streamId' = 'id',
): string {
  const id = context.req.param(name) ?? '';
  if (z.uuid().safeParse(id).success) return id.toLowerCase();
  const message = `should be a ${what} id, a UUID`;
  throw validationFailed('path', [{ path: [name], message }], { [name]: id });
}

/** The query; a name that stands there several times has a list. */
export const readQuery = (context: Context): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? values[0]! : values,
    ]),
  );

/** The parsed value, or a 422 that names each wrong field, its value and the fix. */
export function check<T>(schema: z.ZodType<T>, where: 'requestBody' | 'query', input: unknown): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({
          path: [...issue.path, key],
          message: 'is not a known field: remove it or correct its name',
        }))
      : [{ path: issue.path, message: wordIssue(issue, input) }],
  );
  throw validationFailed(where, problems, input);
}

function wordIssue(issue: z.core.$ZodIssue, input: unknown): string {
  if (issue.code === 'invalid_type' && valueAt(input, issue.path) === undefined) {
    return `is required and should be ${article(issue.expected)}`;
  }
  // A schema's own words say more than ours, where it has any.
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
    // One value of a query stands for a list of one.
    if (typeof value === 'string' && key === 0) continue;
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function echo(value: unknown): unknown {
  const shown = typeof value === 'string' ? hideSecrets(value) : value;
  const text = JSON.stringify(shown);
  return text !== undefined && text.length > ECHO_LIMIT ? `${text.slice(0, ECHO_LIMIT)}…` : shown;
}
