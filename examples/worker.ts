/** A Worker that receives webhooks. `SLUICE_SECRET` is a secret of the Worker. */
import { createHandler, type WebhookHandler } from '@sluice/kit';

let handler: WebhookHandler | undefined;

export default {
  fetch(request: Request, env: { SLUICE_SECRET: string }): Promise<Response> {
    // Secrets come with the first request. Isolates share no memory: where a webhook must not be
    // handled twice, give `seen` an object over what they do share.
    handler ??= createHandler({ secret: env.SLUICE_SECRET }).onWebhook(({ block, erc20Transfers }) => {
      console.log('block', block.number, erc20Transfers.length, 'transfers');
    });
    return handler(request);
  },
};
