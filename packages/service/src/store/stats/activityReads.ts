/** Reads rolled-up counts over time. */
import { type Kysely, sql } from 'kysely';
import type { ActivityPoint, ActivityStep, ChainSteps } from '@sluice/kit/contract';
import { type Engine, readMoment, readNow } from '../engine/engine.ts';
import { quantileMs, readBucket } from './latency.ts';
import { ALL_STREAMS, MINUTE_MS } from './statWrites.ts';
import type { ActivityRange, ActivityCounts, ActivityReads, StreamActivity } from './contract.ts';
import { listReceiverLanes } from '../rows/receiverLanes.ts';
import { type StepCount, toResponseTimeRows } from './responseTimes.ts';
import type { Tables } from '../tables/tables.ts';

const DAY_HOURS = 24;
const HOUR_MINUTES = 60;
/** Maximum number of lanes that are read from counts per minute; reading 200 takes seconds. */
const MAX_LANES = 20;
const SERIES_STEP_MINUTES = 5;
const SERIES_STEPS = 24;

interface Count {
  /** Position of the step, counted back from the last step, which is 0. */
  ago: number;
  metric: string;
  n: number;
}

type ChainCount = Omit<Count, 'ago'> & { chain: string };

export function createActivityReads(db: Kysely<Tables>, engine: Engine): ActivityReads {
  const readMinute = async (): Promise<number> =>
    Math.floor((await readNow(engine, db)) / MINUTE_MS);

  /**
   * Returns the first and the last step, an expression for the rows of the range, and whether the
   * last step is in progress. Steps start at multiples of their length, so that each read of a
   * chart returns the same steps.
   */
  const span = async ({
    streamId,
    stepMinutes,
    points,
    until,
  }: Omit<ActivityRange, 'streamId'> & { streamId?: string | readonly string[] | undefined }) => {
    const current = Math.floor((await readMinute()) / stepMinutes);
    const last = Math.min(current, Math.floor((until ?? Infinity) / MINUTE_MS / stepMinutes));
    const first = last - points + 1;
    const counted = sql`${sql.table(stepMinutes === HOUR_MINUTES ? 'stat_hour' : 'stat')}
      where minute >= ${first * stepMinutes} and minute < ${(last + 1) * stepMinutes}
        and ${streamId === undefined ? sql`stream_id <> ${ALL_STREAMS}` : sql`stream_id in (${sql.join([streamId].flat())})`}`;
    return { first, last, counted, isPartial: last === current };
  };

  return {
    async readActivity(asked) {
      const { first, last, counted, isPartial } = await span(asked);
      const { rows } = await sql<Count>`
        select ${last} - minute / ${sql.lit(asked.stepMinutes)} as ago, metric, cast(sum(n) as bigint) as n
        from ${counted} and metric not like 'matched%' group by 1, 2`.execute(db);
      const byStep = Map.groupBy(rows, ({ ago }) => ago);
      const points = Array.from({ length: asked.points }, (_, n) =>
        toPoint(
          (first + n) * asked.stepMinutes * MINUTE_MS,
          byStep.get(asked.points - 1 - n) ?? [],
        ),
      );
      return { points, isPartial };
    },

    async readBreakdown(asked) {
      const { first, counted } = await span(asked);
      const { rows } = await sql<ChainCount>`
        select chain, metric, cast(sum(n) as bigint) as n
        from ${counted} group by chain, metric`.execute(db);
      return { from: first * asked.stepMinutes * MINUTE_MS, ...toBreakdown(rows) };
    },

    async readChainActivity({ streamId = ALL_STREAMS, ...range }) {
      const { stepMinutes, points } = range;
      const { first, counted, isPartial } = await span({ streamId, ...range });
      const { rows } = await sql<ChainCount & { step: number }>`
        select chain, minute / ${sql.lit(stepMinutes)} - ${first} as step,
          case when metric like 'matched%' then 'matched' else metric end as metric,
          cast(sum(n) as bigint) as n
        from ${counted} and (metric in ('delivered', 'failed_attempts') or metric like 'matched%'
          or metric like 'latency%')
        group by 1, 2, 3`.execute(db);
      const chains = [...Map.groupBy(rows, ({ chain }) => chain)].map(([chainId, its]) =>
        toChainSteps(chainId, its, points),
      );
      chains.sort((a, b) => (a.chainId < b.chainId ? -1 : 1));
      return { from: first * stepMinutes * MINUTE_MS, points, isPartial, chains };
    },

    async readResponseTimes({ of, until, ...range }) {
      const lanes = 'lane' in of ? [of.lane] : await listReceiverLanes(db, of.receiver);
      if (lanes.length === 0) return undefined;
      const { stepMinutes, points } = lanes.length > MAX_LANES ? toHourSteps(range) : range;
      const { first, counted, isPartial } = await span({
        streamId: lanes,
        stepMinutes,
        points,
        until,
      });
      const { rows } = await sql<StepCount>`
        select minute / ${sql.lit(stepMinutes)} - ${first} as step, metric,
          cast(sum(n) as bigint) as n
        from ${counted} and (metric in ('failed_attempts', 'timed_out')
          or metric like 'answered%' or metric like 'latency%')
        group by 1, 2`.execute(db);
      const latencies = toLatencies(rows);
      return {
        stepMinutes,
        from: first * stepMinutes * MINUTE_MS,
        points,
        isPartial,
        p50Ms: quantileMs(latencies, 0.5),
        p95Ms: quantileMs(latencies, 0.95),
        rows: toResponseTimeRows(rows, points),
      };
    },

    async readStreamStats() {
      const minute = await readMinute();
      const { open } = await readMoment(engine, db);
      const streams = await db
        .selectFrom('stream')
        .select('id')
        .select((eb) => [
          eb
            .selectFrom('delivery')
            .select(({ fn }) => fn.countAll<number>().as('n'))
            .whereRef('delivery.stream_id', '=', 'stream.id')
            .where('delivery.state', '=', 'pending')
            .where(open('delivery.block_day'))
            .as('pending'),
          // Uses separate queries, because each state has its own partial index.
          eb
            .selectFrom('delivery')
            .select(({ fn }) => fn.countAll<number>().as('n'))
            .whereRef('delivery.stream_id', '=', 'stream.id')
            .where('delivery.state', '=', 'enriching')
            .where(open('delivery.block_day'))
            .as('enriching'),
          eb
            .selectFrom('delivery')
            .select(({ fn }) => fn.countAll<number>().as('n'))
            .whereRef('delivery.stream_id', '=', 'stream.id')
            .where('delivery.state', '=', 'held')
            .where(open('delivery.block_day'))
            .as('held'),
          eb
            .selectFrom('delivery')
            .select('created_at')
            .whereRef('delivery.stream_id', '=', 'stream.id')
            .orderBy('id', 'desc')
            .limit(1)
            .as('last_delivery_at'),
          firstFailedMinute.as('failing_minute'),
        ])
        .where('deleted_at', 'is', null)
        .execute();
      // Reads the last 24 hours from hourly counts, because counts per minute have up to sixty
      // times as many rows. Only the first, incomplete hour is read by minute.
      const hour = minute - (minute % HOUR_MINUTES);
      const dayAgo = minute - DAY_HOURS * HOUR_MINUTES;
      const { rows: byHour } = await sql<Count & { stream_id: string }>`
        select stream_id, ago, metric, cast(sum(n) as bigint) as n from (
          select stream_id, (cast(${hour} as bigint) - minute) / ${sql.lit(HOUR_MINUTES)} as ago, metric, n
          from stat_hour where minute > ${dayAgo}
          union all
          select stream_id, ${sql.lit(DAY_HOURS)} as ago, metric, n
          from stat where minute > ${dayAgo} and minute <= ${hour - DAY_HOURS * HOUR_MINUTES + HOUR_MINUTES - 1}
        ) as counted
        where metric in ('delivered', 'redelivered', 'failed_attempts') or metric like 'latency%'
        group by 1, 2, 3`.execute(db);
      const { rows: byStep } = await sql<Count & { stream_id: string }>`
        select stream_id, (cast(${minute} as bigint) - minute) / ${sql.lit(SERIES_STEP_MINUTES)} as ago, metric,
          cast(sum(n) as bigint) as n
        from stat where minute > ${minute - SERIES_STEP_MINUTES * SERIES_STEPS}
          and metric in ('delivered', 'failed_attempts')
        group by 1, 2, 3`.execute(db);
      const hours = Map.groupBy(byHour, (row) => row.stream_id);
      const recent = Map.groupBy(byStep, (row) => row.stream_id);
      return streams.map((stream): StreamActivity => {
        const its = hours.get(stream.id) ?? [];
        const newest = recent.get(stream.id) ?? [];
        const ofDay = (metric: string): number => sumOf(its, (each) => each === metric);
        return {
          streamId: stream.id,
          queue: (stream.pending ?? 0) + (stream.enriching ?? 0) + (stream.held ?? 0),
          delivered24h: ofDay('delivered'),
          redelivered24h: ofDay('redelivered'),
          failedAttempts24h: ofDay('failed_attempts'),
          deliveredSeries: toSeries(newest, 'delivered', SERIES_STEPS),
          hourlyDelivered: toHourly(its, newest, 'delivered'),
          hourlyFailed: toHourly(its, newest, 'failed_attempts'),
          p95Ms: quantileMs(toLatencies(its), 0.95),
          lastDeliveryAt: stream.last_delivery_at,
          failingSince: stream.failing_minute === null ? null : stream.failing_minute * MINUTE_MS,
        };
      });
    },
  };
}

const toHourSteps = ({ stepMinutes, points }: Pick<ActivityRange, 'stepMinutes' | 'points'>) => ({
  stepMinutes: HOUR_MINUTES as ActivityStep,
  points: Math.ceil((stepMinutes * points) / HOUR_MINUTES),
});

/** Expression for the first minute with a failed attempt after the last minute with a 2xx. */
export const firstFailedMinute = sql<number | null>`(
  select failed.minute from stat failed
  where failed.stream_id = stream.id and failed.metric = 'failed_attempts' and failed.minute > coalesce((
    select delivered.minute from stat delivered
    where delivered.stream_id = stream.id and delivered.metric in ('delivered', 'redelivered')
    order by delivered.minute desc limit 1
  ), 0)
  order by failed.minute limit 1
)`;

/** Returns the counts of a metric by step, oldest first. */
function toSeries(counts: readonly Count[], metric: string, steps: number): number[] {
  const series = Array.from({ length: steps }, () => 0);
  for (const count of counts) {
    const at = steps - 1 - count.ago;
    if (count.metric === metric && at >= 0) series[at] = (series[at] ?? 0) + count.n;
  }
  return series;
}

/**
 * Returns the counts of a metric for 23 clock hours, oldest first, then for the last 60 minutes.
 */
function toHourly(byHour: readonly Count[], byStep: readonly Count[], metric: string): number[] {
  const lastHour = toSeries(byStep, metric, SERIES_STEPS).slice(
    -HOUR_MINUTES / SERIES_STEP_MINUTES,
  );
  return [
    ...toSeries(byHour, metric, DAY_HOURS).slice(0, -1),
    lastHour.reduce((sum, n) => sum + n, 0),
  ];
}

function toLatencies(counts: readonly Counted[]): Map<number, number> {
  const latencies = new Map<number, number>();
  for (const { metric, n } of counts) {
    const bucket = readBucket(metric);
    if (bucket !== undefined) latencies.set(bucket, (latencies.get(bucket) ?? 0) + n);
  }
  return latencies;
}

type Counted = Pick<Count, 'metric' | 'n'>;

const sumOf = (counts: readonly Counted[], isSought: (metric: string) => boolean): number =>
  counts.reduce((sum, { metric, n }) => (isSought(metric) ? sum + n : sum), 0);

function toPoint(at: number, counts: readonly Count[]): ActivityPoint {
  const of = (metric: string): number => sumOf(counts, (each) => each === metric);
  const answered = (digit: string): number =>
    sumOf(counts, (each) => each.startsWith(`${ANSWERED}${digit}`));
  const latencies = toLatencies(counts);
  return {
    at,
    delivered: of('delivered'),
    redelivered: of('redelivered'),
    failed: of('given_up'),
    failedAttempts: of('failed_attempts'),
    retries: of('retries'),
    failures: {
      none: unansweredOf(counts),
      '3xx': answered('3'),
      '4xx': answered('4'),
      '5xx': answered('5'),
    },
    p50Ms: quantileMs(latencies, 0.5),
    p95Ms: quantileMs(latencies, 0.95),
  };
}

function toChainSteps(
  chainId: string,
  counts: readonly (Counted & { step: number })[],
  points: number,
): ChainSteps {
  const byStep = Map.groupBy(counts, ({ step }) => step);
  const steps = Array.from({ length: points }, (_, step) => byStep.get(step) ?? []);
  const of = (metric: string) => steps.map((its) => sumOf(its, (each) => each === metric));
  return {
    chainId,
    matched: of('matched'),
    delivered: of('delivered'),
    failedAttempts: of('failed_attempts'),
    slowestMs: steps.map((its) => quantileMs(toLatencies(its), 1)),
  };
}

const ANSWERED = 'answered_';

/** Returns the number of failed attempts without a complete response. */
const unansweredOf = (counts: readonly Counted[]): number =>
  sumOf(counts, (metric) => metric === 'failed_attempts') -
  sumOf(counts, (metric) => /^answered_[345]/.test(metric));
const MATCHED = 'matched_';

function toBreakdown(counts: readonly ChainCount[]): Omit<ActivityCounts, 'from'> {
  /** Sums the metrics with this prefix by the rest of their name, highest sum first. */
  const listBy = (prefix: string) =>
    [
      ...Map.groupBy(
        counts.filter(({ metric }) => metric.startsWith(prefix)),
        ({ metric }) => metric.slice(prefix.length),
      ),
    ]
      .map(([what, its]) => ({ what, n: sumOf(its, () => true) }))
      .toSorted((a, b) => b.n - a.n || (a.what < b.what ? -1 : 1));
  const statuses = [
    ...listBy(ANSWERED).map(({ what, n }) => ({ status: Number(what), attempts: n })),
    { status: null, attempts: unansweredOf(counts) },
  ];
  return {
    statuses: statuses
      .filter(({ status, attempts }) => !Number.isNaN(status) && attempts > 0)
      .toSorted(
        (a, b) => b.attempts - a.attempts || (a.status ?? Infinity) - (b.status ?? Infinity),
      ),
    chains: [...Map.groupBy(counts, ({ chain }) => chain)]
      .map(([chainId, its]) => ({
        chainId,
        delivered: sumOf(its, (metric) => metric === 'delivered'),
        redelivered: sumOf(its, (metric) => metric === 'redelivered'),
        failedAttempts: sumOf(its, (metric) => metric === 'failed_attempts'),
        matched: sumOf(its, (metric) => metric.startsWith(MATCHED)),
        p95Ms: quantileMs(toLatencies(its), 0.95),
      }))
      .toSorted(
        (a, b) =>
          b.delivered + b.failedAttempts - a.delivered - a.failedAttempts ||
          b.matched - a.matched ||
          (a.chainId < b.chainId ? -1 : 1),
      ),
    records: listBy(MATCHED).map(({ what, n }) => ({ what, matched: n })),
  };
}
