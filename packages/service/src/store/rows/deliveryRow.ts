/** Converts rows of deliveries to the type that the rest of the service uses. */
import type { DeliverySummary } from '@sluice/kit/contract';
import type { Tables } from '../tables/tables.ts';
import { toPlace } from './laneIds.ts';

export const deliveryColumns = [
  'id',
  'match_id',
  'stream_id',
  'tag',
  'chain',
  'block_number',
  'phase',
  'state',
  'records',
  'about',
  'attempts',
  'run_at',
  'last_status',
  'last_error',
  'last_duration_ms',
  'created_at',
  'updated_at',
] as const;

export type DeliveryRow = Pick<Tables['delivery'], (typeof deliveryColumns)[number]>;

export function toDeliverySummary(row: DeliveryRow): DeliverySummary {
  return {
    id: row.id,
    ...toPlace(row.stream_id),
    matchId: row.match_id,
    tag: row.tag,
    chainId: row.chain,
    blockNumber: row.block_number,
    phase: row.phase,
    state: row.state === 'pending' && row.attempts > 0 ? 'retrying' : row.state,
    records: row.records,
    about: row.about,
    attempts: row.attempts,
    status: row.last_status,
    error: row.last_error,
    durationMs: row.last_duration_ms,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    nextAttemptAt: row.state === 'pending' ? row.run_at : null,
  };
}
