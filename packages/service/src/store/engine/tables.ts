/**
 * The tables of the ledger. Times are Unix milliseconds unless a name or a comment states another
 * unit.
 */
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
import type { UncertainTables } from '../uncertain/tables.ts';

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
    LiveTables,
    UncertainTables {
  /** Exists only on PostgreSQL. */
  partition: PartitionTable;
}

/** The ledger's database, or a transaction in it. */
export type Db = Kysely<Tables> | Transaction<Tables>;

/** A range of days for which each table in `PARTITIONED` (`partitions.ts`) has a partition. */
interface PartitionTable {
  /** Suffix of the partitions' names: `20260131` for `match_20260131`, or `20260101_month`. */
  name: string;
  from_day: string;
  /** Exclusive. */
  to_day: string;
  /**
   * Whether the partition may contain a frozen match or a delivery that has not ended. Only open
   * partitions are searched for pending rows.
   */
  open: boolean;
}
