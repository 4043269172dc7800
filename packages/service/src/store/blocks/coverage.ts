/**
 * Tracks the blocks that each stream was matched against: where its coverage starts, and its holes.
 */
import { type Expression, type Kysely, type SqlBool, sql } from 'kysely';
import type { BlockRange, ChainCoverage, HoleReason, UnverifiedRange } from '@sluice/kit/contract';
import type { Db, Tables } from '../tables/tables.ts';
import { lastSettled } from '../rules/ruleRevision.ts';
import type { BlockRef } from './contract.ts';
import { listByRange, listUnverified, rewindUnverified } from './unverified.ts';

/**
 * Limits the coverage of a stream, and its known values, to these chains. On a chain that is new to the stream, coverage
 * starts at the first block without settled rules.
 */
export async function beginCoverage(
  trx: Db,
  streamId: string,
  chains: readonly string[],
): Promise<void> {
  for (const table of ['coverage', 'read_value', 'read_up_to'] as const) {
    await trx
      .deleteFrom(table)
      .where('stream_id', '=', streamId)
      .where('chain', 'not in', chains)
      .execute();
  }
  const checkpoints = await trx
    .selectFrom('checkpoint')
    .select(['chain', lastSettled.as('number')])
    .where('chain', 'in', chains)
    .execute();
  const heights = new Map(checkpoints.map((row) => [row.chain, row.number]));
  await trx
    .insertInto('coverage')
    .values(
      chains.map((chain) => {
        const height = heights.get(chain);
        return {
          stream_id: streamId,
          chain,
          from_block: height === undefined ? null : height + 1,
        };
      }),
    )
    .onConflict((conflict) => conflict.columns(['stream_id', 'chain']).doNothing())
    .execute();
}

/**
 * Returns the condition that the selected coverage of a stream includes this block, with or without
 * its late children.
 */
export const coversBlock = (chain: string, number: number): Expression<SqlBool> =>
  sql<SqlBool>`coverage.from_block <= ${number}
    and not exists (select 1 from hole where hole.chain = ${chain}
      and (hole.stream_id is null or hole.stream_id = coverage.stream_id)
      and hole.reason <> 'children'
      and hole.from_block <= ${number}
      and (hole.to_block is null or hole.to_block >= ${number}))`;

/**
 * Adds a block to the holes of streams with values that no node has in its state.
 *
 * @param after number of the block before it
 */
export async function addStateHoles(
  trx: Db,
  {
    chain,
    block,
    after,
    streamIds,
    now,
  }: { chain: string; block: number; after: number; streamIds: readonly string[]; now: number },
): Promise<void> {
  if (streamIds.length === 0) return;
  const extended = await trx
    .updateTable('hole')
    .set({ to_block: block })
    .where('chain', '=', chain)
    .where('stream_id', 'in', streamIds)
    .where('reason', '=', 'state')
    .where('to_block', '=', after)
    .returning('stream_id')
    .execute();
  const added = streamIds.filter((id) => extended.every(({ stream_id }) => stream_id !== id));
  if (added.length === 0) return;
  await trx
    .insertInto('hole')
    .values(
      added.map((id) => ({
        chain,
        stream_id: id,
        from_block: block,
        to_block: block,
        reason: 'state' as const,
        created_at: now,
      })),
    )
    .execute();
}

/** Removes these blocks from the holes of missing states, because a backfill evaluates them again. */
export async function closeStateHoles(
  trx: Db,
  { chain, streamId, from, to }: BlockRange & { chain: string; streamId: string },
): Promise<void> {
  const holes = await trx
    .deleteFrom('hole')
    .where('chain', '=', chain)
    .where('stream_id', '=', streamId)
    .where('reason', '=', 'state')
    .where('from_block', '<=', to)
    .where('to_block', '>=', from)
    .returningAll()
    .execute();
  const left = holes.flatMap((hole) =>
    subtract({ from: hole.from_block, to: hole.to_block! }, [{ from, to }]).map((part) => ({
      ...hole,
      from_block: part.from,
      to_block: part.to,
    })),
  );
  if (left.length > 0) await trx.insertInto('hole').values(left).execute();
}

/**
 * Adds blocks to the holes of a stream, because a consumer missed their deliveries. Extends a hole
 * that was added since the consumer was last active, because it has missed all deliveries between.
 *
 * @param since time at which the consumer was last active
 */
export async function addUnreadHole(
  trx: Db,
  {
    streamId,
    chain,
    from,
    to,
    since,
    now,
  }: { streamId: string; chain: string; from: number; to: number; since: number; now: number },
): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('hole')
    .set({
      to_block: sql`case when to_block > ${to} then to_block else ${to} end`,
      // It missed the deliveries of backfills since then, too.
      created_at: now,
    })
    .where('chain', '=', chain)
    .where('stream_id', '=', streamId)
    .where('reason', '=', 'unread')
    .where('from_block', '<=', from)
    .where('created_at', '>=', since)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return;
  await trx
    .insertInto('hole')
    .values({
      chain,
      stream_id: streamId,
      from_block: from,
      to_block: to,
      reason: 'unread',
      created_at: now,
    })
    .execute();
}

/**
 * Adds the blocks that streams were matched against without children that they have only now to
 * their holes: from the first block of a child to `upTo`, or to the checkpoint if that is higher.
 */
export async function addChildHoles(
  trx: Db,
  {
    chain,
    children,
    upTo,
    now,
  }: {
    chain: string;
    children: readonly { streamId: string; blockNumber: number }[];
    upTo: number | undefined;
    now: number;
  },
): Promise<void> {
  if (children.length === 0) return;
  const checkpoint = await trx
    .selectFrom('checkpoint')
    .select('number')
    .where('chain', '=', chain)
    .executeTakeFirst();
  const to = Math.max(upTo ?? -1, checkpoint?.number ?? -1);
  for (const [streamId, its] of Map.groupBy(children, (child) => child.streamId)) {
    const from = its.reduce((least, child) => Math.min(least, child.blockNumber), Infinity);
    if (from > to) continue;
    // A backfill since then has filled a part of the hole.
    const { rows: extended } = await sql`
      update hole set to_block = case when to_block < ${to} then ${to} else to_block end
      where chain = ${chain} and stream_id = ${streamId} and reason = 'children'
        and from_block <= ${from} and to_block >= ${from - 1} and not exists (
          select 1 from job where job.stream_id = hole.stream_id and job.chain = hole.chain
            and job.kind = 'records' and job.updated_at >= hole.created_at)
      returning from_block`.execute(trx);
    if (extended.length > 0) continue;
    await trx
      .insertInto('hole')
      .values({
        chain,
        stream_id: streamId,
        from_block: from,
        to_block: to,
        reason: 'children',
        created_at: now,
      })
      .execute();
  }
}

/**
 * Opens a hole of the stream on each of its chains, at the first block without settled rules. Skips
 * chains on which a hole of the stream is already open.
 */
export async function openHoles(
  trx: Db,
  streamId: string,
  reason: HoleReason,
  now: number,
): Promise<void> {
  await sql`
    insert into hole (chain, stream_id, from_block, to_block, reason, created_at)
    select checkpoint.chain, ${streamId}, ${lastSettled} + 1, null, ${reason}, ${now}
    from coverage join checkpoint on checkpoint.chain = coverage.chain
    where coverage.stream_id = ${streamId} and not exists (
      select 1 from hole
      where hole.chain = coverage.chain and hole.stream_id = ${streamId} and hole.to_block is null
    )`.execute(trx);
}

/** Ends the stream's open holes: on each chain, before the first block without settled rules. */
export async function closeHoles(trx: Db, streamId: string): Promise<void> {
  await sql`
    update hole set to_block = (
      select ${lastSettled} from checkpoint where checkpoint.chain = hole.chain)
    where stream_id = ${streamId} and to_block is null`.execute(trx);
  await trx
    .deleteFrom('hole')
    .where('stream_id', '=', streamId)
    .whereRef('to_block', '<', 'from_block')
    .execute();
}

/**
 * Corrects the coverage of streams that changed between these revisions: the changes did not apply
 * when the block was settled, but the block was matched with them.
 */
export async function coverEarlier(
  trx: Db,
  chain: string,
  { number }: BlockRef,
  { after, upTo }: { after: number; upTo: number },
): Promise<void> {
  const changed = trx
    .selectFrom('stream')
    .select('id')
    .where('revision', '>', after)
    .where('revision', '<=', upTo);
  await trx
    .updateTable('coverage')
    .set({ from_block: number })
    .where('chain', '=', chain)
    .where('from_block', '=', number + 1)
    .where('stream_id', 'in', changed)
    .execute();
  await trx
    .updateTable('hole')
    .set({ from_block: number })
    .where('chain', '=', chain)
    .where('from_block', '=', number + 1)
    .where('stream_id', 'in', changed)
    .execute();
  await trx
    .updateTable('hole')
    .set({ to_block: number - 1 })
    .where('chain', '=', chain)
    .where('to_block', '=', number)
    .where('stream_id', 'in', changed)
    .execute();
  await deleteEmptyHoles(trx, chain);
}

const deleteEmptyHoles = (trx: Db, chain: string): Promise<unknown> =>
  trx
    .deleteFrom('hole')
    .where('chain', '=', chain)
    .whereRef('to_block', '<', 'from_block')
    .execute();

/**
 * Updates coverage when a chain restarts after `block`. With `holeFrom`, the blocks from there to
 * `block` become a hole of all streams; without it, coverage starts after `block`.
 */
export async function restartCoverage(
  trx: Db,
  chain: string,
  block: BlockRef,
  holeFrom: number | undefined,
  now: number,
): Promise<void> {
  await rewindUnverified(trx, chain, holeFrom === undefined ? -1 : block.number);
  if (holeFrom === undefined) {
    await trx.deleteFrom('hole').where('chain', '=', chain).execute();
    await trx
      .updateTable('coverage')
      .set({ from_block: block.number + 1 })
      .where('chain', '=', chain)
      .execute();
    return;
  }
  // Coverage that has not started, or that starts later, now starts after `block`.
  await trx
    .updateTable('coverage')
    .set({ from_block: block.number + 1 })
    .where('chain', '=', chain)
    .where((eb) => eb.or([eb('from_block', 'is', null), eb('from_block', '>', block.number + 1)]))
    .execute();
  if (holeFrom > block.number) return;
  await trx
    .insertInto('hole')
    .values({
      chain,
      stream_id: null,
      from_block: holeFrom,
      to_block: block.number,
      reason: 'resumed',
      created_at: now,
    })
    .execute();
}

/**
 * Updates coverage after a reorg. The blocks above the ancestor are read again, so open holes that
 * start later now start at the first of these blocks, and holes of missing states and children end
 * before it.
 */
export async function rewindCoverage(trx: Db, chain: string, ancestor: BlockRef): Promise<void> {
  await trx
    .updateTable('hole')
    .set({ from_block: ancestor.number + 1 })
    .where('chain', '=', chain)
    .where('to_block', 'is', null)
    .where('from_block', '>', ancestor.number + 1)
    .execute();
  await trx
    .updateTable('hole')
    .set({ to_block: ancestor.number })
    .where('chain', '=', chain)
    .where('reason', 'in', ['state', 'children'])
    .where('to_block', '>', ancestor.number)
    .execute();
  await deleteEmptyHoles(trx, chain);
  await rewindUnverified(trx, chain, ancestor.number);
}

export async function readCoverage(db: Kysely<Tables>, streamId: string): Promise<ChainCoverage[]> {
  const rows = await db
    .selectFrom('coverage')
    .leftJoin('checkpoint', 'checkpoint.chain', 'coverage.chain')
    .select(['coverage.chain', 'coverage.from_block', 'checkpoint.number'])
    .where('coverage.stream_id', '=', streamId)
    .orderBy('coverage.chain')
    .execute();
  const chains = rows.map((row) => row.chain);
  if (chains.length === 0) return [];
  const holes = await db
    .selectFrom('hole')
    .selectAll()
    .where('chain', 'in', chains)
    .where((eb) => eb.or([eb('stream_id', '=', streamId), eb('stream_id', 'is', null)]))
    .execute();
  const unverified = await listUnverified(db, chains);
  const searched = await listByRange(db, chains, streamId);
  const all = await db
    .selectFrom('job')
    .select(['chain', 'kind', 'state', 'block_from', 'next_block', 'block_to', 'updated_at'])
    .where('stream_id', '=', streamId)
    .orderBy('id')
    .execute();
  const jobs = all.filter((job) => job.kind === 'records' && job.next_block > job.block_from);
  return rows.map(({ chain, from_block: from, number: checkpoint }) => {
    const live = from === null || checkpoint === null ? undefined : { from, to: checkpoint };
    const its = holes
      .filter((hole) => hole.chain === chain)
      .map((hole) => ({
        from: hole.from_block,
        to: hole.to_block ?? checkpoint ?? hole.from_block,
        reason: hole.reason,
        at: hole.created_at,
      }));
    const backfilled = jobs
      .filter((job) => job.chain === chain)
      .map((job) => ({ from: job.block_from, to: job.next_block - 1, at: job.updated_at }));
    return {
      chainId: chain,
      ...missingChildren(all.filter((job) => job.chain === chain && job.kind === 'children')),
      ...toCoverage({
        live,
        ...withoutLater(live, its, backfilled),
        unverified: unverified.get(chain) ?? [],
        searched: searched.filter((range) => range.chain === chain),
      }),
    };
  });
}

type At<Range> = Range & { at: number };

/** Reasons of holes in blocks that were matched: these blocks are part of the coverage, as holes. */
const REASONS_OF_MATCHED = ['state', 'children', 'unread'] as const;

/**
 * Limits holes of missing states, late children and missed deliveries to blocks that were matched:
 * live or by a backfill; for late children and missed deliveries, by one that had ended when the hole
 * was added. Removes holes of late children and missed deliveries from such a backfill.
 */
export function withoutLater(
  live: BlockRange | undefined,
  holes: readonly At<Hole>[],
  backfills: readonly At<BlockRange>[],
): { holes: Hole[]; backfilled: BlockRange[] } {
  const others = holes.flatMap(({ from, to, reason }) =>
    isOfMatched(reason) ? [] : [{ from, to, reason }],
  );
  const passed = live === undefined ? [] : subtract(live, merge(others));
  const limited = REASONS_OF_MATCHED.flatMap((reason) => {
    const parts = holes
      .filter((hole) => hole.reason === reason)
      .flatMap((hole) => {
        // A backfill finds missing states itself, and the other reasons appear after it.
        const earlier = backfills.filter(({ at }) => reason === 'state' || at < hole.at);
        const matched = merge([...passed, ...earlier]);
        return subtract(hole, subtract(hole, matched));
      });
    return merge(parts).map((part) => ({ ...part, reason }));
  });
  const later = holes.filter(({ reason }) => reason === 'children' || reason === 'unread');
  return {
    holes: [...others, ...limited],
    backfilled: backfills.flatMap(({ at, ...range }) =>
      subtract(range, merge(later.filter((hole) => at < hole.at))),
    ),
  };
}

const isOfMatched = (reason: HoleReason): boolean =>
  REASONS_OF_MATCHED.some((each) => each === reason);

/**
 * Returns the ranges that these searches for children, oldest first, have left and no later one has
 * searched.
 */
function missingChildren(
  searches: readonly Pick<Tables['job'], 'block_from' | 'next_block' | 'block_to'>[],
): Pick<ChainCoverage, 'childrenMissing'> {
  let missing: BlockRange[] = [];
  for (const { block_from: from, next_block: next, block_to: to } of searches) {
    missing = missing.flatMap((range) => subtract(range, [{ from, to: next - 1 }]));
    missing = merge([...missing, { from: next, to }]);
  }
  return missing.length === 0 ? {} : { childrenMissing: missing };
}

type Hole = BlockRange & { reason: HoleReason };

/**
 * Computes the coverage of a stream on one chain, from its first matched block to at least the end
 * of `live`. Blocks in between are holes if they were neither matched live nor backfilled, or only
 * without late children.
 */
export function toCoverage({
  live,
  holes,
  backfilled,
  unverified,
  searched,
}: {
  /**
   * Blocks from the start of the stream's coverage to the checkpoint; undefined if coverage has not
   * started.
   */
  live: BlockRange | undefined;
  holes: readonly Hole[];
  backfilled: readonly BlockRange[];
  /** Blocks of the chain that were accepted unverified. */
  unverified: readonly UnverifiedRange[];
  /**
   * Blocks that were searched by range: live if `streamId` is null, otherwise by a backfill of the
   * stream.
   */
  searched: readonly (BlockRange & { streamId: string | null })[];
}): Omit<ChainCoverage, 'chainId'> {
  const isEmpty = live === undefined || live.from > live.to;
  const passed = isEmpty ? [] : subtract(live, merge(holes.map(({ from, to }) => ({ from, to }))));
  // A backfill closes the holes of the states that it reads.
  const withoutState = merge(holes.filter(({ reason }) => reason === 'state'));
  const evaluated = merge([
    ...passed,
    ...backfilled.flatMap((part) => subtract(part, withoutState)),
  ]);
  const searchedBy = (own: boolean): BlockRange[] =>
    merge(searched.filter(({ streamId }) => (streamId !== null) === own));
  // Blocks that were read one by one, live or by a backfill. They are not listed in `byRange`, even
  // if they were also searched by range.
  const read = merge([
    ...passed.flatMap((part) => subtract(part, searchedBy(false))),
    ...backfilled.flatMap((part) => subtract(part, searchedBy(true))),
  ]);
  const matched = merge([...evaluated, ...holes.filter(({ reason }) => isOfMatched(reason))]);
  const first = matched[0];
  const last = matched.at(-1);
  if (first === undefined || last === undefined)
    return { from: null, to: null, holes: [], unverified: [], byRange: [] };
  const whole = { from: first.from, to: isEmpty ? last.to : Math.max(last.to, live.to) };
  return {
    ...whole,
    holes: subtract(whole, evaluated).flatMap((gap) => explain(gap, holes)),
    unverified: unverified.flatMap(({ codes, ...range }) =>
      evaluated.flatMap((part) => {
        const [from, to] = [Math.max(part.from, range.from), Math.min(part.to, range.to)];
        return from <= to ? [{ from, to, codes }] : [];
      }),
    ),
    byRange: evaluated.flatMap((part) => subtract(part, read)),
  };
}

/**
 * Splits a gap by the holes that explain it. Blocks outside all holes get the reason `before`,
 * because they precede the coverage of the stream.
 */
function explain(gap: BlockRange, holes: readonly Hole[]): Hole[] {
  const parts: Hole[] = [];
  let from = gap.from;
  const inOrder = holes.toSorted((a, b) => a.from - b.from);
  while (from <= gap.to) {
    const here = inOrder.find((hole) => hole.from <= from && from <= hole.to);
    const next = inOrder.find((hole) => hole.from > from);
    const end = here?.to ?? (next === undefined ? gap.to : next.from - 1);
    const to = Math.min(gap.to, end);
    parts.push({ from, to, reason: here?.reason ?? 'before' });
    from = to + 1;
  }
  return parts;
}

/** Merges ranges into ascending ranges that do not touch. */
function merge(ranges: readonly BlockRange[]): BlockRange[] {
  const merged: BlockRange[] = [];
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (from > to) continue;
    if (last !== undefined && from <= last.to + 1) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** Returns `whole` without these ranges, which are ascending and do not touch. */
function subtract(whole: BlockRange, ranges: readonly BlockRange[]): BlockRange[] {
  const left: BlockRange[] = [];
  let from = whole.from;
  for (const range of ranges) {
    if (range.from > from) left.push({ from, to: Math.min(range.from - 1, whole.to) });
    from = Math.max(from, range.to + 1);
  }
  if (from <= whole.to) left.push({ from, to: whole.to });
  return left.filter((range) => range.from <= range.to);
}
