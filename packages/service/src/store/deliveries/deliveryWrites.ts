import type { DeliverySummary } from '@sluice/kit/contract';
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { type Engine, readMoment } from '../engine/engine.ts';
import type { Ledger } from '../live/effects.ts';
import type { DayFilter } from '../engine/days.ts';
import type { Db } from '../tables/tables.ts';
import { type DeliveryRow, deliveryColumns, toDeliverySummary } from '../rows/deliveryRow.ts';
import { assignPositions } from '../feeds/positions.ts';
import { countAttempts } from '../stats/statWrites.ts';
import type { AttemptOutcome, DeliveryWrites } from './contract.ts';
import { packTransport } from './transport.ts';

/**
 * Numbers of consecutive lost leases after which a delivery becomes suspect, and after which it is
 * quarantined.
 */
const SUSPECT_LOST = 2;
const CONDEMNED_LOST = 10;
const CONDEMNED = `the service crashed ${CONDEMNED_LOST} times in a row when it claimed this delivery, before sending it; replay it once the cause is fixed`;

/** Writes the progress of deliveries: leases, attempts and counts. */
export function createDeliveryWrites({ db, engine, transact }: Ledger): DeliveryWrites {
  return {
    async recordIsolated({ id, leaseToken }) {
      await db
        .updateTable('delivery')
        .set({ lost: SUSPECT_LOST - 1 })
        .where('id', '=', id)
        .where('lease_token', '=', leaseToken)
        .execute();
    },

    async extendLeases(leases, leaseMs) {
      if (leases.length === 0) return [];
      const { now, open } = await readMoment(engine, db);
      const held = engine.rows(
        leases.map(({ id, leaseToken }) => ({ held_id: id, token: leaseToken })),
        { held_id: 'text', token: 'text' },
      );
      const { rows } = await sql<{ id: string }>`
        update delivery set lease_until = ${now + leaseMs} from ${held} as held
        where ${open('delivery.block_day')} and delivery.id = held.held_id
          and delivery.lease_token = held.token
        returning delivery.id`.execute(db);
      return rows.map(({ id }) => id);
    },

    async completeDeliveries(outcomes) {
      return transact(async (trx, effects) => {
        const { now, open } = await readMoment(engine, trx);
        const finished = engine.rows(
          outcomes.map((outcome) => ({
            id: outcome.id,
            lease_token: outcome.leaseToken,
            state: outcome.result === 'retry' ? 'pending' : outcome.result,
            run_at: now + (outcome.result === 'retry' ? outcome.retryInMs : 0),
            status: outcome.status,
            error: outcome.error,
            duration_ms: outcome.durationMs,
            fast: outcome.isFastRetry ? 1 : 0,
          })),
          {
            id: 'text',
            lease_token: 'text',
            state: 'text',
            run_at: 'bigint',
            status: 'bigint',
            error: 'text',
            duration_ms: 'bigint',
            fast: 'bigint',
          },
        );
        // Compares the token, because another process may have taken an expired lease.
        const { rows } = await sql<DeliveryRow & { block_day: string }>`
          update delivery set state = done.state, run_at = done.run_at,
            attempts = attempts + 1, lease_token = null, lease_until = null, lost = 0,
            fast_retried = case when done.fast = 1 then 1 else fast_retried end,
            last_status = done.status, last_error = done.error,
            last_duration_ms = done.duration_ms, updated_at = ${now}
          from ${finished} as done
          where ${open('delivery.block_day')} and delivery.id = done.id
            and delivery.lease_token = done.lease_token
          returning delivery.block_day,
            ${sql.join(deliveryColumns.map((column) => sql.ref(`delivery.${column}`)))}`.execute(
          trx,
        );
        const changedOf = new Map(
          rows.map((row) => [row.id, { delivery: toDeliverySummary(row), day: row.block_day }]),
        );
        const ended = outcomes.flatMap((outcome) => {
          const changed = changedOf.get(outcome.id);
          return changed === undefined ? [] : [{ outcome, ...changed }];
        });
        if (ended.length === 0) return [];
        const again = ended.filter(({ outcome }) => outcome.result === 'retry');
        const pointless = await cancelPointless(
          trx,
          open,
          again.map(({ delivery }) => delivery.id),
        );
        for (const { id } of pointless) changedOf.get(id)!.delivery.state = 'cancelled';
        const delivered = await listDelivered(trx, open, ended);
        const counted = await countAttempts(
          trx,
          engine,
          ended.map((each) => ({ ...each, wasDelivered: delivered.has(each.delivery.id) })),
          { now, open },
        );
        await engine.pipeline(trx, [() => insertAttempts(trx, engine, ended), () => counted]);
        const changed = ended.map(({ delivery }) => delivery);
        effects.publishDeliveries(changed);
        const placed = ended.filter(
          ({ outcome }) => outcome.entersFeed && outcome.result === 'succeeded',
        );
        if (placed.length > 0) {
          effects.signal('feeds');
          await assignPositions(
            trx,
            engine,
            placed.map(({ delivery }) => delivery),
            open,
          );
        }
        return changed;
      });
    },

    async releaseLeases(scope) {
      return transact(async (trx, effects) => {
        const { open } = await readMoment(engine, trx);
        const leased = sql`${open('block_day')} and state = 'leased'`;
        // Skips leases that their holder is renewing or ending, because waiting for several of them
        // could deadlock.
        const others = (more: RawBuilder<unknown>) =>
          sql`${open('block_day')} and id ${engine.isIn(
            sql`select id from delivery where ${leased} ${more} ${engine.lockRows('update', { skipLocked: true })}`,
          )}`;
        const chosen =
          scope === 'all'
            ? others(sql``)
            : scope === 'expired'
              ? others(sql`and lease_until < ${engine.now()}`)
              : sql`${leased} and (id, lease_token) in (values ${sql.join(
                  scope.map(({ id, leaseToken }) => sql`(${id}, ${leaseToken})`),
                )})`;
        const { rows } = await sql<DeliveryRow & { lost: number }>`
          update delivery set lost = lost + 1, lease_token = null, lease_until = null,
            state = case when lost + 1 >= ${CONDEMNED_LOST} then 'quarantined' else 'pending' end,
            last_error = case when lost + 1 >= ${CONDEMNED_LOST} then ${CONDEMNED} else last_error end
          where ${chosen}
          returning ${sql.join([...deliveryColumns, 'lost'].map((column) => sql.ref(column)))}`.execute(
          trx,
        );
        const released = rows.filter((row) => row.state === 'pending');
        const canceled = await cancelPointless(
          trx,
          open,
          released.map(({ id }) => id),
        );
        const pointless = new Set(canceled.map(({ id }) => id));
        const requeued = released.filter(({ id }) => !pointless.has(id));
        const quarantined = rows
          .filter((row) => row.state === 'quarantined')
          .map(toDeliverySummary);
        if (requeued.length > 0) effects.signal('deliveries');
        effects.publishDeliveries([...quarantined, ...canceled]);
        return {
          released: requeued.length,
          suspects: requeued.filter((row) => row.lost === SUSPECT_LOST).length,
          quarantined,
          canceled,
        };
      });
    },
  };
}

/**
 * Returns the ids of deliveries that succeeded again after an earlier success, because each
 * delivery is counted as delivered only once.
 */
async function listDelivered(
  trx: Db,
  open: DayFilter,
  ended: readonly { outcome: AttemptOutcome; delivery: DeliverySummary }[],
): Promise<ReadonlySet<string>> {
  const again = ended
    .filter(({ outcome, delivery }) => outcome.result === 'succeeded' && delivery.attempts > 1)
    .map(({ delivery }) => delivery.id);
  if (again.length === 0) return new Set();
  const rows = await trx
    .selectFrom('attempt')
    .select('delivery_id')
    .where(open('block_day'))
    .where('delivery_id', 'in', again)
    .where('error', 'is', null)
    .execute();
  return new Set(rows.map((row) => row.delivery_id));
}

function insertAttempts(
  trx: Db,
  engine: Engine,
  ended: readonly { outcome: AttemptOutcome; delivery: DeliverySummary; day: string }[],
): CompiledQuery<unknown> {
  // Nearly every attempt uses an open connection, so the `transport` column is often not needed.
  const hasTransports = ended.some(({ outcome }) => outcome.transport !== null);
  const transport = hasTransports ? sql`, transport` : sql``;
  const attempts = engine.rows(
    ended.map(({ outcome, delivery, day }) => ({
      delivery_id: delivery.id,
      number: delivery.attempts,
      block_day: day,
      webhook_url: outcome.webhookUrl,
      started_at: outcome.startedAt,
      duration_ms: outcome.durationMs,
      status: outcome.status,
      error: outcome.error,
      response_body: outcome.responseBody,
      ...(outcome.transport !== null && { transport: packTransport(outcome.transport) }),
    })),
    {
      delivery_id: 'text',
      number: 'bigint',
      block_day: 'text',
      webhook_url: 'text',
      started_at: 'bigint',
      duration_ms: 'bigint',
      status: 'bigint',
      error: 'text',
      response_body: 'text',
      ...(hasTransports && { transport: 'text' as const }),
    },
  );
  return sql`
    insert into attempt (delivery_id, number, block_day, webhook_url, started_at,
      duration_ms, status, error, response_body${transport})
    select delivery_id, number, block_day, webhook_url, started_at, duration_ms, status,
      error, response_body${transport} from ${attempts} as made`.compile(trx);
}

/**
 * Cancels deliveries that would be retried but are no longer needed, because their stream was
 * deleted, their block left the chain, or the removed block that they report has returned. Returns
 * the canceled deliveries.
 */
async function cancelPointless(
  trx: Db,
  open: DayFilter,
  ids: readonly string[],
): Promise<DeliverySummary[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<DeliveryRow>`
    update delivery set state = 'cancelled'
    where ${open('block_day')} and id in (${sql.join(ids)}) and (
      exists (select 1 from stream where stream.id = delivery.stream_id and deleted_at is not null)
      or (phase <> 'removed' and exists (
        select 1 from match
        where ${open('match.block_day')} and match.id = delivery.match_id and match.state = 'orphaned'))
      or (phase = 'removed' and exists (
        select 1 from match as own join match as newer
          on newer.chain = own.chain and newer.block_hash = own.block_hash
          and newer.stream_id = own.stream_id and newer.part = own.part and newer.id > own.id
        where ${open('own.block_day')} and ${open('newer.block_day')} and own.id = delivery.match_id and newer.origin like 'live:%'
          and (newer.origin like 'live:values:%') = (own.origin like 'live:values:%'))))
    returning ${sql.join(deliveryColumns.map((column) => sql.ref(column)))}`.execute(trx);
  return rows.map(toDeliverySummary);
}
