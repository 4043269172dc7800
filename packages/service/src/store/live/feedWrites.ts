import { type Kysely, sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { FeedWrites } from './contract.ts';
import type { Tables } from '../tables/tables.ts';

/** Maximum total size of the events that are kept for clients that resume. */
const HELD_BYTES = 32 * 1024 * 1024;

/**
 * Creates the writes of live events, which only PostgreSQL stores. `announce` runs an empty
 * transaction, to which `postgresFeed.ts` adds the event, as it does for each write.
 */
export const createFeedWrites = (db: Kysely<Tables>, engine: Engine): FeedWrites => ({
  announce: () => db.transaction().execute(() => Promise.resolve()),

  async trimEvents() {
    if (!engine.isShared) return;
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
});
