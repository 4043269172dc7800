import { type Kysely, sql } from 'kysely';
import { hashAuditRecord } from '@sluice/kit/sluice';
import { toApiKeyRecord } from './accessReads.ts';
import type { Db, Tables } from '../tables/tables.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import type { AccessWrites, ApiKeyRecord, NewApiKey } from './contract.ts';
import { inheritSettings } from '../streams/destinations.ts';
import { recordStreamChange } from '../streams/streamChanges.ts';

/**
 * Time for which ended sessions are kept after they expire. Each process checks expiry by its own
 * clock; clocks are assumed to differ by less than this.
 */
const CLOCKS_APART_MS = 24 * 3_600_000;

/** Writes API keys, sessions, the audit log, and the secrets of streams. */
export const createAccessWrites = (db: Kysely<Tables>, engine: Engine): AccessWrites => ({
  createApiKey: (key) => db.transaction().execute((trx) => insertKey(trx, engine, key)),

  async createFirstApiKey(key) {
    return db.transaction().execute(async (trx) => {
      await engine.lock(trx, 'first api key');
      const any = await trx.selectFrom('api_key').select('id').limit(1).executeTakeFirst();
      return any === undefined ? insertKey(trx, engine, key) : undefined;
    });
  },

  async revokeApiKey(id) {
    const row = await db
      .updateTable('api_key')
      .set({ revoked_at: sql<number>`coalesce(revoked_at, ${engine.now()})` })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    return row && toApiKeyRecord(row);
  },

  async recordApiKeyUse(ids) {
    if (ids.length === 0) return;
    await db
      .updateTable('api_key')
      .set({ last_used_at: engine.now() })
      .where('id', 'in', ids)
      .execute();
  },

  async endSession({ id, expiresAt }) {
    await db.transaction().execute(async (trx) => {
      await trx
        .deleteFrom('ended_session')
        .where('expires_at', '<', sql<number>`${engine.now()} - ${CLOCKS_APART_MS}`)
        .execute();
      await trx
        .insertInto('ended_session')
        .values({ id, expires_at: expiresAt })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    });
  },

  async appendAudit(entry) {
    await db.transaction().execute(async (trx) => {
      // Takes a lock, because each entry includes the hash of the previous one.
      await engine.lock(trx, 'audit');
      const last = await trx
        .selectFrom('audit')
        .select(['seq', 'hash'])
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      const record = {
        ...entry,
        seq: (last?.seq ?? 0) + 1,
        at: await readNow(engine, trx),
        previousHash: last?.hash ?? '',
      };
      await trx
        .insertInto('audit')
        .values({
          seq: record.seq,
          at: record.at,
          action: record.action,
          key_id: record.keyId,
          session_name: record.sessionName,
          address: record.address,
          target: record.target,
          previous_hash: record.previousHash,
          hash: hashAuditRecord(record),
        })
        .execute();
    });
  },

  async replaceStreamSecrets(streamId, before, after, note) {
    return db.transaction().execute(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable('stream')
        .set({ secrets: JSON.stringify(after) })
        .where('id', '=', streamId)
        .where('secrets', '=', JSON.stringify(before))
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await inheritSettings(trx, streamId);
      if (note !== undefined) {
        await recordStreamChange(trx, streamId, note, await readNow(engine, trx));
      }
      return true;
    });
  },
});

async function insertKey(trx: Db, engine: Engine, key: NewApiKey): Promise<ApiKeyRecord> {
  const row = await trx
    .insertInto('api_key')
    .values({
      id: key.id,
      name: key.name,
      hash: key.hash,
      scopes: JSON.stringify(key.scopes),
      cidrs: JSON.stringify(key.cidrs),
      created_at: await readNow(engine, trx),
      expires_at: key.expiresAt,
      last_used_at: null,
      revoked_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toApiKeyRecord(row);
}
