export interface StatTables {
  /**
   * Changes to counts. They are rolled up later, because concurrent updates of the same counters
   * could deadlock.
   */
  stat_delta: StatTable;
  stat: StatTable;
  /** Counts per hour, without totals; `minute` is the first minute of the hour. */
  stat_hour: StatTable;
}

/** Number of attempts in a bucket of durations; see `latency.ts`. */
export type LatencyMetric = `latency_${number}`;

/**
 * Metrics of attempts and matches, kept per minute for two days and per hour for 30 days.
 * `delivered` counts the first 2xx of a delivery, `redelivered` any further ones. `timed_out` counts
 * failed attempts without a response in time.
 */
export type ActivityMetric =
  | 'delivered'
  | 'redelivered'
  | LatencyMetric
  | 'failed_attempts'
  | ResponseMetric
  | 'timed_out'
  | 'retries'
  | 'given_up'
  | MatchedMetric
  | 'matched';

/**
 * Number of attempts by HTTP status. Failed ones without a complete response are the rest of
 * `failed_attempts`; successes of queues have no status. Earlier versions counted both as
 * `answered_none`.
 */
export type ResponseMetric = `answered_${number}`;

/** Number of matched records by type, as in `NewMatch.records`. */
export type MatchedMetric = `matched_${string}`;

/**
 * Totals at minute 0: the number of deliveries in state `succeeded` or `failed`, and the number of
 * records in the confirmed ones. Retention does not change the totals.
 */
export type TotalMetric =
  | 'webhooks_delivered'
  | 'webhooks_failed'
  | 'logs'
  | 'transactions'
  | 'internal_transactions';

interface StatTable {
  /** Empty for the sums over all streams, in which `matched` counts records of every type. */
  stream_id: string;
  /** Unix minutes; 0 for a total. */
  minute: number;
  chain: string;
  metric: ActivityMetric | TotalMetric;
  n: number;
}
