import { randomUUID } from 'node:crypto';
import type { Confirmations, UnverifiedMode } from '@sluice/kit/contract';
import { type Selectable, type SqlBool, sql } from 'kysely';
import { toConfirmColumns } from '../blocks/confirmations.ts';
import { beginCoverage, closeHoles, openHoles } from '../blocks/coverage.ts';
import { releaseMatches } from '../blocks/matches.ts';
import { searchBefore, searchOpenHoles } from '../children/childSearches.ts';
import { recordLeftFactories } from '../children/children.ts';
import type { Db, Tables } from '../tables/tables.ts';
import { type Engine, type Moment, readMoment, readNow } from '../engine/engine.ts';
import type { Effects, Ledger } from '../live/effects.ts';
import { EDITED, inheritSettings, listLanes } from './destinations.ts';
import { ACTIVE, NEW_RECEIVER } from './healthWrites.ts';
import { lanesIn } from '../deliveries/lanes.ts';
import { streamColumns, toStreamRecord } from './streamRow.ts';
import { toLimitValues, toOAuth2Value } from './streamValues.ts';
import { streamOf, toLaneId } from '../rows/laneIds.ts';
import { raiseRevision } from '../rules/ruleRevision.ts';
import { recordStreamChange } from './streamChanges.ts';
import type { SealedSecret } from '../tables/streams.ts';
import type { StreamPatch, StreamRecord, StreamWrites } from './contract.ts';

/** Creates, changes and deletes streams. Their addresses are changed in `addressWrites.ts`. */
export function createStreamWrites({ db, engine, transact }: Ledger): StreamWrites {
  const changeStream = async (
    id: string,
    values: (now: number) => Partial<Selectable<Tables['stream']>>,
    also?: (trx: Db, now: number, changed: StreamRecord, effects: Effects) => Promise<unknown>,
    unchangedSince?: number,
  ): Promise<StreamRecord | undefined> => {
    const change = async (trx: Db, effects: Effects): Promise<StreamRecord | undefined> => {
      const revision = await raiseRevision(trx);
      const now = await readNow(engine, trx);
      const row = await trx
        .updateTable('stream')
        .set({
          ...values(now),
          revision,
          // Each change has a new time, so that `unchangedSince` detects changes in one millisecond.
          updated_at: sql`case when updated_at < ${now} then ${now} else updated_at + 1 end`,
        })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .$if(unchangedSince !== undefined, (query) =>
          query.where('updated_at', '=', unchangedSince!),
        )
        .returning(streamColumns)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const changed = toStreamRecord(row);
      await also?.(trx, now, changed, effects);
      effects.signal('rules', 'deliveries');
      effects.publishStream(streamOf(id));
      return changed;
    };
    // The end of several attempts locks their deliveries in another order than `reorder`.
    return engine.retryDeadlocks(() => transact(change));
  };

  return {
    async createStream(draft, { id = randomUUID(), sealedSecret, pausedBecause } = {}) {
      return transact(async (trx, effects) => {
        const revision = await raiseRevision(trx);
        const now = await readNow(engine, trx);
        const row = await trx
          .insertInto('stream')
          .values({
            id,
            destination_of: null,
            family: draft.family,
            tag: draft.tag,
            description: draft.description,
            webhook_url: draft.webhookUrl,
            chain_ids: JSON.stringify(draft.chainIds),
            options: JSON.stringify(draft.options),
            deliver: draft.deliver,
            ...toConfirmColumns(draft.confirmations),
            notify_removed: Number(draft.notifyRemoved),
            hold_unverified: toHold(draft.unverified),
            headers: JSON.stringify(draft.headers),
            oauth2: toOAuth2Value(draft.oauth2),
            ...toLimitValues(draft.limits),
            next_send_at: null,
            secrets: JSON.stringify(
              sealedSecret === undefined
                ? []
                : [{ sealed: sealedSecret, createdAt: now, endsAt: null } satisfies SealedSecret],
            ),
            ...ACTIVE,
            ...NEW_RECEIVER,
            ...(pausedBecause !== undefined && {
              status: 'paused',
              status_message: pausedBecause,
            }),
            address_count: 0,
            revision,
            created_at: now,
            updated_at: now,
            deleted_at: null,
          })
          .returning(streamColumns)
          .executeTakeFirstOrThrow();
        await beginCoverage(trx, row.id, draft.chainIds);
        const searches = draft.chainIds.map((chain) => ({ chain, from: 0 }));
        await searchBefore(trx, effects, { id: row.id, options: draft.options }, searches, now);
        effects.signal('rules');
        effects.publishStream(row.id);
        return toStreamRecord(row) as Extract<StreamRecord, Pick<typeof draft, 'family'>>;
      });
    },

    updateStream: (
      id,
      patch,
      { note, unchangedSince, leftFactories = [], childSearches = [] } = {},
    ) =>
      changeStream(
        id,
        () => toStreamValues(patch),
        async (trx, now, changed, effects) => {
          const { status, chainIds } = changed;
          if (note !== undefined) await recordStreamChange(trx, streamOf(id), note, now);
          await recordLeftFactories(trx, id, leftFactories);
          await searchBefore(trx, effects, changed, childSearches, now);
          if (patch.limits !== undefined) await reorder(trx, id, patch.limits.strictOrder);
          await inheritSettings(trx, id);
          for (const lane of [id, ...(await listLanes(trx, id))]) {
            if ('confirmations' in patch) {
              await changeWaiting(trx, engine, lane, patch.confirmations);
            }
            if ('unverified' in patch && patch.unverified === 'send') {
              await releaseMatches(trx, sql<SqlBool>`stream_id = ${lane} and held = 1`, now);
            }
          }
          if (patch.chainIds === undefined) return;
          await beginCoverage(trx, id, chainIds);
          if (status === 'paused' || status === 'terminated') {
            await openHoles(trx, id, status, now);
          }
        },
        unchangedSince,
      ),

    setStreamStatus(id, status, statusMessage, note) {
      const values = {
        ...(status === 'active' ? ACTIVE : { status, error_since: null, probe_at: null }),
        status_message: statusMessage,
      };
      return changeStream(
        id,
        () => values,
        async (trx, now, changed, effects) => {
          await trx
            .updateTable('stream')
            .set({ ...values, updated_at: now })
            .where('destination_of', '=', id)
            .where('deleted_at', 'is', null)
            .execute();
          if (note !== undefined) await recordStreamChange(trx, streamOf(id), note, now);
          if (status === 'paused') return openHoles(trx, id, status, now);
          await searchOpenHoles(trx, effects, changed, now);
          await closeHoles(trx, id);
        },
      );
    },

    deleteStream: (id) =>
      changeStream(
        id,
        (now) => ({ deleted_at: now }),
        async (trx, now) => {
          for (const lane of [id, ...(await listLanes(trx, id))]) {
            await endLane(trx, engine, lane, now);
          }
          await trx
            .updateTable('stream')
            .set({ deleted_at: now })
            .where('destination_of', '=', id)
            .where('deleted_at', 'is', null)
            .execute();
        },
      ),

    async removeDestination(streamId, destination, { keyId }) {
      const removed = await changeStream(
        toLaneId(streamId, destination),
        (now) => ({ deleted_at: now }),
        async (trx, now, { id }) => {
          await endLane(trx, engine, id, now);
          await recordStreamChange(trx, streamId, { ...EDITED, keyId }, now);
        },
      );
      return removed !== undefined;
    },

    async cancelDeleted({ forMs }) {
      const until = performance.now() + forMs;
      return db.transaction().execute(async (trx) => {
        const { now, open } = await readMoment(engine, trx);
        for (const state of WAITING) {
          for (;;) {
            const { rows } = await sql<{ id: string }>`
              ${lanesIn(state, open)}
              select lane.id from lane join stream on stream.id = lane.id
              where stream.deleted_at is not null limit 1`.execute(trx);
            if (rows[0] === undefined) break;
            const some = { streamId: rows[0].id, state, open, now };
            while (await cancelSome(trx, engine, some)) {
              if (performance.now() >= until) return true;
            }
          }
        }
        return false;
      });
    },
  };
}

/** Cancels what waits in the lane of a deleted stream or destination. */
async function endLane(trx: Db, engine: Engine, laneId: string, now: number): Promise<void> {
  // Cancels at most `CANCELED_AT_ONCE` deliveries per state, which is enough for most streams.
  // Housekeeping cancels the rest of a long queue.
  const { open } = await readMoment(engine, trx);
  for (const state of WAITING)
    await cancelSome(trx, engine, { streamId: laneId, state, open, now });
  // If the chain has no safe or finalized block, they would wait forever.
  await changeWaiting(trx, engine, laneId, null);
}

/**
 * States of queued deliveries, in the order of cancellation: a delivery can change to a later one,
 * but never back.
 */
const WAITING = ['enriching', 'held', 'pending'] as const;
/**
 * Maximum number of deliveries per statement. It is low because each delivery may be on a different
 * page if there are many streams.
 */
const CANCELED_AT_ONCE = 200;

/** Cancels some of a stream's deliveries in this state. Returns false if there are none. */
async function cancelSome(
  trx: Db,
  engine: Engine,
  { streamId, state, open, now }: Moment & { streamId: string; state: (typeof WAITING)[number] },
): Promise<boolean> {
  const rows = await trx
    .selectFrom('delivery')
    .select('id')
    .where(open('block_day'))
    .where('stream_id', '=', streamId)
    .where('state', '=', state)
    .limit(CANCELED_AT_ONCE)
    .execute();
  if (rows.length === 0) return false;
  const ids = engine.texts(
    rows.map(({ id }) => id),
    'id',
  );
  await sql`
    update delivery set state = 'cancelled', updated_at = ${now}
    where ${open('block_day')} and id in (select id from ${ids} as found)
      and ${engine.opaque('state')} = ${state}`.execute(trx);
  return true;
}

const toHold = (mode: UnverifiedMode | undefined): number => Number(mode === 'hold');

/** Changes what the stream's unconfirmed matches wait for. */
async function changeWaiting(
  trx: Db,
  engine: Engine,
  streamId: string,
  confirmations: Confirmations | null = null,
): Promise<void> {
  const { open } = await readMoment(engine, trx);
  await trx
    .updateTable('match')
    .set(toConfirmColumns(confirmations))
    .where(open('block_day'))
    .where('state', '=', sql.lit('frozen'))
    .where('stream_id', '=', streamId)
    .execute();
}

/** Copies the stream's new strict-order setting to its queued deliveries. */
async function reorder(trx: Db, streamId: string, strictOrder: boolean): Promise<void> {
  // Uses one statement per state, because each state has its own partial index.
  for (const state of ['enriching', 'held', 'pending', 'leased']) {
    await sql`
      update delivery set ordered = ${Number(strictOrder)}
      where stream_id = ${streamId} and state = ${sql.lit(state)}
        and ordered <> ${Number(strictOrder)}`.execute(trx);
  }
}

/** Returns the columns that the patch changes, with their new values. */
function toStreamValues(patch: StreamPatch): Partial<Selectable<Tables['stream']>> {
  return {
    ...(patch.tag !== undefined && { tag: patch.tag }),
    ...(patch.description !== undefined && { description: patch.description }),
    // A new receiver does not inherit the state of the previous one.
    ...(patch.webhookUrl !== undefined && { webhook_url: patch.webhookUrl, ...NEW_RECEIVER }),
    ...(patch.chainIds !== undefined && { chain_ids: JSON.stringify(patch.chainIds) }),
    ...(patch.options !== undefined && { options: JSON.stringify(patch.options) }),
    ...(patch.headers !== undefined && { headers: JSON.stringify(patch.headers) }),
    ...(patch.oauth2 !== undefined && { oauth2: toOAuth2Value(patch.oauth2) }),
    ...(patch.limits !== undefined && toLimitValues(patch.limits)),
    ...('deliver' in patch && { deliver: patch.deliver }),
    ...('confirmations' in patch && toConfirmColumns(patch.confirmations ?? null)),
    ...('notifyRemoved' in patch && { notify_removed: Number(patch.notifyRemoved) }),
    ...('unverified' in patch && { hold_unverified: toHold(patch.unverified) }),
  };
}
