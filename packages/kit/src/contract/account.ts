/** Settings and statistics of an account. */

export const REGIONS = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'] as const;

/** Where the hosted service sends webhooks from. */
export type Region = (typeof REGIONS)[number];

/** The settings of an account. */
export interface Settings {
  region?: Region | undefined;
  /** The streams secret, which signs every webhook of the account. */
  secretKey?: string | undefined;
}

/** Webhooks that failed are counted in the three `…Processed` numbers too. */
export interface StatsCounters {
  totalWebhooksDelivered: number;
  totalWebhooksFailed: number;
  totalLogsProcessed: number;
  totalTxsProcessed: number;
  totalTxsInternalProcessed: number;
}

interface StatsPeriod {
  /** ISO 8601: the beginning of what is counted. */
  createdAt?: string;
  /** ISO 8601: the end of it. */
  updatedAt?: string;
}

/** The counters of one stream. */
export interface StreamStats extends StatsCounters, StatsPeriod {
  streamId?: string;
}

/** Of all streams together. */
export interface Stats extends StatsCounters, StatsPeriod {
  /** And of each. */
  streams?: (StatsCounters & { streamId: string })[];
}
