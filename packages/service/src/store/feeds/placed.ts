/** Reads the deliveries of feeds, by position. */
import type { FeedStart } from '@sluice/kit/contract';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { joinBody } from '../blocks/body.ts';
import type { Engine } from '../engine/engine.ts';
import { packTexts } from '../engine/packedTexts.ts';
import { firstIdAt } from '../rows/ids.ts';
import { originOf } from '../rows/origin.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type { FeedDelivery, PlacedDelivery } from './contract.ts';
import type { Range } from './ranges.ts';

/** The position of a delivery that has one. */
export const feedPosition = sql<number>`feed_position`;

/** Returns the first deliveries within a range of positions. */
export async function listPlaced(
  db: Db,
  streamId: string,
  [from, to]: Range,
  limit: number,
): Promise<PlacedDelivery[]> {
  const rows = await db
    .selectFrom('delivery')
    .select(['id', 'match_id', 'block_day', 'phase', 'records', 'attempts', 'body_bytes'])
    .select(['replay_id', feedPosition.as('position')])
    .where('stream_id', '=', streamId)
    .where('feed_position', '>=', from)
    .where('feed_position', '<=', to)
    .orderBy('feed_position')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    position: row.position,
    matchId: row.match_id,
    blockDay: row.block_day,
    phase: row.phase,
    records: row.records,
    attempts: row.attempts,
    bodyBytes: row.body_bytes,
    isReplayed: row.replay_id !== null,
  }));
}

/** Returns the first deliveries whose bodies are within the limit, at least one. */
export function withinBytes(placed: readonly PlacedDelivery[], maxBytes: number): PlacedDelivery[] {
  let bytes = 0;
  const end = placed.findIndex(({ bodyBytes }, n) => (bytes += bodyBytes) > maxBytes && n > 0);
  return placed.slice(0, end < 0 ? placed.length : end);
}

/** Adds the bodies to deliveries. */
export async function readBodies(
  db: Kysely<Tables>,
  engine: Engine,
  placed: readonly PlacedDelivery[],
): Promise<FeedDelivery[]> {
  if (placed.length === 0) return [];
  const ids = engine.texts(
    placed.map(({ matchId }) => matchId),
    'id',
  );
  const matches = await db
    .selectFrom('match')
    .select(['id', 'body_head', 'body_tail', 'part', 'parts', 'origin', 'unverified'])
    .where('block_day', 'in', [...new Set(placed.map(({ blockDay }) => blockDay))])
    .where(sql<boolean>`id ${engine.isIn(sql`select id from ${ids} as asked`)}`)
    .execute();
  const matchOf = new Map(matches.map((match) => [match.id, match]));
  const found = placed.flatMap((each) => {
    const match = matchOf.get(each.matchId);
    return match === undefined ? [] : [{ each, match }];
  });
  const bodies = packTexts(
    found.map(({ each, match }) =>
      joinBody({
        bodyHead: match.body_head,
        bodyTail: match.body_tail,
        phase: each.phase,
        retries: Math.max(0, each.attempts - 1),
      }),
    ),
  );
  return found.map(({ each, match }, n) => ({
    id: each.id,
    position: each.position,
    phase: each.phase,
    records: each.records,
    body: bodies[n]!,
    part: match.part,
    parts: match.parts,
    origin: each.isReplayed ? 'replay' : originOf(match.origin),
    unverified: match.unverified,
  }));
}

/** The ledger's time, and the newest position of a feed: 0 before the first. */
interface FeedHead {
  now: number;
  head: number;
}

/** @param flush an expression that is evaluated with it */
export const selectHead = (
  engine: Engine,
  streamId: string,
  flush: RawBuilder<unknown> = sql`null`,
): RawBuilder<FeedHead> => sql`
  select ${engine.now()} as now, ${flush} as flush,
    coalesce((select head from feed where stream_id = ${streamId}), 0) as head`;

export async function readHead(db: Db, engine: Engine, streamId: string): Promise<FeedHead> {
  const { rows } = await selectHead(engine, streamId).execute(db);
  return rows[0]!;
}

/** Returns the position before the first delivery that is kept, or from this point on. */
export async function findStart(
  db: Db,
  streamId: string,
  head: number,
  start: FeedStart,
): Promise<number> {
  if (start === 'end') return head;
  if (typeof start === 'object' && 'position' in start) return Math.min(start.position, head);
  const first = db
    .selectFrom('delivery')
    .select(sql<number | null>`min(feed_position)`.as('position'))
    .where('stream_id', '=', streamId)
    .where('feed_position', 'is not', null);
  const from =
    start === 'start'
      ? first
      : 'time' in start
        ? first.where('id', '>=', firstIdAt(start.time))
        : first.where('chain', '=', start.chainId).where('block_number', '>=', start.block);
  const { position } = await from.executeTakeFirstOrThrow();
  return position === null ? head : position - 1;
}
