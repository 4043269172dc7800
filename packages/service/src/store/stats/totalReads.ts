import { type Kysely, sql } from 'kysely';
import { TOTAL_MINUTE } from './statWrites.ts';
import type { TotalReads } from './contract.ts';
import type { Tables } from '../tables/tables.ts';
import type { TotalMetric } from '../tables/stats.ts';

/**
 * Reads rolled-up and new counts in one statement, so that a concurrent roll-up does not change the
 * sum.
 */
export function createTotalReads(db: Kysely<Tables>): TotalReads {
  return {
    async readTotals(streamId) {
      const ofStream = streamId === undefined ? sql`` : sql`and stream_id = ${streamId}`;
      const { rows } = await sql<{ stream_id: string; metric: TotalMetric; n: number }>`
        select stream_id, metric, cast(sum(n) as bigint) as n from (
          select stream_id, metric, n from stat where minute = ${TOTAL_MINUTE} ${ofStream}
          union all
          select stream_id, metric, n from stat_delta where minute = ${TOTAL_MINUTE} ${ofStream}
        ) as counted group by stream_id, metric`.execute(db);
      let streams = db
        .selectFrom('stream')
        .select(['id', 'created_at', 'deleted_at'])
        .where('destination_of', 'is', null);
      if (streamId !== undefined) streams = streams.where('id', '=', streamId);
      const totals = new Map(rows.map((row) => [`${row.stream_id} ${row.metric}`, row.n] as const));
      return (await streams.orderBy('created_at').execute()).map((stream) => {
        const of = (metric: TotalMetric): number => totals.get(`${stream.id} ${metric}`) ?? 0;
        return {
          streamId: stream.id,
          webhooksDelivered: of('webhooks_delivered'),
          webhooksFailed: of('webhooks_failed'),
          logs: of('logs'),
          transactions: of('transactions'),
          internalTransactions: of('internal_transactions'),
          streamCreatedAt: stream.created_at,
          isDeleted: stream.deleted_at !== null,
        };
      });
    },
  };
}
