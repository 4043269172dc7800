/** Checks requests against the table of calls, and types the handlers and their results. */
import type { ResponseData, HandlerInput, CALLS, Call, CallName } from '@sluice/kit/calls';
import type { Context } from 'hono';
import * as z from 'zod';
import { validate } from './httpErrors.ts';
import { readJson } from './body.ts';
import { takeQuery } from './query.ts';

export type Received<Name extends CallName> = HandlerInput<(typeof CALLS)[Name]> & {
  readonly context: Context;
  /** Query and body as sent, before validation, for errors that repeat a value. */
  readonly sent: { readonly query: unknown; readonly body: unknown };
};

type Result<Name extends CallName> = ResponseData<(typeof CALLS)[Name]> | Response;

/**
 * One handler per call. A `Response` is sent unchanged, undefined as a 204, and any other value as
 * JSON.
 */
export type Handlers = {
  readonly [Name in CallName]: (request: Received<Name>) => Result<Name> | Promise<Result<Name>>;
};

/**
 * Creates a function that reads and validates the requests of a call.
 * @throws HttpError from that function: 400 for a body that cannot be parsed, 422 that names the
 * invalid fields
 */
export function createReader({
  params = {},
  query,
  body,
  readsItself,
  hidesBody,
}: Call): (context: Context) => Received<CallName> {
  // Checks the path parameters in order and reports only the first invalid one.
  const path = Object.entries(params).map(([name, schema]) => z.object({ [name]: schema }));
  return (context) => {
    const inPath = context.req.param();
    const given = Object.assign({}, ...path.map((schema) => validate(schema, 'path', inPath)));
    if (readsItself) return { context, params: given, sent: {} } as never;
    const taken = query && takeQuery(context, query);
    const sent = body && readJson(context);
    return {
      context,
      params: given,
      query: taken?.query,
      body: body && validate(body, 'requestBody', sent, hidesBody),
      sent: { query: taken?.sent, body: sent },
    } as never;
  };
}

export function sendResponse(context: Context, result: unknown): Response {
  if (result instanceof Response) return result;
  return result === undefined ? context.body(null, 204) : context.json(result);
}
