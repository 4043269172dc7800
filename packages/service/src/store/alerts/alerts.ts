import { type Kysely, sql } from 'kysely';
import { type Engine, readNow } from '../engine/engine.ts';
import type { AlertReads, AlertWrites } from './contract.ts';
import type { Tables } from '../tables/tables.ts';

/**
 * Reads the current problems and the stored alerts. Each receiver has at most one alert per
 * subject.
 */
export function createAlertReads(db: Kysely<Tables>, engine: Engine): AlertReads {
  return {
    async readProblems() {
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

    async listAlerts(receiver) {
      const rows = await db
        .selectFrom('alert')
        .selectAll()
        .where('receiver', '=', receiver)
        .orderBy('run_at')
        .execute();
      return rows.map((row) => ({
        receiver: row.receiver,
        subject: row.subject,
        state: row.state,
        reported: row.reported,
        id: row.id,
        body: row.body,
        attempts: row.attempts,
        runAt: row.run_at,
        sentAt: row.sent_at,
      }));
    },
  };
}

export function createAlertWrites(db: Kysely<Tables>): AlertWrites {
  return {
    async saveAlert(alert) {
      const values = {
        state: alert.state,
        reported: alert.reported,
        id: alert.id,
        body: alert.body,
        attempts: alert.attempts,
        run_at: alert.runAt,
        sent_at: alert.sentAt,
      };
      await db
        .insertInto('alert')
        .values({ receiver: alert.receiver, subject: alert.subject, ...values })
        .onConflict((conflict) => conflict.columns(['receiver', 'subject']).doUpdateSet(values))
        .execute();
    },

    async deleteAlert({ receiver, subject }) {
      await db
        .deleteFrom('alert')
        .where('receiver', '=', receiver)
        .where('subject', '=', subject)
        .execute();
    },
  };
}
