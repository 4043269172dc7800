/**
 * Reads attempted deliveries, newest first. Delivered and undelivered deliveries have separate
 * indexes, so that a query for one kind skips the rows of the other.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { joinBody } from '../blocks/body.ts';
import type { Engine } from '../engine/engine.ts';
import { firstIdAt } from '../rows/ids.ts';
import { deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import { takeRowsWithin } from '../rows/pages.ts';
import type {
  AttemptResult,
  AttemptedDelivery,
  AttemptedFilter,
  HistoryReads,
} from './contract.ts';
import type { Tables } from '../tables/tables.ts';

const PAGE_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum number of deliveries to count. Counting a million rows takes about 80 ms. */
const COUNT_LIMIT = 1_000_000;

export function createHistoryReads(db: Kysely<Tables>, engine: Engine): HistoryReads {
  return {
    async listAttempted({ limit, withBody, ...filter }) {
      const ranges = await toRanges(db, engine, filter);
      if (ranges.length === 0) return { rows: [], next: undefined };
      const lists = ranges.map(
        (range, n) => sql`
          select id from (
            select id from delivery ${range} order by id desc limit ${limit + 1}
          ) as ${sql.ref(`range${n}`)}`,
      );
      const { rows: found } = await sql<{ id: string }>`
        ${sql.join(lists, sql` union all `)} order by id desc limit ${limit + 1}`.execute(db);
      const page = found.slice(0, limit).map((row) => row.id);
      const ids = withBody ? await whatFits(db, page) : page;
      return {
        rows: await readAttempted(db, ids, withBody),
        next: ids.length < found.length ? ids.at(-1) : undefined,
      };
    },

    async countAttempted(filter) {
      let total = 0;
      for (const range of await toRanges(db, engine, filter)) {
        const { rows } = await sql<{ n: number }>`
          select count(*) as n from (
            select 1 from delivery ${range} limit ${COUNT_LIMIT - total}) as counted`.execute(db);
        total += rows[0]!.n;
      }
      return total;
    },
  };
}

/** Splits a filter by chain and result, so that each range is read from one index in list order. */
async function toRanges(
  db: Kysely<Tables>,
  engine: Engine,
  filter: Omit<AttemptedFilter, 'limit' | 'withBody'>,
): Promise<RawBuilder<unknown>[]> {
  const known = await db.selectFrom('checkpoint').select('chain').execute();
  const hasDestinations = await db
    .selectFrom('stream')
    .select('id')
    .where('destination_of', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  const ofWebhookUrl =
    hasDestinations === undefined ? [] : [sql`stream_id not in (${DESTINATIONS})`];
  return known
    .filter(({ chain }) => filter.chains?.includes(chain) ?? true)
    .flatMap(({ chain }) =>
      filter.results.map((result) => toRange(engine, filter, chain, result, ofWebhookUrl)),
    );
}

/** Lanes of additional destinations, which the hosted API does not have. */
const DESTINATIONS = sql`select id from stream where destination_of is not null`;

function toRange(
  engine: Engine,
  {
    after,
    streamId,
    transactionHash,
    blockNumbers,
    from,
    to,
  }: Omit<AttemptedFilter, 'limit' | 'withBody' | 'results' | 'chains'>,
  chain: string,
  result: AttemptResult,
  ofWebhookUrl: readonly RawBuilder<unknown>[],
): RawBuilder<unknown> {
  const conditions = [
    // Must equal the condition of the index, so that the database uses the index.
    result === 'delivered' ? sql`attempts > 0 and last_error is null` : sql`last_error is not null`,
    sql`chain = ${chain}`,
    ...ofWebhookUrl,
  ];
  if (streamId !== undefined) conditions.push(sql`stream_id = ${streamId}`);
  if (after !== undefined) conditions.push(sql`id < ${after}`);
  // Ids sort by creation time, so times are converted to ids.
  if (from !== undefined) conditions.push(sql`id >= ${firstIdAt(from)}`);
  if (to !== undefined) conditions.push(sql`id < ${firstIdAt(to + 1)}`);
  if (transactionHash !== undefined) {
    conditions.push(sql`match_id in (
      select match_id from match_transaction where transaction_hash = ${transactionHash})`);
  }
  if (blockNumbers !== undefined) {
    conditions.push(sql`match_id in (
      select id from match where chain = ${chain} and block_number in (${sql.join(blockNumbers)}))`);
  }
  // Starts with the matches of the transaction or blocks, because they are few.
  const isOfMatches = transactionHash !== undefined || blockNumbers !== undefined;
  const hint = isOfMatches ? engine.indexedBy('delivery_once') : sql``;
  return sql`${hint} where ${sql.join(conditions, sql` and `)}`;
}

/**
 * Returns as many of the first deliveries as fit into one page with their bodies, but at least one.
 */
async function whatFits(db: Kysely<Tables>, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const sizes = await db
    .selectFrom('delivery')
    .innerJoin('match', 'match.id', 'delivery.match_id')
    .select('delivery.id')
    .select(sql<number>`octet_length(body_head) + octet_length(body_tail)`.as('bytes'))
    .where('delivery.id', 'in', ids)
    .execute();
  const bytesOf = new Map(sizes.map((row) => [row.id, row.bytes]));
  const rows = ids.map((id) => ({ id, bytes: bytesOf.get(id) ?? 0 }));
  return takeRowsWithin(rows, PAGE_BODY_BYTES).map(({ id }) => id);
}

async function readAttempted(
  db: Kysely<Tables>,
  ids: readonly string[],
  withBody: boolean,
): Promise<AttemptedDelivery[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('delivery')
    .innerJoin('stream', 'stream.id', 'delivery.stream_id')
    .leftJoin('attempt', (join) =>
      join
        .onRef('attempt.delivery_id', '=', 'delivery.id')
        .onRef('attempt.number', '=', 'delivery.attempts'),
    )
    .select(deliveryColumns.map((column) => `delivery.${column}` as const))
    .select(({ fn }) => fn.coalesce('attempt.webhook_url', 'stream.webhook_url').as('webhook_url'))
    .where('delivery.id', 'in', ids)
    .orderBy('delivery.id', 'desc')
    .execute();
  const bodies = withBody
    ? await db
        .selectFrom('match')
        .select(['id', 'body_head', 'body_tail'])
        .where(
          'id',
          'in',
          rows.map((row) => row.match_id),
        )
        .execute()
    : [];
  const bodyOf = new Map(bodies.map((row) => [row.id, row]));
  return rows.map((row) => {
    const stored = bodyOf.get(row.match_id);
    return {
      ...toDeliverySummary(row),
      webhookUrl: row.webhook_url,
      body:
        stored &&
        joinBody({
          bodyHead: stored.body_head,
          bodyTail: stored.body_tail,
          phase: row.phase,
          retries: Math.max(0, row.attempts - 1),
        }),
    };
  });
}
