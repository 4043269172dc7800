/**
 * Queries of requests. A field that a route does not have is ignored, whatever the route, because older
 * clients repeat fields of the path there; the answer names what was ignored.
 */
import type { Context } from 'hono';
import type * as z from 'zod';
import { check } from './answers.ts';

export const IGNORED_QUERY_HEADER = 'x-ignored-query';

const TAKEN = 'takenQuery';
/** Of the header: a name is repeated so that it can be found, not so that it can fill a log. */
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 64;

export interface TakenQuery<T> {
  /** Checked. */
  query: T;
  /** As it came: one text, or a list where the name is there several times. */
  sent: Record<string, string | string[]>;
}

/** The fields of the query that the schema has. @throws HttpError 422 for one that is wrong */
export function takeQuery<T>(context: Context, schema: z.ZodType<T>): TakenQuery<T> {
  const { shape } = schema as unknown as z.ZodObject;
  take(context, Object.keys(shape));
  const sent = readQuery(context);
  return { query: check(schema, 'query', sent), sent };
}

/** One field of the query of a route that has no others; all its values. */
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

/** Names the fields of the query that the route did not take. */
export function nameIgnoredQuery(context: Context): void {
  const taken = new Set((context.get(TAKEN) as readonly string[] | undefined) ?? []);
  const ignored = Object.keys(context.req.queries()).filter((name) => !taken.has(name));
  if (ignored.length === 0) return;
  const shown = ignored
    .slice(0, MAX_NAMES)
    .map((name) => encodeURIComponent(name.slice(0, MAX_NAME_LENGTH).toWellFormed()));
  context.header(IGNORED_QUERY_HEADER, shown.join(', '));
}
