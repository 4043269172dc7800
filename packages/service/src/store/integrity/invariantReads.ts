/**
 * Finds contradictory rows, which a correct service never writes. To limit their cost, checks of
 * matches and deliveries read only the newest rows, the next section of a walk through all rows,
 * and the rows of earlier violations.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { DELIVERY_STATES } from '@sluice/kit/contract';
import type { Db, Tables } from '../tables/tables.ts';
import { STREAM_FAMILIES } from '../streams/contract.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import { isOfValues } from '../blocks/matches.ts';
import { firstIdAt } from '../rows/ids.ts';
import { TOTAL_MINUTE } from '../stats/statWrites.ts';
import type { Invariant, InvariantScan, InvariantReads, Violation } from './contract.ts';

/**
 * Maximum number of rows per query: of the newest rows, of a section of the walk, or of violations.
 */
const ROWS = 2_000;
/**
 * Number of finished deliveries after which a check of totals stops, and the maximum that it counts
 * per stream and state.
 */
const COUNTED_ROWS = 50_000;
const STREAMS = 50;
const BLOCKS = 200;
const BLOCKS_MS = 10 * 60_000;
/**
 * Maximum time until the lease of a delivery expires, and maximum time from its expiry to its
 * release.
 */
const LEASE_SLACK_MS = 60_000;

interface ScanState {
  violations: Violation[];
  next: string | undefined;
}

export const createInvariantReads = (db: Kysely<Tables>, engine: Engine): InvariantReads => {
  const scans: Record<Invariant, (trx: Db, scan: InvariantScan) => Promise<ScanState>> = {
    chains: (trx) => scanChains(trx, engine),
    leases: (trx) => scanLeases(trx, engine),
    matches: (trx, scan) => scanMatches(trx, engine, scan),
    deliveries: (trx, scan) => scanDeliveries(trx, engine, scan),
    totals: (trx, scan) => scanTotals(trx, engine, scan),
  };
  return {
    // Uses one transaction, so that all compared rows are from the same snapshot.
    findViolations: (invariant, scan) =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute((trx) => scans[invariant](trx, scan)),
  };
};

/**
 * For each chain, checks that the checkpoint is the newest block of the window, that the window's
 * blocks are consecutive, and that the matches of the newest blocks exist.
 */
async function scanChains(trx: Db, engine: Engine): Promise<ScanState> {
  const now = await readNow(engine, trx);
  const { rows: off } = await sql<{ chain: string; number: number }>`
    select chain, number from checkpoint where not exists (
      select 1 from block where block.chain = checkpoint.chain
        and block.number = checkpoint.number and block.hash = checkpoint.hash)
    or exists (
      select 1 from block where block.chain = checkpoint.chain
        and block.number > checkpoint.number)`.execute(trx);
  const { rows: torn } = await sql<{ chain: string; number: number }>`
    select chain, number from block where number > (
      select min(number) from block as oldest where oldest.chain = block.chain)
    and not exists (
      select 1 from block as parent where parent.chain = block.chain
        and parent.number = block.number - 1 and parent.hash = block.parent_hash)
    limit ${ROWS}`.execute(trx);
  const { rows: bare } = await sql<{
    chain: string;
    number: number;
    matches: number;
    found: number;
  }>`
    select chain, number, matches, found from (
      select chain, number, matches, (
        select count(*) from match where match.chain = recent.chain
          and match.block_hash = recent.hash and match.origin like 'live:%'
          and not ${isOfValues}) as found
      from (
        select * from block where matches > 0 and created_at > ${now - BLOCKS_MS}
        order by created_at desc limit ${BLOCKS}) as recent) as counted
    where found < matches`.execute(trx);
  return {
    next: undefined,
    violations: [
      ...off.map(({ chain, number }) => ({
        kind: 'checkpoint_off_window' as const,
        subject: chain,
        what: `block ${number} is not the newest block of the window`,
      })),
      ...torn.map(({ chain, number }) => ({
        kind: 'checkpoint_off_window' as const,
        subject: `${chain}:${number}`,
        what: 'its parent is not in the window',
      })),
      ...bare.map(({ chain, number, matches, found }) => ({
        kind: 'block_without_matches' as const,
        subject: `${chain}:${number}`,
        what: `committed with ${matches} matches, found ${found}`,
      })),
    ],
  };
}

async function scanLeases(trx: Db, engine: Engine): Promise<ScanState> {
  const now = await readNow(engine, trx);
  const { rows } = await sql<{ id: string; lease_until: number }>`
    select id, lease_until from delivery where state = 'leased'
      and (lease_until > ${now + LEASE_SLACK_MS} or lease_until < ${now - LEASE_SLACK_MS})
    limit ${ROWS}`.execute(trx);
  return {
    next: undefined,
    violations: rows.map(({ id, lease_until: until }) => ({
      kind: 'lease_out_of_bounds' as const,
      subject: id,
      what:
        until > now
          ? `leased for another ${Math.round((until - now) / 1000)} s`
          : `lease expired ${Math.round((now - until) / 1000)} s ago and was not released`,
    })),
  };
}

/** Families whose matches are delivered before they are confirmed, too. */
const REORGANIZED = Object.entries(STREAM_FAMILIES).flatMap(([name, { isFinal }]) =>
  isFinal ? [] : [name],
);

/**
 * Checks that each confirmed match has a confirmed delivery. A live match of a chain with reorgs must also
 * have an unconfirmed delivery, unless the match is orphaned, its stream delivers only one phase,
 * or its stream has changed since the match.
 */
async function scanMatches(trx: Db, engine: Engine, scan: InvariantScan): Promise<ScanState> {
  const now = await readNow(engine, trx);
  // Retention may have deleted some deliveries of older matches.
  const oldest = firstIdAt(now - scan.keptMs);
  const chosen = await choose(trx, engine, 'match', scan, oldest);
  const { rows } = await sql<{ id: string; phase: string }>`
    select id, phase from (
      select match.id, case
        when match.state = 'confirmed' and not exists (
          select 1 from delivery where delivery.match_id = match.id
            and delivery.block_day = match.block_day and phase = 'confirmed')
          then 'confirmed'
        when match.state <> 'orphaned' and match.origin like 'live:%' and stream.family in (${sql.join(REORGANIZED)})
          and stream.deliver = 'both' and stream.updated_at <= match.created_at and not exists (
            select 1 from delivery where delivery.match_id = match.id
              and delivery.block_day = match.block_day and phase = 'unconfirmed')
          then 'unconfirmed'
      end as phase
      from match join stream on stream.id = match.stream_id
      where match.id in (select id from ${chosen.ids} as chosen) and match.id >= ${oldest}
        and stream.deleted_at is null) as looked
    where phase is not null`.execute(trx);
  return {
    next: chosen.next,
    violations: rows.map(({ id, phase }) => ({
      kind: 'match_without_delivery' as const,
      subject: id,
      what: `has no ${phase} delivery`,
    })),
  };
}

/**
 * Checks that each delivery has a known state, fields that fit this state, and an attempt counter
 * that equals its number of attempts.
 */
async function scanDeliveries(trx: Db, engine: Engine, scan: InvariantScan): Promise<ScanState> {
  const chosen = await choose(trx, engine, 'delivery', scan, firstIdAt(0));
  const { rows } = await sql<{
    id: string;
    wrong: string | null;
    attempts: number;
    made: number;
  }>`
    select id, wrong, attempts, made from (
      select delivery.id, delivery.attempts,
        (select count(*) from attempt where attempt.delivery_id = delivery.id
          and attempt.block_day = delivery.block_day) as made,
        case
          when delivery.state not in (${sql.join(DELIVERY_STATES.map((state) => sql.lit(state)))})
            then 'in an unknown state'
          when delivery.state = 'leased' and (lease_token is null or lease_until is null)
            then 'leased without a lease'
          when delivery.state <> 'leased' and lease_token is not null
            then 'has a lease but is not leased'
          when delivery.state = 'succeeded' and (last_error is not null
            or (feed_position is null and coalesce(last_status, 0) not between 200 and 299))
            then 'succeeded without a 2xx'
          when feed_position > (select head from feed where feed.stream_id = delivery.stream_id)
            then 'has a position after the newest of its feed'
          when delivery.state in ('failed', 'quarantined') and last_error is null
            then 'failed or quarantined without a reason'
          when delivery.state in ('enriching', 'held', 'pending', 'leased') and match.id is null
            then 'without a match'
          when delivery.state = 'enriching' and match.enrichment is null
            then 'waits for enrichment although its body is complete'
          when delivery.state in ('held', 'pending', 'leased') and match.enrichment is not null
            then 'due before its body is complete'
          when delivery.state = 'held' and match.held = 0
            then 'held although its match is released'
          when delivery.state in ('pending', 'leased') and match.held = 1
            then 'due although its match is held'
        end as wrong
      from delivery left join match on match.id = delivery.match_id
        and match.block_day = delivery.block_day
      where delivery.id in (select id from ${chosen.ids} as chosen)) as looked
    where wrong is not null or attempts <> made`.execute(trx);
  return {
    next: chosen.next,
    violations: rows.flatMap(({ id, wrong, attempts, made }): Violation[] => [
      ...(wrong === null ? [] : [{ kind: 'illegal_delivery' as const, subject: id, what: wrong }]),
      ...(attempts === made
        ? []
        : [
            {
              kind: 'attempts_miscounted' as const,
              subject: id,
              what: `counts ${attempts} attempts, found ${made}`,
            },
          ]),
    ]),
  };
}

/**
 * Checks the totals of the next streams and of those with earlier violations. A total must equal
 * the number of deliveries, or exceed it if retention may have deleted some. Skips totals with too
 * many deliveries to count.
 */
async function scanTotals(
  trx: Db,
  engine: Engine,
  { after = '', again, keptMs }: InvariantScan,
): Promise<ScanState> {
  const now = await readNow(engine, trx);
  const walked = await trx
    .selectFrom('stream')
    .select(['id', 'created_at'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(STREAMS)
    .execute();
  const known =
    again.length === 0
      ? []
      : await trx
          .selectFrom('stream')
          .select(['id', 'created_at'])
          .where('id', 'in', again)
          .execute();
  const violations: Violation[] = [];
  let room = COUNTED_ROWS;
  const count = async ({ id, created_at: createdAt }: (typeof walked)[number]): Promise<void> => {
    const { examined, wrong } = await countStream(trx, id, createdAt >= now - keptMs);
    room -= examined;
    for (const what of wrong) violations.push({ kind: 'totals_miscounted', subject: id, what });
  };
  for (const stream of known) await count(stream);
  for (const stream of walked) {
    await count(stream);
    if (room <= 0) return { violations, next: stream.id };
  }
  return { violations, next: walked.length < STREAMS ? undefined : walked.at(-1)?.id };
}

async function countStream(
  trx: Db,
  streamId: string,
  isComplete: boolean,
): Promise<{ examined: number; wrong: string[] }> {
  const wrong: string[] = [];
  let examined = 0;
  for (const [metric, state, listed] of [
    ['webhooks_delivered', 'succeeded', sql`attempts > 0 and last_error is null`],
    ['webhooks_failed', 'failed', sql`last_error is not null`],
  ] as const) {
    const { rows } = await sql<{ there: number; examined: number; counted: number }>`
      select count(*) filter (where state = ${state}) as there, count(*) as examined,
        (select coalesce(sum(n), 0) from stat where stream_id = ${streamId}
          and minute = ${TOTAL_MINUTE} and metric = ${metric})
        + (select coalesce(sum(n), 0) from stat_delta where stream_id = ${streamId}
          and minute = ${TOTAL_MINUTE} and metric = ${metric}) as counted
      from (select state from delivery where stream_id = ${streamId} and ${listed}
        limit ${COUNTED_ROWS}) as listed`.execute(trx);
    const row = numbersOf(rows[0]!);
    examined += row.examined;
    if (row.examined === COUNTED_ROWS) continue;
    if (row.counted === row.there || (row.counted > row.there && !isComplete)) continue;
    wrong.push(`${metric} is ${row.counted}, found ${row.there}`);
  }
  return { examined, wrong };
}

/**
 * Converts all values to numbers, because an engine may return sums of bigints as
 * strings.
 */
const numbersOf = <Row extends object>(row: Row): Record<keyof Row, number> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)])) as Record<
    keyof Row,
    number
  >;

/**
 * Selects the ids to check: the newest ones, the next section of the walk, and those of earlier
 * violations.
 */
async function choose(
  trx: Db,
  engine: Engine,
  table: 'match' | 'delivery',
  { after, again }: InvariantScan,
  oldest: string,
): Promise<{ ids: RawBuilder<object>; next: string | undefined }> {
  const list = async (order: 'asc' | 'desc'): Promise<string[]> => {
    const rows = await trx
      .selectFrom(table)
      .select('id')
      .where('id', '>', order === 'asc' && after !== undefined && after > oldest ? after : oldest)
      .orderBy('id', order)
      .limit(ROWS)
      .execute();
    return rows.map(({ id }) => id);
  };
  const newest = await list('desc');
  const walked = await list('asc');
  return {
    ids: engine.texts([...new Set([...newest, ...walked, ...again])], 'id'),
    next: walked.length < ROWS ? undefined : walked.at(-1),
  };
}
