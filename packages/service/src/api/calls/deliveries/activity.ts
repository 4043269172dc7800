/**
 * Calls that return data for charts: attempts over time, changes to a stream, blocks and their
 * matches, reorgs and gaps.
 */
import { KNOWN_EVENTS } from '@sluice/kit/contract';
import type { Store } from '../../../store/store.ts';
import type { StreamRecord } from '../../../store/streams/contract.ts';
import { notFound } from '../../httpErrors.ts';
import type { ApiFamilies } from '../../family.ts';
import type { Handlers } from '../../handlers.ts';

export function createActivityHandlers({
  store,
  families,
}: {
  store: Store;
  families: ApiFamilies;
}) {
  const readStream = async (id: string | undefined): Promise<StreamRecord | undefined> => {
    const stream = id === undefined ? undefined : await store.readStream(id);
    if (id !== undefined && stream === undefined) throw notFound('Stream');
    return stream;
  };

  return {
    async getActivity({ query: { step, ...range } }) {
      await readStream(range.streamId);
      const { points, isPartial } = await store.readActivity({ stepMinutes: step, ...range });
      return { stepMinutes: step, result: points, isPartial };
    },
    async getActivityBreakdown({ query: { step, ...range } }) {
      const stream = await readStream(range.streamId);
      const counts = await store.readBreakdown({ stepMinutes: step, ...range });
      const own = stream && families[stream.family].signaturesOf(stream);
      return {
        ...counts,
        records: counts.records.map(({ what, matched }) => ({
          what,
          signature: own?.get(what) ?? KNOWN_EVENTS[what] ?? null,
          matched,
        })),
      };
    },
    async getChainActivity({ query: { step, ...range } }) {
      await readStream(range.streamId);
      return {
        stepMinutes: step,
        ...(await store.readChainActivity({ stepMinutes: step, ...range })),
      };
    },
    async getResponseTimes({ query: { step, streamId, receiver = '', ...range } }) {
      await readStream(streamId);
      const read = await store.readResponseTimes({
        of: streamId === undefined ? { receiver } : { lane: streamId },
        stepMinutes: step,
        ...range,
      });
      if (read === undefined) throw notFound('Receiver');
      return read;
    },
    async listBlocks({ query }) {
      await readStream(query.streamId);
      return { result: await store.listBlocks(query) };
    },
    async listStreamChanges({ params: { id } }) {
      await readStream(id);
      return { result: await store.listStreamChanges(id) };
    },
    listTimelines: async ({ body }) => ({ result: await store.listTimelines(body) }),
    listReorgs: async ({ query }) => ({ result: await store.listReorgs(query) }),
    listGaps: async ({ query }) => ({ result: await store.listGaps(query) }),
  } satisfies Partial<Handlers>;
}
