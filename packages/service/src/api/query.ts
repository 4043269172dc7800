/**
 * Reads query parameters. Older clients repeat path parameters in the query, so routes ignore
 * unknown parameters, and name them in a response header.
 */
import type { Context } from 'hono';
import type * as z from 'zod';
import { validate } from './httpErrors.ts';

export const IGNORED_QUERY_HEADER = 'x-ignored-query';

const TAKEN = 'takenQuery';
/** Limits of the header that lists ignored parameters, so that it does not flood a log. */
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 64;

export interface TakenQuery<T> {
  query: T;
  /** The query as it was sent: a string for each name, or a list if the name is repeated. */
  sent: Record<string, string | string[]>;
}

/**
 * Returns the validated query parameters, and records which names the route reads.
 * @throws HttpError 422 for an invalid parameter
 */
export function takeQuery<T>(context: Context, schema: z.ZodType<T>): TakenQuery<T> {
  const { shape } = schema as unknown as z.ZodObject;
  take(context, Object.keys(shape));
  const sent = readQuery(context);
  return { query: validate(schema, 'query', sent), sent };
}

/** Returns all values of a route's only query parameter. */
export function takeQueryField(context: Context, name: string): string[] {
  take(context, [name]);
  return context.req.queries(name) ?? [];
}

const take = (context: Context, names: readonly string[]): void => context.set(TAKEN, names);

const readQuery = (context: Context): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => [
      name,
      values.length === 1 ? values[0]! : values,
    ]),
  );

/** Adds a header that names the query parameters that the route did not read. */
export function nameIgnoredQuery(context: Context): void {
  const taken = new Set((context.get(TAKEN) as readonly string[] | undefined) ?? []);
  const ignored = Object.keys(context.req.queries()).filter((name) => !taken.has(name));
  if (ignored.length === 0) return;
  const shown = ignored
    .slice(0, MAX_NAMES)
    .map((name) => encodeURIComponent(name.slice(0, MAX_NAME_LENGTH).toWellFormed()));
  context.header(IGNORED_QUERY_HEADER, shown.join(', '));
}
