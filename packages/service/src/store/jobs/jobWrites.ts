import { sql } from 'kysely';
import { JOB_STATES, type Job, type JobState } from '@sluice/kit/contract';
import { readNow } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { newId } from '../rows/ids.ts';
import { holdsLease } from '../leases/leases.ts';
import { toBlockDay } from '../engine/days.ts';
import { addChildHoles, addStateHoles, closeStateHoles } from '../blocks/coverage.ts';
import { insertMatches, selectKnown } from '../blocks/matches.ts';
import { toJob } from '../rows/jobRow.ts';
import { toLaneId } from '../rows/laneIds.ts';
import { lastSettled } from '../rules/ruleRevision.ts';
import type { JobWrites, PastKnown } from './contract.ts';
import { forgetByRange, recordByRange, recordUnverified } from '../blocks/unverified.ts';
import { describeMaximum, movedEnd } from '../children/childSearches.ts';
import { addChildren } from '../children/childRows.ts';
import type { Db, Tables } from '../tables/tables.ts';
import { recordUncertain } from '../blocks/uncertain.ts';

/** Allowed transitions of a job's state. */
const MOVES: Record<JobState, readonly JobState[]> = {
  running: ['paused', 'cancelled', 'failed', 'done'],
  paused: ['running', 'cancelled'],
  failed: ['running', 'cancelled'],
  done: [],
  cancelled: [],
};

/** Writes backfill jobs, and blocks that are sent again on request. */
export function createJobWrites({ db, engine, transact, maxChildren }: Ledger): JobWrites {
  return {
    async createJob({ streamId, destination, chain, blockFrom, blockTo }) {
      const laneId = toLaneId(streamId, destination);
      return transact(async (trx, effects) => {
        if (!(await isLane(trx, laneId))) return undefined;
        const job = await insertJob(trx, {
          stream_id: streamId,
          lane_id: destination === undefined ? null : laneId,
          chain,
          block_from: blockFrom,
          block_to: blockTo,
          now: await readNow(engine, trx),
        });
        effects.signal('jobs');
        effects.publish({ type: 'job', job });
        return job;
      });
    },

    async createPastJobs({ streamId, destination, blockFrom }) {
      const laneId = toLaneId(streamId, destination);
      return transact(async (trx, effects) => {
        if (!(await isLane(trx, laneId))) return undefined;
        const place = {
          stream_id: streamId,
          lane_id: destination === undefined ? null : laneId,
          block_from: blockFrom,
        };
        const chains = await trx
          .selectFrom('coverage')
          .leftJoin('checkpoint', 'checkpoint.chain', 'coverage.chain')
          .select(['coverage.chain', lastSettled.$castTo<number | null>().as('last')])
          .where('coverage.stream_id', '=', streamId)
          .orderBy('coverage.chain')
          .execute();
        const now = await readNow(engine, trx);
        const jobs: Job[] = [];
        for (const { chain, last } of chains) {
          const existing = await readPastJob(trx, { ...place, chain });
          if (existing !== undefined) jobs.push(existing);
          if (existing !== undefined || last === null || last < blockFrom) continue;
          const job = await insertJob(trx, { ...place, chain, block_to: last, now });
          effects.publish({ type: 'job', job });
          jobs.push(job);
        }
        effects.signal('jobs');
        const unread = chains.filter(({ last }) => last === null).map(({ chain }) => chain);
        return { jobs, unread };
      });
    },

    async setJobState(id, state, message) {
      const from = JOB_STATES.filter((each) => MOVES[each].includes(state));
      return transact(async (trx, effects) => {
        const row = await trx
          .updateTable('job')
          .set({ state, message, updated_at: await readNow(engine, trx) })
          .where('id', '=', id)
          .where('state', 'in', from)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return undefined;
        if (state === 'cancelled') await forgetValues(trx, id);
        const job = toJob(row);
        effects.signal('jobs');
        effects.publish({ type: 'job', job });
        return job;
      });
    },

    async setJobMessage(id, message) {
      await db
        .updateTable('job')
        .set({ message })
        .where('id', '=', id)
        .where('state', '=', 'running')
        .execute();
    },

    async commitJob({ id, chain, epoch, from, to, byRange = false, blocks, known }) {
      return transact(async (trx, effects) => {
        if (!(await holdsLease(trx, engine, chain, epoch))) return undefined;
        const now = await readNow(engine, trx);
        const found = blocks.filter(
          ({ matches, valueMatches = [] }) => matches.length + valueMatches.length > 0,
        ).length;
        const row = await advance(trx, { id, chain, from, to, found, now });
        if (row === undefined) return undefined;
        const evaluated = { chain, streamId: row.stream_id, from, to };
        if (byRange) await recordByRange(trx, { ...evaluated, now });
        else await forgetByRange(trx, evaluated);
        await closeStateHoles(trx, evaluated);
        if (known !== undefined) {
          for (const [n, { block, lacksState = false }] of blocks.entries()) {
            const after = n === 0 ? from - 1 : blocks[n - 1]!.block.number;
            const streamIds = lacksState ? [row.stream_id] : [];
            await addStateHoles(trx, { chain, block: block.number, after, streamIds, now });
          }
          if (row.state === 'done') await forgetValues(trx, id);
          else await saveValues(trx, id, known);
        }
        const deliveries = [];
        const origin = `job:${id}`;
        for (const { block, matches, valueMatches = [], unverified } of blocks) {
          if (unverified !== undefined) {
            await recordUnverified(trx, { chain, block: block.number, unverified, now });
          }
          for (const [its, itsOrigin] of [
            [matches, origin],
            [valueMatches, `${origin}:values`],
          ] as const) {
            if (its.length === 0) continue;
            await engine.openDay(trx, toBlockDay(block.timestamp));
            deliveries.push(
              ...(await insertMatches(trx, engine, {
                chain,
                block,
                origin: itsOrigin,
                state: 'confirmed',
                matches: its,
                onlyLane: row.lane_id ?? undefined,
                unverified,
                known: await selectKnown(trx, chain, block, sql`origin = ${itsOrigin}`).execute(),
                now,
              })),
            );
          }
          if (unverified !== undefined) {
            await recordUncertain(trx, { chain, block, jobId: id, unverified, now });
          }
        }
        const job = toJob(row);
        effects.publish({ type: 'job', job });
        effects.moveDeliveries(deliveries);
        return job;
      });
    },

    async commitSearch({ id, chain, epoch, from, to, children, unverified = [], matchedUpTo }) {
      return transact(async (trx, effects) => {
        if (!(await holdsLease(trx, engine, chain, epoch))) return undefined;
        const checkpoint = await trx
          .selectFrom('checkpoint')
          .select('number')
          .where('chain', '=', chain)
          .executeTakeFirst();
        // A reorg may have removed the blocks since they were read.
        if (checkpoint === undefined || checkpoint.number < to) return undefined;
        const now = await readNow(engine, trx);
        const row = await advance(trx, { id, chain, from, to, found: children.length, now });
        if (row === undefined) return undefined;
        const limits = { engine, maxChildren };
        const { added, leftOut, late } = await addChildren(trx, limits, chain, children);
        await addChildHoles(trx, { chain, children: late, upTo: matchedUpTo, now });
        for (const marked of unverified) await recordUnverified(trx, { chain, ...marked, now });
        const [first] = leftOut;
        const stopped =
          first === undefined
            ? row
            : await trx
                .updateTable('job')
                .set((eb) => ({
                  next_block: first.blockNumber,
                  matches: eb('matches', '-', leftOut.length),
                  state: 'failed',
                  message: describeMaximum(maxChildren),
                }))
                .where('id', '=', id)
                .returningAll()
                .executeTakeFirstOrThrow();
        const job = toJob(stopped);
        effects.publish({ type: 'job', job });
        return { job, children: added };
      });
    },

    async extendSearch(id) {
      await transact(async (trx, effects) => {
        const row = await trx
          .updateTable('job')
          .set({
            block_to: sql<number>`case when ${movedEnd} > block_to then ${movedEnd} else block_to end`,
            extensions: sql<number>`extensions - 1`,
            state: sql<JobState>`
              case when extensions = 1 and ${movedEnd} < next_block then 'done' else state end`,
            updated_at: await readNow(engine, trx),
          })
          .where('id', '=', id)
          .where('extensions', '>', 0)
          .where('state', '=', 'running')
          .whereRef('next_block', '>', 'block_to')
          .returningAll()
          .executeTakeFirst();
        if (row !== undefined) effects.publish({ type: 'job', job: toJob(row) });
      });
    },

    async commitManual({ chain, block, requestId, isConfirmed, matches, unverified }) {
      const origin = `manual:${requestId}`;
      return transact(async (trx, effects) => {
        await engine.openDay(trx, toBlockDay(block.timestamp));
        const deliveries = await insertMatches(trx, engine, {
          chain,
          block,
          origin,
          state: isConfirmed ? 'confirmed' : 'frozen',
          matches,
          unverified,
          known: await selectKnown(trx, chain, block, sql`origin = ${origin}`).execute(),
          now: await readNow(engine, trx),
        });
        effects.moveDeliveries(deliveries);
      });
    },
  };
}

/** Returns whether this is the ID of a stream or destination that is not deleted. */
const isLane = async (trx: Db, laneId: string): Promise<boolean> =>
  (await trx
    .selectFrom('stream')
    .select('id')
    .where('id', '=', laneId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()) !== undefined;

type BackfillPlace = Pick<Tables['job'], 'stream_id' | 'lane_id' | 'chain' | 'block_from'>;

async function insertJob(
  trx: Db,
  { now, ...backfill }: BackfillPlace & Pick<Tables['job'], 'block_to'> & { now: number },
): Promise<Job> {
  const row = await trx
    .insertInto('job')
    .values({
      ...backfill,
      id: newId(),
      kind: 'records',
      extensions: 0,
      left_out: 0,
      next_block: backfill.block_from,
      state: 'running',
      message: '',
      matches: 0,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toJob(row);
}

/** Returns the first backfill of this place that is not canceled. */
async function readPastJob(trx: Db, place: BackfillPlace): Promise<Job | undefined> {
  const row = await trx
    .selectFrom('job')
    .selectAll()
    .where('stream_id', '=', place.stream_id)
    .where('lane_id', place.lane_id === null ? 'is' : '=', place.lane_id)
    .where('chain', '=', place.chain)
    .where('kind', '=', 'records')
    .where('block_from', '=', place.block_from)
    .where('state', '<>', 'cancelled')
    .orderBy('id')
    .executeTakeFirst();
  return row && toJob(row);
}

const forgetValues = (trx: Db, id: string): Promise<unknown> =>
  trx.deleteFrom('job_values').where('job_id', '=', id).execute();

async function saveValues(trx: Db, id: string, values: PastKnown): Promise<void> {
  const known = JSON.stringify(values);
  await trx
    .insertInto('job_values')
    .values({ job_id: id, known })
    .onConflict((conflict) => conflict.column('job_id').doUpdateSet({ known }))
    .execute();
}

/**
 * Moves a running job past block `to`. Returns undefined if the job was paused, canceled or advanced
 * in the meantime, so that its blocks will be read again or are no longer needed.
 */
const advance = (
  trx: Db,
  {
    id,
    chain,
    from,
    to,
    found,
    now,
  }: { id: string; chain: string; from: number; to: number; found: number; now: number },
): Promise<Tables['job'] | undefined> =>
  trx
    .updateTable('job')
    .set((eb) => ({
      next_block: to + 1,
      matches: eb('matches', '+', found),
      state: sql<JobState>`
        case when block_to <= ${to} and extensions = 0 then 'done' else state end`,
      message: '',
      updated_at: now,
    }))
    .where('id', '=', id)
    .where('chain', '=', chain)
    .where('state', '=', 'running')
    .where('next_block', '=', from)
    .returningAll()
    .executeTakeFirst();
