/** Calls for the history and logs of all chain families, and for replaying a delivery. */
import {
  familyOf,
  type DeliveryLog,
  type DeliveryStatus,
  type DeliverySummary,
  type HistoryRecord,
  type LogFilter,
  timeOfId,
} from '@sluice/kit/contract';
import type { Context } from 'hono';
import { hideSecrets } from '../../../base/hideSecrets.ts';
import type {
  AttemptResult,
  AttemptedDelivery,
  AttemptedFilter,
} from '../../../store/deliveries/contract.ts';
import type { Store } from '../../../store/store.ts';
import { HttpError, notFound, validationFailed } from '../../httpErrors.ts';
import type { ApiFamilies } from '../../family.ts';
import type { Handlers } from '../../handlers.ts';
import { fromCursor, pageEnd } from '../../pages.ts';

export interface HistoryHandlerNeeds {
  store: Store;
  families: ApiFamilies;
}

export function createHistoryHandlers({ store, families }: HistoryHandlerNeeds) {
  /** Ids that history and logs list instead of a chain's own id. */
  const listedIds = new Map(
    Object.values(families).flatMap((family) => Object.entries(family.listedIds)),
  );
  const ownIds = new Map([...listedIds].map(([chain, listed]) => [listed, chain]));
  const toListed = (chain: string): string => listedIds.get(chain) ?? chain;
  const fromListed = (id: string): string => ownIds.get(id) ?? id;

  const list = async (
    cursor: string | undefined,
    { limit, withBody, ...filter }: AttemptedFilter,
  ) => {
    const after = fromCursor(cursor);
    const [page, counted] = await Promise.all([
      store.listAttempted({ ...filter, limit, withBody, after: after?.id }),
      after?.total ?? store.countAttempted(filter),
    ]);
    // The page may contain rows that were added after the count.
    const total = after === undefined ? Math.max(counted, page.rows.length) : counted;
    return {
      rows: page.rows,
      end: pageEnd(total, page.next === undefined ? undefined : { at: 0, id: page.next }),
    };
  };

  return {
    async listHistory({ context, query, sent }) {
      const { limit, cursor, excludePayload, ...filter } = query;
      const { rows, end } = await list(cursor, {
        ...toFilter({ ...filter, chainId: filter.chainId?.map(fromListed) }, sent.query),
        limit,
        results: ['undelivered'],
        withBody: excludePayload !== true,
      });
      const result = rows.map((row) => toHistoryJson(row, toListed(row.chainId))).join(',');
      return sendJson(context, `{"result":[${result}],${JSON.stringify(end).slice(1)}`);
    },

    async listLogs({ query, sent }) {
      const { limit, cursor, deliveryStatus, ...filter } = query;
      const { rows, end } = await list(cursor, {
        ...toFilter({ ...filter, chainId: filter.chainId?.map(fromListed) }, sent.query),
        limit,
        results: toResults(deliveryStatus),
        withBody: false,
      });
      return { result: rows.map((row) => toLog(row, toListed(row.chainId))), ...end };
    },

    async replayHistory({ context, params: { streamId, id } }) {
      const replayed = await store.replayDelivery(streamId, id);
      if (replayed === undefined) throw notFound('History');
      if (replayed.after.state === 'cancelled') {
        throw new HttpError(
          409,
          'The delivery was canceled because its block left the chain, or returned after a reorg',
          {
            'path.id': {
              message: 'should be the ID of a delivery that was not canceled',
              value: id,
            },
          },
        );
      }
      const [delivery, body] = await Promise.all([
        store.readDelivery(id),
        store.readDeliveryBody(id),
      ]);
      if (delivery === undefined) throw notFound('History');
      return sendJson(context, toHistoryJson({ ...delivery, body }, toListed(delivery.chainId)));
    },
  } satisfies Partial<Handlers>;
}

/** Smallest timestamp that counts as milliseconds (March 1973). Smaller timestamps are seconds. */
const FIRST_MILLISECONDS = 1e11;

const toMs = (timestamp: number, isEnd: boolean): number =>
  timestamp >= FIRST_MILLISECONDS ? timestamp : timestamp * 1000 + (isEnd ? 999 : 0);

/** Returns the filter of the ledger for one with the ledger's chain ids. */
function toFilter(
  {
    streamId,
    transactionHash,
    chainId,
    blockNumber,
    fromTimestamp,
    toTimestamp,
  }: Omit<LogFilter, 'deliveryStatus'>,
  query: unknown,
): Omit<AttemptedFilter, 'limit' | 'results' | 'withBody'> {
  const from = fromTimestamp === undefined ? undefined : toMs(fromTimestamp, false);
  const to = toTimestamp === undefined ? undefined : toMs(toTimestamp, true);
  if (from !== undefined && to !== undefined && from > to) {
    throw validationFailed(
      'query',
      [{ path: ['toTimestamp'], message: 'should not be before fromTimestamp' }],
      query,
    );
  }
  return {
    streamId: streamId?.toLowerCase(),
    transactionHash: transactionHash?.toLowerCase(),
    chains: chainId,
    blockNumbers: blockNumber,
    from,
    to,
  };
}

/**
 * Returns the results to list for the requested statuses; all results if `statuses` is undefined.
 */
function toResults(statuses: readonly DeliveryStatus[] | undefined): AttemptResult[] {
  const results: AttemptResult[] = [];
  if (statuses?.includes('failed') ?? true) results.push('undelivered');
  if (statuses?.includes('success') ?? true) results.push('delivered');
  return results;
}

/** Returns the number of retries that the body of the last attempt contains. */
const retriesOf = ({ attempts }: DeliverySummary): number => Math.max(0, attempts - 1);

const sendJson = (context: Context, json: string): Response =>
  context.body(json, 200, { 'content-type': 'application/json' });

/**
 * Returns a history record as JSON. Inserts the stored body as text, because parsing megabytes
 * would block the process.
 */
function toHistoryJson(
  delivery: Omit<AttemptedDelivery, 'body'> & { body: string | undefined },
  chainId: string,
): string {
  const record: Omit<HistoryRecord, 'payload'> = {
    id: delivery.id,
    date: new Date(timeOfId(delivery.id)).toISOString(),
    tinyPayload: {
      chainId,
      confirmed: delivery.phase === 'confirmed',
      block: String(delivery.blockNumber),
      records: delivery.records,
      retries: retriesOf(delivery),
    },
    errorMessage: delivery.error ?? '',
    webhookUrl: hideSecrets(delivery.webhookUrl),
    streamId: delivery.streamId,
    tag: delivery.tag,
  };
  const json = JSON.stringify(record);
  return delivery.body === undefined ? json : `${json.slice(0, -1)},"payload":${delivery.body}}`;
}

function toLog(delivery: AttemptedDelivery, chain: string): DeliveryLog {
  return {
    id: delivery.id,
    streamId: delivery.streamId,
    chain,
    webhookUrl: hideSecrets(delivery.webhookUrl),
    tag: delivery.tag,
    retries: retriesOf(delivery),
    deliveryStatus: delivery.error === null ? 'success' : 'failed',
    blockNumber: delivery.blockNumber,
    errorMessage: delivery.error ?? '',
    type: familyOf(delivery.chainId),
    createdAt: new Date(timeOfId(delivery.id)).toISOString(),
    updatedAt: new Date(delivery.updatedAt).toISOString(),
  };
}
