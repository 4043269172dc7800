import { type Kysely, sql } from 'kysely';
import { firstFailedMinute } from '../stats/activityReads.ts';
import { MINUTE_MS } from '../stats/statWrites.ts';
import type { Tables } from '../tables/tables.ts';
import type { IncidentReads, IncidentWrites } from './contract.ts';

export function createIncidentReads(db: Kysely<Tables>): IncidentReads {
  return {
    async listFailingLanes() {
      const { rows } = await sql<{ id: string; webhook_url: string; minute: number | null }>`
        select id, webhook_url, minute from (
          select id, webhook_url, status, ${firstFailedMinute} as minute
          from stream where deleted_at is null and status <> 'paused'
        ) as lane
        where minute is not null or status in ('error', 'terminated')
        order by id`.execute(db);
      return rows.map(({ id, webhook_url: webhookUrl, minute }) => ({
        id,
        webhookUrl,
        since: minute === null ? null : minute * MINUTE_MS,
      }));
    },

    async listIncidents({ isOpen, subject, before, limit }) {
      let query = db.selectFrom('incident').selectAll();
      if (isOpen !== undefined) query = query.where('ended_at', isOpen ? 'is' : 'is not', null);
      if (subject !== undefined) query = query.where('subject', '=', subject);
      if (before !== undefined) query = query.where('id', '<', before);
      const rows = await query.orderBy('id', 'desc').limit(limit).execute();
      return rows.map((row) => ({
        id: row.id,
        subject: row.subject,
        kind: row.kind,
        cause: row.cause,
        reason: row.reason,
        chain: row.chain,
        lanes: JSON.parse(row.lanes) as string[],
        laneCount: row.lane_count,
        deliveryId: row.delivery_id,
        startedAt: row.started_at,
        endedAt: row.ended_at,
      }));
    },
  };
}

export function createIncidentWrites(db: Kysely<Tables>): IncidentWrites {
  return {
    async saveIncident({ id, subject, ...incident }) {
      const values = {
        kind: incident.kind,
        cause: incident.cause,
        reason: incident.reason,
        chain: incident.chain,
        lanes: JSON.stringify(incident.lanes),
        lane_count: incident.laneCount,
        delivery_id: incident.deliveryId,
        started_at: incident.startedAt,
        ended_at: incident.endedAt,
      };
      const { numUpdatedRows } = await db
        .updateTable('incident')
        .set(values)
        .where('id', '=', id)
        .executeTakeFirst();
      if (numUpdatedRows > 0n) return;
      await db
        .insertInto('incident')
        .values({ id, subject, ...values })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    async deleteIncidents(before) {
      await db.deleteFrom('incident').where('ended_at', '<', before).execute();
    },
  };
}
