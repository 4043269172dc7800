/** A Worker that receives webhooks; `SLUICE_SECRET` is one of its secrets. */
import { createHandler, type WebhookHandler } from '@sluice/kit';

let handler: WebhookHandler | undefined;

export default {
  fetch(request: Request, env: { SLUICE_SECRET: string }): Promise<Response> {
    // Secrets come with the first request. Isolates share no memory: to handle each webhook only
    // once, pass a `seen` store over shared storage.
    handler ??= createHandler({ secret: env.SLUICE_SECRET }).onWebhook(({ block, erc20Transfers }) => {
      console.log('block', block.number, erc20Transfers.length, 'transfers');
    });
    return handler(request);
  },
};
