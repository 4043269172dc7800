/** Records blocks that were accepted unverified or searched by range, and decides which are held. */
import { type Expression, type Kysely, type SqlBool, sql } from 'kysely';
import type { BlockRange, UnverifiedBlocks, UnverifiedRange } from '@sluice/kit/contract';
import type { Engine } from '../engine/engine.ts';
import type { Db, Tables } from '../tables/tables.ts';
import { newId } from '../rows/ids.ts';
import { type NewMatch, type Unverified, isWitnessed } from './contract.ts';

/**
 * Number of newest ranges kept per chain and stream. Ranges for all streams of a chain are counted
 * separately.
 */
const RANGES = 1_000;
/**
 * Stored as the reason of ranges that were searched by range. `listByRange` returns these ranges,
 * and `listUnverified` omits them.
 */
const BY_RANGE = 'by range';

/** Reads the stored codes of a match, which are also the value of its webhooks' header. */
export const readCodes = (stored: string | null): string[] => stored?.split(', ') ?? [];

/** Returns the ids of the streams whose matches in this block must be held. */
export async function readHolding(
  trx: Db,
  engine: Engine,
  matches: readonly NewMatch[],
  unverified: Unverified | undefined,
): Promise<ReadonlySet<string>> {
  if (unverified === undefined || isWitnessed(unverified) || matches.length === 0) return new Set();
  const holding = await trx
    .selectFrom('stream')
    .select('id')
    .where('id', 'in', [...new Set(matches.map(({ streamId }) => streamId))])
    .where('hold_unverified', '=', 1)
    // A change of the setting, which releases held deliveries, must wait until these are written.
    .modifyEnd(engine.lockRows('share'))
    .execute();
  return new Set(holding.map(({ id }) => id));
}

/** Records an unverified block, unless it is already recorded with these codes. */
export const recordUnverified = (
  trx: Db,
  {
    chain,
    block,
    unverified: { codes },
    now,
  }: { chain: string; block: number; unverified: Unverified; now: number },
): Promise<void> =>
  note(trx, { chain, streamId: null, from: block, to: block, reason: codes.join(', '), now });

/**
 * Records blocks that were searched by range, for one stream or, if `streamId` is null, for all
 * streams.
 */
export const recordByRange = (
  trx: Db,
  searched: { chain: string; streamId: string | null; from: number; to: number; now: number },
): Promise<void> => note(trx, { ...searched, reason: BY_RANGE });

/**
 * Records blocks. If they overlap or directly follow a range with the same stream and reason,
 * extends that range.
 */
async function note(
  trx: Db,
  {
    chain,
    streamId,
    from,
    to,
    reason,
    now,
  }: {
    chain: string;
    streamId: string | null;
    from: number;
    to: number;
    reason: string;
    now: number;
  },
): Promise<void> {
  const near = await trx
    .selectFrom('unverified')
    .select(['id', 'to_block'])
    .where('chain', '=', chain)
    .where('stream_id', 'is not distinct from', streamId)
    .where('reason', '=', reason)
    .where('from_block', '<=', from)
    .where('to_block', '>=', from - 1)
    .orderBy('to_block', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (near !== undefined) {
    if (near.to_block >= to) return;
    await trx.updateTable('unverified').set({ to_block: to }).where('id', '=', near.id).execute();
    return;
  }
  await trx
    .insertInto('unverified')
    .values({
      id: newId(now),
      chain,
      stream_id: streamId,
      from_block: from,
      to_block: to,
      reason,
      created_at: now,
    })
    .execute();
  await trx
    .deleteFrom('unverified')
    .where('chain', '=', chain)
    .where('stream_id', 'is not distinct from', streamId)
    .where('id', '<=', (eb) =>
      eb
        .selectFrom('unverified')
        .select('id')
        .where('chain', '=', chain)
        .where('stream_id', 'is not distinct from', streamId)
        .orderBy('id', 'desc')
        .offset(RANGES)
        .limit(1),
    )
    .execute();
}

/**
 * Removes these blocks from the searched ranges of a stream, because they have been read one by
 * one.
 */
export const forgetByRange = (
  trx: Db,
  { streamId, ...range }: { chain: string; streamId: string; from: number; to: number },
): Promise<void> =>
  forget(trx, range, sql<SqlBool>`stream_id = ${streamId} and reason = ${BY_RANGE}`);

/** Removes the mark of an unverified block, because the block was read again. */
export const forgetUnverified = (trx: Db, chain: string, block: number): Promise<void> =>
  forget(trx, { chain, from: block, to: block }, sql<SqlBool>`reason <> ${BY_RANGE}`);

async function forget(
  trx: Db,
  { chain, from, to }: { chain: string; from: number; to: number },
  which: Expression<SqlBool>,
): Promise<void> {
  const rows = await trx
    .selectFrom('unverified')
    .selectAll()
    .where('chain', '=', chain)
    .where(which)
    .where('from_block', '<=', to)
    .where('to_block', '>=', from)
    .execute();
  for (const row of rows) {
    await trx.deleteFrom('unverified').where('id', '=', row.id).execute();
    const left = [
      { ...row, to_block: from - 1 },
      { ...row, from_block: to + 1, id: newId(row.created_at) },
    ].filter((part) => part.from_block <= part.to_block);
    if (left.length > 0) await trx.insertInto('unverified').values(left).execute();
  }
}

/**
 * Removes the records of all blocks above `block`, because these blocks left the chain or will be
 * read again.
 */
export async function rewindUnverified(trx: Db, chain: string, block: number): Promise<void> {
  await trx
    .deleteFrom('unverified')
    .where('chain', '=', chain)
    .where('from_block', '>', block)
    .execute();
  await trx
    .updateTable('unverified')
    .set({ to_block: block })
    .where('chain', '=', chain)
    .where('to_block', '>', block)
    .execute();
}

/** Returns the unverified ranges of these chains, in block order, by chain. */
export async function listUnverified(
  db: Kysely<Tables>,
  chains: readonly string[],
): Promise<Map<string, UnverifiedRange[]>> {
  const rows = await db
    .selectFrom('unverified')
    .select(['chain', 'from_block', 'to_block', 'reason'])
    .where('chain', 'in', chains)
    .where('reason', '!=', BY_RANGE)
    .orderBy('from_block')
    .execute();
  const found = Map.groupBy(rows, ({ chain }) => chain);
  return new Map(
    [...found].map(([chain, ranges]) => [
      chain,
      ranges.map(({ from_block: from, to_block: to, reason }) => ({
        from,
        to,
        codes: readCodes(reason),
      })),
    ]),
  );
}

/**
 * Blocks that were searched by range, for one stream or, if `streamId` is null, for all streams.
 */
export interface SearchedRange extends BlockRange {
  chain: string;
  streamId: string | null;
}

/**
 * Returns the ranges of these chains that were searched by range, for this stream or for all
 * streams.
 */
export async function listByRange(
  db: Kysely<Tables>,
  chains: readonly string[],
  streamId: string,
): Promise<SearchedRange[]> {
  const rows = await db
    .selectFrom('unverified')
    .select(['chain', 'stream_id', 'from_block', 'to_block'])
    .where('chain', 'in', chains)
    .where('reason', '=', BY_RANGE)
    .where((eb) => eb.or([eb('stream_id', '=', streamId), eb('stream_id', 'is', null)]))
    .execute();
  return rows.map((row) => ({
    chain: row.chain,
    streamId: row.stream_id,
    from: row.from_block,
    to: row.to_block,
  }));
}

/** Summarizes the unverified blocks of a chain; returns null if there are none. */
export async function readUnverified(
  db: Kysely<Tables>,
  chain: string,
): Promise<UnverifiedBlocks | null> {
  const ranges = (await listUnverified(db, [chain])).get(chain);
  if (ranges === undefined) return null;
  const countOf = (some: readonly BlockRange[]): number =>
    some.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const codes = [...new Set(ranges.flatMap((range) => range.codes))].toSorted();
  return {
    blocks: countOf(ranges),
    latest: Math.max(...ranges.map(({ to }) => to)),
    byCode: Object.fromEntries(
      codes
        .map(
          (code) => [code, countOf(ranges.filter((range) => range.codes.includes(code)))] as const,
        )
        .filter(([, blocks]) => blocks > 0),
    ),
  };
}

/** Returns the codes of the committed block at this height; empty if it is verified. */
export async function readUnverifiedCodes(
  db: Kysely<Tables>,
  chain: string,
  number: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('unverified')
    .select('reason')
    .where('chain', '=', chain)
    .where('reason', '!=', BY_RANGE)
    .where('from_block', '<=', number)
    .where('to_block', '>=', number)
    .execute();
  return [...new Set(rows.flatMap(({ reason }) => readCodes(reason)))];
}
