/**
 * The event feed of a ledger that several processes share. It is in an unlogged table, so readers
 * start over after a crash or failover of the server. Rows are ordered by transaction id. Only rows
 * older than every running transaction are read, because transactions may commit out of order.
 */
import type { LiveEvent } from '@sluice/kit/contract';
import { type Kysely, type Transaction, sql } from 'kysely';
import type { LiveEventTable, PostgresTables } from './postgresTables.ts';
import { postgresNow } from './postgresClock.ts';
import { type EventBatch, type EventFeed, GATHER_MS } from '../../live/eventFeed.ts';
import type { Signals } from '../../live/signals.ts';
import type { Tables } from '../../tables/tables.ts';

const BATCHES_AT_ONCE = 20;
/** Maximum total size of the events that are kept for clients that resume. */
const HELD_BYTES = 32 * 1024 * 1024;
/** Time between polls. A signal may be lost, or may arrive before its row is readable. */
const POLL_MS = 250;

/** The lowest id of a transaction that is still running, as this statement sees it. */
const horizon = sql<number>`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;
const ownId = sql<number>`pg_current_xact_id()::text::bigint`;

export interface PostgresFeed extends EventFeed {
  /** Appends the events within this transaction. */
  append(trx: Transaction<Tables>, events: readonly LiveEvent[]): Promise<void>;
  /** Signals readers in all processes, after a short delay, that rows were committed. */
  signal(): void;
}

export function createPostgresFeed(db: Kysely<Tables>, signals: Signals): PostgresFeed {
  const listeners = new Set<() => void>();
  /** Running reads by position. Readers at the same position share one query. */
  const reading = new Map<string, Promise<EventBatch[] | undefined>>();
  let gathering: NodeJS.Timeout | undefined;
  let poller: NodeJS.Timeout | undefined;

  const append = async (trx: Transaction<Tables>, events: readonly LiveEvent[]): Promise<void> => {
    const lines = events.map((event) => JSON.stringify(event)).join('\n');
    // Replaces a row with the same transaction id, which can remain if the ledger was restored from
    // another server.
    await sql`
      insert into live_event (xid, created_at, events) values (${ownId}, ${postgresNow}, ${lines})
      on conflict (xid) do update set
        created_at = excluded.created_at, events = excluded.events`.execute(trx);
  };

  const readNewest = async (): Promise<EventBatch | undefined> => {
    const row = await db
      .withTables<PostgresTables>()
      .selectFrom('live_event')
      .selectAll()
      .where('xid', '<', horizon)
      .orderBy('xid', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && toBatch(row);
  };

  const read = async (position: string): Promise<EventBatch[] | undefined> => {
    const xid = fromPosition(position);
    if (xid === undefined) return undefined;
    const rows = await db
      .withTables<PostgresTables>()
      .selectFrom('live_event')
      .selectAll()
      .where('xid', '>=', xid)
      .where('xid', '<', horizon)
      .orderBy('xid')
      .limit(BATCHES_AT_ONCE)
      .execute();
    if (rows[0] === undefined || toPosition(rows[0]) !== position) return undefined;
    return rows.map(toBatch);
  };

  const signalListeners = (): void => {
    for (const listener of listeners) listener();
  };
  const forget = signals.on('events', signalListeners);

  const signal = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      signals.send(['events']);
    }, GATHER_MS);
  };

  return {
    append,
    signal,
    async publish(events) {
      await db.transaction().execute((trx) => append(trx, events));
      signal();
    },
    async trim() {
      // Also deletes rows with a future transaction id, which can exist if the ledger was restored
      // from another server.
      await sql`
        delete from live_event where xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
          or xid <= (
            select max(xid) from (
              select xid, row_number() over newest as n, sum(octet_length(events)) over newest as bytes
              from live_event window newest as (order by xid desc)) as held
            where n > 1 and bytes > ${HELD_BYTES})`.execute(db);
    },
    async newest() {
      let newest = await readNewest();
      // Creates the first batch, so that readers have a position.
      if (newest === undefined) await db.transaction().execute((trx) => append(trx, []));
      while (newest === undefined) {
        await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
        newest = await readNewest();
      }
      return newest;
    },
    readFrom(position) {
      const running =
        reading.get(position) ?? read(position).finally(() => reading.delete(position));
      reading.set(position, running);
      return running;
    },
    on(listener) {
      listeners.add(listener);
      poller ??= setInterval(signalListeners, POLL_MS);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(poller);
        poller = undefined;
      };
    },
    close() {
      forget();
      clearTimeout(gathering);
      clearInterval(poller);
    },
  };
}

/**
 * Returns the position of a row. The position contains the time, because the server may reuse a
 * transaction id after a crash.
 */
const toPosition = ({ xid, created_at: createdAt }: { xid: number; created_at: number }): string =>
  `${xid}-${createdAt}`;

const toBatch = (row: LiveEventTable): EventBatch => ({
  position: toPosition(row),
  events: row.events === '' ? [] : row.events.split('\n'),
});

function fromPosition(position: string): number | undefined {
  const xid = Number(/^(\d+)-\d+$/.exec(position)?.[1]);
  return Number.isSafeInteger(xid) ? xid : undefined;
}
