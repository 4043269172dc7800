/** Calls for the feeds of streams: reads, acknowledgements, and the consumers with their positions. */
import { FEED_URL } from '@sluice/kit/contract';
import type { Sender } from '../../../deliver/send/send.ts';
import type { Endpoints } from '../../../secrets/endpoints.ts';
import type { StreamSecrets } from '../../../secrets/streamSecrets.ts';
import type { FeedDelivery, FeedRead } from '../../../store/feeds/contract.ts';
import { toLaneId } from '../../../store/rows/laneIds.ts';
import type { StreamRecord } from '../../../store/streams/contract.ts';
import type { Store } from '../../../store/store.ts';
import { type Auth, callerOf } from '../../auth/auth.ts';
import type { Handlers } from '../../handlers.ts';
import { HttpError, notFound } from '../../httpErrors.ts';
import type { WaitingReads } from '../../waitingReads.ts';

export interface FeedHandlerNeeds {
  store: Store;
  auth: Auth;
  endpoints: Endpoints;
  streamSecrets: StreamSecrets;
  headersFor: Sender['headersFor'];
  waitingReads: WaitingReads;
}

/** A destination of a stream, and its receiver. */
interface Lane extends Pick<StreamRecord, 'webhookUrl' | 'headers' | 'oauth2'> {
  streamId: string;
  laneId: string;
}

/**
 * Maximum size of the bodies of a page, unless the first is larger. Pages of 8 MiB for 64 readers at
 * once took 780 MB and delayed other requests for 5 s.
 */
const MAX_BYTES = 2 * 1024 * 1024;

const TOO_MANY_CONSUMERS =
  'The feed already has the maximum number of consumers. Delete one, or use an existing one.';

export function createFeedHandlers({
  store,
  auth,
  endpoints,
  streamSecrets,
  headersFor,
  waitingReads,
}: FeedHandlerNeeds) {
  const findStream = async (id: string): Promise<StreamRecord> => {
    const stream = await store.readStream(id);
    if (stream === undefined) throw notFound('Stream');
    return stream;
  };

  /** Returns the lane of a destination of a stream. */
  const findLane = async (id: string, destination = 0): Promise<Lane> => {
    const stream = await findStream(id);
    const added = destination === 0 ? [] : await store.listDestinations(id);
    const receiver =
      destination === 0 ? stream : added.find((each) => each.destination === destination);
    if (receiver === undefined) throw notFound('Destination');
    return { streamId: id, laneId: toLaneId(id, destination), ...receiver };
  };

  const findFeed = async (id: string, destination?: number): Promise<Lane> => {
    const lane = await findLane(id, destination);
    if (lane.webhookUrl === FEED_URL) return lane;
    throw new HttpError(
      409,
      `The ${destination ? 'destination' : 'stream'} sends its webhooks. To read them, set its webhookUrl to ${FEED_URL}.`,
    );
  };

  /** Adds bodies and headers to deliveries. */
  const open = async (lane: Lane, { placed, head, now }: FeedRead) => {
    if (placed.length === 0) return [];
    const { streamId: id } = lane;
    const [deliveries, sealed = []] = await Promise.all([
      store.readFeedBodies(placed),
      store.readStreamSecrets(id),
    ]);
    const secrets = streamSecrets.open(id, sealed, now);
    const { headers } = endpoints.open(id, lane);
    return deliveries.map((each) => ({
      id: each.id,
      position: each.position,
      headers: headersFor({ ...toWebhook(each, head), headers, secrets }, now),
      body: Buffer.from(each.body).toString(),
    }));
  };

  /** Returns a function that reads the next deliveries for a consumer that shares them. */
  const lease =
    (id: string, consumer: string, limits: { limit: number; leaseMs: number }) =>
    async (): Promise<FeedRead> => {
      const found = await store.leaseFeed(id, consumer, { ...limits, maxBytes: MAX_BYTES });
      if (found === undefined) throw new HttpError(409, TOO_MANY_CONSUMERS);
      return found;
    };

  /** Returns a function that reads the deliveries after the position at its first call. */
  const follow = (
    id: string,
    {
      after: given,
      consumer,
      limit,
    }: { after?: number | undefined; consumer?: string | undefined; limit: number },
  ) => {
    let after = given;
    return async (): Promise<FeedRead> => {
      const found = await store.readFeedAfter(
        id,
        { after, consumer },
        { limit, maxBytes: MAX_BYTES },
      );
      if (found.position > found.head) {
        throw new HttpError(
          409,
          `Position ${found.position} is after the newest of the feed, ${found.head}. If the ledger was restored from a backup, continue after ${found.head}.`,
        );
      }
      after = found.position;
      return found;
    };
  };

  return {
    async readFeed({ context, params: { id }, query }) {
      const lane = await findFeed(id, query.destination);
      const { laneId } = lane;
      const { mode, consumer, leaseMs, waitMs } = query;
      // A HEAD request leases nothing, because its response has no body.
      if (context.req.method === 'HEAD') return context.body(null, 200);
      const isShared = mode === 'share';
      const read = isShared ? lease(laneId, consumer!, query) : follow(laneId, query);
      const found = await waitingReads.repeat(read, {
        streamId: laneId,
        consumer: isShared ? consumer : undefined,
        keyId: callerOf(context).keyId,
        waitMs,
        ended: auth.watch(context, context.req.raw.signal),
      });
      const leaseEndsAt = isShared && found.placed.length > 0 ? found.now + leaseMs : null;
      const deliveries = await open(lane, found);
      // Without a reader, they are for the next one at once.
      if (leaseEndsAt !== null && context.req.raw.signal.aborted) {
        const positions = found.placed.map(({ position }) => position);
        await store.releaseFeed(laneId, consumer!, { leaseEndsAt, positions });
      }
      return {
        deliveries,
        nextPosition: found.placed.at(-1)?.position ?? found.position,
        newestPosition: found.head,
        leaseEndsAt,
      };
    },

    async acknowledgeFeed({ params: { id }, body: { consumer, destination, ...acknowledged } }) {
      const { laneId } = await findLane(id, destination);
      const done = await store.acknowledgeFeed(laneId, consumer, acknowledged);
      if (done === undefined) throw notFound('Consumer');
      return done;
    },

    async releaseFeed({ params: { id }, body: { consumer, destination, ...released } }) {
      const { laneId } = await findLane(id, destination);
      const count = await store.releaseFeed(laneId, consumer, released);
      if (count === undefined) throw notFound('Consumer');
      return { released: count };
    },

    async listFeedConsumers({ params: { id }, query: { destination } }) {
      const { laneId } = await findLane(id, destination);
      return { result: await store.listFeedConsumers(laneId) };
    },

    async resetFeedConsumer({ params: { id, name }, body: { to, destination } }) {
      const { laneId } = await findFeed(id, destination);
      const consumer = await store.resetFeedConsumer(laneId, name, to);
      if (consumer === undefined) throw new HttpError(409, TOO_MANY_CONSUMERS);
      return consumer;
    },

    async deleteFeedConsumer({ params: { id, name }, query: { destination } }) {
      const { laneId } = await findLane(id, destination);
      if (!(await store.deleteFeedConsumer(laneId, name))) throw notFound('Consumer');
      return undefined;
    },
  } satisfies Partial<Handlers>;
}

/** @param head the newest position of the feed */
const toWebhook = (each: FeedDelivery, head: number) => ({
  id: each.id,
  body: each.body,
  part: each.parts > 1 ? `${each.part + 1}/${each.parts}` : undefined,
  origin: each.origin,
  unverified: each.unverified ?? undefined,
  queueSize: head - each.position,
  recordsCharged: each.phase === 'confirmed' ? each.records : 0,
});
