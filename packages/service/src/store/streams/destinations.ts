/**
 * Additional destinations of streams. Each is a row of `stream` of its own, so that its deliveries,
 * limits and state are separate, and a failing destination never delays another.
 */
import { sql } from 'kysely';
import { MAX_DESTINATIONS } from '@sluice/kit/contract';
import { destinationOf, toLaneId } from '../rows/laneIds.ts';
import type { Db } from '../tables/tables.ts';
import { raiseRevision } from '../rules/ruleRevision.ts';
import { readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import type { DestinationWrites } from './contract.ts';
import { ACTIVE, NEW_RECEIVER } from './healthWrites.ts';
import { recordStreamChange } from './streamChanges.ts';
import { streamColumns, toDestination } from './streamRow.ts';
import { toOAuth2Value, toLimitValues } from './streamValues.ts';

/** Columns that a destination has in common with its stream. */
const INHERITED = [
  'family',
  'tag',
  'deliver',
  'confirm_by',
  'confirm_depth',
  'notify_removed',
  'hold_unverified',
  'secrets',
] as const;

/** Copies the settings of a stream to its additional destinations. */
export async function inheritSettings(trx: Db, streamId: string): Promise<void> {
  const copies = INHERITED.map((name) => sql`${sql.ref(name)} = ${sql.ref(`owner.${name}`)}`);
  await sql`
    update stream set ${sql.join(copies)}, updated_at = case
      when stream.updated_at < owner.updated_at then owner.updated_at else stream.updated_at + 1 end
    from stream as owner
    where owner.id = ${streamId} and stream.destination_of = ${streamId}
      and stream.deleted_at is null`.execute(trx);
}

/** Returns the lanes of the additional destinations of a stream, without removed ones. */
export async function listLanes(trx: Db, streamId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('stream')
    .select('id')
    .where('destination_of', '=', streamId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

export const createDestinationWrites = ({
  engine,
  transact,
}: Pick<Ledger, 'engine' | 'transact'>): DestinationWrites => ({
  async addDestination(streamId, draft, { keyId }) {
    return transact(async (trx, effects) => {
      // Block commits wait for the lock, so a destination gets all matches from some block on.
      const revision = await raiseRevision(trx);
      const now = await readNow(engine, trx);
      const stream = await trx
        .selectFrom('stream')
        .select([...INHERITED, 'status', 'status_message'])
        .where('id', '=', streamId)
        .where('destination_of', 'is', null)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (stream === undefined) return { outcome: 'unknown-stream' };
      const { status, status_message: statusMessage, ...inherited } = stream;
      const known = await trx
        .selectFrom('stream')
        .select(['id', 'deleted_at'])
        .where('destination_of', '=', streamId)
        .execute();
      const kept = known.filter((each) => each.deleted_at === null);
      if (kept.length + 1 >= MAX_DESTINATIONS) return { outcome: 'too-many' };
      // The numbers of removed destinations are not used again, because their deliveries are kept.
      const number = Math.max(0, ...known.map(({ id }) => destinationOf(id))) + 1;
      const isStopped = status === 'paused' || status === 'terminated';
      const row = await trx
        .insertInto('stream')
        .values({
          ...inherited,
          id: toLaneId(streamId, number),
          destination_of: streamId,
          description: draft.description,
          webhook_url: draft.webhookUrl,
          chain_ids: '[]',
          options: '{}',
          headers: JSON.stringify(draft.headers),
          oauth2: toOAuth2Value(draft.oauth2),
          ...toLimitValues(draft.limits),
          next_send_at: null,
          ...ACTIVE,
          ...NEW_RECEIVER,
          ...(isStopped && { status, status_message: statusMessage }),
          address_count: 0,
          revision,
          created_at: now,
          updated_at: now,
          deleted_at: null,
        })
        .returning(streamColumns)
        .executeTakeFirstOrThrow();
      await recordStreamChange(trx, streamId, { ...EDITED, keyId }, now);
      effects.publishStream(streamId);
      return { outcome: 'added', destination: toDestination(row) };
    });
  },
});

/** The change of a stream whose destinations changed, for its change log. */
export const EDITED = { kind: 'edited', fields: ['destinations'] } as const;
