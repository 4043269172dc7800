/**
 * Measures how long it takes to read the metrics that the console polls, with 200 streams that were
 * active in every minute of the last day. For comparison, it also reads the metrics of the list of
 * streams from minute counts alone.
 */
import { type Kysely, sql } from 'kysely';
import type { Engine } from '../packages/service/src/store/engine/engine.ts';
import { ALL_STREAMS, MINUTE_MS, toHours } from '../packages/service/src/store/stats/statWrites.ts';
import {
  DEFAULT_DELIVERY,
  DEFAULT_OPTIONS,
} from '../packages/service/src/store/streams/contract.ts';
import type { Store } from '../packages/service/src/store/store.ts';
import type { Tables } from '../packages/service/src/store/tables/tables.ts';
import type { ActivityMetric } from '../packages/service/src/store/tables/stats.ts';
import type { EngineName } from './delivery/ledgers.ts';
import type { Figures } from './figures.ts';
import { timeReadings, withFilledLedger } from './filledLedger.ts';

const STREAMS = 200;
const DAY_MINUTES = 1_440;
const CHAIN = '0x1';
/** Chains and hours of the chart by chain. */
const CHAINS = 10;
const MONTH_HOURS = 720;
const BATCH = 10_000;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
/** Metrics of each stream in each minute. */
const METRICS: readonly ActivityMetric[] = [
  ...(['delivered', 'answered_200', 'latency_10', 'latency_11', 'latency_12'] as const),
  ...(['latency_13', `matched_${TRANSFER}`, `matched_${APPROVAL}`] as const),
];

/** Metrics of the sums over all streams. */
const SUMMED: readonly ActivityMetric[] = [
  ...(['delivered', 'failed_attempts', 'matched', 'latency_10'] as const),
  ...(['latency_11', 'latency_12', 'latency_13'] as const),
];

export async function measureActivity(name: EngineName): Promise<Figures> {
  const figures: Figures = {};
  const thisMinute = Math.floor(Date.now() / MINUTE_MS);
  const ids = Array.from({ length: STREAMS }, (_, n) => `stream-${n}`);
  const read = async (store: Store, db: Kysely<Tables>): Promise<void> => {
    const day = { stepMinutes: 5, points: 288 } as const;
    figures['list of 200 streams'] = await timeReadings(() => store.readStreamStats());
    figures['the same from minute counts'] = await timeReadings(() =>
      sql`select stream_id, (${thisMinute} - minute) / 60 as ago, metric, sum(n) as n from stat
        where minute > ${thisMinute - DAY_MINUTES} group by 1, 2, 3`.execute(db),
    );
    figures['charts of one stream, a day'] = await timeReadings(() =>
      store.readActivity({ streamId: ids[0], ...day }),
    );
    figures['breakdown of the same'] = await timeReadings(() =>
      store.readBreakdown({ streamId: ids[0], ...day }),
    );
    const times = { ...day, of: { lane: ids[0]! } } as const;
    figures['response times of one stream, a day'] = await timeReadings(() =>
      store.readResponseTimes(times),
    );
    const ofReceiver = { ...day, of: { receiver: '127.0.0.1:1' } } as const;
    figures['the same of a receiver of 200 streams'] = await timeReadings(() =>
      store.readResponseTimes(ofReceiver),
    );
    figures['the same, a week by hour'] = await timeReadings(() =>
      store.readResponseTimes({ ...ofReceiver, stepMinutes: 60, points: 168 }),
    );
    figures['last hour of all streams'] = await timeReadings(() =>
      store.readActivity({ stepMinutes: 5, points: 12 }),
    );
    figures['10 chains, 30 days'] = await timeReadings(() =>
      store.readChainActivity({ stepMinutes: 60, points: MONTH_HOURS }),
    );
  };
  await withFilledLedger(name, (db, engine) => fill(db, engine, ids, thisMinute), read);
  return figures;
}

async function fill(
  db: Kysely<Tables>,
  engine: Engine,
  ids: readonly string[],
  thisMinute: number,
): Promise<void> {
  const now = Date.now();
  const { deliver, notifyRemoved, unverified, limits } = DEFAULT_DELIVERY;
  for (const id of ids) {
    await db
      .insertInto('stream')
      .values({
        id,
        family: 'evm',
        tag: id,
        description: '',
        webhook_url: 'http://127.0.0.1:1/',
        chain_ids: JSON.stringify([CHAIN]),
        options: JSON.stringify(DEFAULT_OPTIONS),
        deliver,
        confirm_by: 'chain',
        confirm_depth: 0,
        notify_removed: Number(notifyRemoved),
        headers: '{}',
        hold_unverified: Number(unverified === 'hold'),
        max_in_flight: limits.maxInFlight,
        max_per_second: limits.maxPerSecond,
        strict_order: 0,
        timeout_seconds: limits.timeoutSeconds,
        retries: JSON.stringify(limits.retries),
        next_send_at: null,
        secrets: '[]',
        status: 'active',
        status_message: '',
        error_since: null,
        probe_at: null,
        address_count: 0,
        revision: 0,
        created_at: now,
        updated_at: now,
        deleted_at: null,
      })
      .execute();
  }
  const append = async (table: 'stat' | 'stat_hour', rows: readonly object[]): Promise<void> => {
    const columns = { stream_id: 'text', minute: 'bigint', chain: 'text', metric: 'text' } as const;
    for (let begun = 0; begun < rows.length; begun += BATCH) {
      const some = engine.rows(rows.slice(begun, begun + BATCH), { ...columns, n: 'bigint' });
      await sql`insert into ${sql.table(table)} (stream_id, minute, chain, metric, n)
        select stream_id, minute, chain, metric, n from ${some} as made`.execute(db);
    }
  };
  const thisHour = thisMinute - (thisMinute % 60);
  await append(
    'stat_hour',
    Array.from({ length: CHAINS }, (_, chain) =>
      Array.from({ length: MONTH_HOURS }, (__, ago) =>
        SUMMED.map((metric) => ({
          stream_id: ALL_STREAMS,
          minute: thisHour - ago * 60,
          chain: `0x${chain}`,
          metric,
          n: 180,
        })),
      ),
    ).flat(2),
  );
  for (const stream_id of ids) {
    const minutes = Array.from({ length: DAY_MINUTES }, (_, ago) =>
      METRICS.map((metric) => ({
        stream_id,
        minute: thisMinute - ago,
        chain: CHAIN,
        metric,
        n: 3,
      })),
    ).flat();
    const hours = Map.groupBy(toHours(minutes), ({ minute, metric }) => `${minute} ${metric}`);
    await append('stat', minutes);
    await append(
      'stat_hour',
      [...hours.values()].map((rows) => ({
        ...rows[0],
        n: rows.reduce((sum, { n }) => sum + n, 0),
      })),
    );
  }
}
