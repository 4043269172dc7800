/** Rows of replays. */
import type { ReplayState } from '@sluice/kit/contract';

export interface ReplayTables {
  replay: ReplayTable;
}

/** Deliveries that are sent again. */
interface ReplayTable {
  id: string;
  name: string;
  /** JSON of a `DeliveryFilter`. */
  filter: string;
  per_second: number;
  state: ReplayState;
  total: number;
  replayed: number;
  /** Id of the last delivery that had its turn; empty before the first. */
  position: string;
  /** Greater than every delivery that was there when it was made, and less than those that came later. */
  last_id: string;
  /** The earliest time of the next step. */
  next_at: number;
  /** Id of the API key that asked for it. */
  created_by: string;
  created_at: number;
  updated_at: number;
}
