/** The lifecycle of a match and its deliveries. Each function runs within a transaction. */
import { type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import type { DeliveryPhase, DeliverySummary } from '@sluice/kit/contract';
import type { Db, Tables } from '../engine/tables.ts';
import { type Engine, readMoment } from '../engine/engine.ts';
import { newId } from '../ids.ts';
import { toBlockDay } from '../engine/partitions.ts';
import { type DeliveryRow, deliveryColumns, toDeliverySummary } from '../rows.ts';
import { countMatched } from '../stats/statWrites.ts';
import type { BlockHeader, NewMatch } from './contract.ts';
import type { MatchState } from './tables.ts';

/**
 * Maximum number of rows per statement. SQLite allows 32,766 parameters, and a delivery has 26
 * columns.
 */
const INSERT_CHUNK = 500;

/** Columns of a match from which its deliveries are created. The body is not copied. */
const deliveredColumns = [
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
] as const;

type DeliveredRow = Pick<Selectable<Tables['match']>, (typeof deliveredColumns)[number]>;

type DeliveredMatch = DeliveredRow & {
  /** Whether the body is still incomplete. */
  enriching: boolean;
};

const firstState = ({ set_aside, enriching }: Pick<DeliveredMatch, 'set_aside' | 'enriching'>) =>
  set_aside !== null ? 'quarantined' : enriching ? 'enriching' : 'pending';

/**
 * Returns the origin of matches that were found while following the chain. `incarnation` increases
 * each time a removed block returns and its match is sent again.
 */
export const liveOrigin = (incarnation: number): string => `live:${incarnation}`;

const incarnationOf = (origin: string): number => Number(origin.slice('live:'.length));

const daysOf = (matches: readonly { block_day: string }[]): string[] => [
  ...new Set(matches.map((match) => match.block_day)),
];

/**
 * Creates one delivery in this phase for each match; existing deliveries do not change. The
 * partitions of the matches' days must be open.
 */
async function insertDeliveries(
  trx: Db,
  engine: Engine,
  matches: readonly DeliveredMatch[],
  phase: DeliveryPhase,
  now: number,
): Promise<DeliverySummary[]> {
  if (matches.length === 0) return [];
  const wanted = engine.rows(
    matches.map((match) => ({
      id: newId(),
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
    })),
    {
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
    },
  );
  const { rows } = await sql<DeliveryRow>`
    insert into delivery (id, match_id, stream_id, phase, chain, block_number, block_day, tag,
      records, about, state, attempts, claims, lost, ordered, fast_retried, body_bytes, run_at,
      last_error, created_at, updated_at)
    select id, match_id, stream_id, ${phase}, chain, block_number, block_day, tag,
      records, about, state, 0, 0, 0,
      (select strict_order from stream where stream.id = wanted.stream_id), 0, body_bytes, ${now},
      last_error, ${now}, ${now}
    from ${wanted} as wanted where true
    on conflict (match_id, phase, block_day) do nothing
    returning ${sql.join(deliveryColumns.map((column) => sql.ref(column)))}`.execute(trx);
  return rows.map(toDeliverySummary);
}

/**
 * Inserts the matches of a block and their first deliveries: the confirmed delivery of a
 * `confirmed` match, or the unconfirmed delivery of a `frozen` match unless its stream has only
 * confirmed deliveries. Existing matches do not change.
 */
export async function insertMatches(
  trx: Db,
  engine: Engine,
  {
    chain,
    block,
    origin,
    state,
    matches,
    now,
  }: {
    chain: string;
    block: BlockHeader;
    origin: string;
    state: 'frozen' | 'confirmed';
    matches: readonly NewMatch[];
    now: number;
  },
): Promise<DeliverySummary[]> {
  if (matches.length === 0) return [];
  const blockDay = toBlockDay(block.timestamp);
  await engine.openDay(trx, blockDay);
  const phase = state === 'frozen' ? 'unconfirmed' : 'confirmed';
  const created: DeliverySummary[] = [];
  for (let start = 0; start < matches.length; start += INSERT_CHUNK) {
    const given = new Map(
      matches.slice(start, start + INSERT_CHUNK).map((match) => [newId(), match]),
    );
    const wanted = engine.rows(
      [...given].map(([id, match]) => ({
        id,
        stream_id: match.streamId,
        part: match.part,
        parts: match.parts,
        tag: match.tag,
        logs: match.logs,
        transactions: match.transactions,
        internal_transactions: match.internalTransactions,
        about: match.about,
        enrichment: match.enrichment,
        set_aside: match.setAside,
        body_head: match.bodyHead,
        body_tail: match.bodyTail,
        body_bytes: Buffer.byteLength(match.bodyHead) + Buffer.byteLength(match.bodyTail),
      })),
      {
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
        body_head: 'text',
        body_tail: 'text',
        body_bytes: 'bigint',
      },
    );
    const { rows: inserted } = await sql<DeliveredRow>`
      insert into match (id, stream_id, chain, block_number, block_hash, block_day, part, parts,
        origin, state, tag, logs, transactions, internal_transactions, about, enrichment, set_aside,
        body_head, body_tail, body_bytes, created_at)
      select id, stream_id, ${chain}, ${block.number}, ${block.hash}, ${blockDay}, part, parts,
        ${origin}, ${state}, tag, logs, transactions, internal_transactions, about, enrichment,
        set_aside, body_head, body_tail, body_bytes, ${now}
      from ${wanted} as wanted where true
      on conflict (chain, block_hash, stream_id, part, origin, block_day) do nothing
      returning ${sql.join(deliveredColumns.map((column) => sql.ref(column)))}`.execute(trx);
    const found = inserted.map((row) => ({ row, match: given.get(row.id)! }));
    await countMatched(
      trx,
      engine,
      chain,
      found.map(({ match }) => match),
      now,
    );
    await insertTransactions(
      trx,
      engine,
      found.flatMap(({ row, match }) =>
        match.transactionHashes.map((hash) => ({ hash, match_id: row.id })),
      ),
      blockDay,
    );
    created.push(
      ...(await insertDeliveries(
        trx,
        engine,
        found
          .filter(({ match }) => phase === 'confirmed' || match.deliver === 'both')
          .map(({ row, match }) => ({ ...row, enriching: match.enrichment !== null })),
        phase,
        now,
      )),
    );
  }
  return created;
}

async function insertTransactions(
  trx: Db,
  engine: Engine,
  pairs: readonly { hash: string; match_id: string }[],
  blockDay: string,
): Promise<void> {
  if (pairs.length === 0) return;
  const rows = engine.rows(pairs, { hash: 'text', match_id: 'text' });
  await sql`
    insert into match_transaction (transaction_hash, match_id, block_day)
    select hash, match_id, ${blockDay} from ${rows} as found`.execute(trx);
}

/**
 * Confirms the frozen matches of blocks up to this height, and creates their confirmed deliveries,
 * except for deleted streams.
 */
export async function confirmMatches(
  trx: Db,
  engine: Engine,
  chain: string,
  height: number,
  now: number,
): Promise<DeliverySummary[]> {
  const { open } = await readMoment(engine, trx);
  const ripe = await trx
    .updateTable('match')
    .set({ state: 'confirmed' satisfies MatchState })
    .where(open('block_day'))
    .where('chain', '=', chain)
    .where('state', '=', 'frozen')
    .where('block_number', '<=', height)
    .returning([...deliveredColumns, 'enrichment'])
    .execute();
  if (ripe.length === 0) return [];
  const streams = await readStreamsOf(trx, ripe);
  return insertDeliveries(
    trx,
    engine,
    ripe
      .filter((match) => streams.has(match.stream_id))
      .map((match) => ({ ...match, enriching: match.enrichment !== null })),
    'confirmed',
    now,
  );
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

/** Returns the streams of these matches by id, except deleted streams. */
async function readStreamsOf(trx: Db, matches: readonly { stream_id: string }[]) {
  const rows = await trx
    .selectFrom('stream')
    .select(['id', 'deliver', 'notify_removed'])
    .where('id', 'in', [...new Set(matches.map((match) => match.stream_id))])
    .where('deleted_at', 'is', null)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Orphans these matches, so that they are not confirmed, and cancels their waiting deliveries,
 * including those that would be retried. Deliveries in flight are not retried. Returns the matches
 * and the canceled deliveries.
 */
export async function orphanMatches(
  trx: Db,
  which: Expression<SqlBool>,
  now: number,
): Promise<{ orphaned: DeliveredMatch[]; cancelled: DeliverySummary[] }> {
  const orphaned = await trx
    .updateTable('match')
    .set({ state: 'orphaned' satisfies MatchState })
    .where(which)
    .where('state', '<>', 'orphaned')
    .returning(deliveredColumns)
    .execute();
  const cancelled: DeliverySummary[] = [];
  for (let start = 0; start < orphaned.length; start += INSERT_CHUNK) {
    const chunk = orphaned.slice(start, start + INSERT_CHUNK);
    const rows = await trx
      .updateTable('delivery')
      .set({ state: 'cancelled', updated_at: now })
      .where('block_day', 'in', daysOf(chunk))
      .where(
        'match_id',
        'in',
        chunk.map((match) => match.id),
      )
      .where('state', 'in', ['enriching', 'pending'])
      .returning(deliveryColumns)
      .execute();
    cancelled.push(...rows.map(toDeliverySummary));
  }
  return { orphaned: orphaned.map((match) => ({ ...match, enriching: false })), cancelled };
}

/**
 * Creates removal webhooks for streams with `notifyRemoved`: one per match that was or may have
 * been sent.
 */
export async function insertRemovals(
  trx: Db,
  engine: Engine,
  orphaned: readonly DeliveredMatch[],
  now: number,
): Promise<DeliverySummary[]> {
  if (orphaned.length === 0) return [];
  const streams = await readStreamsOf(trx, orphaned);
  const asked = orphaned.filter(
    (match) => match.set_aside === null && streams.get(match.stream_id)?.notify_removed === 1,
  );
  for (const day of daysOf(asked)) await engine.openDay(trx, day);
  const notices: DeliverySummary[] = [];
  for (let start = 0; start < asked.length; start += INSERT_CHUNK) {
    const chunk = asked.slice(start, start + INSERT_CHUNK);
    const sent = await trx
      .selectFrom('delivery')
      .select('match_id')
      .distinct()
      .where('block_day', 'in', daysOf(chunk))
      .where(
        'match_id',
        'in',
        chunk.map((match) => match.id),
      )
      // A claimed delivery may have been sent, even if its response was lost.
      .where('claims', '>', 0)
      .execute();
    const isSent = new Set(sent.map((row) => row.match_id));
    notices.push(
      ...(await insertDeliveries(
        trx,
        engine,
        chunk.filter((match) => isSent.has(match.id)),
        'removed',
        now,
      )),
    );
  }
  return notices;
}

/**
 * Handles a block that returns after it left the chain. Matches without a removal webhook become
 * frozen again, and their canceled deliveries become due. Other matches are sent again as their
 * next incarnation; a removal webhook that is still pending is canceled.
 */
export async function returnMatches(
  trx: Db,
  engine: Engine,
  chain: string,
  block: BlockHeader,
  now: number,
): Promise<DeliverySummary[]> {
  const orphaned = await trx
    .selectFrom('match')
    .selectAll()
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('delivery')
            .select('delivery.id')
            .whereRef('delivery.match_id', '=', 'match.id')
            .whereRef('delivery.block_day', '=', 'match.block_day')
            .where('delivery.phase', '=', 'removed'),
        )
        .as('taken_back'),
    )
    .where('chain', '=', chain)
    .where('block_hash', '=', block.hash)
    .where('block_day', '=', toBlockDay(block.timestamp))
    .where('state', '=', 'orphaned')
    .where('origin', 'like', 'live:%')
    .execute();
  if (orphaned.length === 0) return [];
  await engine.openDay(trx, toBlockDay(block.timestamp));
  const streams = await readStreamsOf(trx, orphaned);
  const newest = new Map<string, (typeof orphaned)[number]>();
  for (const match of orphaned) {
    if (!streams.has(match.stream_id)) continue;
    const key = `${match.stream_id} ${match.part}`;
    const known = newest.get(key);
    if (known === undefined || incarnationOf(known.origin) < incarnationOf(match.origin))
      newest.set(key, match);
  }
  const returned: DeliverySummary[] = [];
  for (const { taken_back: takenBack, ...match } of newest.values()) {
    returned.push(
      ...(takenBack
        ? await announceAgain(
            trx,
            engine,
            match,
            streams.get(match.stream_id)?.deliver === 'both',
            now,
          )
        : await revive(trx, match, now)),
    );
  }
  return returned;
}

async function revive(
  trx: Db,
  match: Selectable<Tables['match']>,
  now: number,
): Promise<DeliverySummary[]> {
  await trx
    .updateTable('match')
    .set({ state: 'frozen' satisfies MatchState })
    .where('id', '=', match.id)
    .where('block_day', '=', match.block_day)
    .execute();
  const rows = await trx
    .updateTable('delivery')
    .set({
      state: firstState({ ...match, enriching: match.enrichment !== null }),
      run_at: now,
      updated_at: now,
    })
    .where('match_id', '=', match.id)
    .where('block_day', '=', match.block_day)
    .where('state', '=', 'cancelled')
    .returning(deliveryColumns)
    .execute();
  return rows.map(toDeliverySummary);
}

async function announceAgain(
  trx: Db,
  engine: Engine,
  match: Selectable<Tables['match']>,
  unconfirmedToo: boolean,
  now: number,
): Promise<DeliverySummary[]> {
  const again = {
    ...match,
    id: newId(),
    origin: liveOrigin(incarnationOf(match.origin) + 1),
    state: 'frozen' as const,
    created_at: now,
  };
  await trx.insertInto('match').values(again).execute();
  const obsolete = await trx
    .updateTable('delivery')
    .set({ state: 'cancelled', updated_at: now })
    .where('match_id', '=', match.id)
    .where('block_day', '=', match.block_day)
    .where('phase', '=', 'removed')
    .where('state', '=', 'pending')
    .returning(deliveryColumns)
    .execute();
  await sql`
    insert into match_transaction (transaction_hash, match_id, block_day)
    select transaction_hash, ${again.id}, block_day from match_transaction
    where match_id = ${match.id} and block_day = ${match.block_day}`.execute(trx);
  const announced = unconfirmedToo
    ? await insertDeliveries(
        trx,
        engine,
        [{ ...again, enriching: match.enrichment !== null }],
        'unconfirmed',
        now,
      )
    : [];
  return [...obsolete.map(toDeliverySummary), ...announced];
}
