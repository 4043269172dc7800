/** Lists the newest blocks of chains with their matches, deliveries and unverified marks. */
import type { RecentBlock, RecentBlocks } from '@sluice/kit/contract';
import type { Kysely } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Tables } from '../tables/tables.ts';
import type { ChainHistoryReads } from './contract.ts';
import { listRecentMatches, listStarts, type RecentMatch } from './recentMatches.ts';
import { listUnverified } from './unverified.ts';

type Counts = Omit<RecentBlock, 'number' | 'hash' | 'timestamp' | 'removed' | 'unverified'>;

export async function listBlocks(
  db: Kysely<Tables>,
  engine: Engine,
  { chain, streamId, limit }: Parameters<ChainHistoryReads['listBlocks']>[0],
): Promise<RecentBlocks[]> {
  const starts = await listStarts(db, limit, chain);
  if (starts.length === 0) return [];
  const [matches, unverified, ...windows] = await Promise.all([
    listRecentMatches(db, engine, starts, streamId === undefined ? undefined : [streamId]),
    listUnverified(
      db,
      starts.map((each) => each.chain),
    ),
    ...starts.map((each) =>
      db
        .selectFrom('block')
        .select(['number', 'hash', 'timestamp'])
        .where('chain', '=', each.chain)
        .where('number', '>=', each.start)
        .orderBy('number', 'desc')
        .execute(),
    ),
  ]);
  const byChain = Map.groupBy(matches, (match) => match.chain);
  return starts.map((start, index) => {
    const byHash = Map.groupBy(byChain.get(start.chain) ?? [], ({ hash }) => hash);
    const marks = unverified.get(start.chain) ?? [];
    const kept = windows[index]!.map(({ number, hash, timestamp }): RecentBlock => ({
      number,
      hash,
      timestamp: timestamp * 1000,
      ...sum(byHash.get(hash) ?? []),
      removed: false,
      unverified: [
        ...new Set(
          marks
            .filter(({ from, to }) => from <= number && number <= to)
            .flatMap(({ codes }) => codes),
        ),
      ],
    }));
    const removed = [...byHash.values()]
      .filter((its) => its[0]!.kept === null)
      .map((its): RecentBlock => ({
        number: its[0]!.number,
        hash: its[0]!.hash,
        timestamp: Math.min(...its.map(({ matchedAt }) => matchedAt)),
        ...sum(its),
        removed: true,
        unverified: [],
      }));
    return {
      chainId: start.chain,
      blocks: [...kept, ...removed].toSorted(
        (a, b) => b.number - a.number || Number(a.removed) - Number(b.removed),
      ),
    };
  });
}

/** Sums the matches of several streams in one block. */
function sum(matches: readonly RecentMatch[]): Counts {
  const total = (read: (match: RecentMatch) => number): number =>
    matches.reduce((all, match) => all + read(match), 0);
  return {
    matches: total((match) => match.matches),
    records: total(({ records }) => records),
    delivered: total(({ delivered }) => delivered),
    waiting: total(({ waiting }) => waiting),
    retrying: total(({ retrying }) => retrying),
    failed: total(({ failed }) => failed),
    cancelled: total(({ cancelled }) => cancelled),
    undone: total(({ undone }) => undone),
    slowestMs: matches.reduce<number | null>(
      (most, { slowestMs }) => (slowestMs === null ? most : Math.max(most ?? 0, slowestMs)),
      null,
    ),
  };
}
