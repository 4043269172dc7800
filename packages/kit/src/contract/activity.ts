/** What was delivered over time, and what became of recent blocks: the shapes of charts. */

/** Minutes that a point of a chart stands for. */
export const ACTIVITY_STEPS = [1, 5, 60] as const;

/** Minutes that a point of a chart stands for. */
export type ActivityStep = (typeof ACTIVITY_STEPS)[number];

/** Attempts that ended within one step. */
export interface ActivityPoint {
  /** Where the step begins, in Unix milliseconds. */
  at: number;
  /** Deliveries that got a 2xx. */
  delivered: number;
  /** Deliveries that were given up. */
  failed: number;
  /** Attempts that failed, those of later success included. */
  failedAttempts: number;
  /** Attempts that were not the first of their delivery. */
  retries: number;
  /** Failed attempts by the first digit of their status; `none`: no answer came. */
  failures: { none: number; '3xx': number; '4xx': number; '5xx': number };
  /** Of the attempts that got a 2xx, from the first byte sent to the end of the answer, to a fifth; null without any. */
  p50Ms: number | null;
  p95Ms: number | null;
}

/** Attempts over time, of one stream or of all. */
export interface Activity {
  stepMinutes: ActivityStep;
  /** Oldest first, without gaps; the last one is not over. */
  result: ActivityPoint[];
}

/**
 * How many points there are at most of each step: counts are kept by the minute for two days, by the hour
 * for eight.
 */
export const MOST_POINTS: Readonly<Record<ActivityStep, number>> = { 1: 1_500, 5: 576, 60: 192 };

/** What the attempts and the matched records of some time consisted of, of one stream or of all. */
export interface ActivityBreakdown {
  /** Where the first step begins, in Unix milliseconds. */
  from: number;
  /** Attempts by what was answered, most first; null: no answer came, or it did not come to its end. */
  statuses: { status: number | null; attempts: number }[];
  /** By chain, most attempts first. */
  chains: {
    chainId: string;
    /** Deliveries that got a 2xx. */
    delivered: number;
    failedAttempts: number;
    /** Records that were matched. */
    matched: number;
    /** Of the attempts that got a 2xx, to a fifth; null without any. */
    p95Ms: number | null;
  }[];
  /**
   * Records by what they are, most first, counted once when their block is matched. Of EVM the topic0 of
   * the event, `anonymous` for logs without topics, `transaction`, `internalTransaction`. Of Aptos the
   * function that a transaction calls, or `transaction`, and the type of each event where the stream gets
   * events. `other` for all beyond the 20 most frequent ones of a webhook.
   */
  records: {
    what: string;
    /** Of an EVM event that the stream's ABI or a token standard knows, such as `Transfer(address,address,uint256)`. */
    signature: string | null;
    matched: number;
  }[];
}

export const STREAM_CHANGE_KINDS = [
  'edited',
  'paused',
  'resumed',
  'secret-rotated',
  'failed',
  'recovered',
  'terminated',
] as const;

/**
 * `failed`, `recovered` and `terminated` are what the service itself says of a stream whose receiver fails;
 * the others somebody did.
 */
export type StreamChangeKind = (typeof STREAM_CHANGE_KINDS)[number];

/** Something that was done to a stream, or became of it; changes of its addresses are none. */
export interface StreamChange {
  /** In Unix milliseconds. */
  at: number;
  kind: StreamChangeKind;
  /** Of `edited`: what has another value since, in the names of the contract. */
  fields: string[];
  /** Name of the API key that did it, `bootstrap` for the one of `--api-key`; null: the service itself. */
  by: string | null;
}

/** A block that a stream matched, and what became of that. */
export interface TapeBlock {
  number: number;
  hash: string;
  /** Webhooks that it was matched into: one, or its parts. */
  matches: number;
  /** Their deliveries by how they stand; `waiting` are those under way or still to come. */
  delivered: number;
  waiting: number;
  failed: number;
  cancelled: number;
  /** Enough blocks have followed. */
  confirmed: boolean;
  /** It left the chain. */
  removed: boolean;
}

/** What a stream matched in the newest blocks of its chains. */
export interface StreamTape {
  streamId: string;
  /** In the order that the stream names them; without those of which no block is kept. */
  chains: {
    chainId: string;
    /** The oldest block that was looked at. */
    from: number;
    /** Newest first; blocks that nothing matched in are left out. */
    blocks: TapeBlock[];
  }[];
}

/** Of which streams, and how many of each chain's newest blocks. */
export interface ListTapes {
  /** At most 200; one that is not there has no tape. */
  streamIds: readonly string[];
  /** At most 200, 60 by default. */
  limit?: number | undefined;
}

/**
 * `skipped`: the chain went on later, and what lies between was left out · `restarted`: another chain, or
 * one that was set up anew, began here, and nothing up to it was read · `passed-over`: no stream watched
 * the chain, so that its blocks were not read; nothing is missing · `halted`: it stopped before a block,
 * and nothing was skipped
 */
export type GapKind = 'skipped' | 'restarted' | 'passed-over' | 'halted';

/** Where a chain did not go on block by block. */
export interface ChainGap {
  chainId: string;
  kind: GapKind;
  /** The first block that was not read; of a halt the one it waits for. Heights, of Aptos too. */
  from: number;
  /** The last one; null of a halt. */
  to: number | null;
  /** For people: why. */
  reason: string;
  /** When it came to be. */
  at: number;
  /** When it was over, and when blocks were last passed over; null of a halt that lasts. */
  endedAt: number | null;
}

/** A chain that went another way. */
export interface Reorg {
  chainId: string;
  /** The newest block that stayed. */
  blockNumber: number;
  /** Blocks that left the chain. */
  depth: number;
  at: number;
}
