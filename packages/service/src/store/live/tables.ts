/** Rows of live events. */

export interface LiveTables {
  live_event: LiveEventTable;
}

/** What one transaction changed, for those who watch. */
interface LiveEventTable {
  /** Of the transaction: the order in which readers see the rows. */
  xid: number;
  created_at: number;
  /** Each as JSON, a line each. */
  events: string;
}
