import { type Kysely, sql } from 'kysely';
import { type Engine, readNow } from '../engine/engine.ts';
import type { OperatorNoticeReads, OperatorNoticeWrites } from './contract.ts';
import type { Tables } from '../engine/tables.ts';

/** Alerts to the operator: one row for each subject that may have a problem. */
export function createOperatorNoticeReads(db: Kysely<Tables>, engine: Engine): OperatorNoticeReads {
  return {
    async readTroubles() {
      const now = await readNow(engine, db);
      const streams = await db
        .selectFrom('stream')
        .select(['id', 'tag', 'status', 'status_message'])
        .where('status', 'in', ['error', 'terminated'])
        .where('deleted_at', 'is', null)
        .execute();
      const { rows: quarantined } = await sql<{ stream_id: string; count: number; newest: string }>`
        select stream_id, count(*) as count, max(id) as newest from delivery
        where state = 'quarantined'
          and stream_id in (select id from stream where deleted_at is null)
        group by stream_id`.execute(db);
      const newest = await db
        .selectFrom('delivery')
        .select(['id', 'stream_id', 'tag', 'last_error'])
        .where('id', 'in', [...quarantined.map((row) => row.newest), ''])
        .execute();
      return {
        now,
        streams: streams.map(({ status_message: reason, ...stream }) => ({ ...stream, reason })),
        quarantined: newest.map((row) => ({
          streamId: row.stream_id,
          tag: row.tag,
          count: quarantined.find((each) => each.stream_id === row.stream_id)!.count,
          deliveryId: row.id,
          reason: row.last_error ?? '',
        })),
      };
    },

    async listOperatorNotices() {
      const rows = await db.selectFrom('operator_notice').selectAll().orderBy('run_at').execute();
      return rows.map((row) => ({
        subject: row.subject,
        state: row.state,
        told: row.told,
        id: row.id,
        body: row.body,
        attempts: row.attempts,
        runAt: row.run_at,
        sentAt: row.sent_at,
      }));
    },
  };
}

export function createOperatorNoticeWrites(db: Kysely<Tables>): OperatorNoticeWrites {
  return {
    async saveOperatorNotice(notice) {
      const values = {
        state: notice.state,
        told: notice.told,
        id: notice.id,
        body: notice.body,
        attempts: notice.attempts,
        run_at: notice.runAt,
        sent_at: notice.sentAt,
      };
      await db
        .insertInto('operator_notice')
        .values({ subject: notice.subject, ...values })
        .onConflict((conflict) => conflict.column('subject').doUpdateSet(values))
        .execute();
    },

    async deleteOperatorNotice(subject) {
      await db.deleteFrom('operator_notice').where('subject', '=', subject).execute();
    },
  };
}
