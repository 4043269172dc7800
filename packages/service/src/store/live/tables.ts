export interface LiveTables {
  live_event: LiveEventTable;
}

/** The live events of one transaction. Only PostgreSQL has this table. */
interface LiveEventTable {
  /** Id of the transaction. The rows are read in this order. */
  xid: number;
  created_at: number;
  /** Events as JSON, one per line. */
  events: string;
}
