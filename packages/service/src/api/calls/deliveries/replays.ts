/** Calls that replay deliveries in bulk, or stop or release a delivery. */
import type { Replay } from '@sluice/kit/contract';
import { MAX_RUNNING_REPLAYS } from '../../../store/replays/contract.ts';
import type { Store } from '../../../store/store.ts';
import { HttpError, notFound, setAuditTarget } from '../../httpErrors.ts';
import { callerOf } from '../../auth/auth.ts';
import type { Handlers } from '../../handlers.ts';

export interface ReplayHandlerNeeds {
  store: Store;
}

const REPLAYS_PER_LIST = 100;
const PER_SECOND = 50;

export function createReplayHandlers({ store }: ReplayHandlerNeeds) {
  const find = async (id: string): Promise<Replay> => {
    const replay = await store.readReplay(id);
    if (replay === undefined) throw notFound('Replay');
    return replay;
  };

  /** The last creation. The next one waits for it, so that refused creations count no deliveries. */
  let lastCreation: Promise<unknown> = Promise.resolve();

  return {
    estimateReplay: ({ body: { filter } }) => store.estimateReplay(filter),

    async createReplay({ context, body: { name, filter, perSecond = PER_SECOND } }) {
      const { keyId } = callerOf(context);
      const created = lastCreation.then(async () => {
        if ((await store.countRunningReplays()) >= MAX_RUNNING_REPLAYS) return undefined;
        const { deliveries: total } = await store.estimateReplay(filter);
        return store.createReplay({ name, filter, perSecond, total, keyId });
      });
      lastCreation = created.catch(() => {});
      const replay = await created;
      if (replay === undefined) {
        throw new HttpError(
          409,
          `${MAX_RUNNING_REPLAYS} replays are running: wait until one is done, or cancel one`,
        );
      }
      setAuditTarget(context, replay.id);
      return replay;
    },

    listReplays: async () => ({ result: await store.listReplays(REPLAYS_PER_LIST) }),
    getReplay: ({ params: { id } }) => find(id),
    getReplayProgress: async ({ params: { id } }) => store.readReplayProgress(await find(id)),

    async cancelReplay({ params: { id } }) {
      const canceled = await store.cancelReplay(id);
      const replay = await find(id);
      if (canceled) await store.events.publish([{ type: 'replay', replay }]);
      else if (replay.state !== 'cancelled') {
        throw new HttpError(409, `A replay that is ${replay.state} cannot be canceled`);
      }
      return replay;
    },

    async stopDelivery({ params: { id } }) {
      const stopped = await store.stopDelivery(id);
      if (stopped !== undefined) return stopped;
      const delivery = await store.readDelivery(id);
      if (delivery === undefined) throw notFound('Delivery');
      const why =
        delivery.state === 'leased'
          ? 'is being sent; try again in a moment'
          : `is ${delivery.state}`;
      throw new HttpError(409, `Only a waiting delivery can be stopped: this one ${why}`);
    },

    async releaseDelivery({ params: { id } }) {
      const result = await store.releaseDelivery(id);
      if (result !== undefined) return { result };
      const delivery = await store.readDelivery(id);
      if (delivery === undefined) throw notFound('Delivery');
      throw new HttpError(
        409,
        `Only a held delivery can be released: this one is ${delivery.state}`,
      );
    },
  } satisfies Partial<Handlers>;
}
