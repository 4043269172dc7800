/** Describes how to find the blocks that streams match by their logs. */

/**
 * A filter of `eth_getLogs`, without a block range. Null matches any topic; lists are never empty.
 */
export interface LogFilter {
  address?: readonly string[];
  topics: readonly (readonly string[] | null)[];
}

/** The part of a log that a search reads. */
export interface SearchedLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export interface LogSearch {
  /** Whether the logs of a block suffice, so that the block need not be read. Default: false. */
  keepsLogs?: boolean;
  /**
   * Alternative plans, the most selective one first. The filters of each plan together find all
   * blocks that match.
   */
  plans: readonly (readonly LogFilter[])[];
  /** Returns whether any of the streams matches these logs of a block. */
  takes(block: { number: number; hash: string; logs: readonly SearchedLog[] }): boolean;
}
