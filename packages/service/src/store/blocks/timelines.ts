/** Reads the blocks that streams matched among the newest blocks of their chains. */
import type { StreamTimeline } from '@sluice/kit/contract';
import type { Kysely } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';
import { listRecentMatches, listStarts } from './recentMatches.ts';

/** Takes three queries for any number of streams and chains. */
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
  const starts = await listStarts(db, limit);
  const matched = await listRecentMatches(db, engine, starts, streamIds);
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
        ({ retrying, open, kept, ...match }) => ({
          number: match.number,
          hash: match.hash,
          matches: match.matches,
          delivered: match.delivered,
          waiting: match.waiting + retrying,
          failed: match.failed,
          cancelled: match.cancelled,
          confirmed: open === 0,
          removed: kept === null,
        }),
      );
      return [{ chainId, from, blocks }];
    });
    return [{ streamId, chains }];
  });
}
