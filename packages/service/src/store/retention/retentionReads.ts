/** Counts the deliveries that retention will delete next. */
import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { firstIdAt } from '../rows/ids.ts';
import type { RetentionAges } from '../engine/engine.ts';
import type { RetentionReads } from './contract.ts';
import type { Tables } from '../tables/tables.ts';

/**
 * Maximum number of deliveries to examine. Examining them takes less than a second on two cores.
 */
const READ_LIMIT = 100_000;

/**
 * Returns the ids below which delivered and undelivered deliveries are old enough to be deleted;
 * `youngest` is the higher one.
 */
export function expiredIds({ deliveredMs, undeliveredMs }: RetentionAges, atMs: number) {
  const delivered = firstIdAt(atMs - deliveredMs);
  const undelivered = firstIdAt(atMs - undeliveredMs);
  return { delivered, undelivered, youngest: delivered > undelivered ? delivered : undelivered };
}

/**
 * Returns the condition that a delivery has expired. Deliveries that are being sent never expire.
 */
export const isExpired =
  ({ delivered, undelivered }: Pick<ReturnType<typeof expiredIds>, 'delivered' | 'undelivered'>) =>
  (eb: ExpressionBuilder<Tables, 'delivery'>) =>
    eb.or([
      eb.and([eb('id', '<', delivered), eb('state', 'in', ['succeeded', 'cancelled'] as const)]),
      eb.and([
        eb('id', '<', undelivered),
        eb('state', 'in', ['enriching', 'held', 'pending', 'failed', 'quarantined'] as const),
      ]),
    ]);

export function createRetentionReads(db: Kysely<Tables>): RetentionReads {
  return {
    async countExpiring({ atMs, ...ages }) {
      const ids = expiredIds(ages, atMs);
      const beyond = await db
        .selectFrom('delivery')
        .select('id')
        .where('id', '<', ids.youngest)
        .orderBy('id')
        .offset(READ_LIMIT)
        .limit(1)
        .executeTakeFirst();
      const counted = await db
        .selectFrom('delivery')
        .select((eb) => [
          eb.fn.countAll<number>().as('deliveries'),
          sql<number>`cast(coalesce(sum(body_bytes), 0) as bigint)`.as('bodyBytes'),
        ])
        .where('id', '<', beyond?.id ?? ids.youngest)
        .where(isExpired(ids))
        .executeTakeFirstOrThrow();
      return { ...counted, isCapped: beyond !== undefined };
    },
  };
}
