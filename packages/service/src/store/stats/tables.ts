/** Rows of counts. */
import type { LatencyMetric } from './latency.ts';

export interface StatTables {
  /** Append-only, rolled up into `stat`: counters updated in place deadlock under load. */
  stat_delta: StatTable;
  stat: StatTable;
  /** Same, without totals, per hour: `minute` is the first minute of the hour. */
  stat_hour: StatTable;
}

/**
 * Counted per minute for two days and per hour for eight: attempts that got a 2xx, with their
 * latency; failed attempts; both by response; retries; deliveries given up; and records when
 * matched.
 */
export type ActivityMetric =
  | 'delivered'
  | LatencyMetric
  | 'failed_attempts'
  | AnsweredMetric
  | 'retries'
  | 'given_up'
  | MatchedMetric;

/** By status; `none` if there was no response, or an incomplete one. */
export type AnsweredMetric = `answered_${number | 'none'}`;

/** By type of record, as in `NewMatch.records`. */
export type MatchedMetric = `matched_${string}`;

/**
 * Counted since the beginning, at minute 0: deliveries in state `succeeded` and `failed`, and the
 * records of confirmed ones. They remain when the counted rows are deleted.
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
