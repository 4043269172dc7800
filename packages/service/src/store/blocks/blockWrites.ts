import { type Kysely, type SqlBool, sql } from 'kysely';
import { coverEarlier, restartCoverage, rewindCoverage } from './coverage.ts';
import type { Db, Tables } from '../engine/tables.ts';
import { type Engine, readMoment, readNow } from '../engine/engine.ts';
import { toBlockDay } from '../engine/partitions.ts';
import { endHalt, recordHalt, recordPassedOver, recordRestart } from './gaps.ts';
import { holdsLease } from '../upkeep/leases.ts';
import { confirmMatches, insertMatches, liveOrigin, withoutDeleted } from './matches.ts';
import { insertRemovals, orphanMatches, returnMatches } from './removedMatches.ts';
import { newId } from '../ids.ts';
import { type Settled, UNSETTLED, settleRules } from '../addresses/ruleRevision.ts';
import type { BlockHeader, BlockRef, BlockWrites } from './contract.ts';
import { noteByRange, recordUnverified } from './unverified.ts';

/** Writes the progress of a chain: its blocks, together with their matches. */
export function createBlockWrites(db: Kysely<Tables>, engine: Engine): BlockWrites {
  return {
    async startChain({ chain, epoch, block, genesisHash, holeFrom, why = '' }) {
      return db.transaction().execute(async (trx) => {
        if (!(await holdsLease(trx, engine, chain, epoch))) return undefined;
        const now = await readNow(engine, trx);
        await recordRestart(trx, { chain, block, holeFrom, why, now });
        await beginWindow(trx, { chain, block, genesisHash, now });
        await restartCoverage(trx, chain, block, holeFrom, now);
        const { cancelled } = await orphanMatches(
          trx,
          sql<SqlBool>`chain = ${chain} and state = 'frozen' and block_number >= ${holeFrom ?? 0}`,
          now,
        );
        return cancelled;
      });
    },

    async commitBlock({ chain, epoch, block, ruleRevision, confirmUpTo, windowBlocks, ...commit }) {
      const {
        unverified,
        searched,
        after = { number: block.number - 1, hash: block.parentHash },
      } = commit;
      // The blocks of the window must be consecutive, so it restarts here if blocks were skipped.
      const keptBlocks = after.hash === block.parentHash ? windowBlocks : 1;
      return db.transaction().execute(async (trx) => {
        const held = await holdRules(trx, engine, { chain, epoch, after });
        if (held === undefined) return { outcome: 'lost-lease' };
        const { revision, checkpoint } = held;
        if (checkpoint === undefined) return { outcome: 'not-next' };
        const rules = { chain, block, settled: checkpoint, revision, ruleRevision };
        const settled = await settleRules(trx, rules);
        if (ruleRevision < settled) return { outcome: 'stale-rules', revision: settled };
        if (ruleRevision > settled) {
          await coverEarlier(trx, chain, block, { after: settled, upTo: ruleRevision });
        }
        // Rules that changed after the block was settled do not apply to it. Deleted streams are an
        // exception, because they must not get new deliveries.
        const matches =
          revision === ruleRevision ? commit.matches : await withoutDeleted(trx, commit.matches);

        if (matches.length > 0) await engine.openDay(trx, toBlockDay(block.timestamp));
        const moment = await readMoment(engine, trx);
        const { now } = moment;
        const moved = await trx
          .updateTable('checkpoint')
          .set({
            number: block.number,
            hash: block.hash,
            version: block.lastVersion ?? null,
            ...UNSETTLED,
            updated_at: now,
          })
          .where('chain', '=', chain)
          .where('number', '=', after.number)
          .where('hash', '=', after.hash)
          .returning('chain')
          .execute();
        if (moved.length === 0) return { outcome: 'not-next' };
        if (searched !== undefined) {
          const range = { from: after.number + 1, to: block.number };
          if (!searched.isProven) await noteByRange(trx, { chain, streamId: null, ...range, now });
        } else if (after.number < block.number - 1) {
          await recordPassedOver(trx, { chain, after: after.number, upTo: block.number, now });
        }
        if (unverified !== undefined) {
          await recordUnverified(trx, { chain, block: block.number, reason: unverified, now });
        }

        await trx
          .insertInto('block')
          .values({
            chain,
            number: block.number,
            hash: block.hash,
            parent_hash: block.parentHash,
            timestamp: block.timestamp,
            matches: matches.length,
            created_at: now,
          })
          .execute();
        await trx
          .deleteFrom('block')
          .where('chain', '=', chain)
          .where('number', '<=', block.number - keptBlocks)
          .execute();

        // If this block left the chain earlier, its matches still exist. They are restored here,
        // and the insert below skips them.
        const returned = await returnMatches(trx, engine, chain, block, now);
        const created = await insertMatches(trx, engine, {
          chain,
          block,
          origin: liveOrigin(0),
          state: 'frozen',
          matches,
          now,
        });
        // Returned matches may be of a day that was closed.
        const { open } = returned === undefined ? moment : await readMoment(engine, trx);
        const confirmed = await confirmMatches(trx, engine, { chain, confirmUpTo, now, open });
        return {
          outcome: 'committed',
          deliveries: [...(returned ?? []), ...created, ...confirmed],
        };
      });
    },

    async rewindChain({ chain, epoch, ancestor }) {
      return db.transaction().execute(async (trx) => {
        if (!(await holdsLease(trx, engine, chain, epoch))) return undefined;
        const now = await readNow(engine, trx);
        await trx
          .updateTable('checkpoint')
          .set({ number: ancestor.number, hash: ancestor.hash, ...UNSETTLED, updated_at: now })
          .where('chain', '=', chain)
          .execute();
        const { numDeletedRows } = await trx
          .deleteFrom('block')
          .where('chain', '=', chain)
          .where('number', '>', ancestor.number)
          .executeTakeFirstOrThrow();
        await recordReorg(trx, chain, ancestor, Number(numDeletedRows), now);
        await rewindCoverage(trx, chain, ancestor);
        const { orphaned, cancelled } = await orphanMatches(
          trx,
          sql<SqlBool>`chain = ${chain} and block_number > ${ancestor.number}`,
          now,
        );
        return [...cancelled, ...(await insertRemovals(trx, engine, orphaned, now))];
      });
    },

    async recordHalt({ chain, epoch, why }) {
      await db.transaction().execute(async (trx) => {
        if (!(await holdsLease(trx, engine, chain, epoch))) return;
        await recordHalt(trx, { chain, why, now: await readNow(engine, trx) });
      });
    },

    async endHalt({ chain, epoch }) {
      await db.transaction().execute(async (trx) => {
        if (!(await holdsLease(trx, engine, chain, epoch))) return;
        await endHalt(trx, chain, await readNow(engine, trx));
      });
    },
  };
}

/**
 * Locks the lease of a chain and the revision of the rules for the rest of the transaction, and
 * reads what a block after `after` depends on: one statement, because each block commit waits for
 * its response. Returns undefined if the lease has another epoch. `checkpoint` is undefined if
 * `after` is not the chain's checkpoint.
 *
 * The transaction will not wait for the disk: if a crash undoes it, the block is read again. Its
 * webhooks have not been sent yet, because claims wait until they and all earlier commits are
 * durable.
 */
async function holdRules(
  trx: Db,
  engine: Engine,
  { chain, epoch, after }: { chain: string; epoch: number; after: BlockRef },
): Promise<{ revision: number; checkpoint: Settled | undefined } | undefined> {
  const { rows } = await sql<{
    revision: number;
    is_next: number;
    settled_number: number | null;
    settled_revision: number | null;
  }>`
    select rule_revision.revision, case when checkpoint.chain is null then 0 else 1 end as is_next,
      settled_number, settled_revision, ${engine.deferFlush} as flush
    from lease cross join rule_revision
      left join checkpoint on checkpoint.chain = ${chain}
        and checkpoint.number = ${after.number} and checkpoint.hash = ${after.hash}
    where lease.name = ${chain} and lease.epoch = ${epoch}
    ${engine.name === 'postgres' ? sql`for key share of lease for share of rule_revision` : sql``}`.execute(
    trx,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const settled = { number: row.settled_number, revision: row.settled_revision };
  return { revision: row.revision, checkpoint: row.is_next === 1 ? settled : undefined };
}

/** Number of reorgs kept per chain, for display. */
const REORGS = 100;

async function recordReorg(
  trx: Db,
  chain: string,
  ancestor: BlockRef,
  depth: number,
  now: number,
): Promise<void> {
  if (depth === 0) return;
  await trx
    .insertInto('reorg')
    .values({ id: newId(now), chain, block_number: ancestor.number, depth, created_at: now })
    .execute();
  await sql`
    delete from reorg where chain = ${chain} and id not in (
      select id from reorg where chain = ${chain} order by id desc limit ${REORGS})`.execute(trx);
}

/** Sets the checkpoint of a chain to this block, which becomes the only block of its window. */
async function beginWindow(
  trx: Db,
  {
    chain,
    block,
    genesisHash,
    now,
  }: { chain: string; block: BlockHeader; genesisHash: string; now: number },
): Promise<void> {
  const values = {
    number: block.number,
    hash: block.hash,
    genesis_hash: genesisHash,
    version: block.lastVersion ?? null,
    ...UNSETTLED,
    updated_at: now,
  };
  await trx
    .insertInto('checkpoint')
    .values({ chain, ...values })
    .onConflict((conflict) => conflict.column('chain').doUpdateSet(values))
    .execute();
  await trx.deleteFrom('block').where('chain', '=', chain).execute();
  await trx
    .insertInto('block')
    .values({
      chain,
      number: block.number,
      hash: block.hash,
      parent_hash: block.parentHash,
      timestamp: block.timestamp,
      matches: 0,
      created_at: now,
    })
    .execute();
}
