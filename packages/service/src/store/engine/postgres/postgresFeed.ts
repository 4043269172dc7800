/**
 * The feed of a ledger that many processes work on: one row for each write that means something to others,
 * made in its own transaction, so that there is one exactly where the write took place. The table is
 * unlogged: it costs the log nothing, and is empty after a crash or failover of the server. Whoever read
 * it before is then told to start over.
 *
 * Rows stand in the order of their transactions' ids. A transaction may commit after a later one, so only
 * what is older than every transaction under way is read: nothing can come before it any more.
 */
import type { LiveEvent } from '@sluice/kit/contract';
import { type Kysely, type Transaction, sql } from 'kysely';
import { postgresEngine } from '../engine.ts';
import { type EventBatch, type EventFeed, GATHER_MS } from '../../live/eventFeed.ts';
import type { Notices } from '../../live/notices.ts';
import type { Tables } from '../tables.ts';

const BATCHES_AT_ONCE = 20;
/** A notice may be lost, or come before its row may be read. */
const POLL_MS = 250;

/** Below it every transaction has ended, as far as this statement sees. */
const horizon = sql<number>`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;
const ownId = sql<number>`pg_current_xact_id()::text::bigint`;

export interface PostgresFeed extends EventFeed {
  /** In this transaction. */
  append(trx: Transaction<Tables>, events: readonly LiveEvent[]): Promise<void>;
  /** Rows were committed: readers in every process are told, by and by. */
  tell(): void;
}

export function createPostgresFeed(db: Kysely<Tables>, notices: Notices): PostgresFeed {
  const listeners = new Set<() => void>();
  /** Readers at one place ask once. */
  const reading = new Map<string, Promise<EventBatch[] | undefined>>();
  let gathering: NodeJS.Timeout | undefined;
  let poller: NodeJS.Timeout | undefined;

  const append = async (trx: Transaction<Tables>, events: readonly LiveEvent[]): Promise<void> => {
    const lines = events.map((event) => JSON.stringify(event)).join('\n');
    // A ledger that was restored into another server may hold rows of ids that this one is yet to give.
    await sql`
      insert into live_event (xid, created_at, events) values (${ownId}, ${postgresEngine.now()}, ${lines})
      on conflict (xid) do update set
        created_at = excluded.created_at, events = excluded.events`.execute(trx);
  };

  const readNewest = async (): Promise<EventBatch | undefined> => {
    const row = await db
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

  const tellListeners = (): void => {
    for (const listener of listeners) listener();
  };
  const forget = notices.on('events', tellListeners);

  return {
    append,
    tell() {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        notices.tell(['events']);
      }, GATHER_MS);
    },
    async newest() {
      let newest = await readNewest();
      // The first there is, to go on from.
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
      poller ??= setInterval(tellListeners, POLL_MS);
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

/** The time beside the id: after a crash the server may give an id again. */
const toPosition = ({ xid, created_at: createdAt }: { xid: number; created_at: number }): string =>
  `${xid}-${createdAt}`;

const toBatch = (row: Tables['live_event']): EventBatch => ({
  position: toPosition(row),
  events: row.events === '' ? [] : row.events.split('\n'),
});

function fromPosition(position: string): number | undefined {
  const xid = Number(/^(\d+)-\d+$/.exec(position)?.[1]);
  return Number.isSafeInteger(xid) ? xid : undefined;
}

/** These transactions record, as their last step, what came of them. */
export function recording(
  db: Kysely<Tables>,
  record: (trx: Transaction<Tables>, answer: unknown) => Promise<void>,
): Kysely<Tables> {
  const transaction = () => ({
    execute: <T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> =>
      db.transaction().execute(async (trx) => {
        const answer = await work(trx);
        await record(trx, answer);
        return answer;
      }),
  });
  return new Proxy(db, {
    get(target, name) {
      if (name === 'transaction') return transaction;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
