/**
 * Matches of blocks that leave the chain or return to it, and their deliveries. Each function runs
 * within a transaction.
 */
import { type Expression, type Selectable, type SqlBool, sql } from 'kysely';
import { type DeliverySummary, isConfirmedAtOnce } from '@sluice/kit/contract';
import type { Engine } from '../engine/engine.ts';
import { toBlockDay } from '../engine/days.ts';
import type { Db, Tables } from '../tables/tables.ts';
import { newId } from '../rows/ids.ts';
import { deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import { fromConfirmColumns } from './confirmations.ts';
import type { BlockHeader } from './contract.ts';
import {
  type DeliveredMatch,
  type KnownMatch,
  chunksOf,
  deliveredColumns,
  firstState,
  insertDeliveries,
  isLive,
  readStreamsOf,
} from './matches.ts';
import type { MatchState } from '../tables/blocks.ts';

/** Splits an origin into its incarnation, which is the last part, and the rest. */
function splitOrigin(origin: string): { base: string; incarnation: number } {
  const at = origin.lastIndexOf(':');
  return { base: origin.slice(0, at), incarnation: Number(origin.slice(at + 1)) };
}

const daysOf = (matches: readonly { block_day: string }[]): string[] => [
  ...new Set(matches.map((match) => match.block_day)),
];

/**
 * Orphans these matches, so that they are not confirmed, and cancels their waiting deliveries,
 * including those that would be retried. Deliveries in flight are not retried. Returns the matches
 * and the canceled deliveries.
 */
export async function orphanMatches(
  trx: Db,
  which: Expression<SqlBool>,
  now: number,
): Promise<{ orphaned: DeliveredMatch[]; canceled: DeliverySummary[] }> {
  const orphaned = await trx
    .updateTable('match')
    .set({ state: 'orphaned' satisfies MatchState })
    .where(which)
    .where('state', '<>', 'orphaned')
    .returning(deliveredColumns)
    .execute();
  const canceled: DeliverySummary[] = [];
  for (const chunk of chunksOf(orphaned)) {
    const rows = await trx
      .updateTable('delivery')
      .set({ state: 'cancelled', updated_at: now })
      .where('block_day', 'in', daysOf(chunk))
      .where(
        'match_id',
        'in',
        chunk.map((match) => match.id),
      )
      .where('state', 'in', ['enriching', 'held', 'pending'])
      .returning(deliveryColumns)
      .execute();
    canceled.push(...rows.map(toDeliverySummary));
  }
  return {
    orphaned: orphaned.map((match) => ({ ...match, enriching: false, held: 0 })),
    canceled,
  };
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
  for (const chunk of chunksOf(asked)) {
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
    const isSent = new Set([
      ...sent.map((row) => row.match_id),
      ...(await listUnrevoked(trx, chunk)),
    ]);
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
 * Returns the ids of matches whose earlier incarnation was sent, but not revoked, because its
 * removal webhook was canceled when the block returned.
 */
async function listUnrevoked(trx: Db, matches: readonly DeliveredMatch[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct again.id from match as again
      join match as earlier on earlier.chain = again.chain
        and earlier.block_hash = again.block_hash and earlier.block_day = again.block_day
        and earlier.stream_id = again.stream_id and earlier.part = again.part
      join delivery on delivery.match_id = earlier.id and delivery.block_day = earlier.block_day
    where again.block_day in (${sql.join(daysOf(matches))})
      and again.id in (${sql.join(matches.map((match) => match.id))})
      and again.origin not like '%:0'
      and delivery.phase = 'removed' and delivery.state = 'cancelled'`.execute(trx);
  return rows.map((row) => row.id);
}

/**
 * Handles a block that returns after it left the chain. Matches without a removal webhook become
 * frozen again, and their canceled deliveries become due. Other matches are sent again as their
 * next incarnation; a removal webhook that is still pending is canceled. The partition of the block's
 * day must be open.
 */
export async function restoreMatches(
  trx: Db,
  engine: Engine,
  chain: string,
  block: BlockHeader,
  now: number,
): Promise<DeliverySummary[]> {
  const known = await trx
    .selectFrom('match')
    .selectAll()
    .where('chain', '=', chain)
    .where('block_hash', '=', block.hash)
    .where('block_day', '=', toBlockDay(block.timestamp))
    .where(isLive)
    .orderBy('id')
    .execute();
  if (known.length === 0) return [];
  const streams = await readStreamsOf(trx, known);
  const newest = new Map<string, (typeof known)[number]>();
  for (const match of known) {
    if (!streams.has(match.stream_id)) continue;
    const { base, incarnation } = splitOrigin(match.origin);
    const key = `${match.stream_id} ${match.part} ${base}`;
    const other = newest.get(key);
    if (other === undefined || splitOrigin(other.origin).incarnation < incarnation)
      newest.set(key, match);
  }
  // After a restart of the chain, the newest incarnation may still be confirmed.
  const orphaned = [...newest.values()].filter(({ state }) => state === 'orphaned');
  const takenBack = await listTakenBack(trx, orphaned);
  const returned: DeliverySummary[] = [];
  for (const match of orphaned) {
    const stream = streams.get(match.stream_id)!;
    const again = { ...match, confirm_by: stream.confirm_by, confirm_depth: stream.confirm_depth };
    const sendsUnconfirmed =
      stream.deliver === 'both' && !isConfirmedAtOnce(fromConfirmColumns(stream));
    returned.push(
      ...(takenBack.has(match.id)
        ? await announceAgain(trx, engine, again, sendsUnconfirmed, now)
        : await revive(trx, again, stream.notify_removed === 1, now)),
    );
  }
  return returned;
}

/** Returns the ids of the matches that have a removal webhook. */
async function listTakenBack(
  trx: Db,
  matches: readonly Selectable<Tables['match']>[],
): Promise<ReadonlySet<string>> {
  const takenBack = new Set<string>();
  for (const chunk of chunksOf(matches)) {
    const rows = await trx
      .selectFrom('delivery')
      .select('match_id')
      .where('block_day', 'in', daysOf(chunk))
      .where(
        'match_id',
        'in',
        chunk.map((match) => match.id),
      )
      .where('phase', '=', 'removed')
      .execute();
    for (const row of rows) takenBack.add(row.match_id);
  }
  return takenBack;
}

async function revive(
  trx: Db,
  match: Selectable<Tables['match']>,
  notifiesRemoved: boolean,
  now: number,
): Promise<DeliverySummary[]> {
  await trx
    .updateTable('match')
    .set({
      state: 'frozen' satisfies MatchState,
      confirm_by: match.confirm_by,
      confirm_depth: match.confirm_depth,
    })
    .where('id', '=', match.id)
    .where('block_day', '=', match.block_day)
    .execute();
  const ofMatch = (id: string) =>
    sql<SqlBool>`match_id = ${match.id} and block_day = ${match.block_day} and id = ${id}`;
  const canceled = await trx
    .selectFrom('delivery')
    .select(['id', 'ordered', 'claims'])
    .where('match_id', '=', match.id)
    .where('block_day', '=', match.block_day)
    .where('state', '=', 'cancelled')
    .orderBy('id')
    .execute();
  const revived: DeliverySummary[] = [];
  for (const { id, ordered, claims } of canceled) {
    const row = await trx
      .updateTable('delivery')
      .set({
        // A delivery that was never sent follows the removal webhooks of the branch that replaced
        // its block: in a strict order, and for receivers that order webhooks by their IDs.
        ...((ordered === 1 || notifiesRemoved) && claims === 0 && { id: newId(now) }),
        state: firstState({ ...match, enriching: match.enrichment !== null }),
        run_at: now,
        updated_at: now,
      })
      .where(ofMatch(id))
      .returning(deliveryColumns)
      .executeTakeFirstOrThrow();
    revived.push(toDeliverySummary(row));
  }
  return revived;
}

async function announceAgain(
  trx: Db,
  engine: Engine,
  match: Selectable<Tables['match']>,
  unconfirmedToo: boolean,
  now: number,
): Promise<DeliverySummary[]> {
  const { base, incarnation } = splitOrigin(match.origin);
  const again = {
    ...match,
    id: newId(),
    origin: `${base}:${incarnation + 1}`,
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

/**
 * Deletes the held matches of a block that left the chain and now returns, because the new reading
 * of the block replaces content that was never sent. Keeps matches with deliveries that have ended.
 * Returns the other matches in `known`.
 */
export async function forgetHeld(
  trx: Db,
  chain: string,
  block: BlockHeader,
  known: readonly KnownMatch[],
): Promise<readonly KnownMatch[]> {
  const day = toBlockDay(block.timestamp);
  const { rows: held } = await sql<KnownMatch & { id: string }>`
    select id, stream_id, part, parts, origin, state from match
    where chain = ${chain} and block_hash = ${block.hash} and block_day = ${day}
      and held = 1 and state = 'orphaned' and ${isLive}
      and not exists (select 1 from delivery where delivery.match_id = match.id
        and delivery.block_day = ${day} and delivery.state <> 'cancelled')`.execute(trx);
  if (held.length === 0) return known;
  const ids = held.map(({ id }) => id);
  await trx
    .deleteFrom('delivery')
    .where('block_day', '=', day)
    .where('match_id', 'in', ids)
    .execute();
  await trx
    .deleteFrom('match_transaction')
    .where('block_day', '=', day)
    .where('match_id', 'in', ids)
    .execute();
  await trx.deleteFrom('match').where('block_day', '=', day).where('id', 'in', ids).execute();
  const isHeld = (each: KnownMatch): boolean =>
    held.some(
      ({ stream_id: streamId, part, origin }) =>
        streamId === each.stream_id && part === each.part && origin === each.origin,
    );
  return known.filter((each) => !isHeld(each));
}
