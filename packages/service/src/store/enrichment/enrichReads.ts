import { type Kysely, sql } from 'kysely';
import { ENVELOPE_BYTES } from '../blocks/body.ts';
import { type Engine, readMoment } from '../engine/engine.ts';
import type { DayFilter } from '../engine/days.ts';
import type { EnrichReads, EnrichingMatch, Token } from './contract.ts';
import type { Tables } from '../tables/tables.ts';

/** Condition that a match waits for enrichment. Excludes matches that were set aside. */
const IS_WAITING = sql`enrichment is not null and set_aside is null`;

/** Reads matches that wait for enrichment, and stored tokens. */
export const createEnrichReads = (db: Kysely<Tables>, engine: Engine): EnrichReads => ({
  async listEnrichingSince() {
    const { open } = await readMoment(engine, db);
    return readEnrichingSince(db, open);
  },

  async listEnriching({ chain, limit, perStream, notStreams, notMatches }) {
    const { open } = await readMoment(engine, db);
    // Each query reads the nth match of each stream's queue, with one index seek per stream,
    // regardless of the queue's length.
    const oldest = Array.from(
      { length: perStream },
      (_, place) => sql`
        select (select waiting.id from match as waiting
          where ${open('waiting.block_day')} and waiting.chain = ${chain} and waiting.stream_id = lane.id
            and ${IS_WAITING} and waiting.state <> 'orphaned'
            ${noneOf('waiting.id', notMatches)}
          order by waiting.id limit 1 offset ${place}) as id
        from lane join stream on stream.id = lane.id
        where stream.deleted_at is null ${noneOf('lane.id', notStreams)}`,
    );
    const { rows } = await sql<{
      id: string;
      stream_id: string;
      block_number: number;
      block_hash: string;
      body_tail: string;
      head_bytes: number;
      enrichment: string;
    }>`
      with recursive lane(id) as (
        select min(stream_id) from match
        where ${open('block_day')} and chain = ${chain} and ${IS_WAITING}
        union all
        select (select min(stream_id) from match
          where ${open('block_day')} and chain = ${chain} and ${IS_WAITING}
            and stream_id > lane.id)
        from lane where lane.id is not null),
      oldest as (${sql.join(oldest, sql` union all `)})
      select match.id, match.stream_id, match.block_number, match.block_hash, match.body_tail,
        octet_length(match.body_head) as head_bytes, match.enrichment
      from match where ${open('match.block_day')} and match.id in (
        select id from oldest where id is not null order by id limit ${limit})
      order by match.id`.execute(db);
    return rows.map((row): EnrichingMatch => ({
      id: row.id,
      streamId: row.stream_id,
      block: { number: row.block_number, hash: row.block_hash },
      bodyTail: row.body_tail,
      bodyHeadBytes: row.head_bytes + ENVELOPE_BYTES,
      enrichment: row.enrichment,
    }));
  },

  async readTokens(chain, addresses) {
    if (addresses.length === 0) return [];
    const rows = await db
      .selectFrom('token')
      .selectAll()
      .where('chain', '=', chain)
      .where('address', 'in', addresses)
      .execute();
    return rows.map((row) => ({
      token: {
        address: row.address,
        name: row.name,
        symbol: row.symbol,
        decimals: row.decimals,
        standard: row.standard as Token['standard'],
        blockNumber: row.block_number,
      },
      readAt: row.updated_at,
    }));
  },
});

const noneOf = (column: string, values: readonly string[]) =>
  values.length === 0 ? sql`` : sql`and ${sql.ref(column)} not in (${sql.join(values)})`;

/**
 * For each chain with deliveries that wait for enrichment, returns the time since which the oldest
 * one has been waiting. Reads only active streams and the days that `open` selects.
 */
export async function readEnrichingSince(
  db: Kysely<Tables>,
  open: DayFilter,
): Promise<{ chain: string; since: number }[]> {
  const { rows } = await sql<{ chain: string; since: number }>`
    select delivery.chain, min(delivery.run_at) as since
    from delivery join stream on stream.id = delivery.stream_id
    where ${open('delivery.block_day')} and delivery.state = 'enriching'
      and stream.status = 'active' and stream.deleted_at is null
    group by delivery.chain`.execute(db);
  return rows;
}
