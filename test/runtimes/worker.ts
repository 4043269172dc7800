/** The kit as a Worker: asked, it tells what the checks tell; sent a webhook, it handles it. */
import { createHandler } from '@sluice/kit';
import { WORKER_SECRET, runChecks } from './checks.ts';

const handler = createHandler({ secret: WORKER_SECRET, onError: () => {} }).onWebhook(() => {});

export default {
  fetch: async (request: Request): Promise<Response> =>
    request.method === 'POST' ? handler(request) : Response.json(await runChecks()),
};
