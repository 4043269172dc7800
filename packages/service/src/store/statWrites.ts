/**
 * The counts of what was delivered. Deltas are appended where things happen and rolled up apart:
 * counters updated in place deadlock under load.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { DeliverySummary } from '@sluice/kit/contract';
import { type Db, type Engine, readNow } from './engine.ts';
import type { DayFilter } from './partitions.ts';
import { latencyMetricOf } from './latency.ts';
import type { AttemptOutcome, StatWrites } from './store.ts';
import type { ActivityMetric, Tables, TotalMetric } from './tables.ts';

type Stat = Selectable<Tables['stat_delta']>;

export const MINUTE_MS = 60_000;
/** Longer than any reader looks back. */
const ACTIVITY_KEPT_MINUTES = 2 * 24 * 60;
/** Rows that one roll-up adds up, and that it forgets. */
const ROWS_AT_ONCE = 2_000;
/** Where totals stand: no real minute. */
export const TOTAL_MINUTE = 0;

export function createStatWrites(db: Kysely<Tables>, engine: Engine): StatWrites {
  const place = sql.raw(engine.name === 'postgres' ? 'ctid' : 'rowid');

  return {
    async rollUpStats() {
      return db.transaction().execute(async (trx) => {
        // Consumed rather than read up to an id: a lower id can still commit later.
        const { rows } = await sql<Stat>`
          delete from stat_delta where ${place} ${engine.isIn(sql`
            select ${place} from stat_delta limit ${ROWS_AT_ONCE} ${engine.skipLocked}`)}
          returning *`.execute(trx);
        if (rows.length > 0) {
          await sql`
            insert into stat (stream_id, minute, metric, n)
            select stream_id, minute, metric, n from ${toRows(engine, sum(rows))} as sums
            where true
            on conflict (stream_id, minute, metric) do update set n = stat.n + excluded.n`.execute(
            trx,
          );
        }
        const minute = Math.floor((await readNow(engine, trx)) / MINUTE_MS);
        const { numAffectedRows: forgotten = 0n } = await sql`
          delete from stat where ${place} ${engine.isIn(sql`
            select ${place} from stat where minute > ${TOTAL_MINUTE}
              and minute < ${minute - ACTIVITY_KEPT_MINUTES} limit ${ROWS_AT_ONCE}`)}`.execute(trx);
        return rows.length === ROWS_AT_ONCE || forgotten === BigInt(ROWS_AT_ONCE);
      });
    },
  };
}

/** An attempt that ended, and its delivery as it is now. */
export interface EndedAttempt {
  outcome: Pick<AttemptOutcome, 'status' | 'durationMs' | 'result'>;
  delivery: Pick<DeliverySummary, 'streamId' | 'attempts' | 'state'>;
}

/** Counts how attempts ended, each in the minute `now`. */
export async function countActivity(
  trx: Db,
  engine: Engine,
  ended: readonly EndedAttempt[],
  now: number,
): Promise<void> {
  const minute = Math.floor(now / MINUTE_MS);
  await append(
    trx,
    engine,
    ended.flatMap((each) =>
      activityMetricsOf(each).map((metric) => ({
        stream_id: each.delivery.streamId,
        minute,
        metric,
        n: 1,
      })),
    ),
  );
}

/** What one attempt that ended is counted as. */
export function activityMetricsOf({ outcome, delivery }: EndedAttempt): ActivityMetric[] {
  const metrics: ActivityMetric[] =
    outcome.result === 'succeeded'
      ? ['delivered', latencyMetricOf(outcome.durationMs)]
      : ['failed_attempts', failureOf(outcome.status)];
  if (delivery.attempts > 1) metrics.push('retries');
  if (delivery.state === 'failed') metrics.push('given_up');
  return metrics;
}

function failureOf(status: number | null): ActivityMetric {
  if (status !== null && status >= 300 && status < 400) return 'failed_3xx';
  if (status !== null && status >= 400 && status < 500) return 'failed_4xx';
  // A 2xx whose answer never ended is as good as none.
  return status !== null && status >= 500 ? 'failed_5xx' : 'failed_none';
}

/**
 * Keeps the totals true when deliveries come to `succeeded` or `failed` (`change` 1), or leave these
 * states (`change` -1: give the deliveries as they were). Those in other states count for nothing. Their days
 * are open.
 */
export async function countFinished(
  trx: Db,
  engine: Engine,
  deliveries: readonly DeliverySummary[],
  open: DayFilter,
  change: 1 | -1,
): Promise<void> {
  const finished = deliveries.filter(({ state }) => state === 'succeeded' || state === 'failed');
  const counted: Stat[] = [];
  const count = (streamId: string, metric: TotalMetric, n: number): void => {
    if (n > 0) {
      counted.push({ stream_id: streamId, minute: TOTAL_MINUTE, metric, n: change * n });
    }
  };
  for (const { streamId, state } of finished) {
    count(streamId, state === 'succeeded' ? 'webhooks_delivered' : 'webhooks_failed', 1);
  }
  const confirmed = finished.filter(({ phase }) => phase === 'confirmed');
  if (confirmed.length > 0) {
    const ids = engine.rows(
      confirmed.map(({ matchId }) => ({ id: matchId })),
      { id: 'text' },
    );
    const matches = await trx
      .selectFrom('match')
      .select(['stream_id', 'logs', 'transactions', 'internal_transactions'])
      .where(open('block_day'))
      .where(sql<boolean>`id in (select id from ${ids} as finished)`)
      .execute();
    for (const match of matches) {
      count(match.stream_id, 'logs', match.logs);
      count(match.stream_id, 'transactions', match.transactions);
      count(match.stream_id, 'internal_transactions', match.internal_transactions);
    }
  }
  await append(trx, engine, counted);
}

async function append(trx: Db, engine: Engine, counted: readonly Stat[]): Promise<void> {
  if (counted.length === 0) return;
  await sql`
    insert into stat_delta (stream_id, minute, metric, n)
    select stream_id, minute, metric, n from ${toRows(engine, sum(counted))} as counted`.execute(
    trx,
  );
}

const toRows = (engine: Engine, counted: readonly Stat[]) =>
  engine.rows(counted, { stream_id: 'text', minute: 'bigint', metric: 'text', n: 'bigint' });

/** One row per stream, minute and metric, in one order everywhere: two roll-ups then never deadlock. */
function sum(counted: readonly Stat[]): Stat[] {
  // By one after the other: a key of all three would be a new text for each row.
  const streams = new Map<string, Map<Stat['metric'], Map<number, number>>>();
  for (const { stream_id, metric, minute, n } of counted) {
    let metrics = streams.get(stream_id);
    if (metrics === undefined) streams.set(stream_id, (metrics = new Map()));
    let minutes = metrics.get(metric);
    if (minutes === undefined) metrics.set(metric, (minutes = new Map()));
    minutes.set(minute, (minutes.get(minute) ?? 0) + n);
  }
  return inOrder(streams).flatMap(([stream_id, metrics]) =>
    inOrder(metrics).flatMap(([metric, minutes]) =>
      inOrder(minutes).map(([minute, n]) => ({ stream_id, minute, metric, n })),
    ),
  );
}

const inOrder = <K extends string | number, V>(map: ReadonlyMap<K, V>): [K, V][] =>
  [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
