import type { ReplayState } from '@sluice/kit/contract';

export interface ReplayTables {
  replay: ReplayTable;
}

interface ReplayTable {
  id: string;
  name: string;
  /** JSON of a `DeliveryFilter`. */
  filter: string;
  per_second: number;
  state: ReplayState;
  total: number;
  replayed: number;
  /** Id of the last delivery that was processed; empty before the first one. */
  position: string;
  /** Upper bound for the ids of the deliveries that existed when the replay was created. */
  last_id: string;
  /** The earliest time of the next step. */
  next_at: number;
  /** Id of the API key that requested the replay. */
  created_by: string;
  created_at: number;
  updated_at: number;
}
