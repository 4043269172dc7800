/**
 * A Worker that uses the kit. A POST is handled as a webhook; all other methods return the results
 * of the checks.
 */
import { createHandler } from '@sluice/kit';
import { WORKER_SECRET, runChecks } from './checks.ts';

const handler = createHandler({ secret: WORKER_SECRET, onError: () => {} }).onWebhook(() => {});

export default {
  fetch: async (request: Request): Promise<Response> =>
    request.method === 'POST' ? handler(request) : Response.json(await runChecks()),
};
