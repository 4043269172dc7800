/**
 * Counts attempts, deliveries and matches. Changes are appended and rolled up later, because
 * concurrent updates of the same counters could deadlock.
 */
import { type CompiledQuery, type Kysely, type Selectable, sql } from 'kysely';
import type { DeliverySummary } from '@sluice/kit/contract';
import { TIMED_OUT } from '../../base/timedOut.ts';
import type { Db, Tables } from '../tables/tables.ts';
import { type Engine, readNow } from '../engine/engine.ts';
import type { DayFilter } from '../engine/days.ts';
import { type Place, laneOf } from '../rows/laneIds.ts';
import { latencyMetricOf, readBucket } from './latency.ts';
import type { StatWrites } from './contract.ts';
import type { ActivityMetric, TotalMetric } from '../tables/stats.ts';

type Stat = Selectable<Tables['stat_delta']>;

export const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
/**
 * Retention of counts per minute and per hour, in minutes: one hour more than the longest chart of
 * each (`MAX_POINTS` of the contract), so that the chart's first step is complete.
 */
const MINUTES_KEPT = 2 * 24 * HOUR_MINUTES + HOUR_MINUTES;
const HOURS_KEPT_MINUTES = 30 * 24 * HOUR_MINUTES + HOUR_MINUTES;
/** Maximum number of rows that one roll-up sums up, and that it deletes from each table. */
const ROWS_AT_ONCE = 2_000;
/** Value of `minute` for totals, which do not belong to a minute. */
export const TOTAL_MINUTE = 0;

export function createStatWrites(db: Kysely<Tables>, engine: Engine): StatWrites {
  const addTo = async (trx: Db, name: 'stat' | 'stat_hour', counted: readonly Stat[]) => {
    if (counted.length === 0) return;
    const table = sql.table(name);
    await sql`
      insert into ${table} (stream_id, minute, chain, metric, n)
      select stream_id, minute, chain, metric, n from ${toRows(engine, sum(counted))} as sums
      where true
      on conflict (stream_id, minute, metric, chain) do update
        set n = ${table}.n + excluded.n`.execute(trx);
  };

  /**
   * Deletes some of the rows before this minute, but no totals. Returns the number of deleted rows.
   */
  const forgetBefore = async (trx: Db, name: 'stat' | 'stat_hour', minute: number) => {
    const table = sql.table(name);
    const { numAffectedRows = 0n } = await sql`
      delete from ${table} where ${engine.rowId} ${engine.isIn(sql`
        select ${engine.rowId} from ${table} where minute > ${TOTAL_MINUTE} and minute < ${minute}
        limit ${ROWS_AT_ONCE}`)}`.execute(trx);
    return Number(numAffectedRows);
  };

  return {
    async rollUpStats() {
      return db.transaction().execute(async (trx) => {
        // Deletes rows in the statement that reads them. Continuing after the last row that was
        // read would miss rows that are committed out of order.
        const { rows } = await sql<Stat>`
          delete from stat_delta where ${engine.rowId} ${engine.isIn(sql`
            select ${engine.rowId} from stat_delta limit ${ROWS_AT_ONCE} ${engine.lockRows('update', { skipLocked: true })}`)}
          returning *`.execute(trx);
        const added = [...rows, ...toAllStreams(rows)];
        await addTo(trx, 'stat', added);
        await addTo(trx, 'stat_hour', toHours(added));
        const minute = Math.floor((await readNow(engine, trx)) / MINUTE_MS);
        const forgotten = [
          await forgetBefore(trx, 'stat', minute - MINUTES_KEPT),
          await forgetBefore(trx, 'stat_hour', minute - HOURS_KEPT_MINUTES),
        ];
        return [rows.length, ...forgotten].includes(ROWS_AT_ONCE);
      });
    },
  };
}

/** Moves counts from their minute to the first minute of their hour, and leaves out totals. */
export const toHours = <Row extends Pick<Stat, 'minute'>>(rows: readonly Row[]): Row[] =>
  rows
    .filter(({ minute }) => minute !== TOTAL_MINUTE)
    .map((row) => ({ ...row, minute: row.minute - (row.minute % HOUR_MINUTES) }));

/** Value of `stream_id` for the sums over all streams. */
export const ALL_STREAMS = '';

/**
 * Returns the counts that charts by chain need, to be summed over all streams, so that a chart of
 * 30 days does not read the rows of each stream.
 */
export const toAllStreams = <Row extends Pick<Stat, 'minute' | 'metric'>>(
  rows: readonly Row[],
): (Row & { stream_id: string })[] =>
  rows.flatMap((row) => {
    const metric = chainMetricOf(row.metric);
    return row.minute === TOTAL_MINUTE || metric === undefined
      ? []
      : [{ ...row, stream_id: ALL_STREAMS, metric }];
  });

function chainMetricOf(metric: Stat['metric']): ActivityMetric | undefined {
  if (metric.startsWith('matched')) return 'matched';
  const isNeeded =
    metric === 'delivered' || metric === 'failed_attempts' || readBucket(metric) !== undefined;
  return isNeeded ? (metric as ActivityMetric) : undefined;
}

/** A finished attempt, and the current state of its delivery. */
export interface EndedAttempt {
  outcome: {
    /** HTTP status; null if there was no response. */
    status: number | null;
    durationMs: number;
    /** Error message; null on success. */
    error: string | null;
    result: string;
  };
  delivery: Place & Pick<DeliverySummary, 'chainId' | 'attempts' | 'state'>;
  /** Whether an earlier attempt of the delivery got a 2xx. */
  wasDelivered: boolean;
}

/**
 * Builds the statement that counts attempts in the minute of `now`, and the deliveries that they
 * finished. `open` must include the days of their blocks.
 */
export async function countAttempts(
  trx: Db,
  engine: Engine,
  ended: readonly (EndedAttempt & { delivery: DeliverySummary })[],
  { now, open }: { now: number; open: DayFilter },
): Promise<CompiledQuery<unknown>> {
  const minute = Math.floor(now / MINUTE_MS);
  const activity = ended.flatMap((each) =>
    activityMetricsOf(each).map((metric) => ({
      stream_id: laneOf(each.delivery),
      minute,
      chain: each.delivery.chainId,
      metric,
      n: 1,
    })),
  );
  const deliveries = ended.map(({ delivery }) => delivery);
  const finished = await finishedStats(trx, engine, deliveries, open, 1);
  return toAppend(trx, engine, [...activity, ...finished]);
}

/**
 * Builds the statement that counts the records of a block's matches, by type, in the minute of
 * `now`. Returns undefined if there are no records.
 */
export function countMatched(
  trx: Db,
  engine: Engine,
  chain: string,
  matches: readonly { streamId: string; records: Readonly<Record<string, number>> }[],
  now: number,
): CompiledQuery<unknown> | undefined {
  const minute = Math.floor(now / MINUTE_MS);
  const counted = matches.flatMap(({ streamId, records }) =>
    Object.entries(records).map(([what, n]) => ({
      stream_id: streamId,
      minute,
      chain,
      metric: `matched_${what}` as const,
      n,
    })),
  );
  return counted.length === 0 ? undefined : toAppend(trx, engine, counted);
}

/** Returns the metrics that a finished attempt increments. */
export function activityMetricsOf({
  outcome,
  delivery,
  wasDelivered,
}: EndedAttempt): ActivityMetric[] {
  const { status, error, durationMs } = outcome;
  const isSuccess = outcome.result === 'succeeded';
  const metrics: ActivityMetric[] = isSuccess
    ? [wasDelivered ? 'redelivered' : 'delivered', latencyMetricOf(durationMs)]
    : ['failed_attempts'];
  // A failed attempt with a 2xx had no complete response.
  if (status !== null && (isSuccess || status >= 300)) metrics.push(`answered_${status}`);
  else if (!isSuccess && error?.startsWith(TIMED_OUT)) metrics.push('timed_out');
  if (delivery.attempts > 1) metrics.push('retries');
  if (delivery.state === 'failed') metrics.push('given_up');
  return metrics;
}

/**
 * Updates the totals when deliveries enter `succeeded` or `failed` (`change` 1) or leave these
 * states (`change` -1). `deliveries` have the state that they enter or leave; those in other states
 * are ignored. `open` must include the days of their blocks.
 */
export async function countFinished(
  trx: Db,
  engine: Engine,
  deliveries: readonly DeliverySummary[],
  open: DayFilter,
  change: 1 | -1,
): Promise<void> {
  const counted = await finishedStats(trx, engine, deliveries, open, change);
  if (counted.length > 0) await trx.executeQuery(toAppend(trx, engine, counted));
}

async function finishedStats(
  trx: Db,
  engine: Engine,
  deliveries: readonly DeliverySummary[],
  open: DayFilter,
  change: 1 | -1,
): Promise<Stat[]> {
  const finished = deliveries.filter(({ state }) => state === 'succeeded' || state === 'failed');
  const counted: Stat[] = [];
  const count = (stream_id: string, chain: string, metric: TotalMetric, n: number): void => {
    if (n > 0) counted.push({ stream_id, minute: TOTAL_MINUTE, chain, metric, n: change * n });
  };
  for (const delivery of finished) {
    const { chainId, state } = delivery;
    count(
      laneOf(delivery),
      chainId,
      state === 'succeeded' ? 'webhooks_delivered' : 'webhooks_failed',
      1,
    );
  }
  const confirmed = finished.filter(({ phase }) => phase === 'confirmed');
  if (confirmed.length > 0) {
    const ids = engine.rows(
      confirmed.map(({ matchId }) => ({ id: matchId })),
      { id: 'text' },
    );
    const matches = await trx
      .selectFrom('match')
      .select(['stream_id', 'chain', 'logs', 'transactions', 'internal_transactions'])
      .where(open('block_day'))
      .where(sql<boolean>`id in (select id from ${ids} as finished)`)
      .execute();
    for (const match of matches) {
      const { stream_id, chain } = match;
      count(stream_id, chain, 'logs', match.logs);
      count(stream_id, chain, 'transactions', match.transactions);
      count(stream_id, chain, 'internal_transactions', match.internal_transactions);
    }
  }
  return counted;
}

const toAppend = (trx: Db, engine: Engine, counted: readonly Stat[]): CompiledQuery<unknown> =>
  sql`
    insert into stat_delta (stream_id, minute, chain, metric, n)
    select stream_id, minute, chain, metric, n from ${toRows(engine, sum(counted))} as counted`.compile(
    trx,
  );

const toRows = (engine: Engine, counted: readonly Stat[]) =>
  engine.rows(counted, {
    stream_id: 'text',
    minute: 'bigint',
    chain: 'text',
    metric: 'text',
    n: 'bigint',
  });

/**
 * Sums counts to one row per stream, chain, metric and minute. The rows are always in the same
 * order, so that concurrent roll-ups do not deadlock.
 */
function sum(counted: readonly Stat[]): Stat[] {
  // Uses nested maps, because a combined key would need a new string for each row.
  const streams = new Map<string, Map<string, Map<Stat['metric'], Map<number, number>>>>();
  for (const { stream_id, chain, metric, minute, n } of counted) {
    const minutes = inside(inside(inside(streams, stream_id), chain), metric);
    minutes.set(minute, (minutes.get(minute) ?? 0) + n);
  }
  return inOrder(streams).flatMap(([stream_id, chains]) =>
    inOrder(chains).flatMap(([chain, metrics]) =>
      inOrder(metrics).flatMap(([metric, minutes]) =>
        inOrder(minutes).map(([minute, n]) => ({ stream_id, minute, chain, metric, n })),
      ),
    ),
  );
}

function inside<K, InnerK, V>(map: Map<K, Map<InnerK, V>>, key: K): Map<InnerK, V> {
  let inner = map.get(key);
  if (inner === undefined) map.set(key, (inner = new Map()));
  return inner;
}

const inOrder = <K extends string | number, V>(map: ReadonlyMap<K, V>): [K, V][] =>
  [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
