import type { Job } from '@sluice/kit/contract';
import type { Tables } from '../tables/tables.ts';
import { destinationOf } from './laneIds.ts';

export function toJob(row: Tables['job']): Job {
  return {
    id: row.id,
    streamId: row.stream_id,
    ...(row.lane_id !== null && { destination: destinationOf(row.lane_id) }),
    chainId: row.chain,
    kind: row.kind,
    blockFrom: row.block_from,
    blockTo: row.block_to,
    nextBlock: row.next_block,
    state: row.state,
    message: row.message,
    matches: row.matches,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
