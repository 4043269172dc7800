/** `@sluice/kit/fastify`: a webhook handler for Fastify 4 and 5. */
import type { WebhookReceiver } from '../handler/types.ts';

/** The part of a Fastify instance that {@link toFastify} uses. */
export interface FastifyScope {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (
      request: unknown,
      body: Uint8Array,
      done: (error: Error | null, body?: unknown) => void,
    ) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown): unknown;
}

interface FastifyRequest {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: unknown;
}

interface FastifyReply {
  code(status: number): FastifyReply;
  headers(headers: Record<string, string>): FastifyReply;
  send(body: string): FastifyReply;
}

/** Options of {@link toFastify}. */
export interface ToFastifyOptions {
  /** Path of the webhook route, relative to the `prefix` option of `register`. Default: `/`. */
  path?: string;
}

/**
 * Creates a plugin with one route. Register it directly, so that bodies stay raw only in its scope.
 * Wrapped in `fastify-plugin`, it would disable JSON parsing in all routes.
 *
 * @example app.register(toFastify(handler, { path: '/webhooks' }))
 */
export function toFastify(
  handler: WebhookReceiver,
  { path = '/' }: ToFastifyOptions = {},
): (scope: FastifyScope) => Promise<void> {
  // Fastify requires a plugin without a callback to return a promise.
  return (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: handler.maxBodyBytes },
      (_request, body, done) => done(null, body),
    );
    scope.post(path, async ({ headers, body }, reply) => {
      // Fastify does not call the parser for an empty body.
      const response = await handler.receive({ headers, body: body ?? '' });
      return reply.code(response.status).headers(response.headers).send(response.body);
    });
    return Promise.resolve();
  };
}
