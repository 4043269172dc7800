/**
 * Reads and writes the values that streams read in the state of blocks. They are written after the
 * commit of their block, in the order of the blocks, and follow the chain like the blocks.
 */
import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { addStateHoles, coversBlock } from '../blocks/coverage.ts';
import {
  findConfirmed,
  insertMatches,
  isOfValues,
  selectKnown,
  valueOrigin,
  withoutDeleted,
} from '../blocks/matches.ts';
import { toBlockDay } from '../engine/days.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import { toLedgerText } from '../engine/ledgerText.ts';
import { holdsLease } from '../leases/leases.ts';
import type { Ledger } from '../live/effects.ts';
import type { Db, Tables } from '../tables/tables.ts';
import type {
  KnownRead,
  ReadRef,
  StateReading,
  ValueReads,
  ValueRun,
  ValueWrites,
} from './contract.ts';

/** Number of blocks after which runs are trimmed. */
const TRIM_BLOCKS = 16;
const isTrimmed = (after: number, number: number): boolean =>
  Math.floor(after / TRIM_BLOCKS) < Math.floor(number / TRIM_BLOCKS);

/** Maximum number of rows that one transaction deletes for deleted streams. */
const CLEAN_UP_ROWS = 5_000;

type RunRow = Tables['read_value'];

/** The columns of `run`, and the table that has the ends of runs that last. */
const runColumns = sql`run.stream_id, run.chain, read_key, from_block, to_timestamp, value, error,
  lasts, case when lasts = 1 then block_number else to_block end as to_block`;
const runEnds = sql`left join read_up_to on read_up_to.stream_id = run.stream_id
  and read_up_to.chain = run.chain`;

export const createValueReads = (db: Kysely<Tables>): ValueReads => ({
  async nextState(chain) {
    const row = await db
      .selectFrom('pending_state')
      .selectAll()
      .select(
        sql<number>`(select count(*) from pending_state where chain = ${chain})`.as('pending'),
      )
      .where('chain', '=', chain)
      .orderBy('block_number')
      .limit(1)
      .executeTakeFirst();
    return (
      row && {
        chain,
        block: {
          number: row.block_number,
          hash: row.block_hash,
          parentHash: row.parent_hash,
          timestamp: row.block_timestamp,
        },
        after: row.after_number,
        pending: row.pending,
      }
    );
  },

  async countPendingStates() {
    const rows = await db
      .selectFrom('checkpoint')
      .leftJoin('pending_state', 'pending_state.chain', 'checkpoint.chain')
      .select(({ fn }) => ['checkpoint.chain', fn.count<number>('block_hash').as('blocks')])
      .groupBy('checkpoint.chain')
      .execute();
    return Object.fromEntries(rows.map(({ chain, blocks }) => [chain, blocks]));
  },

  async listCovering(chain, blockNumber) {
    const rows = await db
      .selectFrom('coverage')
      .select('stream_id')
      .where('coverage.chain', '=', chain)
      .where(coversBlock(chain, blockNumber))
      .execute();
    return rows.map((row) => row.stream_id);
  },

  listKnownReads: (chain) => listKnown(db, sql`chain = ${chain}`),

  async readValuesAt(chain, streamId, blockNumber) {
    const known = await listKnown(
      db,
      sql`chain = ${chain} and stream_id = ${streamId} and from_block < ${blockNumber}`,
    );
    const { rows: begun } = await sql<RunRow>`
      select ${runColumns} from read_value as run ${runEnds}
      where run.chain = ${chain} and run.stream_id = ${streamId}
        and from_block = ${blockNumber}`.execute(db);
    const pending = await db
      .selectFrom('pending_state')
      .select('block_number')
      .where('chain', '=', chain)
      .where('block_number', '=', blockNumber)
      .executeTakeFirst();
    const window = await db
      .selectFrom('block')
      .select(({ fn }) => fn.min<number | null>('number').as('oldest'))
      .where('chain', '=', chain)
      .executeTakeFirst();
    return {
      known,
      begun: begun.map((row) => ({
        streamId: row.stream_id,
        key: row.read_key,
        ...toRun(row),
      })),
      isPending: pending !== undefined,
      keptFrom: window?.oldest ?? undefined,
    };
  },
});

/** Returns the newest runs of the values among these runs. */
async function listKnown(db: Kysely<Tables>, among: RawBuilder<SqlBool>): Promise<KnownRead[]> {
  const { rows } = await sql<RunRow>`
    with among as (select * from read_value where ${among})
    select ${runColumns} from among as run join (
      select chain, stream_id, read_key as key, max(from_block) as newest,
        max(case when error is null then from_block end) as last
      from among group by chain, stream_id, read_key) as known
      on run.chain = known.chain and run.stream_id = known.stream_id
        and run.read_key = known.key ${runEnds}
    where run.from_block in (newest, last)
    order by run.from_block desc`.execute(db);
  const known = new Map<string, KnownRead>();
  for (const row of rows) {
    const id = `${row.stream_id} ${row.read_key}`;
    const run = toRun(row);
    const first = known.get(id);
    const last = run.error === null ? run : undefined;
    if (first === undefined) {
      known.set(id, { streamId: row.stream_id, key: row.read_key, newest: run, last });
    } else if (first.last === undefined) first.last = last;
  }
  return [...known.values()];
}

const toRun = (row: RunRow): ValueRun => ({
  from: row.from_block,
  to: row.to_block,
  timestamp: row.to_timestamp,
  value: row.value,
  error: row.error,
  lasts: row.lasts === 1,
});

export const createValueWrites = ({ db, engine, transact }: Ledger): ValueWrites => ({
  async commitState(reading) {
    const { chain, epoch, state, forgotten, lacking, matches, heights } = reading;
    const { block, after } = state;
    return transact(async (trx, effects) => {
      if (!(await holdsLease(trx, engine, chain, epoch))) return false;
      const ended = await trx
        .deleteFrom('pending_state')
        .where('chain', '=', chain)
        .where('block_number', '=', block.number)
        .where('block_hash', '=', block.hash)
        .returning('chain')
        .executeTakeFirst();
      if (ended === undefined) return false;
      const now = await readNow(engine, trx);
      await addStateHoles(trx, { chain, block: block.number, after, streamIds: lacking, now });
      await saveResults(trx, engine, reading);
      await forget(trx, engine, chain, forgotten);
      if (isTrimmed(after, block.number)) await trimRuns(trx, chain);
      const left = await withoutDeleted(trx, matches);
      if (left.length === 0) return true;
      await engine.openDay(trx, toBlockDay(block.timestamp));
      // If the block left the chain and returned, its matches have been restored.
      const known = await selectKnown(trx, chain, block, isOfValues).execute();
      const isKnown = new Set(known.map((match) => match.stream_id));
      const confirmed = await findConfirmed(trx, heights, block.number, left);
      for (const matchState of ['confirmed', 'frozen'] as const) {
        effects.moveDeliveries(
          await insertMatches(trx, engine, {
            chain,
            block,
            matches: left.filter(
              ({ streamId }) =>
                !isKnown.has(streamId) && confirmed.has(streamId) === (matchState === 'confirmed'),
            ),
            known: [],
            unverified: undefined,
            now,
            origin: valueOrigin(0),
            state: matchState,
          }),
        );
      }
      return true;
    });
  },

  async cleanUpValues() {
    return db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ id: string }>`
        select id from stream where deleted_at is not null
          and exists (select 1 from read_value where stream_id = stream.id) limit 1`.execute(trx);
      const [stream] = rows;
      if (stream === undefined) return false;
      await trx.deleteFrom('read_up_to').where('stream_id', '=', stream.id).execute();
      await sql`
        delete from read_value where stream_id = ${stream.id} and (chain, read_key, from_block) in (
          select chain, read_key, from_block from read_value where stream_id = ${stream.id}
          limit ${CLEAN_UP_ROWS})`.execute(trx);
      return true;
    });
  },
});

async function saveResults(
  trx: Db,
  engine: Engine,
  { chain, state, results, lasting, ended }: StateReading,
): Promise<void> {
  const { number, timestamp } = state.block;
  const toKey = ({ streamId, key }: ReadRef) => ({ stream_id: streamId, read_key: key });
  const begun = results.flatMap((each) =>
    each.continues === undefined
      ? {
          ...toKey(each),
          value: each.value,
          error: each.error === null ? null : toLedgerText(each.error),
          lasts: each.lasts ? 1 : 0,
        }
      : [],
  );
  await endRuns(trx, engine, chain, [...begun, ...ended.map(toKey)]);
  const continued = results.flatMap(({ continues, lasts, ...each }) =>
    continues === undefined
      ? []
      : { ...toKey(each), from_block: continues.from, lasts: lasts ? 1 : 0 },
  );
  if (continued.length > 0) {
    const listed = engine.rows(continued, {
      stream_id: 'text',
      read_key: 'text',
      from_block: 'bigint',
      lasts: 'bigint',
    });
    await sql`
      update read_value set to_block = ${number}, to_timestamp = ${timestamp},
        lasts = continued.lasts
      from ${listed} as continued
      where read_value.chain = ${chain} and read_value.stream_id = continued.stream_id
        and read_value.read_key = continued.read_key
        and read_value.from_block = continued.from_block`.execute(trx);
  }
  if (lasting.length > 0) {
    const listed = engine.rows(
      lasting.map((id) => ({ id })),
      { id: 'text' },
    );
    await sql`
      insert into read_up_to (stream_id, chain, block_number)
      select id, ${chain}, ${number} from ${listed} as lasting
      where exists (select 1 from stream where stream.id = lasting.id and deleted_at is null)
      on conflict (stream_id, chain) do update set block_number = excluded.block_number`.execute(
      trx,
    );
  }
  if (begun.length === 0) return;
  const columns = {
    stream_id: 'text',
    read_key: 'text',
    value: 'text',
    error: 'text',
    lasts: 'bigint',
  } as const;
  await sql`
    insert into read_value (stream_id, chain, read_key, from_block, to_block, to_timestamp, value,
      error, lasts)
    select stream_id, ${chain}, read_key, ${number}, ${number}, ${timestamp}, value, error, lasts
    from ${engine.rows(begun, columns)} as begun
    where exists (select 1 from stream where id = stream_id and deleted_at is null)`.execute(trx);
}

/** Ends the runs of these values that last, at the last block that their stream read. */
async function endRuns(
  trx: Db,
  engine: Engine,
  chain: string,
  values: readonly { stream_id: string; read_key: string }[],
): Promise<void> {
  if (values.length === 0) return;
  const keys = values.map(({ stream_id, read_key }) => ({ stream_id, read_key }));
  const listed = engine.rows(keys, { stream_id: 'text', read_key: 'text' });
  await sql`
    update read_value set lasts = 0, to_block = (
      select block_number from read_up_to
      where read_up_to.stream_id = read_value.stream_id and read_up_to.chain = read_value.chain)
    where chain = ${chain} and lasts = 1 and (stream_id, read_key) in (
      select stream_id, read_key from ${listed} as ended)`.execute(trx);
}

/**
 * Deletes runs to which no rewind can return: a rewind reaches at most the oldest block of the
 * window, so it needs only the newest value up to that block, and what follows.
 */
const trimRuns = (trx: Db, chain: string): Promise<unknown> =>
  sql`
    delete from read_value where chain = ${chain} and from_block < (
      select max(newer.from_block) from read_value as newer
      where newer.chain = read_value.chain and newer.stream_id = read_value.stream_id
        and newer.read_key = read_value.read_key and newer.error is null
        and newer.from_block <= (
          select min(number) from block where block.chain = ${chain}))`.execute(trx);

async function forget(
  trx: Db,
  engine: Engine,
  chain: string,
  forgotten: readonly ReadRef[],
): Promise<void> {
  if (forgotten.length === 0) return;
  const rows = forgotten.map(({ streamId, key }) => ({ stream_id: streamId, read_key: key }));
  const listed = engine.rows(rows, { stream_id: 'text', read_key: 'text' });
  await sql`
    delete from read_value where chain = ${chain} and (stream_id, read_key) in (
      select stream_id, read_key from ${listed} as forgotten)`.execute(trx);
}
