/** Calls that list, count and read deliveries, with their attempts and bodies. */
import { familyOf, isWaiting, retryWaitsMs, timeOfId } from '@sluice/kit/contract';
import { hideSecrets } from '../../../base/hideSecrets.ts';
import type { Store } from '../../../store/store.ts';
import type { CopySender } from '../../../deliver/copySender.ts';
import { notFound, validationFailed } from '../../httpErrors.ts';
import type { ApiFamilies, ApiFamily } from '../../family.ts';
import type { Handlers } from '../../handlers.ts';
import { fromCursor, toCursor } from '../../pages.ts';
import type { AboutHandlerNeeds } from '../account/about.ts';

export interface DeliveryHandlerNeeds extends Pick<AboutHandlerNeeds, 'remainingWaitsMs'> {
  store: Store;
  copies: CopySender;
  families: ApiFamilies;
}

export function createDeliveryHandlers({
  store,
  copies,
  families,
  remainingWaitsMs,
}: DeliveryHandlerNeeds) {
  return {
    async listDeliveries({ query: { cursor, ...listing } }) {
      const page = await store.listDeliveries({ ...listing, after: fromCursor(cursor)?.id });
      return {
        result: page.rows,
        ...(page.next !== undefined && { cursor: toCursor({ at: 0, id: page.next }) }),
        ...(page.searchedTo !== undefined && { searchedTo: timeOfId(page.searchedTo) }),
      };
    },
    getDeliveryCounts: ({ query }) => store.countByField(query),
    async getDelivery({ params: { id } }) {
      const [found, body] = await Promise.all([store.readDelivery(id), store.readDeliveryBody(id)]);
      if (found === undefined || body === undefined) throw notFound('Delivery');
      const { fastRetried, ...delivery } = found;
      const { streamId, destination } = delivery;
      const family = families[familyOf(delivery.chainId)];
      const receiver =
        destination === undefined
          ? await store.readStream(streamId)
          : (await store.listDestinations(streamId)).find(
              (each) => each.destination === destination,
            );
      const waits = isWaiting(delivery.state) || delivery.state === 'leased';
      return {
        ...delivery,
        webhookUrl: hideSecrets(delivery.webhookUrl),
        blockTime: family.readBlockTime(body),
        labels: await store.listLabels(delivery.streamId, addressesIn(body, family)),
        bodyBytes: Buffer.byteLength(body),
        remainingWaitsMs: waits
          ? remainingWaitsMs(
              delivery.attempts,
              fastRetried,
              receiver && retryWaitsMs(receiver.limits.retries),
            )
          : [],
      };
    },
    async sendCopy({ params: { id }, body: { url, body, secret } }) {
      if ((await store.readDelivery(id)) === undefined) throw notFound('Delivery');
      const refused = await copies.refuse(url);
      if (refused !== undefined) {
        throw validationFailed('requestBody', [{ path: ['url'], message: refused }], {});
      }
      const sent = await copies.send({ of: id, url, body, secret });
      const { webhookId, durationMs, status, error, responseBody } = sent;
      return { webhookId, durationMs, status, error, responseBody };
    },
    async getDeliveryBody({ context, params: { id } }) {
      const body = await store.readDeliveryBody(id);
      if (body === undefined) throw notFound('Delivery');
      return context.body(body, 200, { 'content-type': 'application/json' });
    },
  } satisfies Partial<Handlers>;
}

/** Maximum number of addresses in a body for which labels are read. */
const ADDRESSES = 1_000;

/** Returns the hex values in a body that may be addresses, in lowercase. */
function addressesIn(body: string, family: ApiFamily): string[] {
  const found = new Set<string>();
  for (const [hex] of body.matchAll(/0x(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])/gi)) {
    found.add(family.toBodyAddress(hex));
    if (found.size >= ADDRESSES) break;
  }
  return [...found];
}
