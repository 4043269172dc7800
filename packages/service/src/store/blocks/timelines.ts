/**
 * Reads the matches of streams in the newest blocks of their chains, and the state of their
 * deliveries.
 */
import type { StreamTimeline, TimelineBlock } from '@sluice/kit/contract';
import { type Kysely, sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';

interface Matched extends Omit<TimelineBlock, 'confirmed' | 'removed'> {
  streamId: string;
  chain: string;
  /** Number of matches that are not confirmed. */
  open: number;
  /** Hash of the block; null if the block left the chain. */
  kept: string | null;
}

/**
 * Returns the matched blocks of these streams among the newest `limit` blocks of each chain. Takes
 * three queries for any number of streams and chains. If a chain was replaced by another one, omits
 * matches of the earlier chain, because no reorg removed them.
 */
export async function listTimelines(
  db: Kysely<Tables>,
  engine: Engine,
  { streamIds, limit }: { streamIds: readonly string[]; limit: number },
): Promise<StreamTimeline[]> {
  const streams = await db
    .selectFrom('stream')
    .select(['id', 'chain_ids'])
    .where('id', 'in', streamIds)
    .where('deleted_at', 'is', null)
    .execute();
  const { rows: starts } = await sql<{ chain: string; start: number }>`
    select chain, case when oldest > number - ${limit} then oldest else number - ${limit} + 1 end
      as start
    from (select chain, number,
        (select min(block.number) from block where block.chain = checkpoint.chain) as oldest
      from checkpoint) as newest
    where oldest is not null`.execute(db);
  // The cross join fixes the order without statistics: first the range of each chain, then its
  // matches.
  const { rows: matched } = await sql<Matched>`
    select match.stream_id as "streamId", match.chain, match.block_number as number,
      match.block_hash as hash,
      count(distinct match.id) as matches,
      count(*) filter (where delivery.state = 'succeeded') as delivered,
      count(*) filter (where delivery.state in ('enriching', 'held', 'pending', 'leased')) as waiting,
      count(*) filter (where delivery.state in ('failed', 'quarantined')) as failed,
      count(*) filter (where delivery.state = 'cancelled') as cancelled,
      count(distinct match.id) filter (where match.state <> 'confirmed') as open,
      block.hash as kept
    from ${engine.rows(starts, { chain: 'text', start: 'bigint' })} as newest
      cross join match
      left join delivery on delivery.match_id = match.id and delivery.block_day = match.block_day
      left join block on block.chain = match.chain and block.number = match.block_number
        and block.hash = match.block_hash
    where match.chain = newest.chain and match.block_number >= newest.start
      and match.origin like 'live:%' and match.stream_id in (${sql.join([...streamIds])})
      and match.created_at >= coalesce((select max(gap.created_at) from gap
        where gap.chain = newest.chain and gap.kind = 'restarted'), 0)
    group by match.stream_id, match.chain, match.block_number, match.block_hash, block.hash
    order by match.block_number desc, case when block.hash is null then 1 else 0 end`.execute(db);
  const startOf = new Map(starts.map(({ chain, start }) => [chain, start]));
  const chainsOf = new Map(
    streams.map(({ id, chain_ids: chains }) => [id, JSON.parse(chains) as string[]]),
  );
  const blocksOf = Map.groupBy(matched, ({ streamId, chain }) => `${streamId} ${chain}`);
  return streamIds.flatMap((streamId) => {
    const chainIds = chainsOf.get(streamId);
    if (chainIds === undefined) return [];
    const chains = chainIds.flatMap((chainId) => {
      const from = startOf.get(chainId);
      if (from === undefined) return [];
      const blocks = (blocksOf.get(`${streamId} ${chainId}`) ?? []).map(
        ({ streamId: _streamId, chain: _chain, open, kept, ...block }) => ({
          ...block,
          confirmed: open === 0,
          removed: kept === null,
        }),
      );
      return [{ chainId, from, blocks }];
    });
    return [{ streamId, chains }];
  });
}
