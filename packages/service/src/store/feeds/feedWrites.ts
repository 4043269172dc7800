/** Leases the deliveries of feeds to consumers, and keeps the progress of each in one row. */
import { type RawBuilder, sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import type { Db } from '../tables/tables.ts';
import {
  type ConsumerRow,
  addConsumer,
  saveProgress,
  selectConsumer,
  toConsumer,
} from './consumers.ts';
import type { FeedAcknowledged, FeedLimits, FeedWrites, PlacedDelivery } from './contract.ts';
import { feedPosition, findStart, listPlaced, selectHead, withinBytes } from './placed.ts';
import {
  type Lease,
  type Progress,
  acknowledge,
  endLeases,
  freeIn,
  lastAllowed,
  leasedIn,
  release,
  sizeOf,
  startAfter,
  toProgress,
} from './progress.ts';
import { type Range, gapsIn, toRanges } from './ranges.ts';

/** Maximum number of gaps that one read fills. Each is a query. */
const MAX_GAPS = 20;

export function createFeedWrites({ db, engine, transact }: Ledger): FeedWrites {
  const lockConsumer = (trx: Db, streamId: string, name: string) =>
    selectConsumer(trx, streamId, name).modifyEnd(engine.lockRows('update'));

  /** Locks the row of a consumer, and reads the newest position of its feed. */
  const visit = async (
    trx: Db,
    streamId: string,
    name: string,
    flush?: RawBuilder<unknown>,
  ): Promise<{ now: number; head: number; row: ConsumerRow | undefined }> => {
    const [[head], [row]] = await engine.pipeline(trx, [
      () => selectHead(engine, streamId, flush).compile(trx),
      () => lockConsumer(trx, streamId, name).compile(),
    ]);
    return { ...head!, row };
  };

  /** Visits a consumer. Creates it; its row is undefined if the feed has too many. */
  const enter = async (
    trx: Db,
    streamId: string,
    name: string,
    flush?: RawBuilder<unknown>,
  ): ReturnType<typeof visit> => {
    const visited = await visit(trx, streamId, name, flush);
    if (visited.row !== undefined) return visited;
    const { now, head } = visited;
    const position = await findStart(trx, streamId, head, 'start');
    await addConsumer(trx, { streamId, name, position, now });
    return { now, head, row: await lockConsumer(trx, streamId, name).executeTakeFirst() };
  };

  /** Returns the deliveries to lease next, and the positions among them that no longer exist. */
  const findNext = async (
    trx: Db,
    streamId: string,
    free: readonly Range[],
    { limit, maxBytes }: FeedLimits,
  ): Promise<{ next: PlacedDelivery[]; vanished: Range[] }> => {
    const next: PlacedDelivery[] = [];
    const vanished: Range[] = [];
    for (const gap of free.slice(0, MAX_GAPS)) {
      const wanted = limit - next.length;
      const found = await listPlaced(trx, streamId, gap, wanted);
      const end = found.length < wanted ? gap[1] : found.at(-1)!.position;
      next.push(...found);
      vanished.push(...gapsIn([gap[0], end], toRanges(found.map(({ position }) => position))));
      if (next.length >= limit) break;
    }
    return { next: withinBytes(next, maxBytes), vanished };
  };

  /** Returns the positions to acknowledge, without those that the consumer cannot have. */
  const findAcknowledged = async (
    trx: Db,
    streamId: string,
    { ids = [], positions, upTo }: FeedAcknowledged,
    { position }: Progress,
    head: number,
  ): Promise<Range[]> => {
    if (upTo !== undefined) {
      const to = Math.min(upTo, head);
      return to > position ? [[position + 1, to]] : [];
    }
    const last = Math.min(head, lastAllowed({ position }));
    const named = positions ?? (await listPositions(trx, engine, streamId, ids));
    return toRanges(named.filter((each) => each > 0 && each <= last));
  };

  return {
    leaseFeed: (streamId, consumer, { leaseMs, ...limits }) =>
      db.transaction().execute(async (trx) => {
        // A crash may undo a lease, whose deliveries are then returned again.
        const { now, head, row } = await enter(trx, streamId, consumer, engine.deferFlush);
        if (row === undefined) return undefined;
        const progress = endLeases(toProgress(row), now);
        const { next, vanished } = await findNext(trx, streamId, freeIn(progress, head), limits);
        const ranges = toRanges(next.map(({ position }) => position));
        const leases: Lease[] = [...progress.leases];
        if (next.length > 0) leases.push({ until: now + leaseMs, ranges });
        // A read without a result writes nothing.
        if (next.length > 0 || vanished.length > 0) {
          const after = acknowledge({ ...progress, leases }, vanished);
          await saveProgress(trx, row, after, next.length > 0 ? { active_at: now } : {});
        }
        const ends = leases.map(({ until }) => until - now);
        return {
          placed: next,
          position: progress.position,
          head,
          now,
          leaseEndsInMs: ends.length === 0 ? undefined : Math.min(...ends),
        };
      }),

    acknowledgeFeed: (streamId, consumer, acknowledged) =>
      transact(async (trx, effects) => {
        const { now, head, row } = await visit(trx, streamId, consumer);
        if (row === undefined) return undefined;
        const before = toProgress(row);
        const ranges = await findAcknowledged(trx, streamId, acknowledged, before, head);
        const progress = acknowledge(before, ranges);
        await saveProgress(trx, row, progress, { active_at: now });
        // Readers wait at the limit until the consumer acknowledges its first deliveries.
        const wasAtLimit = head > lastAllowed(before) && freeIn(before, head).length === 0;
        if (wasAtLimit && progress.position > before.position) effects.signal('consumers');
        return {
          acknowledged: sizeOf(ranges),
          position: progress.position,
        };
      }),

    releaseFeed: (streamId, consumer, { positions, leaseEndsAt }) =>
      transact(async (trx, effects) => {
        const row = await lockConsumer(trx, streamId, consumer).executeTakeFirst();
        if (row === undefined) return undefined;
        const before = toProgress(row);
        const progress = release(before, leaseEndsAt, toRanges(positions));
        const released = sizeOf(leasedIn(before)) - sizeOf(leasedIn(progress));
        if (released === 0) return 0;
        await saveProgress(trx, row, progress, {});
        effects.signal('consumers');
        return released;
      }),

    resetFeedConsumer: (streamId, consumer, start) =>
      transact(async (trx, effects) => {
        const { now, head, row } = await enter(trx, streamId, consumer);
        if (row === undefined) return undefined;
        const progress = startAfter(await findStart(trx, streamId, head, start));
        await saveProgress(trx, row, progress, { active_at: now });
        effects.signal('consumers');
        const reset = await selectConsumer(trx, streamId, consumer).executeTakeFirstOrThrow();
        return toConsumer(trx, reset, head);
      }),

    async deleteFeedConsumer(streamId, consumer) {
      const { numDeletedRows } = await db
        .deleteFrom('feed_consumer')
        .where('stream_id', '=', streamId)
        .where('name', '=', consumer)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

/** Returns the positions of the deliveries that have one. */
async function listPositions(
  trx: Db,
  engine: Engine,
  streamId: string,
  ids: readonly string[],
): Promise<number[]> {
  const asked = sql`select id from ${engine.texts(ids, 'id')} as asked`;
  const rows = await trx
    .selectFrom('delivery')
    .select(feedPosition.as('position'))
    .where('stream_id', '=', streamId)
    .where('feed_position', 'is not', null)
    .where(sql<boolean>`id ${engine.isIn(asked)}`)
    .execute();
  return rows.map(({ position }) => position);
}
