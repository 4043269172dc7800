/** Creates the jobs that search past blocks for the children of a stream's factories. */
import { type Selectable, sql } from 'kysely';
import type { Effects } from '../live/effects.ts';
import { newId } from '../rows/ids.ts';
import { toJob } from '../rows/jobRow.ts';
import { lastSettled } from '../rules/ruleRevision.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type { KnownChild } from './contract.ts';

/** The factories in the options of a stream. */
interface FactoryOptions {
  factories?:
    | readonly { from?: number | undefined; childrenOf?: number | undefined }[]
    | null
    | undefined;
}

/**
 * Returns the first block whose children a stream wants; infinite if there is none.
 *
 * @param newSince first block for factories without `from`
 */
const firstWanted = (options: object, newSince = Infinity): number =>
  Math.min(
    Infinity,
    ...((options as FactoryOptions).factories ?? []).map(({ from = newSince }) => from),
  );

/** Returns the number of generations of a stream's children. */
function countGenerations({ factories }: FactoryOptions): number {
  const generations: number[] = [];
  for (const { childrenOf } of factories ?? []) {
    generations.push(childrenOf === undefined ? 1 : generations[childrenOf]! + 1);
  }
  return Math.max(0, ...generations);
}

interface SearchedStream {
  id: string;
  options: object;
}

/**
 * Searches blocks `from` to `to` of a chain, starting with the first one that the stream wants.
 *
 * @param blocks.isMissed whether the stream missed the blocks, so that factories without `from` want
 * them too
 */
async function searchChildren(
  trx: Db,
  effects: Effects,
  { id, options }: SearchedStream,
  {
    chain,
    from,
    to,
    isMissed,
    now,
  }: { chain: string; from: number; to: number; isMissed: boolean; now: number },
): Promise<void> {
  const wanted = firstWanted(options, isMissed ? from : Infinity);
  const first = Math.max(from, wanted);
  if (first > to) return;
  await insertSearch(trx, effects, {
    stream_id: id,
    chain,
    extensions: countGenerations(options) - 1,
    left_out: Number(isMissed),
    block_from: first,
    block_to: to,
    state: 'running',
    message: '',
    now,
  });
}

type NewSearch = Pick<
  Selectable<Tables['job']>,
  | 'stream_id'
  | 'chain'
  | 'extensions'
  | 'left_out'
  | 'block_from'
  | 'block_to'
  | 'state'
  | 'message'
> & { now: number };

async function insertSearch(
  trx: Db,
  effects: Effects,
  { now, ...search }: NewSearch,
): Promise<void> {
  const row = await trx
    .insertInto('job')
    .values({
      id: newId(),
      kind: 'children',
      lane_id: null,
      next_block: search.block_from,
      matches: 0,
      created_at: now,
      updated_at: now,
      ...search,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  effects.signal('jobs');
  effects.publish({ type: 'job', job: toJob(row) });
}

/** Message of a search that ended because its stream has the maximum of children. */
export const describeMaximum = (maxChildren: number): string =>
  `The stream has ${maxChildren.toLocaleString('en')} children, the maximum. Raise the maximum or remove factories, then resume this search`;

/**
 * Records the blocks of children that were left out, as a search that can be resumed. A search that
 * was not resumed yet is extended.
 */
export async function searchLeftOut(
  trx: Db,
  effects: Effects,
  {
    chain,
    leftOut,
    maxChildren,
    now,
  }: { chain: string; leftOut: readonly KnownChild[]; maxChildren: number; now: number },
): Promise<void> {
  for (const [streamId, its] of Map.groupBy(leftOut, (child) => child.streamId)) {
    const numbers = its.map(({ blockNumber }) => blockNumber);
    const [from, to] = [Math.min(...numbers), Math.max(...numbers)];
    const extended = await trx
      .updateTable('job')
      .set({
        block_to: sql<number>`case when block_to < ${to} then ${to} else block_to end`,
        updated_at: now,
      })
      .where('stream_id', '=', streamId)
      .where('chain', '=', chain)
      .where('left_out', '=', 1)
      .where('state', '=', 'failed')
      .where('next_block', '<=', from)
      .returningAll()
      .execute();
    for (const row of extended) effects.publish({ type: 'job', job: toJob(row) });
    if (extended.length > 0) continue;
    const stream = await trx
      .selectFrom('stream')
      .select('options')
      .where('id', '=', streamId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    if (stream === undefined) continue;
    await insertSearch(trx, effects, {
      stream_id: streamId,
      chain,
      extensions: countGenerations(JSON.parse(stream.options) as FactoryOptions) - 1,
      left_out: 1,
      block_from: from,
      block_to: to,
      state: 'failed',
      message: describeMaximum(maxChildren),
      now,
    });
  }
}

/**
 * Searches the blocks of these chains to which the stream's current rules do not apply. Chains that
 * are not read yet are searched when they start.
 */
export async function searchBefore(
  trx: Db,
  effects: Effects,
  stream: SearchedStream,
  searches: readonly { chain: string; from: number }[],
  now: number,
): Promise<void> {
  await searchUpToSettled(trx, effects, stream, searches, { isMissed: false, now });
}

async function searchUpToSettled(
  trx: Db,
  effects: Effects,
  stream: SearchedStream,
  searches: readonly { chain: string; from: number }[],
  { isMissed, now }: { isMissed: boolean; now: number },
): Promise<void> {
  const first = firstWanted(stream.options, isMissed ? 0 : Infinity);
  if (first === Infinity || searches.length === 0) return;
  const settled = await trx
    .selectFrom('checkpoint')
    .select(['chain', lastSettled.as('number')])
    .where(
      'chain',
      'in',
      searches.map(({ chain }) => chain),
    )
    .execute();
  for (const { chain, number } of settled) {
    const { from } = searches.find((each) => each.chain === chain)!;
    await searchChildren(trx, effects, stream, { chain, from, to: number, isMissed, now });
  }
}

/** Searches blocks of a chain that its streams are not matched against, such as a hole. */
export async function searchGap(
  trx: Db,
  effects: Effects,
  { chain, from, to, now }: { chain: string; from: number; to: number; now: number },
): Promise<void> {
  const streams = await trx
    .selectFrom('stream')
    .innerJoin('coverage', 'coverage.stream_id', 'stream.id')
    .select(['stream.id', 'options', 'from_block'])
    .where('coverage.chain', '=', chain)
    .where('deleted_at', 'is', null)
    .execute();
  for (const { id, options, from_block: start } of streams) {
    const stream = { id, options: JSON.parse(options) as FactoryOptions };
    // Blocks before the stream are not missed.
    const missed = Math.max(from, start ?? Infinity);
    const before = { chain, from, to: Math.min(to, missed - 1), now };
    await searchChildren(trx, effects, stream, { ...before, isMissed: false });
    const since = { chain, from: missed, to, now };
    await searchChildren(trx, effects, stream, { ...since, isMissed: true });
  }
}

/** Searches the blocks of the stream's open holes, which are closed in the same transaction. */
export async function searchOpenHoles(
  trx: Db,
  effects: Effects,
  stream: SearchedStream,
  now: number,
): Promise<void> {
  const holes = await trx
    .selectFrom('hole')
    .select(['chain', 'from_block as from'])
    .where('stream_id', '=', stream.id)
    .where('to_block', 'is', null)
    .execute();
  await searchUpToSettled(trx, effects, stream, holes, { isMissed: true, now });
}

/** SQL expression on `job` and `checkpoint`: the new end of a search whose end was reached. */
export const movedEnd = sql<number>`coalesce((
  select number + 1 from checkpoint where checkpoint.chain = job.chain), block_to)`;
