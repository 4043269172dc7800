import { readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { deleteSomeDead, cleanUpDeletedStreams, expireParts, undoPart } from './addressCleanUp.ts';
import {
  activateChanges,
  applyLocked,
  findMissing,
  insertChanges,
  storeParts,
  lockLists,
  stageRows,
} from './addressStaging.ts';
import type { AddressOutcome, AddressWrites } from './contract.ts';

/**
 * Changes the addresses of streams. Each row of `stream_address` names the change that added it and
 * the change that removed it, and only `active` changes have an effect. Each change is also stored
 * as packed parts, which the matcher reads to update its index, and which are used to undo
 * abandoned changes.
 */
export function createAddressWrites({ db, engine, transact }: Ledger): AddressWrites {
  return {
    async changeAddresses(changes) {
      return transact(async (trx, effects) => {
        const refused = new Map<string, AddressOutcome>(
          await lockLists(
            trx,
            engine,
            changes.map(({ streamId, parts }) => ({
              streamId,
              width: parts[0]?.addresses.width,
            })),
          ),
        );
        for (const { streamId, parts } of changes) {
          for (const part of parts) {
            if (refused.has(streamId)) break;
            const address = await findMissing(trx, engine, streamId, part);
            if (address !== undefined) refused.set(streamId, { outcome: 'missing', address });
          }
        }
        const free = changes.filter(({ streamId }) => !refused.has(streamId));
        const changed = await applyLocked(trx, engine, free);
        effects.signal('rules');
        for (const streamId of changed.keys()) effects.publishStream(streamId);
        return changes.map(
          ({ streamId }): AddressOutcome =>
            refused.get(streamId) ?? changed.get(streamId) ?? { outcome: 'unknown-stream' },
        );
      });
    },

    async beginAddressChange(streamId, width) {
      return db.transaction().execute(async (trx) => {
        const refused = (await lockLists(trx, engine, [{ streamId, width }])).get(streamId);
        if (refused !== undefined) return refused;
        const change = (await insertChanges(trx, engine, [streamId])).get(streamId)!;
        return { outcome: 'begun', change };
      });
    },

    async stageAddresses(change, part) {
      return db.transaction().execute(async (trx) => {
        const staging = await trx
          .updateTable('address_change')
          .set({ touched_at: engine.now() })
          .where('id', '=', change)
          .where('state', '=', 'staging')
          .where(
            'stream_id',
            'in',
            trx.selectFrom('stream').select('id').where('deleted_at', 'is', null),
          )
          .returning(['stream_id', 'parts'])
          .executeTakeFirst();
        if (staging === undefined) return { outcome: 'lost' };
        const { stream_id: streamId, parts: number } = staging;
        const missing = await findMissing(trx, engine, streamId, part, change);
        if (missing !== undefined) return { outcome: 'missing', address: missing };
        const rows = await stageRows(trx, engine, streamId, change, part);
        await storeParts(trx, engine, [{ streamId, change, number, part, ...rows }]);
        return { outcome: 'staged' };
      });
    },

    async activateAddressChange(change) {
      return transact(async (trx, effects) => {
        const activated = (await activateChanges(trx, engine, [change])).get(change);
        if (activated === undefined) return { outcome: 'lost' };
        effects.signal('rules');
        effects.publishStream(activated.streamId);
        return { outcome: 'changed', ...activated };
      });
    },

    async undoAddressChange(change) {
      await db
        .updateTable('address_change')
        .set({ state: 'abandoned' })
        .where('id', '=', change)
        .where('state', '=', 'staging')
        .execute();
      return undoPart(db, engine, change);
    },

    async cleanUpAddresses({ keepMs, staleMs }) {
      await db
        .updateTable('address_change')
        .set({ state: 'abandoned' })
        .where('state', '=', 'staging')
        .where('touched_at', '<=', (await readNow(engine, db)) - staleMs)
        .execute();
      const abandoned = await db
        .selectFrom('address_change')
        .select('id')
        .where('state', '=', 'abandoned')
        .limit(1)
        .executeTakeFirst();
      if (abandoned !== undefined) {
        await undoPart(db, engine, abandoned.id);
        return true;
      }
      return (
        (await deleteSomeDead(db, engine)) ||
        (await cleanUpDeletedStreams(db, engine)) ||
        expireParts(db, engine, keepMs)
      );
    },
  };
}
