/** `@sluice/kit/express`: a webhook handler for Express 4 and 5. */
import type { WebhookReceiver } from '../handler/types.ts';
import { toNodeListener } from './node.ts';
import type { NodeRequest, NodeResponse } from './node.ts';

/**
 * Creates a route handler. Mount it before `app.use(express.json())`, because signatures cover the
 * raw body, which a JSON parser discards. If the parser must come first, exempt the route or keep
 * the bytes: `express.json({ verify: (req, _res, buffer) => { req.rawBody = buffer } })`. For a
 * parsed body, the handler responds with a 500 that explains the fix.
 *
 * @example app.post('/webhooks', toExpress(handler))
 */
export const toExpress: (
  handler: WebhookReceiver,
) => (request: NodeRequest, response: NodeResponse) => Promise<void> = toNodeListener;
