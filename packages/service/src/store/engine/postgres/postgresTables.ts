/** Tables that exist only on PostgreSQL. */
export type PostgresTables = {
  partition: PartitionTable;
  live_event: LiveEventTable;
};

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

/** The live events of one transaction. */
export interface LiveEventTable {
  /** Id of the transaction. The rows are read in this order. */
  xid: number;
  created_at: number;
  /** Events as JSON, one per line. */
  events: string;
}
