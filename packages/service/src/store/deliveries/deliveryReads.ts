/** Reads deliveries with their attempts and bodies, and due deliveries. */
import { type Kysely, sql } from 'kysely';
import { joinBody } from '../blocks/body.ts';
import { fromConfirmColumns } from '../blocks/confirmations.ts';
import { readCodes } from '../blocks/unverified.ts';
import { type Engine, readMoment } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';
import { readEnrichingSince } from '../enrichment/enrichReads.ts';
import { type DeliveryRow, deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import type { DeliveryReads, KeptDelivery } from './contract.ts';
import { allOf, inLanes, toConditions } from './deliveryFilter.ts';
import { isTransaction, searchDeliveries } from './deliverySearch.ts';
import { isRetry, lanesIn } from './lanes.ts';
import { readReceiverCertificate } from './receiverCertificate.ts';
import { readTransport } from './transport.ts';

export function createDeliveryReads(db: Kysely<Tables>, engine: Engine): DeliveryReads {
  return {
    async listDeliveries({
      find: text,
      body,
      attemptedFrom,
      attemptedTo,
      durationFrom,
      durationTo,
      attemptResult,
      ...listing
    }) {
      let find = text?.toLowerCase();
      if (find !== undefined && (await isTransaction(db, find))) {
        listing = { ...listing, transactionHash: find };
        find = undefined;
      }
      const search = {
        find,
        body,
        attemptedFrom,
        attemptedTo,
        durationFrom,
        durationTo,
        attemptResult,
      };
      if (Object.values(search).some((each) => each !== undefined)) {
        return searchDeliveries(db, search, listing);
      }
      const { limit, after, order, ...given } = listing;
      const filter = await inLanes(db, given);
      const [direction, beyond] = order === 'oldest' ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`];
      const conditions = toConditions(filter);
      if (after !== undefined) conditions.push(sql`id ${beyond} ${after}`);
      // Starts with the matches of the transaction, because they are few.
      const hint = filter.transactionHash === undefined ? sql`` : engine.indexedBy('delivery_once');
      const { rows } = await sql<DeliveryRow>`
        select ${sql.join(deliveryColumns.map((column) => sql.ref(column)))}
        from delivery ${hint} where ${allOf(conditions)}
        order by id ${direction} limit ${limit + 1}`.execute(db);
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        rows: page.map(toDeliverySummary),
        next: rows.length > limit ? last?.id : undefined,
      };
    },

    readReceiverCertificate: (receiver) => readReceiverCertificate(db, receiver),

    async readOldestDelivery() {
      const row = await db
        .selectFrom('delivery')
        .select('created_at')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      return row?.created_at ?? null;
    },

    async readDelivery(id): Promise<KeptDelivery | undefined> {
      const row = await db
        .selectFrom('delivery')
        .innerJoin('match', 'match.id', 'delivery.match_id')
        .innerJoin('stream', 'stream.id', 'delivery.stream_id')
        .select(deliveryColumns.map((column) => `delivery.${column}` as const))
        .select(['match.block_hash', 'match.confirm_by', 'match.confirm_depth'])
        .select(['match.unverified', 'match.witnesses', 'stream.webhook_url'])
        .select('match.created_at as committed_at')
        .select('delivery.fast_retried')
        .where('delivery.id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const attempts = await db
        .selectFrom('attempt')
        .selectAll()
        .where('delivery_id', '=', id)
        .orderBy('number')
        .execute();
      const pair = await db
        .selectFrom('delivery')
        .select(deliveryColumns)
        .where('match_id', '=', row.match_id)
        .where('phase', row.phase === 'unconfirmed' ? '<>' : '=', 'unconfirmed')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return {
        ...toDeliverySummary(row),
        pair: pair === undefined ? null : toDeliverySummary(pair),
        fastRetried: row.fast_retried === 1,
        blockHash: row.block_hash,
        committedAt: row.committed_at,
        confirmations: fromConfirmColumns(row),
        unverified: readCodes(row.unverified),
        witnesses: row.witnesses,
        webhookUrl: row.webhook_url,
        attemptList: attempts.map((attempt) => ({
          number: attempt.number,
          webhookUrl: attempt.webhook_url,
          startedAt: attempt.started_at,
          durationMs: attempt.duration_ms,
          status: attempt.status,
          error: attempt.error,
          responseBody: attempt.response_body,
          ...readTransport(attempt),
        })),
      };
    },

    async readDeliveryBody(id) {
      const row = await db
        .selectFrom('delivery')
        .innerJoin('match', 'match.id', 'delivery.match_id')
        .select(['match.body_head', 'match.body_tail', 'delivery.phase', 'delivery.attempts'])
        .where('delivery.id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return joinBody({
        bodyHead: row.body_head,
        bodyTail: row.body_tail,
        phase: row.phase,
        retries: Math.max(0, row.attempts - 1),
      });
    },

    async hasDueSuspect() {
      const { open } = await readMoment(engine, db);
      const { rows } = await sql`
        select 1 from delivery join stream on stream.id = delivery.stream_id
        where ${open('block_day')} and state = 'pending' and lost >= 2 and run_at <= ${engine.now()}
          and stream.status = 'active' and stream.deleted_at is null limit 1`.execute(db);
      return rows.length > 0;
    },

    async countHeld() {
      const { open } = await readMoment(engine, db);
      const { rows } = await sql<{ chain: string; n: number }>`
        select chain, count(*) as n from delivery
        where ${open('block_day')} and state = 'held' group by chain`.execute(db);
      return Object.fromEntries(rows.map(({ chain, n }) => [chain, n]));
    },

    async readOldestDue() {
      const { now, open } = await readMoment(engine, db);
      // Takes two index seeks per stream with pending deliveries: for first attempts and for
      // retries.
      const { rows } = await sql<{ oldest: number | null }>`
        ${lanesIn('pending', open)}
        select min((select min(run_at) from delivery
          where ${open('block_day')} and stream_id = lane.id and state = 'pending'
            and ${isRetry} = kind.n)) as oldest
        from lane join stream on stream.id = lane.id
          cross join (select 0 as n union all select 1) as kind
        where stream.status = 'active' and stream.deleted_at is null`.execute(db);
      const waiting = await readEnrichingSince(db, open);
      const oldest = Math.min(
        rows[0]?.oldest ?? Number.POSITIVE_INFINITY,
        ...waiting.map(({ since }) => since),
      );
      return oldest > now ? null : oldest;
    },
  };
}
