/** The tables of the ledger. Times are Unix milliseconds unless a name ends in another unit. */
import type { Kysely, Transaction } from 'kysely';
import type { StreamTables } from '../streams/tables.ts';
import type { AddressTables } from '../addresses/tables.ts';
import type { BlockTables } from '../blocks/tables.ts';
import type { JobTables } from '../jobs/tables.ts';
import type { DeliveryTables } from '../deliveries/tables.ts';
import type { EnrichmentTables } from '../enrichment/tables.ts';
import type { StatTables } from '../stats/tables.ts';
import type { ReplayTables } from '../replays/tables.ts';
import type { UpkeepTables } from '../upkeep/tables.ts';
import type { AccessTables } from '../access/tables.ts';
import type { InboxTables } from '../inbox/tables.ts';
import type { LiveTables } from '../live/tables.ts';

export interface Tables
  extends
    StreamTables,
    AddressTables,
    BlockTables,
    JobTables,
    DeliveryTables,
    EnrichmentTables,
    StatTables,
    ReplayTables,
    UpkeepTables,
    AccessTables,
    InboxTables,
    LiveTables {
  /** PostgreSQL only. */
  partition: PartitionTable;
}

/** A connection, inside a transaction or not. */
export type Db = Kysely<Tables> | Transaction<Tables>;

/** A partition of each table listed in `partitions.ts`. */
interface PartitionTable {
  /** The suffix of its tables' names, after `_`. */
  name: string;
  from_day: string;
  /** Exclusive. */
  to_day: string;
  /** False if the partition has no frozen match and every delivery has ended. */
  open: boolean;
}
