/** Reads uncertain blocks again later, and commits the readings together with their matches. */
import { type Kysely, type SqlBool, sql } from 'kysely';
import type { DeliverySummary } from '@sluice/kit/contract';
import { type BlockNeeds, isWitnessed } from '../blocks/contract.ts';
import { addChildHoles, coversBlock } from '../blocks/coverage.ts';
import {
  findConfirmed,
  insertMatches,
  isLive,
  isOfValues,
  notifiesRemoved,
  releaseMatches,
} from '../blocks/matches.ts';
import { insertRemovals, orphanMatches } from '../blocks/removedMatches.ts';
import { isHeld } from '../blocks/uncertain.ts';
import { searchLeftOut } from '../children/childSearches.ts';
import { addChildren, toKnownChildren } from '../children/childRows.ts';
import { forgetUnverified, recordUnverified } from '../blocks/unverified.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { toBlockDay } from '../engine/days.ts';
import type { Db, Tables } from '../tables/tables.ts';
import { newId } from '../rows/ids.ts';
import { streamOf } from '../rows/laneIds.ts';
import { holdsLease } from '../leases/leases.ts';
import type { UncertainBlock, UncertainReads, UncertainWrites } from './contract.ts';

/** Condition for the matches of an uncertain block that its later readings may replace. */
const isOfReading = ({ chain, header, jobId }: UncertainBlock) => sql<SqlBool>`
  match.chain = ${chain} and match.block_number = ${header.number}
  and match.block_hash = ${header.hash} and ${
    jobId === null
      ? sql`(${isLive} and not ${isOfValues})`
      : sql`(origin = ${`job:${jobId}`} or origin like ${`job:${jobId}:recheck:%`})`
  }`;

/**
 * Condition for the matches that are compared with a later reading: not the copies for additional
 * destinations, unless a backfill found the matches for one of them only.
 */
const isCompared = ({ jobId }: UncertainBlock) => sql<SqlBool>`(destination_of is null
  or match.stream_id = (select lane_id from job where id = ${jobId ?? ''}))`;

/** Returns the only lane that gets the matches of a backfill; undefined if all lanes get them. */
async function readLane(trx: Db, jobId: string | null): Promise<string | undefined> {
  if (jobId === null) return undefined;
  const job = await trx
    .selectFrom('job')
    .select('lane_id')
    .where('id', '=', jobId)
    .executeTakeFirst();
  return job?.lane_id ?? undefined;
}

/** 1 if a stream holds its matches in the selected block, else 0. */
const HELD = sql<number>`case when ${isHeld(
  sql.ref('uncertain.chain'),
  sql.ref('uncertain.block_number'),
  sql.ref('uncertain.block_hash'),
)} then 1 else 0 end`;

export function createUncertainReads(db: Kysely<Tables>, engine: Engine): UncertainReads {
  return {
    async nextUncertain(chain) {
      const row = await db
        .selectFrom('uncertain')
        .leftJoin('job', 'job.id', 'uncertain.job_id')
        .selectAll('uncertain')
        .select(['job.stream_id', engine.now().as('now'), HELD.as('is_held')])
        .where('uncertain.chain', '=', chain)
        .where('left_at', 'is', null)
        .where('due_at', '<=', engine.now())
        .orderBy('due_at')
        .limit(1)
        .executeTakeFirst();
      return (
        row && {
          chain,
          header: {
            number: row.block_number,
            hash: row.block_hash,
            parentHash: row.parent_hash,
            timestamp: row.block_timestamp,
          },
          jobId: row.job_id === '' ? null : row.job_id,
          streamId: row.stream_id,
          codes: row.codes,
          step: row.step,
          ageMs: row.now - row.accepted_at,
          needs: JSON.parse(row.needs) as BlockNeeds,
          records: row.records,
          isHeld: row.is_held === 1,
        }
      );
    },

    async countUncertain() {
      const rows = await db
        .selectFrom('checkpoint')
        .leftJoin('uncertain', (join) =>
          join.onRef('uncertain.chain', '=', 'checkpoint.chain').on('left_at', 'is', null),
        )
        .select(({ fn }) => ['checkpoint.chain', fn.count<number>('block_hash').as('blocks')])
        .groupBy('checkpoint.chain')
        .execute();
      return Object.fromEntries(rows.map(({ chain, blocks }) => [chain, blocks]));
    },

    async listUncertainMatches(block) {
      const rows = await db
        .selectFrom('match')
        .innerJoin('stream', 'stream.id', 'match.stream_id')
        .select(['match.id', 'stream_id', notifiesRemoved, 'body_head', 'body_tail'])
        .where(isOfReading(block))
        .where('block_day', '=', toBlockDay(block.header.timestamp))
        .where('state', '<>', 'orphaned')
        .where('deleted_at', 'is', null)
        .where(isCompared(block))
        .orderBy('match.id')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        streamId: streamOf(row.stream_id),
        notifyRemoved: row.notify_removed === 1,
        bodyHead: row.body_head,
        bodyTail: row.body_tail,
      }));
    },

    async listUncertainStreams({ chain, streamId, header: { number } }) {
      if (streamId !== null) return [{ streamId, isLive: false }];
      const rows = await db
        .selectFrom('coverage')
        .innerJoin('stream', 'stream.id', 'coverage.stream_id')
        .select(['coverage.stream_id', 'status'])
        .where('coverage.chain', '=', chain)
        .where('deleted_at', 'is', null)
        .where('status', '<>', 'terminated')
        .where(coversBlock(chain, number))
        .execute();
      return rows.map((row) => ({ streamId: row.stream_id, isLive: row.status !== 'paused' }));
    },
  };
}

export function createUncertainWrites({
  db,
  engine,
  transact,
  maxChildren,
}: Ledger): UncertainWrites {
  /** Selects the row of a block, unless another reading or a reorg has changed it. */
  const isUnchanged = ({ chain, header, jobId, step }: UncertainBlock) =>
    sql<SqlBool>`chain = ${chain} and block_hash = ${header.hash} and job_id = ${jobId ?? ''}
      and step = ${step} and left_at is null`;

  return {
    async commitReading({
      block,
      epoch,
      matches,
      children,
      matchedUpTo,
      removed,
      heights,
      unverified,
      next,
    }) {
      const { chain, header, jobId, step } = block;
      return transact(async (trx, effects) => {
        if (!(await holdsLease(trx, engine, chain, epoch))) return undefined;
        const now = await readNow(engine, trx);
        const written =
          next === undefined
            ? await trx
                .deleteFrom('uncertain')
                .where(isUnchanged(block))
                .returning('step')
                .executeTakeFirst()
            : await trx
                .updateTable('uncertain')
                .set({ step: step + 1, due_at: now + next.dueInMs, records: next.records })
                .where(isUnchanged(block))
                .returning('step')
                .executeTakeFirst();
        if (written === undefined) return undefined;
        await forgetUnverified(trx, chain, header.number);
        if (unverified !== undefined) {
          await recordUnverified(trx, { chain, block: header.number, unverified, now });
        }
        const { added, leftOut, late } = await addChildren(
          trx,
          { engine, maxChildren },
          chain,
          toKnownChildren(header, children),
        );
        await searchLeftOut(trx, effects, { chain, leftOut, maxChildren, now });
        // This reading matches the block itself with them.
        const missed = late.map((child) => ({ ...child, blockNumber: child.blockNumber + 1 }));
        await addChildHoles(trx, { chain, children: missed, upTo: matchedUpTo, now });
        const day = toBlockDay(header.timestamp);
        const isOfBlock = sql<SqlBool>`chain = ${chain} and block_hash = ${header.hash}
          and block_day = ${day}`;
        const witnesses = unverified?.witnesses ?? 0;
        await trx
          .updateTable('match')
          .set({ witnesses })
          .where(isOfBlock)
          .where('witnesses', '<', witnesses)
          .execute();
        const released =
          unverified === undefined || isWitnessed(unverified)
            ? await releaseMatches(trx, sql<SqlBool>`${isOfBlock} and held = 1`, now)
            : [];
        effects.offerDeliveries(released);
        if (matches.length === 0 && removed.length === 0) return { children: added };
        await engine.openDay(trx, day);
        const id = newId(now);
        const { orphaned, canceled } =
          removed.length === 0
            ? { orphaned: [], canceled: [] }
            : await orphanMatches(
                trx,
                sql<SqlBool>`block_day = ${day} and (id in (${sql.join(removed)})
                  or (${isOfReading(block)} and stream_id in (
                    select stream.id from stream join match as its
                      on its.stream_id = stream.destination_of
                    where its.block_day = ${day} and its.id in (${sql.join(removed)}))))`,
                now,
              );
        if (orphaned.length > 0) {
          // If the block leaves the chain and returns, these matches must not be restored.
          await trx
            .updateTable('match')
            .set({ origin: sql<string>`'gone:' || ${id} || ':' || origin` })
            .where('block_day', '=', day)
            .where(
              'id',
              'in',
              orphaned.map((match) => match.id),
            )
            .execute();
        }
        // Receivers with strict order get the removal webhook before the new match.
        const removals = await insertRemovals(trx, engine, orphaned, now);
        const origin = `recheck:${step}:${id}`;
        const confirmed = await findConfirmed(trx, heights, header.number, matches);
        const created: DeliverySummary[] = [];
        for (const state of ['confirmed', 'frozen'] as const) {
          created.push(
            ...(await insertMatches(trx, engine, {
              chain,
              block: header,
              matches: matches.filter(
                ({ streamId }) => confirmed.has(streamId) === (state === 'confirmed'),
              ),
              known: [],
              unverified,
              now,
              onlyLane: await readLane(trx, jobId),
              origin: jobId === null ? `${origin}:0` : `job:${jobId}:${origin}`,
              state,
            })),
          );
        }
        effects.moveDeliveries([...canceled, ...removals, ...created]);
        return { children: added };
      });
    },

    async endReadings(block) {
      await db.deleteFrom('uncertain').where(isUnchanged(block)).execute();
    },

    async postponeReading(block, byMs) {
      await db
        .updateTable('uncertain')
        .set({ due_at: sql<number>`${engine.now()} + ${byMs}` })
        .where(isUnchanged(block))
        .execute();
    },
  };
}
