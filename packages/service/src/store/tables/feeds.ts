export interface FeedTables {
  feed: FeedTable;
  feed_consumer: FeedConsumerTable;
}

/** The feed of a stream, from its first delivery on. */
interface FeedTable {
  stream_id: string;
  /** The newest position. A transaction that assigns positions locks this row until it has ended. */
  head: number;
}

interface FeedConsumerTable {
  stream_id: string;
  name: string;
  /** The last position before the first unacknowledged one. */
  position: number;
  /** Acknowledged positions after `position`, as a JSON list of ranges. */
  acked: string;
  /** Positions that were returned and not yet acknowledged, as a JSON list of leases. */
  leases: string;
  /** Number of deliveries that expired before this consumer acknowledged them. */
  missed: number;
  created_at: number;
  /** Time of the last response with deliveries, or of the last acknowledgement. */
  active_at: number;
}
