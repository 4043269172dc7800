/** Rows of counts. */
import type { LatencyMetric } from './latency.ts';

export interface StatTables {
  /** Append-only, rolled up into `stat`: counters updated in place deadlock under load. */
  stat_delta: StatTable;
  stat: StatTable;
  /** The same but for totals, added up by the hour: in the first minute of each. */
  stat_hour: StatTable;
}

/**
 * Counted per minute for two days, per hour for eight: attempts that got a 2xx, with how long they took;
 * those that failed; both by what was answered; those that were not their delivery's first; deliveries
 * that were given up with one; and records when they were matched.
 */
export type ActivityMetric =
  | 'delivered'
  | LatencyMetric
  | 'failed_attempts'
  | AnsweredMetric
  | 'retries'
  | 'given_up'
  | MatchedMetric;

/** By status; `none` where no answer came, or it did not come to its end. */
export type AnsweredMetric = `answered_${number | 'none'}`;

/** By what a record is: as `NewMatch.records` names it. */
export type MatchedMetric = `matched_${string}`;

/**
 * Counted since ever, at minute 0: deliveries in state `succeeded` and `failed`, and the records of
 * those of them that are confirmed. They stay when the rows they were counted from are deleted.
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
