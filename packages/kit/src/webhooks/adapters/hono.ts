/** `@sluice/kit/hono`: a webhook handler for Hono 4, on any runtime. */
import { toResponse } from '../handler/handler.ts';
import type { WebhookReceiver } from '../handler/types.ts';

/** What is used of a Hono context. */
export interface HonoContext {
  readonly req: { readonly raw: Request; arrayBuffer(): Promise<ArrayBuffer> };
}

/**
 * A route handler. Middleware may have read the body through `c.req` before: Hono keeps it. Only
 * what was taken from `c.req.raw` itself is gone, and answered with 500.
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
