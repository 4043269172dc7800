import { type CompiledQuery, type SqlBool, sql } from 'kysely';
import { toChainBlock } from './chainBlock.ts';
import { coverEarlier, restartCoverage, rewindCoverage } from './coverage.ts';
import { searchGap, searchLeftOut } from '../children/childSearches.ts';
import { addChildren, deleteChildren, toKnownChildren } from '../children/childRows.ts';
import type { Db } from '../tables/tables.ts';
import { type Engine, readMoment, readNow, selectMoment, toMoment } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import { toBlockDay } from '../engine/days.ts';
import { endHalt, recordHalt, recordPassedOver, recordRestart } from './gaps.ts';
import { holdsLease } from '../leases/leases.ts';
import {
  type KnownMatch,
  confirmMatches,
  deliverConfirmed,
  hasRecords,
  insertMatches,
  isLive,
  liveOrigin,
  selectDestinations,
  selectKnown,
  withoutDeleted,
} from './matches.ts';
import { forgetHeld, insertRemovals, orphanMatches, restoreMatches } from './removedMatches.ts';
import { newId } from '../rows/ids.ts';
import { UNSETTLED, settleRules } from '../rules/ruleRevision.ts';
import type { BlockHeader, BlockRef, BlockWrites, NewMatch } from './contract.ts';
import { recordByRange, recordUnverified } from './unverified.ts';
import { insertPendingState, rewindValues } from './values.ts';
import {
  recordUncertain,
  restartUncertain,
  restoreUncertain,
  rewindUncertain,
} from './uncertain.ts';

/** Writes the progress of a chain: its blocks, together with their matches. */
export function createBlockWrites({ db, engine, transact, maxChildren }: Ledger): BlockWrites {
  return {
    async startChain({ chain, epoch, block, genesisHash, holeFrom, why = '' }) {
      return transact(async (trx, effects) => {
        if (!(await holdsLease(trx, engine, chain, epoch))) return false;
        const now = await readNow(engine, trx);
        await recordRestart(trx, { chain, block, holeFrom, why, now });
        await beginWindow(trx, { chain, block, genesisHash, now });
        await restartCoverage(trx, chain, block, holeFrom, now);
        await restartUncertain(trx, chain);
        await rewindValues(trx, chain, (holeFrom ?? 0) - 1);
        const { canceled } = await orphanMatches(
          trx,
          sql<SqlBool>`chain = ${chain} and state = 'frozen' and block_number >= ${holeFrom ?? 0}`,
          now,
        );
        await searchGap(trx, effects, { chain, from: holeFrom ?? 0, to: block.number, now });
        // The blocks after `block` are read again.
        await deleteChildren(trx, engine, chain, Math.min(holeFrom ?? 0, block.number + 1));
        effects.moveDeliveries(canceled);
        return true;
      });
    },

    async commitBlock({
      chain,
      epoch,
      block,
      ruleRevision,
      confirmUpTo,
      tagged,
      windowBlocks,
      ...commit
    }) {
      const {
        unverified,
        searched,
        after = { number: block.number - 1, hash: block.parentHash },
      } = commit;
      // The blocks of the window must be consecutive, so it restarts here if blocks were skipped.
      const keptBlocks = after.hash === block.parentHash ? windowBlocks : 1;
      const day = toBlockDay(block.timestamp);
      const heights = {
        chain: confirmUpTo,
        latest: block.number,
        depth: block.number,
        safe: tagged?.safe ?? -1,
        finalized: tagged?.finalized ?? -1,
      };
      return transact(async (trx, effects) => {
        const [[held], [read], known, destinations] = await engine.pipeline(trx, [
          () => {
            const openDay = commit.matches.length > 0 ? day : undefined;
            return holdCheckpoint(trx, engine, { chain, epoch, hash: block.hash, after, openDay });
          },
          () => selectMoment(engine).compile(trx),
          () => selectKnown(trx, chain, block, isLive).compile(),
          () =>
            commit.matches.length > 0 ? selectDestinations(trx, engine, commit.matches) : undefined,
        ]);
        if (held === undefined) return { outcome: 'lost-lease' };
        if (held.is_next === null) return { outcome: 'not-next' };
        const { revision } = held;
        const settled = await settleRules(trx, {
          chain,
          block,
          revision,
          ruleRevision,
          settled: { number: held.settled_number, revision: held.settled_revision },
        });
        if (ruleRevision < settled) return { outcome: 'stale-rules', revision: settled };
        if (ruleRevision > settled) {
          await coverEarlier(trx, chain, block, { after: settled, upTo: ruleRevision });
        }
        // Rules that changed after the block was settled do not apply to it. Deleted streams are an
        // exception, because they must not get new deliveries.
        const matches =
          revision === ruleRevision ? commit.matches : await withoutDeleted(trx, commit.matches);

        let moment = toMoment(engine, read!);
        const { now } = moment;
        if (searched !== undefined) {
          const range = { from: after.number + 1, to: block.number };
          if (!searched.isProven)
            await recordByRange(trx, { chain, streamId: null, ...range, now });
        } else if (after.number < block.number - 1 && after.hash !== block.parentHash) {
          await recordPassedOver(trx, { chain, after: after.number, upTo: block.number, now });
        }
        const isReread = held.has_left === 1;
        if (isReread) await restoreUncertain(trx, { chain, block, unverified, now });
        if (unverified !== undefined) {
          await recordUnverified(trx, { chain, block: block.number, unverified, now });
        }

        const isReturning = known.some((each) => each.state === 'orphaned');
        if (isReturning || held.is_open === 0) {
          await engine.openDay(trx, day);
          moment = await readMoment(engine, trx);
        }
        const left = isReturning ? await forgetHeld(trx, chain, block, known) : known;
        // If this block left the chain earlier, its matches still exist. They are restored here,
        // and the insert below skips them.
        const returned = isReturning ? await restoreMatches(trx, engine, chain, block, now) : [];
        const created = await insertMatches(trx, engine, {
          chain,
          block,
          known: left,
          destinations,
          unverified,
          now,
          // The block is read again, which finds what the restored matches lack.
          matches: isReread ? withoutKnown(matches, left) : matches,
          origin: liveOrigin(0),
          state: 'frozen',
        });
        if (unverified !== undefined) {
          await recordUncertain(trx, { chain, block, unverified, now });
        }
        const [confirmed] = await engine.pipeline(trx, [
          () => confirmMatches(trx, { chain, heights, open: moment.open }),
          () => moveCheckpoint(trx, chain, block, now),
          () => (commit.readsState ? insertPendingState(trx, { chain, block, after }) : undefined),
          () => appendToWindow(trx, { chain, block, matches: matches.length, now }),
          () => trimWindow(trx, chain, block.number - keptBlocks),
        ]);
        const { added, leftOut } = await addChildren(
          trx,
          { engine, maxChildren },
          chain,
          toKnownChildren(block, commit.children),
        );
        await searchLeftOut(trx, effects, { chain, leftOut, maxChildren, now });
        const confirming = await deliverConfirmed(trx, engine, confirmed, now);
        effects.publish({
          type: 'block',
          chainId: chain,
          block: toChainBlock({ ...block, matches: commit.matches.length }),
          head: commit.head ?? block.number,
        });
        effects.moveDeliveries([...returned, ...created, ...confirming]);
        return { outcome: 'committed', children: added };
      });
    },

    async rewindChain({ chain, epoch, ancestor }) {
      return transact(async (trx, effects) => {
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
        await rewindUncertain(trx, chain, ancestor, now);
        await rewindValues(trx, chain, ancestor.number);
        const { orphaned, canceled } = await orphanMatches(
          trx,
          sql<SqlBool>`chain = ${chain} and block_number > ${ancestor.number}`,
          now,
        );
        const removals = await insertRemovals(trx, engine, orphaned, now);
        const left = await deleteChildren(trx, engine, chain, ancestor.number + 1);
        effects.publish({ type: 'reorg', chainId: chain, blockNumber: ancestor.number });
        effects.moveDeliveries([...canceled, ...removals]);
        return left;
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
 * Builds the statement that locks the lease of a chain, the revision of the rules, and the chain's
 * checkpoint for the rest of the transaction, and reads them. It returns no row if the lease has
 * another epoch. `is_next` is null if the checkpoint is not at `after`. `is_open` is 0 if `openDay`
 * must still be opened. `has_left` is 1 if the block with this hash is
 * uncertain and left the chain earlier.
 *
 * The transaction will not wait for the disk: if a crash undoes it, the block is read again. Its
 * webhooks have not been sent yet, because claims wait until they and all earlier commits are
 * durable.
 */
function holdCheckpoint(
  trx: Db,
  engine: Engine,
  {
    chain,
    epoch,
    hash,
    after,
    openDay,
  }: {
    chain: string;
    epoch: number;
    hash: string;
    after: BlockRef;
    openDay: string | undefined;
  },
): CompiledQuery<HeldCheckpoint> {
  const isOpen = openDay === undefined ? sql`1` : engine.isOpen(openDay);
  return sql<HeldCheckpoint>`
    select rule_revision.revision, is_next, settled_number, settled_revision, ${isOpen} as is_open,
      case when exists (select 1 from uncertain where chain = ${chain} and block_hash = ${hash}
        and left_at is not null) then 1 else 0 end as has_left,
      ${engine.deferFlush} as flush
    from lease cross join rule_revision left join (
      select 1 as is_next, settled_number, settled_revision from checkpoint
      where chain = ${chain} and number = ${after.number} and hash = ${after.hash}
      ${engine.lockRows('no key update')}) as held on true
    where lease.name = ${chain} and lease.epoch = ${epoch}
    ${engine.lockRows('key share', { of: 'lease' })}
    ${engine.lockRows('share', { of: 'rule_revision' })}`.compile(trx);
}

interface HeldCheckpoint {
  revision: number;
  is_next: number | null;
  settled_number: number | null;
  settled_revision: number | null;
  is_open: number;
  has_left: number;
}

/** Returns the matches of streams without a known match of records. */
const withoutKnown = (
  matches: readonly NewMatch[],
  known: readonly KnownMatch[],
): readonly NewMatch[] => {
  const streams = new Set(known.filter(hasRecords).map((each) => each.stream_id));
  return matches.filter(({ streamId }) => !streams.has(streamId));
};

const moveCheckpoint = (
  trx: Db,
  chain: string,
  { number, hash, lastVersion }: BlockHeader,
  now: number,
): CompiledQuery<unknown> =>
  trx
    .updateTable('checkpoint')
    .set({ number, hash, version: lastVersion ?? null, ...UNSETTLED, updated_at: now })
    .where('chain', '=', chain)
    .compile();

/** Builds the statement that adds a block to the window of blocks that may leave the chain. */
const appendToWindow = (
  trx: Db,
  {
    chain,
    block,
    matches,
    now,
  }: { chain: string; block: BlockHeader; matches: number; now: number },
): CompiledQuery<unknown> =>
  trx
    .insertInto('block')
    .values({
      chain,
      number: block.number,
      hash: block.hash,
      parent_hash: block.parentHash,
      timestamp: block.timestamp,
      matches,
      created_at: now,
    })
    .compile();

const trimWindow = (trx: Db, chain: string, upTo: number): CompiledQuery<unknown> =>
  trx.deleteFrom('block').where('chain', '=', chain).where('number', '<=', upTo).compile();

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
  await trx.executeQuery(appendToWindow(trx, { chain, block, matches: 0, now }));
}
