/** Reads the feeds of streams, and keeps the progress of their consumers in one row each. */
import { type Kysely, type Selectable, sql } from 'kysely';
import { joinBody } from '../blocks/body.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import { packTexts } from '../engine/packedTexts.ts';
import type { Ledger } from '../live/effects.ts';
import { firstIdAt } from '../rows/ids.ts';
import { originOf } from '../rows/origin.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type {
  FeedConsumer,
  FeedDelivery,
  FeedLimits,
  FeedReads,
  FeedStart,
  FeedWrites,
} from './contract.ts';
import { type Range, addRanges, gapsIn, toRanges } from './ranges.ts';

const MAX_CONSUMERS = 100;
/**
 * Maximum number of positions between the first unacknowledged one and the last leased one, so that
 * the row of a consumer stays small.
 */
const MAX_AHEAD = 10_000;
/** Maximum number of gaps that one read fills. Each is a query. */
const MAX_GAPS = 20;

/** Positions that were returned together, and when they are returned again. */
interface Lease {
  until: number;
  ranges: Range[];
}

interface Progress {
  position: number;
  acked: Range[];
  leases: Lease[];
}

type ConsumerRow = Selectable<Tables['feed_consumer']>;

const toProgress = (row: ConsumerRow): Progress => ({
  position: row.position,
  acked: JSON.parse(row.acked) as Range[],
  leases: JSON.parse(row.leases) as Lease[],
});

const leasedIn = (leases: readonly Lease[]): Range[] =>
  addRanges(
    [],
    leases.flatMap(({ ranges }) => ranges),
  );

/** Marks positions as acknowledged. */
function acknowledge({ position, acked, leases }: Progress, more: readonly Range[]): Progress {
  const all = addRanges([[0, position], ...acked], more);
  const [[, reached], ...later] = all as [Range, ...Range[]];
  return {
    position: reached,
    acked: later,
    leases: leases
      .map(({ until, ranges }) => ({
        until,
        ranges: ranges.flatMap((range) => gapsIn(range, all)),
      }))
      .filter(({ ranges }) => ranges.length > 0),
  };
}

interface Placed {
  id: string;
  match_id: string;
  block_day: string;
  feed_position: number;
  phase: FeedDelivery['phase'];
  records: number;
  attempts: number;
  body_bytes: number;
  replay_id: string | null;
}

const listPlaced = (
  db: Db,
  streamId: string,
  [from, to]: Range,
  limit: number,
): Promise<Placed[]> =>
  db
    .selectFrom('delivery')
    .select([
      'id',
      'match_id',
      'block_day',
      sql<number>`feed_position`.as('feed_position'),
      'phase',
      'records',
      'attempts',
      'body_bytes',
      'replay_id',
    ])
    .where('stream_id', '=', streamId)
    .where('feed_position', '>=', from)
    .where('feed_position', '<=', to)
    .orderBy('feed_position')
    .limit(limit)
    .execute();

/** Returns the first rows whose bodies are within the limit, at least one. */
function withinBytes(rows: readonly Placed[], maxBytes: number): Placed[] {
  let bytes = 0;
  const end = rows.findIndex(({ body_bytes }, n) => (bytes += body_bytes) > maxBytes && n > 0);
  return rows.slice(0, end < 0 ? rows.length : end);
}

/** Adds the bodies to deliveries. */
async function readBodies(
  db: Db,
  engine: Engine,
  rows: readonly Placed[],
): Promise<FeedDelivery[]> {
  if (rows.length === 0) return [];
  const ids = engine.texts(
    rows.map((row) => row.match_id),
    'id',
  );
  const matches = await db
    .selectFrom('match')
    .select(['id', 'body_head', 'body_tail', 'part', 'parts', 'origin', 'unverified'])
    .where('block_day', 'in', [...new Set(rows.map((row) => row.block_day))])
    .where(sql<boolean>`id ${engine.isIn(sql`select id from ${ids} as asked`)}`)
    .execute();
  const matchOf = new Map(matches.map((match) => [match.id, match]));
  const found = rows.flatMap((row) => {
    const match = matchOf.get(row.match_id);
    return match === undefined ? [] : [{ row, match }];
  });
  const bodies = packTexts(
    found.map(({ row, match }) =>
      joinBody({
        bodyHead: match.body_head,
        bodyTail: match.body_tail,
        phase: row.phase,
        retries: Math.max(0, row.attempts - 1),
      }),
    ),
  );
  return found.map(({ row, match }, n) => ({
    id: row.id,
    position: row.feed_position,
    phase: row.phase,
    records: row.records,
    body: bodies[n]!,
    part: match.part,
    parts: match.parts,
    origin: row.replay_id === null ? originOf(match.origin) : 'replay',
    unverified: match.unverified,
  }));
}

async function readHead(db: Db, streamId: string): Promise<number> {
  const row = await db
    .selectFrom('feed')
    .select('head')
    .where('stream_id', '=', streamId)
    .executeTakeFirst();
  return row?.head ?? 0;
}

async function toConsumer(db: Db, row: ConsumerRow): Promise<FeedConsumer> {
  const { position, acked, leases } = toProgress(row);
  const unacked = db
    .selectFrom('delivery')
    .where('stream_id', '=', row.stream_id)
    .where('feed_position', '>', position);
  const { n } = await unacked
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  const oldest = await unacked
    .select('created_at')
    .orderBy('feed_position')
    .limit(1)
    .executeTakeFirst();
  const sizeOf = (ranges: readonly Range[]): number =>
    ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const inFlight = sizeOf(leasedIn(leases));
  return {
    name: row.name,
    position,
    waiting: Math.max(0, n - sizeOf(acked) - inFlight),
    inFlight,
    missed: row.missed,
    oldestAt: oldest?.created_at ?? null,
    createdAt: row.created_at,
    activeAt: row.active_at,
  };
}

export const createFeedReads = (db: Kysely<Tables>, engine: Engine): FeedReads => ({
  readFeedHead: (streamId) => readHead(db, streamId),

  async readFeedAfter(streamId, position, { limit, maxBytes }) {
    const head = await readHead(db, streamId);
    const rows = await listPlaced(db, streamId, [position + 1, head], limit);
    const deliveries = await readBodies(db, engine, withinBytes(rows, maxBytes));
    return { deliveries, head, leaseEndsInMs: undefined };
  },

  async listFeedConsumers(streamId) {
    const rows = await db
      .selectFrom('feed_consumer')
      .selectAll()
      .where('stream_id', '=', streamId)
      .orderBy('name')
      .execute();
    return Promise.all(rows.map((row) => toConsumer(db, row)));
  },
});

export function createFeedWrites({ db, engine, transact }: Ledger): FeedWrites {
  const ofConsumer = (trx: Db, streamId: string, name: string) =>
    trx
      .selectFrom('feed_consumer')
      .selectAll()
      .where('stream_id', '=', streamId)
      .where('name', '=', name);

  /** Locks the row of a consumer. Creates it; returns undefined if the feed has too many. */
  const enter = async (
    trx: Db,
    streamId: string,
    name: string,
    now: number,
  ): Promise<ConsumerRow | undefined> => {
    const locked = ofConsumer(trx, streamId, name).modifyEnd(engine.lockRows('update'));
    const known = await locked.executeTakeFirst();
    if (known !== undefined) return known;
    await sql`
      insert into feed_consumer (stream_id, name, position, acked, leases, missed, created_at, active_at)
      select ${streamId}, ${name}, 0, '[]', '[]', 0, ${now}, ${now}
      where (select count(*) from feed_consumer where stream_id = ${streamId}) < ${MAX_CONSUMERS}
      on conflict (stream_id, name) do nothing`.execute(trx);
    return locked.executeTakeFirst();
  };

  const save = async (
    trx: Db,
    { stream_id: streamId, name }: ConsumerRow,
    { position, acked, leases }: Progress,
    now: number,
  ): Promise<void> => {
    await trx
      .updateTable('feed_consumer')
      .set({
        position,
        acked: JSON.stringify(acked),
        leases: JSON.stringify(leases),
        active_at: now,
      })
      .where('stream_id', '=', streamId)
      .where('name', '=', name)
      .execute();
  };

  /** Returns the deliveries to lease next, and the positions among them that no longer exist. */
  const findNext = async (
    trx: Db,
    streamId: string,
    { position, acked, leases }: Progress,
    head: number,
    { limit, maxBytes }: FeedLimits,
  ): Promise<{ next: Placed[]; vanished: Range[] }> => {
    const taken = addRanges(acked, leasedIn(leases));
    const window: Range = [position + 1, Math.min(head, position + MAX_AHEAD)];
    const next: Placed[] = [];
    const vanished: Range[] = [];
    for (const gap of gapsIn(window, taken).slice(0, MAX_GAPS)) {
      const wanted = limit - next.length;
      const rows = await listPlaced(trx, streamId, gap, wanted);
      const end = rows.length < wanted ? gap[1] : rows.at(-1)!.feed_position;
      next.push(...rows);
      vanished.push(...gapsIn([gap[0], end], toRanges(rows.map((row) => row.feed_position))));
      if (next.length >= limit) break;
    }
    return { next: withinBytes(next, maxBytes), vanished };
  };

  return {
    async leaseFeed(streamId, consumer, { ackMs, ...limits }) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(engine, trx);
        const row = await enter(trx, streamId, consumer, now);
        if (row === undefined) return undefined;
        const head = await readHead(trx, streamId);
        const stored = toProgress(row);
        const leases = stored.leases.filter(({ until }) => until > now);
        const { next, vanished } = await findNext(
          trx,
          streamId,
          { ...stored, leases },
          head,
          limits,
        );
        const lease: Lease = {
          until: now + ackMs,
          ranges: toRanges(next.map((each) => each.feed_position)),
        };
        if (next.length > 0) leases.push(lease);
        if (next.length > 0 || vanished.length > 0) {
          await save(trx, row, acknowledge({ ...stored, leases }, vanished), now);
        }
        const ends = leases.map(({ until }) => until - now);
        return {
          deliveries: await readBodies(trx, engine, next),
          head,
          leaseEndsInMs: ends.length === 0 ? undefined : Math.min(...ends),
        };
      });
    },

    async ackFeed(streamId, consumer, ids) {
      return transact(async (trx, effects) => {
        const now = await readNow(engine, trx);
        const row = await ofConsumer(trx, streamId, consumer)
          .modifyEnd(engine.lockRows('update'))
          .executeTakeFirst();
        if (row === undefined) return undefined;
        const placed = await trx
          .selectFrom('delivery')
          .select(sql<number>`feed_position`.as('feed_position'))
          .where('stream_id', '=', streamId)
          .where('feed_position', 'is not', null)
          .where(
            sql<boolean>`id ${engine.isIn(sql`select id from ${engine.texts(ids, 'id')} as asked`)}`,
          )
          .execute();
        const positions = placed.map((each) => each.feed_position);
        const before = toProgress(row);
        const progress = acknowledge(before, toRanges(positions));
        await save(trx, row, progress, now);
        // A consumer at its limit of unacknowledged deliveries can read on.
        if (progress.position > before.position) effects.signal('feeds');
        return { acknowledged: positions.length, position: progress.position };
      });
    },

    async resetFeedConsumer(streamId, consumer, start) {
      return transact(async (trx, effects) => {
        const now = await readNow(engine, trx);
        const row = await enter(trx, streamId, consumer, now);
        if (row === undefined) return undefined;
        const position = await findStart(trx, streamId, start);
        await save(trx, row, { position, acked: [], leases: [] }, now);
        effects.signal('feeds');
        return toConsumer(trx, await ofConsumer(trx, streamId, consumer).executeTakeFirstOrThrow());
      });
    },

    async deleteFeedConsumer(streamId, consumer) {
      const { numDeletedRows } = await db
        .deleteFrom('feed_consumer')
        .where('stream_id', '=', streamId)
        .where('name', '=', consumer)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async skipExpiring({ deliveredMs }) {
      const now = await readNow(engine, db);
      const kept = firstIdAt(now - deliveredMs);
      const skipped: { streamId: string; consumer: string; missed: number }[] = [];
      for (const { stream_id: streamId } of await db
        .selectFrom('feed')
        .select('stream_id')
        .execute()) {
        await db.transaction().execute(async (trx) => {
          const rows = await trx
            .selectFrom('feed_consumer')
            .selectAll()
            .where('stream_id', '=', streamId)
            .modifyEnd(engine.lockRows('update'))
            .execute();
          for (const row of rows) {
            const progress = toProgress(row);
            const expiring = await trx
              .selectFrom('delivery')
              .select(sql<number>`feed_position`.as('feed_position'))
              .where('stream_id', '=', streamId)
              .where('feed_position', '>', progress.position)
              .where('id', '<', kept)
              .execute();
            const ranges = toRanges(expiring.map((each) => each.feed_position));
            const missed = ranges
              .flatMap((range) => gapsIn(range, progress.acked))
              .reduce((sum, [from, to]) => sum + to - from + 1, 0);
            if (missed === 0) continue;
            await save(trx, row, acknowledge(progress, ranges), row.active_at);
            await trx
              .updateTable('feed_consumer')
              .set({ missed: row.missed + missed })
              .where('stream_id', '=', streamId)
              .where('name', '=', row.name)
              .execute();
            skipped.push({ streamId, consumer: row.name, missed });
          }
        });
      }
      return skipped;
    },
  };
}

/** Returns the position before the first delivery from this point on. */
async function findStart(trx: Db, streamId: string, start: FeedStart): Promise<number> {
  const head = await readHead(trx, streamId);
  if ('position' in start) return Math.min(start.position, head);
  if ('at' in start) return start.at === 'start' ? 0 : head;
  const first = await trx
    .selectFrom('delivery')
    .select(sql<number | null>`min(feed_position)`.as('first'))
    .where('stream_id', '=', streamId)
    .where('feed_position', 'is not', null)
    .$if('time' in start, (query) =>
      query.where('created_at', '>=', 'time' in start ? start.time : 0),
    )
    .$if('block' in start, (query) =>
      'block' in start
        ? query.where('chain', '=', start.chain).where('block_number', '>=', start.block)
        : query,
    )
    .executeTakeFirstOrThrow();
  return first.first === null ? head : first.first - 1;
}
