import { sql } from 'kysely';
import { openHoles } from '../blocks/coverage.ts';
import { PROBE_EVERY_MS } from '../deliveries/probes.ts';
import { readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { streamOf } from '../rows/laneIds.ts';
import { streamColumns, toStreamRecord } from './streamRow.ts';
import { raiseRevision } from '../rules/ruleRevision.ts';
import type { HealthWrites } from './contract.ts';
import { recordStreamChange } from './streamChanges.ts';

/**
 * Writes the changes that the service itself makes to the status of streams and to the state of
 * their receivers.
 */
export function createHealthWrites({ engine, transact }: Ledger): HealthWrites {
  return {
    async failStream(id, message) {
      return transact(async (trx, effects) => {
        const now = await readNow(engine, trx);
        const row = await trx
          .updateTable('stream')
          .set({ status: 'error', status_message: message, error_since: now, updated_at: now })
          // Probes replace the back-off: from now on, only single deliveries of the stream test the
          // receiver.
          .set({ probe_at: now + PROBE_EVERY_MS, ...NO_BACK_OFF })
          .where('id', '=', id)
          .where('status', '=', 'active')
          .where('deleted_at', 'is', null)
          .returning(streamColumns)
          .executeTakeFirst();
        if (row === undefined) return undefined;
        await recordStreamChange(trx, id, { kind: 'failed' }, now);
        effects.publishStream(streamOf(id));
        return toStreamRecord(row);
      });
    },

    async recoverStream(id) {
      return transact(async (trx, effects) => {
        const now = await readNow(engine, trx);
        const row = await trx
          .updateTable('stream')
          .set({ ...ACTIVE, updated_at: now })
          .where('id', '=', id)
          .where('status', '=', 'error')
          .where('deleted_at', 'is', null)
          .returning(streamColumns)
          .executeTakeFirst();
        if (row === undefined) return undefined;
        await recordStreamChange(trx, id, { kind: 'recovered' }, now);
        effects.signal('deliveries');
        effects.publishStream(streamOf(id));
        return toStreamRecord(row);
      });
    },

    async backOffStream(id, { reason, agoMs, forMs }) {
      return transact(async (trx, effects) => {
        const now = await readNow(engine, trx);
        const row = await trx
          .updateTable('stream')
          .set({
            back_off_reason: reason,
            back_off_since: now - agoMs,
            back_off_until: now + forMs,
          })
          .where('id', '=', id)
          .where('status', '=', 'active')
          .where('deleted_at', 'is', null)
          .returning('back_off_until')
          .executeTakeFirst();
        if (row === undefined) return undefined;
        effects.publishStream(streamOf(id));
        return row.back_off_until ?? undefined;
      });
    },

    async recordCertificate(id, endsAt) {
      return transact(async (trx, effects) => {
        const { numUpdatedRows } = await trx
          .updateTable('stream')
          .set({ certificate_ends_at: endsAt })
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .where(sql<boolean>`coalesce(certificate_ends_at, 0) <> ${endsAt ?? 0}`)
          .executeTakeFirst();
        if (numUpdatedRows > 0n) effects.publishStream(streamOf(id));
        return numUpdatedRows > 0n;
      });
    },

    async endBackOff(ids) {
      if (ids.length === 0) return [];
      return transact(async (trx, effects) => {
        const ended = await trx
          .updateTable('stream')
          .set(NO_BACK_OFF)
          .where('id', 'in', ids)
          .where('back_off_until', 'is not', null)
          .returning('id')
          .execute();
        for (const { id } of ended) effects.publishStream(streamOf(id));
        return ended;
      });
    },

    async terminateStreams(afterMs) {
      return transact(async (trx, effects) => {
        const now = await readNow(engine, trx);
        const due = await trx
          .selectFrom('stream')
          .select('id')
          .where('status', '=', 'error')
          .where('error_since', '<=', now - afterMs)
          .where('deleted_at', 'is', null)
          .where(
            sql<boolean>`not exists (select 1 from stream as other
              where other.destination_of = stream.id and other.deleted_at is null
                and other.status <> 'terminated')`,
          )
          .execute();
        if (due.length === 0) return [];
        const revision = await raiseRevision(trx);
        const rows = await trx
          .updateTable('stream')
          .set({ status: 'terminated', probe_at: null, revision, updated_at: now })
          .where(
            'id',
            'in',
            due.map((row) => row.id),
          )
          .returning(streamColumns)
          .execute();
        effects.signal('rules');
        for (const { id } of rows) {
          effects.publishStream(streamOf(id));
          await openHoles(trx, id, 'terminated', now);
          await recordStreamChange(trx, id, { kind: 'terminated' }, now);
        }
        return rows.map(toStreamRecord);
      });
    },
  };
}

const NO_BACK_OFF = { back_off_reason: null, back_off_since: null, back_off_until: null } as const;

/** Column values for a receiver without history. */
export const NEW_RECEIVER = { ...NO_BACK_OFF, certificate_ends_at: null } as const;

/** Column values for a stream that becomes active. */
export const ACTIVE = {
  status: 'active',
  status_message: 'Stream is active',
  error_since: null,
  probe_at: null,
  ...NO_BACK_OFF,
} as const;
