/**
 * The counts of what was delivered. Deltas are appended where things happen and rolled up apart:
 * counters updated in place deadlock under load.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { DeliverySummary } from '@sluice/kit/contract';
import { type Db, type Engine, readNow } from './engine.ts';
import type { DayFilter } from './partitions.ts';
import type { AttemptOutcome, StatWrites } from './store.ts';
import type { Tables, TotalMetric } from './tables.ts';

type Stat = Selectable<Tables['stat_delta']>;

const MINUTE_MS = 60_000;
/** Longer than any reader looks back. */
const ACTIVITY_KEPT_MINUTES = 2 * 24 * 60;
/** Where totals stand: no real minute. */
export const TOTAL_MINUTE = 0;

export function createStatWrites(db: Kysely<Tables>, engine: Engine): StatWrites {
  return {
    async rollUpStats() {
      await db.transaction().execute(async (trx) => {
        // Consumed rather than read up to an id: a lower id can still commit later.
        const { rows } = await sql<Stat>`delete from stat_delta returning *`.execute(trx);
        const sums = sum(rows);
        if (sums.length > 0) {
          await trx
            .insertInto('stat')
            .values(sums)
            .onConflict((conflict) =>
              conflict.columns(['stream_id', 'minute', 'metric']).doUpdateSet((eb) => ({
                n: eb('stat.n', '+', eb.ref('excluded.n')),
              })),
            )
            .execute();
        }
        const minute = Math.floor((await readNow(engine, trx)) / MINUTE_MS);
        await trx
          .deleteFrom('stat')
          .where('minute', '>', TOTAL_MINUTE)
          .where('minute', '<', minute - ACTIVITY_KEPT_MINUTES)
          .execute();
      });
    },
  };
}

/** Counts how attempts ended, each in the minute `now`. */
export async function countActivity(
  trx: Db,
  outcomes: readonly (Pick<AttemptOutcome, 'result'> & { streamId: string })[],
  now: number,
): Promise<void> {
  const minute = Math.floor(now / MINUTE_MS);
  await append(
    trx,
    outcomes.map(({ streamId, result }) => ({
      stream_id: streamId,
      minute,
      metric: result === 'succeeded' ? 'delivered' : 'failed_attempts',
      n: 1,
    })),
  );
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
  await append(trx, counted);
}

async function append(trx: Db, counted: readonly Stat[]): Promise<void> {
  if (counted.length > 0) await trx.insertInto('stat_delta').values(sum(counted)).execute();
}

/** One row per stream, minute and metric, in one order everywhere: two roll-ups then never deadlock. */
function sum(counted: readonly Stat[]): Stat[] {
  const sums = new Map<string, Stat>();
  for (const row of counted) {
    const key = `${row.stream_id} ${row.minute} ${row.metric}`;
    sums.set(key, { ...row, n: (sums.get(key)?.n ?? 0) + row.n });
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
