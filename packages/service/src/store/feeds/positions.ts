import { sql } from 'kysely';
import type { Engine } from '../engine/engine.ts';
import type { DayFilter } from '../engine/days.ts';
import { type Place, laneOf } from '../rows/laneIds.ts';
import type { Db } from '../tables/tables.ts';

/**
 * Assigns the next positions of their feeds to deliveries, in order of creation. Must be the last
 * statement of its transaction but for the commit, because it locks the feeds.
 */
export async function assignPositions(
  trx: Db,
  engine: Engine,
  deliveries: readonly (Place & { id: string })[],
  open: DayFilter,
): Promise<void> {
  const ofLane = Map.groupBy(deliveries, laneOf);
  const placed: { id: string; position: number }[] = [];
  // Locks feeds in a fixed order, so that two transactions cannot wait for each other.
  for (const [laneId, theirs] of [...ofLane].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const { rows } = await sql<{ head: number }>`
      insert into feed (stream_id, head) values (${laneId}, ${theirs.length})
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
