/** Reads the matches in the newest blocks of chains, and the state of their deliveries. */
import type { RecentBlock } from '@sluice/kit/contract';
import { type Kysely, sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';

/** The newest blocks of a chain that are read: those from `start` on. */
export interface ChainStart {
  chain: string;
  start: number;
}

/** The matches of one stream in one block. */
export interface RecentMatch extends Omit<RecentBlock, 'timestamp' | 'removed' | 'unverified'> {
  streamId: string;
  chain: string;
  /** Number of matches that are not confirmed. */
  open: number;
  /** Time of the first match, in Unix milliseconds. */
  matchedAt: number;
  /** Hash of the block; null if the block left the chain. */
  kept: string | null;
}

/** Returns the start of the newest `limit` stored blocks of each chain, or of `only`. */
export async function listStarts(
  db: Kysely<Tables>,
  limit: number,
  only?: string,
): Promise<ChainStart[]> {
  const { rows } = await sql<ChainStart>`
    select chain, case when oldest > number - ${limit} then oldest else number - ${limit} + 1 end
      as start
    from (select chain, number,
        (select min(block.number) from block where block.chain = checkpoint.chain) as oldest
      from checkpoint ${only === undefined ? sql`` : sql`where chain = ${only}`}) as newest
    where oldest is not null`.execute(db);
  return rows;
}

/**
 * Returns the matches of these streams, or of all, from the start of each chain on, newest block
 * first and removed blocks after those that replaced them. Takes one query for any number of
 * streams and chains. If a chain was replaced by another one, omits matches of the earlier chain,
 * because no reorg removed them.
 */
export async function listRecentMatches(
  db: Kysely<Tables>,
  engine: Engine,
  starts: readonly ChainStart[],
  streamIds?: readonly string[],
): Promise<RecentMatch[]> {
  // The cross join fixes the order without statistics: first the range of each chain, then its
  // matches.
  const { rows } = await sql<RecentMatch>`
    select recent.stream_id as "streamId", recent.chain, recent.block_number as number,
      recent.block_hash as hash, count(*) as matches, cast(sum(records) as bigint) as records,
      cast(sum(delivered) as bigint) as delivered, cast(sum(waiting) as bigint) as waiting,
      cast(sum(retrying) as bigint) as retrying,
      cast(sum(failed) as bigint) as failed, cast(sum(cancelled) as bigint) as cancelled,
      cast(sum(undone) as bigint) as undone, max(slowest) as "slowestMs",
      count(*) filter (where recent.state <> 'confirmed') as open,
      min(recent.created_at) as "matchedAt", block.hash as kept
    from (
      select match.id, match.stream_id, match.chain, match.block_number, match.block_hash,
        match.state, match.created_at,
        match.logs + match.transactions + match.internal_transactions as records,
        count(*) filter (where delivery.phase <> 'removed' and delivery.state = 'succeeded')
          as delivered,
        count(*) filter (where delivery.phase <> 'removed'
          and (delivery.state in ('enriching', 'held', 'leased')
            or delivery.state = 'pending' and delivery.attempts = 0)) as waiting,
        count(*) filter (where delivery.phase <> 'removed'
          and delivery.state = 'pending' and delivery.attempts > 0) as retrying,
        count(*) filter (where delivery.phase <> 'removed'
          and delivery.state in ('failed', 'quarantined')) as failed,
        count(*) filter (where delivery.state = 'cancelled') as cancelled,
        count(*) filter (where delivery.phase = 'removed') as undone,
        max(delivery.last_duration_ms) as slowest
      from ${engine.rows(starts, { chain: 'text', start: 'bigint' })} as newest
        cross join match
        left join delivery on delivery.match_id = match.id and delivery.block_day = match.block_day
      where match.chain = newest.chain and match.block_number >= newest.start
        and match.origin like 'live:%'
        ${streamIds === undefined ? sql`` : sql`and match.stream_id in (${sql.join([...streamIds])})`}
        and match.created_at >= coalesce((select max(gap.created_at) from gap
          where gap.chain = newest.chain and gap.kind = 'restarted'), 0)
      group by match.id, match.stream_id, match.chain, match.block_number, match.block_hash,
        match.state, match.created_at, match.logs, match.transactions, match.internal_transactions
    ) as recent
      left join block on block.chain = recent.chain and block.number = recent.block_number
        and block.hash = recent.block_hash
    group by recent.stream_id, recent.chain, recent.block_number, recent.block_hash, block.hash
    order by recent.block_number desc, case when block.hash is null then 1 else 0 end`.execute(db);
  return rows;
}
