import { type Expression, type Kysely, type Selectable, type SqlBool, sql } from 'kysely';
import type { DeliveryPhase, DeliverySummary } from '@sluice/kit/contract';
import { type Db, type Engine, readNow } from './engine.ts';
import { deliveryColumns, toDeliverySummary } from './rows.ts';
import { newId } from './ids.ts';
import type { BlockWrites } from './store.ts';
import type { MatchState, Tables } from './tables.ts';

/** Rows per insert statement: SQLite takes 32,766 parameters, and a delivery has 21 columns. */
const INSERT_CHUNK = 500;
/** Blocks kept to measure a reorg against, or twice the confirmations where that is more. */
const WINDOW_BLOCKS = 256;

/** What a delivery takes over from its match; the body stays where it is. */
const matchColumns = [
  'id',
  'stream_id',
  'chain',
  'block_number',
  'block_hash',
  'block_day',
  'part',
  'tag',
  'records',
] as const;

/** What moves a chain: its blocks, what they matched, and the deliveries that come of it. */
export function createBlockWrites(db: Kysely<Tables>, engine: Engine): BlockWrites {
  const insertDeliveries = async (
    trx: Db,
    matches: readonly Pick<Selectable<Tables['match']>, (typeof matchColumns)[number]>[],
    phase: DeliveryPhase,
    now: number,
  ): Promise<DeliverySummary[]> => {
    const created: DeliverySummary[] = [];
    for (let start = 0; start < matches.length; start += INSERT_CHUNK) {
      const rows = await trx
        .insertInto('delivery')
        .values(
          matches.slice(start, start + INSERT_CHUNK).map((match) => ({
            id: newId(),
            match_id: match.id,
            stream_id: match.stream_id,
            event_key: `${match.chain}:${match.block_hash}:${phase}:${match.part}:live:0`,
            phase,
            chain: match.chain,
            block_number: match.block_number,
            block_day: match.block_day,
            tag: match.tag,
            records: match.records,
            state: 'pending' as const,
            attempts: 0,
            claims: 0,
            run_at: now,
            lease_token: null,
            lease_until: null,
            last_status: null,
            last_error: null,
            last_duration_ms: null,
            created_at: now,
            updated_at: now,
          })),
        )
        .onConflict((conflict) => conflict.columns(['event_key', 'stream_id']).doNothing())
        .returning(deliveryColumns)
        .execute();
      created.push(...rows.map(toDeliverySummary));
    }
    return created;
  };

  /** A block that left the chain and came back: what was cancelled unsent is due again. */
  const reviveMatches = async (
    trx: Db,
    chain: string,
    blockHash: string,
    now: number,
  ): Promise<DeliverySummary[]> => {
    const revived = await trx
      .updateTable('match')
      .set({ state: 'frozen' satisfies MatchState })
      .where('chain', '=', chain)
      .where('block_hash', '=', blockHash)
      .where('state', '=', 'orphaned')
      .returning('id')
      .execute();
    if (revived.length === 0) return [];
    const rows = await trx
      .updateTable('delivery')
      .set({ state: 'pending', run_at: now, updated_at: now })
      .where(
        'match_id',
        'in',
        revived.map((row) => row.id),
      )
      .where('state', '=', 'cancelled')
      .returning(deliveryColumns)
      .execute();
    return rows.map(toDeliverySummary);
  };

  /** The blocks of these matches left the chain: nothing of them is confirmed, or sent for the first time. */
  const orphanMatches = async (
    trx: Db,
    which: Expression<SqlBool>,
    now: number,
  ): Promise<DeliverySummary[]> => {
    const cancelled = await trx
      .updateTable('delivery')
      .set({ state: 'cancelled', updated_at: now })
      .where('match_id', 'in', trx.selectFrom('match').select('id').where(which))
      .where('state', '=', 'pending')
      .where('claims', '=', 0)
      .returning(deliveryColumns)
      .execute();
    await trx
      .updateTable('match')
      .set({ state: 'orphaned' satisfies MatchState })
      .where(which)
      .execute();
    return cancelled.map(toDeliverySummary);
  };

  const confirmMatches = async (
    trx: Db,
    chain: string,
    height: number,
    now: number,
  ): Promise<DeliverySummary[]> => {
    const ripe = await trx
      .updateTable('match')
      .set({ state: 'confirmed' satisfies MatchState })
      .where('chain', '=', chain)
      .where('state', '=', 'frozen')
      .where('confirm_at', '<=', height)
      .returning(matchColumns)
      .execute();
    if (ripe.length === 0) return [];
    const gone = await trx
      .selectFrom('stream')
      .select('id')
      .where('id', 'in', [...new Set(ripe.map((match) => match.stream_id))])
      .where('deleted_at', 'is not', null)
      .execute();
    const deleted = new Set(gone.map((row) => row.id));
    return insertDeliveries(
      trx,
      ripe.filter((match) => !deleted.has(match.stream_id)),
      'confirmed',
      now,
    );
  };

  return {
    async startChain(chain, block, genesisHash) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(engine, trx);
        const values = {
          number: block.number,
          hash: block.hash,
          genesis_hash: genesisHash,
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
          })
          .execute();
        return orphanMatches(trx, sql<SqlBool>`chain = ${chain} and state = 'frozen'`, now);
      });
    },

    async commitBlock({ chain, block, ruleRevision, confirmations, matches }) {
      return db.transaction().execute(async (trx) => {
        const rules = sql<{ revision: number }>`select revision from rule_revision`;
        const { rows } = await (
          engine.name === 'postgres' ? sql<{ revision: number }>`${rules} for share` : rules
        ).execute(trx);
        if (rows[0]?.revision !== ruleRevision) return { outcome: 'stale-rules' };

        const now = await readNow(engine, trx);
        const moved = await trx
          .updateTable('checkpoint')
          .set({ number: block.number, hash: block.hash, updated_at: now })
          .where('chain', '=', chain)
          .where('number', '=', block.number - 1)
          .where('hash', '=', block.parentHash)
          .returning('chain')
          .execute();
        if (moved.length === 0) return { outcome: 'not-next' };

        await trx
          .insertInto('block')
          .values({
            chain,
            number: block.number,
            hash: block.hash,
            parent_hash: block.parentHash,
            timestamp: block.timestamp,
            matches: matches.length,
          })
          .execute();
        await trx
          .deleteFrom('block')
          .where('chain', '=', chain)
          .where('number', '<=', block.number - Math.max(WINDOW_BLOCKS, 2 * confirmations))
          .execute();

        const deliveries = await reviveMatches(trx, chain, block.hash, now);
        const blockDay = new Date(block.timestamp * 1000).toISOString().slice(0, 10);
        const rowsOfMatches = matches.map((match) => ({
          id: newId(),
          stream_id: match.streamId,
          chain,
          block_number: block.number,
          block_hash: block.hash,
          block_day: blockDay,
          part: 0,
          state: 'frozen' as const,
          tag: match.tag,
          records: match.records,
          confirm_at: block.number + confirmations,
          body_head: match.bodyHead,
          body_tail: match.bodyTail,
          created_at: now,
        }));
        for (let start = 0; start < rowsOfMatches.length; start += INSERT_CHUNK) {
          const inserted = await trx
            .insertInto('match')
            .values(rowsOfMatches.slice(start, start + INSERT_CHUNK))
            .onConflict((conflict) =>
              conflict.columns(['chain', 'block_hash', 'stream_id', 'part']).doNothing(),
            )
            .returning(matchColumns)
            .execute();
          deliveries.push(...(await insertDeliveries(trx, inserted, 'unconfirmed', now)));
        }
        deliveries.push(...(await confirmMatches(trx, chain, block.number, now)));
        return { outcome: 'committed', deliveries };
      });
    },

    async rewindChain(chain, ancestor) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(engine, trx);
        await trx
          .updateTable('checkpoint')
          .set({ number: ancestor.number, hash: ancestor.hash, updated_at: now })
          .where('chain', '=', chain)
          .execute();
        await trx
          .deleteFrom('block')
          .where('chain', '=', chain)
          .where('number', '>', ancestor.number)
          .execute();
        return orphanMatches(
          trx,
          sql<SqlBool>`chain = ${chain} and block_number > ${ancestor.number}`,
          now,
        );
      });
    },
  };
}
