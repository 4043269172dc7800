/** The kit as a Worker: GET returns the results of the checks, POST handles a webhook. */
import { createHandler } from '@sluice/kit';
import { WORKER_SECRET, runChecks } from './checks.ts';

const handler = createHandler({ secret: WORKER_SECRET, onError: () => {} }).onWebhook(() => {});

export default {
  fetch: async (request: Request): Promise<Response> =>
    request.method === 'POST' ? handler(request) : Response.json(await runChecks()),
};
