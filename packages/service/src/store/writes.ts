import { randomUUID } from 'node:crypto';
import {
  type Expression,
  type Kysely,
  type Selectable,
  type SqlBool,
  type Transaction,
  sql,
} from 'kysely';
import type { DeliveryPhase, DeliverySummary } from '@sluice/kit/contract';
import type { MatchState, StatMetric, Tables } from './tables.ts';
import type { Engine } from './engine.ts';
import type {
  AttemptOutcome,
  ClaimedDelivery,
  EffectiveFrom,
  StreamDraft,
  StreamRecord,
  Writes,
} from './store.ts';
import { deliveryColumns, streamColumns, toDeliverySummary, toStreamRecord } from './rows.ts';

type Db = Kysely<Tables> | Transaction<Tables>;

/** Rows per insert statement: SQLite takes 32,766 parameters, and a match has 14 columns. */
const INSERT_CHUNK = 500;
/** Blocks kept to measure a reorg against, or twice the confirmations where that is more. */
const WINDOW_BLOCKS = 256;
const MINUTE_MS = 60_000;

/** The statements that change the ledger, each method one transaction. */
export function createWrites(db: Kysely<Tables>, engine: Engine): Writes {
  const readNow = async (trx: Db): Promise<number> => {
    const { rows } = await sql<{ now: number }>`select ${engine.now()} as now`.execute(trx);
    return rows[0]!.now;
  };

  /** Locks the rules for the rest of the transaction: block commits wait for it and then match again. */
  const raiseRevision = async (trx: Db): Promise<number> => {
    const row = await trx
      .updateTable('rule_revision')
      .set((eb) => ({ revision: eb('revision', '+', 1) }))
      .returning('revision')
      .executeTakeFirstOrThrow();
    return row.revision;
  };

  const readEffectiveFrom = async (trx: Db, chainIds: string[]): Promise<EffectiveFrom> => {
    const rows = await trx
      .selectFrom('checkpoint')
      .select(['chain', 'number'])
      .where('chain', 'in', chainIds)
      .execute();
    return Object.fromEntries(rows.map((row) => [row.chain, row.number + 1]));
  };

  const findStream = async (trx: Db, id: string): Promise<StreamRecord | undefined> => {
    const row = await trx
      .selectFrom('stream')
      .select(streamColumns)
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    return row && toStreamRecord(row);
  };

  const changeStream = async (
    id: string,
    values: (now: number) => Partial<Selectable<Tables['stream']>>,
    also?: (trx: Db, now: number) => Promise<unknown>,
  ): Promise<StreamRecord | undefined> =>
    db.transaction().execute(async (trx) => {
      const revision = await raiseRevision(trx);
      const now = await readNow(trx);
      const row = await trx
        .updateTable('stream')
        .set({ ...values(now), revision, updated_at: now })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .returning(streamColumns)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      await also?.(trx, now);
      return toStreamRecord(row);
    });

  const recountAddresses = async (trx: Db, id: string, now: number): Promise<void> => {
    const revision = await raiseRevision(trx);
    await trx
      .updateTable('stream')
      .set((eb) => ({
        revision,
        updated_at: now,
        address_count: eb
          .selectFrom('stream_address')
          .select(({ fn }) => fn.countAll<number>().as('n'))
          .where('stream_id', '=', id),
      }))
      .where('id', '=', id)
      .execute();
  };

  const insertDeliveries = async (
    trx: Db,
    matches: readonly Selectable<Tables['match']>[],
    phase: DeliveryPhase,
    now: number,
  ): Promise<DeliverySummary[]> => {
    const created: DeliverySummary[] = [];
    for (let start = 0; start < matches.length; start += INSERT_CHUNK) {
      const rows = await trx
        .insertInto('delivery')
        .values(
          matches.slice(start, start + INSERT_CHUNK).map((match) => ({
            id: randomUUID(),
            match_id: match.id,
            stream_id: match.stream_id,
            event_key: `${match.chain}:${match.block_hash}:${phase}:${match.part}:live:0`,
            phase,
            chain: match.chain,
            block_number: match.block_number,
            block_day: match.block_day,
            tag: match.tag,
            records: match.records,
            state: 'pending' as const,
            attempts: 0,
            claims: 0,
            run_at: now,
            lease_token: null,
            lease_until: null,
            last_status: null,
            last_error: null,
            last_duration_ms: null,
            created_at: now,
            updated_at: now,
          })),
        )
        .onConflict((conflict) => conflict.columns(['stream_id', 'event_key']).doNothing())
        .returning(deliveryColumns)
        .execute();
      created.push(...rows.map(toDeliverySummary));
    }
    return created;
  };

  /** A block that left the chain and came back: what was cancelled unsent is due again. */
  const reviveMatches = async (
    trx: Db,
    chain: string,
    blockHash: string,
    now: number,
  ): Promise<DeliverySummary[]> => {
    const revived = await trx
      .updateTable('match')
      .set({ state: 'frozen' satisfies MatchState })
      .where('chain', '=', chain)
      .where('block_hash', '=', blockHash)
      .where('state', '=', 'orphaned')
      .returning('id')
      .execute();
    if (revived.length === 0) return [];
    const rows = await trx
      .updateTable('delivery')
      .set({ state: 'pending', run_at: now, updated_at: now })
      .where(
        'match_id',
        'in',
        revived.map((row) => row.id),
      )
      .where('state', '=', 'cancelled')
      .returning(deliveryColumns)
      .execute();
    return rows.map(toDeliverySummary);
  };

  /** The blocks of these matches left the chain: nothing of them is confirmed, or sent for the first time. */
  const orphanMatches = async (
    trx: Db,
    which: Expression<SqlBool>,
    now: number,
  ): Promise<DeliverySummary[]> => {
    const cancelled = await trx
      .updateTable('delivery')
      .set({ state: 'cancelled', updated_at: now })
      .where('match_id', 'in', trx.selectFrom('match').select('id').where(which))
      .where('state', '=', 'pending')
      .where('claims', '=', 0)
      .returning(deliveryColumns)
      .execute();
    await trx
      .updateTable('match')
      .set({ state: 'orphaned' satisfies MatchState })
      .where(which)
      .execute();
    return cancelled.map(toDeliverySummary);
  };

  const confirmMatches = async (
    trx: Db,
    chain: string,
    height: number,
    now: number,
  ): Promise<DeliverySummary[]> => {
    const ripe = await trx
      .updateTable('match')
      .set({ state: 'confirmed' satisfies MatchState })
      .where('chain', '=', chain)
      .where('state', '=', 'frozen')
      .where('confirm_at', '<=', height)
      .returningAll()
      .execute();
    const live = await trx
      .selectFrom('stream')
      .select('id')
      .where('deleted_at', 'is', null)
      .execute();
    const alive = new Set(live.map((row) => row.id));
    return insertDeliveries(
      trx,
      ripe.filter((match) => alive.has(match.stream_id)),
      'confirmed',
      now,
    );
  };

  const appendStats = async (
    trx: Db,
    now: number,
    counts: Map<string, number>,
    metric: StatMetric,
  ): Promise<void> => {
    if (counts.size === 0) return;
    const minute = Math.floor(now / MINUTE_MS);
    await trx
      .insertInto('stat_delta')
      .values([...counts].map(([streamId, n]) => ({ stream_id: streamId, minute, metric, n })))
      .execute();
  };

  return {
    async saveSetting(key, value) {
      await db
        .insertInto('setting')
        .values({ key, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute();
    },

    async createStream(draft) {
      return db.transaction().execute(async (trx) => {
        const revision = await raiseRevision(trx);
        const now = await readNow(trx);
        const row = await trx
          .insertInto('stream')
          .values({
            ...toStreamValues(draft),
            id: randomUUID(),
            status: 'active',
            status_message: 'Stream is active',
            address_count: 0,
            revision,
            created_at: now,
            updated_at: now,
            deleted_at: null,
          })
          .returning(streamColumns)
          .executeTakeFirstOrThrow();
        return toStreamRecord(row);
      });
    },

    updateStream: (id, patch) => changeStream(id, () => toStreamValues(patch)),

    setStreamStatus: (id, status, statusMessage) =>
      changeStream(id, () => ({ status, status_message: statusMessage })),

    deleteStream: (id) =>
      changeStream(
        id,
        (now) => ({ deleted_at: now }),
        async (trx, now) => {
          await trx
            .updateTable('delivery')
            .set({ state: 'cancelled', updated_at: now })
            .where('stream_id', '=', id)
            .where('state', '=', 'pending')
            .execute();
          await trx.deleteFrom('stream_address').where('stream_id', '=', id).execute();
        },
      ),

    async addAddresses(id, addresses) {
      return db.transaction().execute(async (trx) => {
        const stream = await findStream(trx, id);
        if (stream === undefined) return undefined;
        const now = await readNow(trx);
        const objects = addresses.map((address) => ({ address }));
        await sql`
          insert into stream_address (stream_id, address, added_at)
          select ${id}, address, ${now} from ${engine.rows(objects, { address: 'text' })} as added
          where true on conflict do nothing`.execute(trx);
        await recountAddresses(trx, id, now);
        return readEffectiveFrom(trx, stream.chainIds);
      });
    },

    async removeAddresses(id, addresses) {
      return db.transaction().execute(async (trx) => {
        const stream = await findStream(trx, id);
        if (stream === undefined) return undefined;
        const wanted = engine.rows(
          addresses.map((address) => ({ address })),
          { address: 'text' },
        );
        const { rows: missing } = await sql<{ address: string }>`
          select wanted.address from ${wanted} as wanted
          where not exists (
            select 1 from stream_address
            where stream_id = ${id} and stream_address.address = wanted.address)
          limit 1`.execute(trx);
        if (missing[0] !== undefined) return { missing: missing[0].address };
        await sql`
          delete from stream_address
          where stream_id = ${id} and address in (select address from ${wanted} as wanted)`.execute(
          trx,
        );
        await recountAddresses(trx, id, await readNow(trx));
        return readEffectiveFrom(trx, stream.chainIds);
      });
    },

    async startChain(chain, block, genesisHash) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(trx);
        const values = {
          number: block.number,
          hash: block.hash,
          genesis_hash: genesisHash,
          updated_at: now,
        };
        await trx
          .insertInto('checkpoint')
          .values({ chain, ...values })
          .onConflict((conflict) => conflict.column('chain').doUpdateSet(values))
          .execute();
        await trx.deleteFrom('block').where('chain', '=', chain).execute();
        await trx
          .insertInto('block')
          .values({
            chain,
            number: block.number,
            hash: block.hash,
            parent_hash: block.parentHash,
            timestamp: block.timestamp,
            matches: 0,
          })
          .execute();
        return orphanMatches(trx, sql<SqlBool>`chain = ${chain} and state = 'frozen'`, now);
      });
    },

    async commitBlock({ chain, block, ruleRevision, confirmations, matches }) {
      return db.transaction().execute(async (trx) => {
        const rules = sql<{ revision: number }>`select revision from rule_revision`;
        const { rows } = await (
          engine.name === 'postgres' ? sql<{ revision: number }>`${rules} for share` : rules
        ).execute(trx);
        if (rows[0]?.revision !== ruleRevision) return { outcome: 'stale-rules' };

        const now = await readNow(trx);
        const moved = await trx
          .updateTable('checkpoint')
          .set({ number: block.number, hash: block.hash, updated_at: now })
          .where('chain', '=', chain)
          .where('number', '=', block.number - 1)
          .where('hash', '=', block.parentHash)
          .returning('chain')
          .execute();
        if (moved.length === 0) return { outcome: 'not-next' };

        await trx
          .insertInto('block')
          .values({
            chain,
            number: block.number,
            hash: block.hash,
            parent_hash: block.parentHash,
            timestamp: block.timestamp,
            matches: matches.length,
          })
          .execute();
        await trx
          .deleteFrom('block')
          .where('chain', '=', chain)
          .where('number', '<=', block.number - Math.max(WINDOW_BLOCKS, 2 * confirmations))
          .execute();

        const deliveries = await reviveMatches(trx, chain, block.hash, now);
        const blockDay = new Date(block.timestamp * 1000).toISOString().slice(0, 10);
        const rowsOfMatches = matches.map((match) => ({
          id: randomUUID(),
          stream_id: match.streamId,
          chain,
          block_number: block.number,
          block_hash: block.hash,
          block_day: blockDay,
          part: 0,
          state: 'frozen' as const,
          tag: match.tag,
          records: match.records,
          confirm_at: block.number + confirmations,
          body_head: match.bodyHead,
          body_tail: match.bodyTail,
          created_at: now,
        }));
        for (let start = 0; start < rowsOfMatches.length; start += INSERT_CHUNK) {
          const inserted = await trx
            .insertInto('match')
            .values(rowsOfMatches.slice(start, start + INSERT_CHUNK))
            .onConflict((conflict) =>
              conflict.columns(['stream_id', 'chain', 'block_hash', 'part']).doNothing(),
            )
            .returningAll()
            .execute();
          deliveries.push(...(await insertDeliveries(trx, inserted, 'unconfirmed', now)));
        }
        deliveries.push(...(await confirmMatches(trx, chain, block.number, now)));
        return { outcome: 'committed', deliveries };
      });
    },

    async rewindChain(chain, ancestor) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(trx);
        await trx
          .updateTable('checkpoint')
          .set({ number: ancestor.number, hash: ancestor.hash, updated_at: now })
          .where('chain', '=', chain)
          .execute();
        await trx
          .deleteFrom('block')
          .where('chain', '=', chain)
          .where('number', '>', ancestor.number)
          .execute();
        return orphanMatches(
          trx,
          sql<SqlBool>`chain = ${chain} and block_number > ${ancestor.number}`,
          now,
        );
      });
    },

    async claimDeliveries({ limit, perStream, inFlight, leaseMs }) {
      return db.transaction().execute(async (trx): Promise<ClaimedDelivery[]> => {
        const now = await readNow(trx);
        const lanes = await dueLanes(trx, now);
        // Lanes with least under way first, so that a busy one never holds back the others.
        lanes.sort((a, b) => (inFlight[a] ?? 0) - (inFlight[b] ?? 0));
        const due: string[] = [];
        for (const lane of lanes) {
          const room = Math.min(perStream - (inFlight[lane] ?? 0), limit - due.length);
          if (room <= 0) continue;
          const { rows } = await sql<{ id: string }>`
            select id from delivery
            where stream_id = ${lane} and state = 'pending' and run_at <= ${now}
            order by run_at limit ${room} ${engine.skipLocked}`.execute(trx);
          for (const row of rows) due.push(row.id);
          if (due.length >= limit) break;
        }
        if (due.length === 0) return [];

        const leaseToken = randomUUID();
        const ids = engine.rows(
          due.map((id) => ({ id })),
          { id: 'text' },
        );
        await sql`
          update delivery set state = 'leased', claims = claims + 1,
            lease_token = ${leaseToken}, lease_until = ${now + leaseMs}
          where id in (select id from ${ids} as due)`.execute(trx);
        const rows = await trx
          .selectFrom('delivery')
          .innerJoin('match', 'match.id', 'delivery.match_id')
          .innerJoin('stream', 'stream.id', 'delivery.stream_id')
          .select([
            'delivery.id',
            'delivery.stream_id',
            'delivery.phase',
            'delivery.attempts',
            'delivery.records',
            'match.body_head',
            'match.body_tail',
            'stream.webhook_url',
          ])
          .where(sql<boolean>`delivery.id in (select id from ${ids} as due)`)
          .execute();
        return rows.map((row) => ({
          id: row.id,
          leaseToken,
          streamId: row.stream_id,
          phase: row.phase,
          attempts: row.attempts,
          webhookUrl: row.webhook_url,
          bodyHead: row.body_head,
          bodyTail: row.body_tail,
          records: row.records,
        }));
      });
    },

    async completeDeliveries(outcomes) {
      return db.transaction().execute(async (trx) => {
        const now = await readNow(trx);
        const finished = engine.rows(
          outcomes.map((outcome) => ({
            id: outcome.id,
            lease_token: outcome.leaseToken,
            state: outcome.result === 'retry' ? 'pending' : outcome.result,
            run_at: now + (outcome.result === 'retry' ? outcome.retryInMs : 0),
            status: outcome.status,
            error: outcome.error,
            duration_ms: outcome.durationMs,
          })),
          {
            id: 'text',
            lease_token: 'text',
            state: 'text',
            run_at: 'bigint',
            status: 'bigint',
            error: 'text',
            duration_ms: 'bigint',
          },
        );
        // Fenced: a lease that ran out and was taken by another is not ours to complete.
        const { rows } = await sql<Parameters<typeof toDeliverySummary>[0]>`
          update delivery set state = done.state, run_at = done.run_at,
            attempts = attempts + 1, lease_token = null, lease_until = null,
            last_status = done.status, last_error = done.error,
            last_duration_ms = done.duration_ms, updated_at = ${now}
          from ${finished} as done
          where delivery.id = done.id and delivery.lease_token = done.lease_token
            and delivery.state = 'leased'
          returning ${sql.join(deliveryColumns.map((column) => sql.ref(`delivery.${column}`)))}`.execute(
          trx,
        );
        const changed = new Map(rows.map((row) => [row.id, toDeliverySummary(row)]));
        const ours = outcomes.filter((outcome) => changed.has(outcome.id));
        if (ours.length === 0) return [];
        const attempts = engine.rows(
          ours.map((outcome) => ({
            delivery_id: outcome.id,
            number: changed.get(outcome.id)!.attempts,
            webhook_url: outcome.webhookUrl,
            started_at: outcome.startedAt,
            duration_ms: outcome.durationMs,
            status: outcome.status,
            error: outcome.error,
            response_body: outcome.responseBody,
          })),
          {
            delivery_id: 'text',
            number: 'bigint',
            webhook_url: 'text',
            started_at: 'bigint',
            duration_ms: 'bigint',
            status: 'bigint',
            error: 'text',
            response_body: 'text',
          },
        );
        await sql`
          insert into attempt (delivery_id, number, webhook_url, started_at, duration_ms, status,
            error, response_body)
          select delivery_id, number, webhook_url, started_at, duration_ms, status, error,
            response_body from ${attempts} as made`.execute(trx);
        await appendStats(trx, now, countByStream(ours, changed, true), 'delivered');
        await appendStats(trx, now, countByStream(ours, changed, false), 'failed_attempts');
        return [...changed.values()];
      });
    },

    async releaseLeases(scope) {
      const released = await sql`
        update delivery set state = 'pending', lease_token = null, lease_until = null
        where state = 'leased' ${
          scope === 'all' ? sql`` : sql`and lease_until < ${engine.now()}`
        }`.execute(db);
      return Number(released.numAffectedRows ?? 0n);
    },

    async rollUpStats() {
      await db.transaction().execute(async (trx) => {
        // Consumed rather than read up to an id: a lower id can still commit later.
        const { rows } = await sql<Selectable<Tables['stat_delta']>>`
          delete from stat_delta returning *`.execute(trx);
        const sums = new Map<string, Selectable<Tables['stat_delta']>>();
        for (const row of rows) {
          const key = `${row.stream_id} ${row.minute} ${row.metric}`;
          sums.set(key, { ...row, n: (sums.get(key)?.n ?? 0) + row.n });
        }
        if (sums.size === 0) return;
        await trx
          .insertInto('stat')
          .values([...sums.values()])
          .onConflict((conflict) =>
            conflict.columns(['stream_id', 'minute', 'metric']).doUpdateSet((eb) => ({
              n: eb('stat.n', '+', eb.ref('excluded.n')),
            })),
          )
          .execute();
      });
    },
  };
}

function toStreamValues<T extends Partial<StreamDraft>>(draft: T) {
  return {
    ...(draft.tag !== undefined && { tag: draft.tag }),
    ...(draft.description !== undefined && { description: draft.description }),
    ...(draft.webhookUrl !== undefined && { webhook_url: draft.webhookUrl }),
    ...(draft.chainIds !== undefined && { chain_ids: JSON.stringify(draft.chainIds) }),
    ...(draft.options !== undefined && { options: JSON.stringify(draft.options) }),
  } as T extends StreamDraft
    ? Pick<
        Selectable<Tables['stream']>,
        'tag' | 'description' | 'webhook_url' | 'chain_ids' | 'options'
      >
    : Partial<Selectable<Tables['stream']>>;
}

/**
 * Active streams with a delivery due, by one index seek per stream that has any pending: the cost
 * does not grow with the queues. A paused stream keeps its deliveries until it is resumed.
 */
async function dueLanes(trx: Db, now: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive lane(id) as (
      select min(stream_id) from delivery where state = 'pending'
      union all
      select (select min(stream_id) from delivery where state = 'pending' and stream_id > lane.id)
      from lane where lane.id is not null)
    select lane.id from lane join stream on stream.id = lane.id
    where stream.status = 'active' and exists (
      select 1 from delivery
      where stream_id = lane.id and state = 'pending' and run_at <= ${now})`.execute(trx);
  return rows.map((row) => row.id);
}

function countByStream(
  outcomes: readonly AttemptOutcome[],
  changed: ReadonlyMap<string, DeliverySummary>,
  succeeded: boolean,
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) {
    if ((outcome.result === 'succeeded') !== succeeded) continue;
    const streamId = changed.get(outcome.id)!.streamId;
    counts.set(streamId, (counts.get(streamId) ?? 0) + 1);
  }
  return counts;
}
