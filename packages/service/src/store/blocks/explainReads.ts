/** Finds data about a block, a transaction or an address in the ledger. */
import { type Kysely, type SqlBool, sql } from 'kysely';
import { IS_LISTED } from '../rows/listedAddress.ts';
import { streamOf } from '../rows/laneIds.ts';
import { deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import { fromConfirmColumns } from './confirmations.ts';
import { readCodes } from './unverified.ts';
import type { ExplainReads } from './contract.ts';
import type { Tables } from '../tables/tables.ts';

const MATCHES = 1_000;

export const createExplainReads = (db: Kysely<Tables>): ExplainReads => ({
  async listMatchesOf(chain, blockHash, transactionHash) {
    let query = db
      .selectFrom('match')
      .select([
        'id',
        'stream_id',
        'state',
        'confirm_by',
        'confirm_depth',
        'enrichment',
        'set_aside',
        'unverified',
        'witnesses',
      ])
      .where('chain', '=', chain)
      .where('block_hash', '=', blockHash);
    if (transactionHash !== undefined) {
      query = query.where(
        sql<SqlBool>`exists (select 1 from match_transaction
          where match_id = match.id and transaction_hash = ${transactionHash})`,
      );
    }
    const matches = await query.orderBy('id', 'desc').limit(MATCHES).execute();
    if (matches.length === 0) return [];
    const rows = await db
      .selectFrom('delivery')
      .select(deliveryColumns)
      .where(
        'match_id',
        'in',
        matches.map(({ id }) => id),
      )
      .orderBy('id')
      .execute();
    const byMatch = Map.groupBy(rows.map(toDeliverySummary), ({ matchId }) => matchId);
    return matches.map((match) => ({
      streamId: streamOf(match.stream_id),
      state: match.state,
      confirmations: fromConfirmColumns(match),
      isEnriching: match.enrichment !== null && match.set_aside === null,
      unverified: readCodes(match.unverified),
      witnesses: match.witnesses,
      deliveries: byMatch.get(match.id) ?? [],
    }));
  },

  async findTransaction(hash) {
    const row = await db
      .selectFrom('match_transaction')
      .innerJoin('match', 'match.id', 'match_transaction.match_id')
      .select(['chain', 'block_number', 'block_hash'])
      .where('transaction_hash', '=', hash)
      // If a transaction was also in a removed block, its current block comes first.
      .orderBy(sql`case when match.state = 'orphaned' then 1 else 0 end`)
      .orderBy('match.id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && { chain: row.chain, block: { number: row.block_number, hash: row.block_hash } };
  },

  async listTransactionsOf(deliveryId) {
    const rows = await db
      .selectFrom('delivery')
      .innerJoin('match_transaction', 'match_transaction.match_id', 'delivery.match_id')
      .select('transaction_hash')
      .where('delivery.id', '=', deliveryId)
      .execute();
    return rows.map(({ transaction_hash: hash }) => hash);
  },

  async findBlock(hash) {
    const { rows } = await sql<{ chain: string; number: number }>`
      select chain, number from block where hash = ${hash}
      union all
      select chain, block_number as number from match
      where chain in (select chain from checkpoint) and block_hash = ${hash}
      limit 1`.execute(db);
    const row = rows[0];
    return row && { chain: row.chain, block: { number: row.number, hash } };
  },

  async readBlockAt(chain, number) {
    return db
      .selectFrom('block')
      .select(['number', 'hash', 'created_at as committedAt'])
      .where('chain', '=', chain)
      .where('number', '=', number)
      .executeTakeFirst();
  },

  async listWatchers(address) {
    // Takes one seek per stream, because the key of `stream_address` starts with the stream.
    const { rows } = await sql<{ streamId: string; label: string | null }>`
      select stream.id as "streamId", its.label from stream
      join stream_address as its on its.stream_id = stream.id and its.address = ${address}
      where stream.deleted_at is null and ${IS_LISTED}`.execute(db);
    return rows;
  },

  async listLabels(streamId, addresses) {
    if (addresses.length === 0) return {};
    const { rows } = await sql<{ address: string; label: string; precedence: number }>`
      select address, label, 1 as precedence from child_label
      where stream_id = ${streamId} and address in (${sql.join(addresses)})
      union all
      select its.address, its.label, 2 as precedence from stream_address as its
      where its.stream_id = ${streamId} and its.address in (${sql.join(addresses)})
        and its.label is not null and ${IS_LISTED}
      order by precedence`.execute(db);
    // The later one applies.
    return Object.fromEntries(rows.map(({ address, label }) => [address, label]));
  },
});
