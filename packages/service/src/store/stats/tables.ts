/** Tables of counts. */
import type { LatencyMetric } from './latency.ts';

export interface StatTables {
  /**
   * Append-only deltas, which are rolled up into `stat`, because counters that are updated in place
   * deadlock under load.
   */
  stat_delta: StatTable;
  stat: StatTable;
  /** Counts per hour, without totals; `minute` is the first minute of the hour. */
  stat_hour: StatTable;
}

/**
 * Metrics, which are kept for two days per minute and 15 days per hour. `delivered` counts the first
 * 2xx of a delivery, `redelivered` the further ones.
 */
export type ActivityMetric =
  | 'delivered'
  | 'redelivered'
  | LatencyMetric
  | 'failed_attempts'
  | AnsweredMetric
  | 'retries'
  | 'given_up'
  | MatchedMetric;

/** Attempts by status; `none` without a complete response. */
export type AnsweredMetric = `answered_${number | 'none'}`;

/** Records by type, as in `NewMatch.records`. */
export type MatchedMetric = `matched_${string}`;

/**
 * Totals at minute 0: deliveries in state `succeeded` and `failed`, and the records of confirmed
 * ones. They remain when retention deletes the counted rows.
 */
export type TotalMetric =
  | 'webhooks_delivered'
  | 'webhooks_failed'
  | 'logs'
  | 'transactions'
  | 'internal_transactions';

interface StatTable {
  stream_id: string;
  /** Unix minutes; 0 for a total. */
  minute: number;
  chain: string;
  metric: ActivityMetric | TotalMetric;
  n: number;
}
