/** Converts rows of replays to the type that the rest of the service uses. */
import { type Selectable, sql } from 'kysely';
import type { DeliveryFilter, Replay } from '@sluice/kit/contract';
import type { StoredState } from '../tables/deliveries.ts';
import type { Tables } from '../tables/tables.ts';

/**
 * Expression for the name of the API key that requested a replay; null if the ledger does not
 * contain the key.
 */
export const creatorName = sql<string | null>`(
  select name from api_key where api_key.id = replay.created_by)`.as('creatorName');

/**
 * Converts the row of a replay. `counts` contains the number of the replay's deliveries by state,
 * without deliveries that a later replay has sent again.
 */
export function toReplay(
  row: Selectable<Tables['replay']> & { creatorName: string | null },
  counts: readonly { state: StoredState; n: number }[] = [],
): Replay {
  const count = (...states: StoredState[]): number =>
    counts.filter(({ state }) => states.includes(state)).reduce((sum, { n }) => sum + n, 0);
  return {
    id: row.id,
    name: row.name,
    filter: JSON.parse(row.filter) as DeliveryFilter,
    perSecond: row.per_second,
    state: row.state,
    total: row.total,
    replayed: row.replayed,
    succeeded: count('succeeded'),
    failed: count('failed', 'quarantined'),
    waiting: count('enriching', 'held', 'pending', 'leased'),
    createdBy: row.creatorName ?? row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
