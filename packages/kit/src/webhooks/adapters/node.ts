/**
 * `@sluice/kit/node`: a webhook handler for `node:http`, and for every framework that passes on
 * Node's request and response. Declares the types of Node that it uses instead of importing them.
 */
import type { WebhookReceiver } from '../handler/types.ts';
import { toRaw } from './rawBody.ts';

/** The part of an `http.IncomingMessage` that {@link toNodeListener} uses. */
export interface NodeRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  /** Whether the stream has been read from. */
  readonly readableDidRead?: boolean;
}

/** The part of an `http.ServerResponse` that {@link toNodeListener} uses. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: string): unknown;
}

/**
 * Creates a listener for `http.createServer` and for Next API routes with `bodyParser: false`.
 *
 * The listener reads the body itself, or uses the raw body in `request.body` (`express.raw()`) or
 * `request.rawBody` (Google Cloud Functions). A parsed body cannot be verified, so the response is
 * a 500 that explains the fix. The promise of the listener never rejects.
 *
 * @example createServer(toNodeListener(handler)).listen(3000)
 */
export function toNodeListener(
  handler: WebhookReceiver,
): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    const { method, headers } = request;
    const { status, ...rest } = await handler.receive({ method, headers, body: bodyOf(request) });
    response.writeHead(status, rest.headers);
    response.end(rest.body);
  };
}

function bodyOf(request: NodeRequest & { rawBody?: unknown; body?: unknown }): unknown {
  const { rawBody, body } = request;
  for (const kept of [rawBody, body]) {
    if (toRaw(kept) !== undefined) return kept;
  }
  // If the runtime does not support `readableDidRead`, a defined `body` shows that the stream was
  // read.
  if (request.readableDidRead ?? body !== undefined) return undefined;
  return request;
}
