/** Tables of replays. */
import type { ReplayState } from '@sluice/kit/contract';

export interface ReplayTables {
  replay: ReplayTable;
}

/** A replay of deliveries. */
interface ReplayTable {
  id: string;
  name: string;
  /** JSON of a `DeliveryFilter`. */
  filter: string;
  per_second: number;
  state: ReplayState;
  total: number;
  replayed: number;
  /** Id of the last processed delivery; empty before the first one. */
  position: string;
  /** Id bound between the deliveries that existed when the replay was created and later ones. */
  last_id: string;
  /** The earliest time of the next step. */
  next_at: number;
  /** Id of the API key that requested it. */
  created_by: string;
  created_at: number;
  updated_at: number;
}
