/** Puts finished deliveries back into the queue, for replays. */
import { type Selectable, sql } from 'kysely';
import type { StoredState } from '../tables/deliveries.ts';
import type { Db, Tables } from '../tables/tables.ts';

const REPLAYABLE: readonly StoredState[] = ['pending', 'succeeded', 'failed', 'quarantined'];

/**
 * Condition that a delivery can be replayed: it is not in progress or canceled, and it has a body
 * or can still get one from enrichment.
 */
export const isReplayable = sql<boolean>`(
  delivery.state in (${sql.join(REPLAYABLE.map((state) => sql.lit(state)))})
  and (delivery.state <> 'quarantined' or not exists (
    select 1 from match where match.id = delivery.match_id and match.block_day = delivery.block_day
      and match.set_aside is not null and match.enrichment is null)))`;

/**
 * Resumes the enrichment of these deliveries' matches, if they were set aside before their bodies
 * were complete.
 */
export async function resumeEnrichment(
  trx: Db,
  deliveries: readonly Pick<Selectable<Tables['delivery']>, 'match_id' | 'block_day'>[],
): Promise<void> {
  await trx
    .updateTable('match')
    .set({ set_aside: null })
    .where('block_day', 'in', [...new Set(deliveries.map((row) => row.block_day)), ''])
    .where('id', 'in', [...deliveries.map((row) => row.match_id), ''])
    .where('set_aside', 'is not', null)
    .where('enrichment', 'is not', null)
    .execute();
}

/**
 * Expression for the state of a replayed delivery: `enriching` if its body is not complete, `held`
 * if its match is held, otherwise `pending`.
 */
export const REPLAYED_STATE = sql<'enriching' | 'held' | 'pending'>`
  coalesce((
    select case when match.enrichment is not null then 'enriching'
      when match.held = 1 then 'held' else 'pending' end
    from match where match.id = delivery.match_id and match.block_day = delivery.block_day),
    'pending')`;
