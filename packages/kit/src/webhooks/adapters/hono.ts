/** `@sluice/kit/hono`: a webhook handler for Hono 4, on any runtime. */
import { toResponse } from '../handler/handler.ts';
import type { WebhookReceiver } from '../handler/types.ts';

/** The part of a Hono context that {@link toHono} uses. */
export interface HonoContext {
  readonly req: { readonly raw: Request; arrayBuffer(): Promise<ArrayBuffer> };
}

/**
 * Creates a route handler. Earlier middleware may read the body with the methods of `c.req`,
 * because Hono caches it. If the middleware reads `c.req.raw` directly, the body is lost, and the
 * response is a 500.
 *
 * @example app.post('/webhooks', toHono(handler))
 */
export const toHono =
  (handler: WebhookReceiver & ((request: Request) => Promise<Response>)) =>
  async ({ req }: HonoContext): Promise<Response> => {
    const { method, headers, bodyUsed } = req.raw;
    if (!bodyUsed) return await handler(req.raw);
    const body = await req.arrayBuffer().catch(() => undefined);
    return toResponse(await handler.receive({ method, headers, body }));
  };
