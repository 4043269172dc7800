/** `@sluice/kit/fastify`: a webhook handler for Fastify 4 and 5. */
import type { WebhookReceiver } from '../handler/types.ts';

/** What is used of a Fastify instance. */
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

/** What {@link toFastify} takes beside the handler. */
export interface ToFastifyOptions {
  /** Where webhooks are posted to. Default `/`, which a `prefix` of `register` goes before. */
  path?: string;
}

/**
 * A plugin with one route. Register it as it is: inside its scope bodies stay raw, as signatures
 * need them, and the JSON parsing of all other routes stays as it was. Wrapped in `fastify-plugin`
 * it would switch off JSON parsing everywhere.
 *
 * @example app.register(toFastify(handler, { path: '/webhooks' }))
 */
export function toFastify(
  handler: WebhookReceiver,
  { path = '/' }: ToFastifyOptions = {},
): (scope: FastifyScope) => Promise<void> {
  // A plugin is a promise to Fastify, whether or not it waits for anything.
  return (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: handler.maxBodyBytes },
      (_request, body, done) => done(null, body),
    );
    scope.post(path, async ({ headers, body }, reply) => {
      // Fastify parses no empty body.
      const answer = await handler.receive({ headers, body: body ?? '' });
      return reply.code(answer.status).headers(answer.headers).send(answer.body);
    });
    return Promise.resolve();
  };
}
