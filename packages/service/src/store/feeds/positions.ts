import { sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { DayFilter } from '../engine/days.ts';
import type { Db } from '../tables/tables.ts';

/**
 * Assigns the next positions of their feeds to deliveries, in order of creation. Must be the last
 * statement of its transaction but for the commit, because it locks the feeds.
 */
export async function assignPositions(
  trx: Db,
  engine: Engine,
  deliveries: readonly { id: string; streamId: string }[],
  open: DayFilter,
): Promise<void> {
  const ofStream = Map.groupBy(deliveries, ({ streamId }) => streamId);
  const placed: { id: string; position: number }[] = [];
  // Locks feeds in a fixed order, so that two transactions cannot wait for each other.
  for (const [streamId, theirs] of [...ofStream].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const { rows } = await sql<{ head: number }>`
      insert into feed (stream_id, head) values (${streamId}, ${theirs.length})
      on conflict (stream_id) do update set head = feed.head + excluded.head
      returning head`.execute(trx);
    const before = rows[0]!.head - theirs.length;
    const inOrder = theirs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    placed.push(...inOrder.map(({ id }, n) => ({ id, position: before + n + 1 })));
  }
  await sql`
    update delivery set feed_position = placed.position
    from ${engine.rows(placed, { id: 'text', position: 'bigint' })} as placed
    where ${open('delivery.block_day')} and delivery.id = placed.id`.execute(trx);
}
