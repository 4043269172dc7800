/** The change log of streams: edits and status changes. */
import { type Kysely, sql } from 'kysely';
import type { StreamChangeKind } from '@sluice/kit/contract';
import type { Db, Tables } from '../tables/tables.ts';
import { newId } from '../rows/ids.ts';
import type { StreamChangeNote, StreamChangeReads } from './contract.ts';

/** Number of changes kept per stream. */
const CHANGES = 100;

/**
 * Adds a change to the change log, and deletes all but the newest `CHANGES` changes of the stream.
 *
 * @param note contains only `kind` if the service itself made the change
 */
export async function recordStreamChange(
  trx: Db,
  streamId: string,
  { kind, fields = [], keyId = '' }: Partial<StreamChangeNote> & { kind: StreamChangeKind },
  now: number,
): Promise<void> {
  await trx
    .insertInto('stream_change')
    .values({
      id: newId(now),
      stream_id: streamId,
      kind,
      fields: JSON.stringify(fields),
      key_id: keyId,
      created_at: now,
    })
    .execute();
  await sql`
    delete from stream_change where stream_id = ${streamId} and id not in (
      select id from stream_change where stream_id = ${streamId}
      order by id desc limit ${CHANGES})`.execute(trx);
}

/** Reads the change log, which contains the name or id of the API key that made each change. */
export const createStreamChangeReads = (db: Kysely<Tables>): StreamChangeReads => ({
  async listStreamChanges(streamId) {
    const rows = await db
      .selectFrom('stream_change')
      .leftJoin('api_key', 'api_key.id', 'stream_change.key_id')
      .select(['kind', 'fields', 'key_id'])
      .select(['stream_change.created_at as at', 'api_key.name as creatorName'])
      .where('stream_id', '=', streamId)
      .orderBy('stream_change.id', 'desc')
      .execute();
    return rows.map(({ at, kind, fields, key_id: keyId, creatorName }) => ({
      at,
      kind,
      fields: JSON.parse(fields) as string[],
      by: keyId === '' ? null : (creatorName ?? keyId),
    }));
  },

  async listPauses() {
    const { rows } = await sql<{
      id: string;
      at: number;
      key_id: string;
      creatorName: string | null;
    }>`
      select stream.id, pause.created_at as at, pause.key_id, api_key.name as creatorName
      from stream
        join stream_change as pause on pause.id = (
          select id from stream_change where stream_id = stream.id and kind = 'paused'
          order by id desc limit 1)
        left join api_key on api_key.id = pause.key_id
      where stream.status = 'paused' and stream.deleted_at is null`.execute(db);
    return rows.map(({ id, at, key_id: keyId, creatorName }) => ({
      streamId: id,
      at,
      by: creatorName ?? keyId,
    }));
  },
});
