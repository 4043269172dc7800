/** What charts are made of: attempts over time, blocks with what became of them, reorgs and gaps. */
import type { Context } from 'hono';
import {
  type Activity,
  type ActivityBreakdown,
  activityQuerySchema,
  chainLogQuerySchema,
  eventSignature,
  eventTopic,
  KNOWN_EVENTS,
  listTapesSchema,
} from '@sluice/kit/contract';
import type { Store, StreamRecord } from '../../store/store.ts';
import { check, notFound, readId } from '../answers.ts';
import { takeQuery } from '../query.ts';
import { readJson } from '../body.ts';

export interface ActivityHandlers {
  getActivity(context: Context): Promise<Response>;
  getBreakdown(context: Context): Promise<Response>;
  listStreamChanges(context: Context): Promise<Response>;
  listTapes(context: Context): Promise<Response>;
  listReorgs(context: Context): Promise<Response>;
  listGaps(context: Context): Promise<Response>;
}

export function createActivityHandlers({ store }: { store: Store }): ActivityHandlers {
  const readStream = async (id: string | undefined): Promise<StreamRecord | undefined> => {
    const stream = id === undefined ? undefined : await store.readStream(id);
    if (id !== undefined && stream === undefined) throw notFound('Stream');
    return stream;
  };

  return {
    async getActivity(context) {
      const { streamId, step, points } = takeQuery(context, activityQuerySchema).query;
      await readStream(streamId);
      const result = await store.readActivity({ streamId, stepMinutes: step, points });
      return context.json({ stepMinutes: step, result } satisfies Activity);
    },
    async getBreakdown(context) {
      const { streamId, step, points } = takeQuery(context, activityQuerySchema).query;
      const stream = await readStream(streamId);
      const counts = await store.readBreakdown({ streamId, stepMinutes: step, points });
      const own = new Map(
        stream?.family === 'evm'
          ? (stream.options.abi ?? [])
              .filter(({ type }) => type === 'event')
              .map((item) => [eventTopic(item), eventSignature(item)])
          : [],
      );
      return context.json({
        ...counts,
        records: counts.records.map(({ what, matched }) => ({
          what,
          signature: own.get(what) ?? KNOWN_EVENTS[what] ?? null,
          matched,
        })),
      } satisfies ActivityBreakdown);
    },
    async listStreamChanges(context) {
      const id = readId(context, 'stream');
      await readStream(id);
      return context.json({ result: await store.listStreamChanges(id) });
    },
    async listTapes(context) {
      const asked = check(listTapesSchema, 'requestBody', readJson(context));
      return context.json({ result: await store.listTapes(asked) });
    },
    async listReorgs(context) {
      const { chain, limit } = takeQuery(context, chainLogQuerySchema).query;
      return context.json({ result: await store.listReorgs({ chain, limit }) });
    },
    async listGaps(context) {
      const { chain, limit } = takeQuery(context, chainLogQuerySchema).query;
      return context.json({ result: await store.listGaps({ chain, limit }) });
    },
  };
}
