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
