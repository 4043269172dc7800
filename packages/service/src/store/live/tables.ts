/** Tables of live events. */

export interface LiveTables {
  live_event: LiveEventTable;
}

/** The events of one transaction. */
interface LiveEventTable {
  /** Id of the transaction, which determines the order of the rows for readers. */
  xid: number;
  created_at: number;
  /** Events as JSON, one per line. */
  events: string;
}
