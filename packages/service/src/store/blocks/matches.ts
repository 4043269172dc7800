/**
 * Creates, confirms and releases matches and their deliveries. Each function runs within a
 * transaction.
 */
import {
  type CompiledQuery,
  type Expression,
  type SelectQueryBuilder,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely';
import { type DeliveryPhase, type DeliverySummary, TABLES_PREFIX } from '@sluice/kit/contract';
import type { StoredState } from '../tables/deliveries.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type { Engine, Moment } from '../engine/engine.ts';
import { toLedgerText } from '../engine/ledgerText.ts';
import { newId } from '../rows/ids.ts';
import { destinationOf } from '../rows/laneIds.ts';
import { toBlockDay } from '../engine/days.ts';
import { deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import { countMatched } from '../stats/statWrites.ts';
import type { BlockHeader, ConfirmedHeights, NewMatch, Unverified } from './contract.ts';
import { confirmedUpTo, fromConfirmColumns } from './confirmations.ts';
import { readHolding } from './unverified.ts';
import type { MatchState } from '../tables/blocks.ts';

/** Maximum number of rows per statement, and of characters of their bodies. */
const ROWS_AT_ONCE = 500;
const CHARACTERS_AT_ONCE = 16 * 1024 * 1024;

/** Columns of a match from which its deliveries are created. The body is not copied. */
export const deliveredColumns = [
  'id',
  'stream_id',
  'chain',
  'block_number',
  'block_day',
  'tag',
  'logs',
  'transactions',
  'internal_transactions',
  'about',
  'body_bytes',
  'set_aside',
  'held',
] as const;

type DeliveredRow = Pick<Selectable<Tables['match']>, (typeof deliveredColumns)[number]>;

export type DeliveredMatch = DeliveredRow & {
  /** Whether the body is still incomplete. */
  enriching: boolean;
};

export function firstState({
  set_aside,
  enriching,
  held,
}: Pick<DeliveredMatch, 'set_aside' | 'enriching' | 'held'>): StoredState {
  if (set_aside !== null) return 'quarantined';
  if (enriching) return 'enriching';
  return held === 1 ? 'held' : 'pending';
}

/**
 * Returns the origin of matches that were found while following the chain. `incarnation` increases
 * each time a removed block returns and its match is sent again.
 */
export const liveOrigin = (incarnation: number): string => `live:${incarnation}`;

/**
 * Condition for the origins of matches that were found while following the chain, or by a later
 * reading of an uncertain block.
 */
export const isLive = sql<SqlBool>`(origin like 'live:%' or origin like 'recheck:%')`;

/** Returns the origin of matches of values, which are read after the commit of their block. */
export const valueOrigin = (incarnation: number): string => `live:values:${incarnation}`;

/** Condition for the origins of matches of values. */
export const isOfValues = sql<SqlBool>`origin like 'live:values:%'`;

/** Returns whether a match has records, and not values. */
export const hasRecords = ({ origin }: Pick<KnownMatch, 'origin'>): boolean =>
  !origin.startsWith('live:values:');

/** Divides a list into parts of at most this many rows and characters, or of one row. */
export function* chunksOf<Row>(
  rows: readonly Row[],
  charactersOf: (row: Row) => number = () => 0,
): Generator<Row[]> {
  let chunk: Row[] = [];
  let characters = 0;
  for (const row of rows) {
    const more = charactersOf(row);
    const isFull = chunk.length === ROWS_AT_ONCE || characters + more > CHARACTERS_AT_ONCE;
    if (isFull && chunk.length > 0) {
      yield chunk;
      chunk = [];
      characters = 0;
    }
    chunk.push(row);
    characters += more;
  }
  if (chunk.length > 0) yield chunk;
}

/**
 * Creates one delivery in this phase for each match; existing deliveries do not change. The
 * partitions of the matches' days must be open.
 */
export async function insertDeliveries(
  trx: Db,
  engine: Engine,
  matches: readonly DeliveredMatch[],
  phase: DeliveryPhase,
  now: number,
): Promise<DeliverySummary[]> {
  const created: DeliverySummary[] = [];
  for (const chunk of chunksOf(matches)) {
    const { statement, toSummary } = toDeliveries(trx, engine, chunk, phase, now);
    created.push(...(await trx.executeQuery(statement)).rows.map(toSummary));
  }
  return created;
}

interface NewDeliveries {
  statement: CompiledQuery<{ id: string }>;
  /** Converts a row that the statement returned. */
  toSummary(row: { id: string }): DeliverySummary;
}

/** Builds the statement that creates deliveries. */
function toDeliveries(
  trx: Db,
  engine: Engine,
  matches: readonly DeliveredMatch[],
  phase: DeliveryPhase,
  now: number,
): NewDeliveries {
  const wanted = new Map(
    matches.map((match) => {
      const id = newId(now);
      return [
        id,
        {
          id,
          match_id: match.id,
          stream_id: match.stream_id,
          chain: match.chain,
          block_number: match.block_number,
          block_day: match.block_day,
          tag: match.tag,
          records: match.logs + match.transactions + match.internal_transactions,
          about: match.about,
          state: firstState(match),
          body_bytes: match.body_bytes,
          last_error: match.set_aside,
        },
      ];
    }),
  );
  const listed = engine.rows([...wanted.values()], {
    id: 'text',
    match_id: 'text',
    stream_id: 'text',
    chain: 'text',
    block_number: 'bigint',
    block_day: 'text',
    tag: 'text',
    records: 'bigint',
    about: 'text',
    state: 'text',
    body_bytes: 'bigint',
    last_error: 'text',
  });
  const statement = sql<{ id: string }>`
    insert into delivery (id, match_id, stream_id, phase, chain, block_number, block_day, tag,
      records, about, state, attempts, claims, lost, ordered, fast_retried, body_bytes, run_at,
      last_error, created_at, updated_at)
    select id, match_id, stream_id, ${phase}, chain, block_number, block_day, tag,
      records, about, state, 0, 0, 0,
      (select strict_order from stream where stream.id = wanted.stream_id), 0, body_bytes, ${now},
      last_error, ${now}, ${now}
    from ${listed} as wanted where true
    on conflict (match_id, phase, block_day) do nothing
    returning id`.compile(trx);
  const first = {
    phase,
    attempts: 0,
    last_status: null,
    last_duration_ms: null,
    run_at: now,
    created_at: now,
    updated_at: now,
  };
  return { statement, toSummary: ({ id }) => toDeliverySummary({ ...wanted.get(id)!, ...first }) };
}

/** A match of a block that is already in the ledger. */
export type KnownMatch = Pick<Selectable<Tables['match']>, (typeof knownColumns)[number]>;

const knownColumns = ['stream_id', 'part', 'parts', 'origin', 'state'] as const;

/**
 * Returns a query for the matches of a block that the ledger has already.
 *
 * @param origins the origins of the matches
 */
export const selectKnown = (
  trx: Db,
  chain: string,
  { hash, timestamp }: BlockHeader,
  origins: Expression<SqlBool>,
): SelectQueryBuilder<Tables, 'match', KnownMatch> =>
  trx
    .selectFrom('match')
    .select(knownColumns)
    .where('chain', '=', chain)
    .where('block_hash', '=', hash)
    .where('block_day', '=', toBlockDay(timestamp))
    .where(origins);

/**
 * Inserts the matches of a block and their first deliveries: the confirmed delivery of a
 * `confirmed` match, or the unconfirmed delivery of a `frozen` match unless its stream has only
 * confirmed deliveries. Omits matches of this origin that are `known`, and other parts of matches all
 * of whose parts are known. Additional destinations of a stream get copies of its matches, which are
 * confirmed, removed and restored like those of the stream, but on their own. The partition of the
 * block's day must be open.
 */
export async function insertMatches(
  trx: Db,
  engine: Engine,
  {
    chain,
    block,
    origin,
    state,
    known,
    unverified,
    now,
    onlyLane,
    destinations,
    ...given
  }: {
    chain: string;
    block: BlockHeader;
    origin: string;
    state: 'frozen' | 'confirmed';
    matches: readonly NewMatch[];
    known: readonly KnownMatch[];
    unverified: Unverified | undefined;
    now: number;
    /** The only lane that gets the matches. Default: all lanes of their streams. */
    onlyLane?: string | undefined;
    /** The additional destinations of the streams. Default: read from the ledger. */
    destinations?: readonly DestinationRow[] | undefined;
  },
): Promise<DeliverySummary[]> {
  const phase = state === 'frozen' ? 'unconfirmed' : 'confirmed';
  const place = { chain, block_number: block.number, block_day: toBlockDay(block.timestamp) };
  const ofOrigin = Map.groupBy(
    known.filter((each) => each.origin === origin),
    (each) => each.stream_id,
  );
  const isKnown = ({ streamId, part }: NewMatch): boolean => {
    const its = ofOrigin.get(streamId) ?? [];
    // After an edit of the stream, the same records may make another number of parts.
    return its.length === its[0]?.parts || its.some((each) => each.part === part);
  };
  const matches = (
    onlyLane === undefined
      ? toAllLanes(
          given.matches,
          destinations ?? (await readDestinations(trx, engine, given.matches)),
        )
      : given.matches.map((match) => ({ ...match, streamId: onlyLane }))
  ).filter((match) => !isKnown(match));
  const marks = {
    unverified: unverified?.codes.join(', ') ?? null,
    witnesses: unverified?.witnesses ?? null,
  };
  const isHolding = await readHolding(trx, engine, matches, unverified);
  const created: DeliverySummary[] = [];
  const charactersOf = ({ bodyHead, bodyTail }: NewMatch): number =>
    bodyHead.length + bodyTail.length;
  for (const chunk of chunksOf(matches, charactersOf)) {
    const rows = chunk.map((match) => ({
      ...toMatchRow(match),
      held: isHolding.has(match.streamId) ? 1 : 0,
    }));
    const insertRows = (): CompiledQuery<unknown> =>
      sql`
        insert into match (id, stream_id, chain, block_number, block_hash, block_day, part, parts,
          origin, state, tag, logs, transactions, internal_transactions, about, enrichment,
          set_aside, unverified, witnesses, held, confirm_by, confirm_depth, body_head, body_tail,
          body_bytes, created_at)
        select id, stream_id, ${chain}, ${block.number}, ${block.hash}, ${place.block_day}, part,
          parts, ${origin}, ${state}, tag, logs, transactions, internal_transactions, about,
          enrichment, set_aside, ${marks.unverified}, ${marks.witnesses}, held, confirm_by,
          confirm_depth, body_head, body_tail, body_bytes, ${now}
        from ${engine.rows(rows, matchColumns)} as wanted
          join (select id as owner, confirm_by, confirm_depth from stream) as owned
            on owner = stream_id`.compile(trx);
    const delivered = rows.filter((_, n) => phase === 'confirmed' || chunk[n]!.deliver === 'both');
    let deliveries: NewDeliveries | undefined;
    const insertDelivered = (): CompiledQuery<{ id: string }> | undefined => {
      if (delivered.length === 0) return undefined;
      const wanted = delivered.map((row) => ({
        ...row,
        ...place,
        enriching: row.enrichment !== null,
      }));
      deliveries = toDeliveries(trx, engine, wanted, phase, now);
      return deliveries.statement;
    };
    const [, , , inserted] = await engine.pipeline<[unknown, unknown, unknown, { id: string }]>(
      trx,
      [
        insertRows,
        () => countMatched(trx, engine, chain, chunk.filter(isOfStream), now),
        () => toTransactions(trx, engine, chunk, rows, place.block_day),
        insertDelivered,
      ],
    );
    for (const row of inserted) created.push(deliveries!.toSummary(row));
  }
  return created;
}

/** An additional destination of a stream. */
interface DestinationRow {
  id: string;
  destination_of: string;
}

/**
 * Builds the query for the additional destinations of these streams that get new matches. Streams
 * without any cost one search of a small index.
 */
export const selectDestinations = (
  trx: Db,
  engine: Engine,
  matches: readonly Pick<NewMatch, 'streamId'>[],
): CompiledQuery<DestinationRow> => {
  const ids = engine.texts([...new Set(matches.map(({ streamId }) => streamId))], 'id');
  return sql<DestinationRow>`
    select id, destination_of from stream
    where destination_of is not null and destination_of ${engine.isIn(sql`select id from ${ids} as matched`)}
      and deleted_at is null and status <> 'terminated'
    order by id`.compile(trx);
};

async function readDestinations(
  trx: Db,
  engine: Engine,
  matches: readonly NewMatch[],
): Promise<readonly DestinationRow[]> {
  if (matches.length === 0) return [];
  return (await trx.executeQuery(selectDestinations(trx, engine, matches))).rows;
}

/** Adds a copy of each match for each additional destination of its stream. */
function toAllLanes(
  matches: readonly NewMatch[],
  destinations: readonly DestinationRow[],
): readonly NewMatch[] {
  if (destinations.length === 0) return matches;
  const lanesOf = Map.groupBy(destinations, (each) => each.destination_of);
  return matches.flatMap((match) => [
    match,
    ...(lanesOf.get(match.streamId) ?? []).map(({ id }) => ({ ...match, streamId: id })),
  ]);
}

/** Returns whether a match is the one of a stream, not the copy for an additional destination. */
const isOfStream = ({ streamId }: NewMatch): boolean => destinationOf(streamId) === 0;

/** Types of the columns of a match that differ within its block. */
const matchColumns = {
  id: 'text',
  stream_id: 'text',
  part: 'bigint',
  parts: 'bigint',
  tag: 'text',
  logs: 'bigint',
  transactions: 'bigint',
  internal_transactions: 'bigint',
  about: 'text',
  enrichment: 'text',
  set_aside: 'text',
  held: 'bigint',
  body_head: 'text',
  body_tail: 'text',
  body_bytes: 'bigint',
} as const;

/**
 * Returns the columns of a match that differ within its block. Texts that are copied to deliveries
 * and events are converted here, so that these have the text that the ledger stores.
 */
function toMatchRow(match: NewMatch) {
  return {
    id: newId(),
    stream_id: match.streamId,
    part: match.part,
    parts: match.parts,
    tag: toLedgerText(match.tag),
    logs: match.logs,
    transactions: match.transactions,
    internal_transactions: match.internalTransactions,
    about: toLedgerText(match.about),
    enrichment: match.enrichment,
    set_aside: match.setAside && toLedgerText(match.setAside),
    body_head: match.bodyHead,
    body_tail: match.bodyTail,
    body_bytes: Buffer.byteLength(match.bodyHead) + Buffer.byteLength(match.bodyTail),
  };
}

/**
 * Builds the statement that inserts the transactions of these matches, which are found by their
 * hashes. Returns undefined if there are none.
 */
function toTransactions(
  trx: Db,
  engine: Engine,
  matches: readonly NewMatch[],
  ids: readonly { id: string }[],
  blockDay: string,
): CompiledQuery<unknown> | undefined {
  const pairs = matches.flatMap(({ transactionHashes }, n) =>
    transactionHashes.map((hash) => ({ hash, match_id: ids[n]!.id })),
  );
  if (pairs.length === 0) return undefined;
  return sql`
    insert into match_transaction (transaction_hash, match_id, block_day)
    select hash, match_id, ${blockDay}
    from ${engine.rows(pairs, { hash: 'text', match_id: 'text' })} as found`.compile(trx);
}

/**
 * Builds the statement that confirms the frozen matches that these heights confirm. Each condition
 * names the chain, so that engines search the index `match_to_confirm` once per condition.
 */
export const confirmMatches = (
  trx: Db,
  { chain, heights, open }: Pick<Moment, 'open'> & { chain: string; heights: ConfirmedHeights },
): CompiledQuery<ConfirmedRow> =>
  trx
    .updateTable('match')
    .set({ state: 'confirmed' satisfies MatchState })
    .where(open('block_day'))
    .where('state', '=', 'frozen')
    .where(({ or }) =>
      or(
        Object.entries(heights)
          .filter(([, height]) => height >= 0)
          .map(
            ([by, height]) => sql<SqlBool>`(chain = ${chain} and confirm_by = ${by}
              and block_number + confirm_depth <= ${height})`,
          ),
      ),
    )
    .returning([...deliveredColumns, 'enrichment'])
    .compile();

type ConfirmedRow = DeliveredRow & Pick<Selectable<Tables['match']>, 'enrichment'>;

/** Creates the confirmed deliveries of confirmed matches, except for deleted streams. */
export async function deliverConfirmed(
  trx: Db,
  engine: Engine,
  confirmed: readonly ConfirmedRow[],
  now: number,
): Promise<DeliverySummary[]> {
  if (confirmed.length === 0) return [];
  const streams = await readStreamsOf(trx, confirmed);
  return insertDeliveries(
    trx,
    engine,
    confirmed
      .filter((match) => streams.has(match.stream_id))
      .map((match) => ({ ...match, enriching: match.enrichment !== null })),
    'confirmed',
    now,
  );
}

/** Releases these matches, and makes their held deliveries due. Returns these, oldest first. */
export async function releaseMatches(
  trx: Db,
  which: Expression<SqlBool>,
  now: number,
): Promise<DeliverySummary[]> {
  const matches = await trx
    .updateTable('match')
    .set({ held: 0 })
    .where(which)
    .returning(['id', 'block_day'])
    .execute();
  const released: DeliverySummary[] = [];
  for (const chunk of chunksOf(matches)) {
    const rows = await trx
      .updateTable('delivery')
      .set({ state: 'pending', run_at: now, updated_at: now })
      .where('block_day', 'in', [...new Set(chunk.map((match) => match.block_day))])
      .where(
        'match_id',
        'in',
        chunk.map((match) => match.id),
      )
      .where('state', '=', 'held')
      .returning(deliveryColumns)
      .execute();
    released.push(...rows.map(toDeliverySummary));
  }
  return released.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns the matches of streams that are not deleted. */
export async function withoutDeleted(
  trx: Db,
  matches: readonly NewMatch[],
): Promise<readonly NewMatch[]> {
  if (matches.length === 0) return matches;
  const streams = await readStreamsOf(
    trx,
    matches.map(({ streamId }) => ({ stream_id: streamId })),
  );
  return matches.filter(({ streamId }) => streams.has(streamId));
}

/** Selects whether a stream gets removal webhooks, which tables always do. */
export const notifiesRemoved = sql<number>`
  case when webhook_url like ${`${TABLES_PREFIX}%`} then 1 else notify_removed end`.as(
  'notify_removed',
);

/** Returns the streams of these matches by id, except deleted streams. */
export async function readStreamsOf(trx: Db, matches: readonly { stream_id: string }[]) {
  const rows = await trx
    .selectFrom('stream')
    .select(['id', 'deliver', 'confirm_by', 'confirm_depth', notifiesRemoved])
    .where('id', 'in', [...new Set(matches.map((match) => match.stream_id))])
    .where('deleted_at', 'is', null)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the streams whose matches in this block are already confirmed. */
export async function findConfirmed(
  trx: Db,
  heights: ConfirmedHeights | undefined,
  blockNumber: number,
  matches: readonly NewMatch[],
): Promise<ReadonlySet<string>> {
  if (heights === undefined || matches.length === 0) return new Set();
  const wanted = matches.map(({ streamId }) => ({ stream_id: streamId }));
  const streams = await readStreamsOf(trx, wanted);
  const isConfirmed = (stream: Parameters<typeof fromConfirmColumns>[0]): boolean =>
    blockNumber <= confirmedUpTo(heights, fromConfirmColumns(stream));
  return new Set([...streams.values()].filter(isConfirmed).map(({ id }) => id));
}
