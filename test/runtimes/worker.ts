/** The checks as a Worker: what it tells is its answer. */
import { runChecks } from './checks.ts';

export default {
  fetch: async (): Promise<Response> => Response.json(await runChecks()),
};
