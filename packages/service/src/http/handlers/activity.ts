/** What charts are made of: attempts over time, blocks with what became of them, reorgs and gaps. */
import type { Context } from 'hono';
import {
  type Activity,
  activityQuerySchema,
  chainLogQuerySchema,
  listTapesSchema,
} from '@sluice/kit/contract';
import type { Store } from '../../store/store.ts';
import { check, notFound } from '../answers.ts';
import { readJson } from '../body.ts';

export interface ActivityHandlers {
  getActivity(context: Context): Promise<Response>;
  listTapes(context: Context): Promise<Response>;
  listReorgs(context: Context): Promise<Response>;
  listGaps(context: Context): Promise<Response>;
}

export function createActivityHandlers({ store }: { store: Store }): ActivityHandlers {
  const requireStream = async (id: string | undefined): Promise<void> => {
    if (id !== undefined && (await store.readStream(id)) === undefined) throw notFound('Stream');
  };

  return {
    async getActivity(context) {
      const { streamId, step, points } = check(activityQuerySchema, 'query', context.req.query());
      await requireStream(streamId);
      const result = await store.readActivity({ streamId, stepMinutes: step, points });
      return context.json({ stepMinutes: step, result } satisfies Activity);
    },
    async listTapes(context) {
      const asked = check(listTapesSchema, 'requestBody', readJson(context));
      return context.json({ result: await store.listTapes(asked) });
    },
    async listReorgs(context) {
      const { chain, limit } = check(chainLogQuerySchema, 'query', context.req.query());
      return context.json({ result: await store.listReorgs({ chain, limit }) });
    },
    async listGaps(context) {
      const { chain, limit } = check(chainLogQuerySchema, 'query', context.req.query());
      return context.json({ result: await store.listGaps({ chain, limit }) });
    },
  };
}
