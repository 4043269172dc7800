/**
 * `@sluice/kit/node`: a webhook handler for `node:http`, and for every framework that hands on
 * Node's request and response. Imports nothing of Node: the types say what is used of it.
 */
import type { WebhookReceiver } from '../handler/types.ts';
import { toRaw } from './rawBody.ts';

/** What is used of an `http.IncomingMessage`. */
export interface NodeRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** Whether somebody has read of the stream. */
  readonly readableDidRead?: boolean;
}

/** What is used of an `http.ServerResponse`. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/**
 * A listener for `http.createServer`, also for Next API routes with `bodyParser: false`.
 *
 * It reads the body itself. Where a parser has run before, it takes the raw body if that was kept
 * as bytes or text in `request.body` (`express.raw()`) or `request.rawBody` (Google Cloud
 * Functions); from a parsed body nothing can be verified, so that is answered with 500 and the fix.
 * The promise never rejects.
 *
 * @example createServer(toNodeListener(handler)).listen(3000)
 */
export function toNodeListener(
  handler: WebhookReceiver,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const { method, headers } = request;
    const { status, ...answer } = await handler.receive({ method, headers, body: bodyOf(request) });
    response.writeHead(status, answer.headers);
    response.end(answer.body);
  };
}

function bodyOf(request: NodeRequest & { rawBody?: unknown; body?: unknown }): unknown {
  const { rawBody, body } = request;
  for (const kept of [rawBody, body]) {
    if (toRaw(kept) !== undefined) return kept;
  }
  // Where the runtime does not tell, a body that is there was read.
  if (request.readableDidRead ?? body !== undefined) return undefined;
  return request;
}
