import { type Kysely, sql } from 'kysely';
import type { DeliveryDetail } from '@sluice/kit/contract';
import type { Tables } from './tables.ts';
import { type Engine, readNow } from './engine.ts';
import type { Reads } from './store.ts';
import {
  countRows,
  deliveryColumns,
  streamColumns,
  toDeliverySummary,
  toStreamRecord,
} from './rows.ts';
import { joinBody } from './body.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const SERIES_STEP_MINUTES = 5;
const SERIES_STEPS = 24;

/** The statements that change nothing, over one connection or pool. */
export function createReads(db: Kysely<Tables>, engine: Engine): Reads {
  return {
    async readSetting(key) {
      const row = await db
        .selectFrom('setting')
        .select('value')
        .where('key', '=', key)
        .executeTakeFirst();
      return row?.value;
    },

    async readStream(id) {
      const row = await db
        .selectFrom('stream')
        .select(streamColumns)
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      return row && toStreamRecord(row);
    },

    async listStreams({ limit, after, status }) {
      let query = db.selectFrom('stream').select(streamColumns).where('deleted_at', 'is', null);
      if (status !== undefined) query = query.where('status', '=', status);
      if (after !== undefined) {
        query = query.where(
          sql<boolean>`(created_at, id) < (${sql.val(after.at)}, ${sql.val(after.id)})`,
        );
      }
      const rows = await query
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      const total = await countRows(
        db,
        'stream',
        status === undefined
          ? sql`deleted_at is null`
          : sql`deleted_at is null and status = ${status}`,
      );
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        rows: page.map(toStreamRecord),
        total,
        next: rows.length > limit && last ? { at: last.created_at, id: last.id } : undefined,
      };
    },

    async listAddresses(streamId, { limit, after }) {
      let query = db
        .selectFrom('stream_address')
        .select('address')
        .where('stream_id', '=', streamId);
      if (after !== undefined) query = query.where('address', '>', after);
      const rows = await query
        .orderBy('address')
        .limit(limit + 1)
        .execute();
      const addresses = rows.slice(0, limit).map((row) => row.address);
      return {
        addresses,
        total: await countRows(db, 'stream_address', sql`stream_id = ${streamId}`),
        next: rows.length > limit ? addresses.at(-1) : undefined,
      };
    },

    async readRules(afterRevision) {
      // One transaction, so that the revision is never newer than the rows it stands for.
      return db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          const { revision } = await trx
            .selectFrom('rule_revision')
            .select('revision')
            .executeTakeFirstOrThrow();
          const streams = await trx
            .selectFrom('stream')
            .select([...streamColumns, 'deleted_at'])
            .where('revision', '>', afterRevision)
            .execute();
          const live = streams.filter((row) => row.deleted_at === null && row.status !== 'paused');
          const changed = [];
          for (const row of live) {
            const addresses = await trx
              .selectFrom('stream_address')
              .select('address')
              .where('stream_id', '=', row.id)
              .execute();
            changed.push({
              stream: toStreamRecord(row),
              addresses: addresses.map((each) => each.address),
            });
          }
          const gone = streams.filter((row) => !live.includes(row)).map((row) => row.id);
          return { revision, changed, gone };
        });
    },

    async readCheckpoint(chain) {
      const row = await db
        .selectFrom('checkpoint')
        .select(['number', 'hash', 'genesis_hash'])
        .where('chain', '=', chain)
        .executeTakeFirst();
      return row && { number: row.number, hash: row.hash, genesisHash: row.genesis_hash };
    },

    async readWindow(chain, limit) {
      const rows = await db
        .selectFrom('block')
        .select(['number', 'hash', 'parent_hash', 'timestamp', 'matches'])
        .where('chain', '=', chain)
        .orderBy('number', 'desc')
        .limit(limit)
        .execute();
      return rows.map(({ parent_hash: parentHash, ...row }) => ({ ...row, parentHash }));
    },

    async listDeliveries({ limit, after, streamId, state }) {
      let query = db.selectFrom('delivery').select(deliveryColumns);
      if (streamId !== undefined) query = query.where('stream_id', '=', streamId);
      if (state !== undefined) query = query.where('state', '=', state);
      if (after !== undefined) query = query.where('id', '<', after);
      const rows = await query
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        rows: page.map(toDeliverySummary),
        next: rows.length > limit ? last?.id : undefined,
      };
    },

    async readDelivery(id): Promise<DeliveryDetail | undefined> {
      const row = await db
        .selectFrom('delivery')
        .innerJoin('match', 'match.id', 'delivery.match_id')
        .innerJoin('stream', 'stream.id', 'delivery.stream_id')
        .select(deliveryColumns.map((column) => `delivery.${column}` as const))
        .select(['match.block_hash', 'match.body_head', 'match.body_tail', 'stream.webhook_url'])
        .where('delivery.id', '=', id)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const attempts = await db
        .selectFrom('attempt')
        .selectAll()
        .where('delivery_id', '=', id)
        .orderBy('number')
        .execute();
      return {
        ...toDeliverySummary(row),
        blockHash: row.block_hash,
        webhookUrl: row.webhook_url,
        body: joinBody({
          bodyHead: row.body_head,
          bodyTail: row.body_tail,
          phase: row.phase,
          retries: Math.max(0, row.attempts - 1),
        }),
        attemptList: attempts.map((attempt) => ({
          number: attempt.number,
          webhookUrl: attempt.webhook_url,
          startedAt: attempt.started_at,
          durationMs: attempt.duration_ms,
          status: attempt.status,
          error: attempt.error,
          responseBody: attempt.response_body,
        })),
      };
    },

    async readStreamStats() {
      const minute = Math.floor((await readNow(engine, db)) / MINUTE_MS);
      const streams = await db
        .selectFrom('stream')
        .select('id')
        .select((eb) => [
          eb
            .selectFrom('delivery')
            .select(({ fn }) => fn.countAll<number>().as('n'))
            .whereRef('delivery.stream_id', '=', 'stream.id')
            .where('delivery.state', '=', 'pending')
            .as('queue'),
          eb
            .selectFrom('delivery')
            .select('created_at')
            .whereRef('delivery.stream_id', '=', 'stream.id')
            .orderBy('id', 'desc')
            .limit(1)
            .as('last_delivery_at'),
        ])
        .where('deleted_at', 'is', null)
        .execute();
      const stats = await db
        .selectFrom('stat')
        .selectAll()
        .where('minute', '>', minute - DAY_MINUTES)
        .execute();
      const byStream = Map.groupBy(stats, (row) => row.stream_id);
      return streams.map((stream) => {
        const rows = byStream.get(stream.id) ?? [];
        const deliveredSeries = Array.from({ length: SERIES_STEPS }, () => 0);
        let delivered24h = 0;
        let failedAttempts24h = 0;
        for (const row of rows) {
          if (row.metric === 'failed_attempts') {
            failedAttempts24h += row.n;
            continue;
          }
          delivered24h += row.n;
          const step = SERIES_STEPS - 1 - Math.floor((minute - row.minute) / SERIES_STEP_MINUTES);
          if (step >= 0 && step < SERIES_STEPS) {
            deliveredSeries[step] = (deliveredSeries[step] ?? 0) + row.n;
          }
        }
        return {
          streamId: stream.id,
          queue: stream.queue ?? 0,
          delivered24h,
          failedAttempts24h,
          deliveredSeries,
          lastDeliveryAt: stream.last_delivery_at,
        };
      });
    },
  };
}
