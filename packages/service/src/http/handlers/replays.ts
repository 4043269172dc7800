/** Sending old deliveries again, many at a time, and giving one up by hand. */
import type { Context } from 'hono';
import {
  type DeliverySummary,
  type Replay,
  createReplaySchema,
  estimateReplaySchema,
} from '@sluice/kit/contract';
import type { Store } from '../../store/store.ts';
import { HttpError, check, notFound, readId, setAuditTarget } from '../answers.ts';
import { callerOf } from '../auth.ts';
import { readJson } from '../body.ts';

export interface ReplayHandlers {
  estimate(context: Context): Promise<Response>;
  create(context: Context): Promise<Response>;
  list(context: Context): Promise<Response>;
  get(context: Context): Promise<Response>;
  getProgress(context: Context): Promise<Response>;
  cancel(context: Context): Promise<Response>;
  stopDelivery(context: Context): Promise<Response>;
}

export interface ReplayHandlerNeeds {
  store: Store;
  onReplayChange(replay: Replay): void;
  /** It is retried no more. */
  onStopped(delivery: DeliverySummary): void;
}

const REPLAYS_PER_LIST = 100;
const PER_SECOND = 50;

export function createReplayHandlers({
  store,
  onReplayChange,
  onStopped,
}: ReplayHandlerNeeds): ReplayHandlers {
  const find = async (id: string): Promise<Replay> => {
    const replay = await store.readReplay(id);
    if (replay === undefined) throw notFound('Replay');
    return replay;
  };

  return {
    async estimate(context) {
      const { filter } = check(estimateReplaySchema, 'requestBody', readJson(context));
      return context.json(await store.estimateReplay(filter));
    },

    async create(context) {
      const wanted = check(createReplaySchema, 'requestBody', readJson(context));
      const { name, filter, perSecond = PER_SECOND } = wanted;
      const { deliveries } = await store.estimateReplay(filter);
      const { keyId } = callerOf(context);
      const replay = await store.createReplay({
        name,
        filter,
        perSecond,
        total: deliveries,
        keyId,
      });
      setAuditTarget(context, replay.id);
      onReplayChange(replay);
      return context.json(replay);
    },

    async list(context) {
      return context.json({ result: await store.listReplays(REPLAYS_PER_LIST) });
    },

    async get(context) {
      return context.json(await find(readId(context, 'replay')));
    },

    async getProgress(context) {
      const replay = await find(readId(context, 'replay'));
      return context.json(await store.readReplayProgress(replay));
    },

    async cancel(context) {
      const id = readId(context, 'replay');
      const cancelled = await store.cancelReplay(id);
      const replay = await find(id);
      if (cancelled) onReplayChange(replay);
      else if (replay.state !== 'cancelled') {
        throw new HttpError(409, `A replay that is ${replay.state} cannot be cancelled`);
      }
      return context.json(replay);
    },

    async stopDelivery(context) {
      const id = readId(context, 'delivery');
      const stopped = await store.stopDelivery(id);
      if (stopped !== undefined) {
        onStopped(stopped);
        return context.json(stopped);
      }
      const delivery = await store.readDelivery(id);
      if (delivery === undefined) throw notFound('Delivery');
      const why =
        delivery.state === 'leased'
          ? 'is being sent: try again in a moment'
          : `is ${delivery.state}`;
      throw new HttpError(409, `Only a delivery that waits can be stopped; this one ${why}`);
    },
  };
}
