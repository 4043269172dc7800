/**
 * Why a webhook was sent, or not: what `GET /sluice/explain` answers of a transaction, a block, a ledger
 * version, an address or a delivery.
 */
import type { DeliverySummary } from './sluice.ts';

/** What is asked on the way from a block to a delivery, in this order. */
export const EXPLAIN_STAGES = [
  /** The nodes have the block. */
  'seen',
  /** How many of the nodes have come so far. */
  'fetched',
  /** The service has committed it, and it is still of the chain. */
  'committed',
  /** The stream watches this chain. */
  'chain',
  /** The stream is active. */
  'status',
  /** The stream watches an address of it, or all. */
  'address',
  /** The stream takes this kind of record. */
  'records',
  /** It is no possible spam, or the stream does not mind. */
  'spam',
  /** The stream names the event or function, or none. */
  'event',
  /** A filter of the stream lets it pass. */
  'filter',
  /** It came along with another record of its transaction. */
  'along',
  /** The stream was held against this block. */
  'coverage',
  /** The match stands in the ledger. */
  'match',
  /** What the body takes from the chain's state is there. */
  'enrichment',
  /** How the deliveries stand. */
  'delivery',
  /** Enough blocks have followed. */
  'confirmation',
] as const;

/** One question on the way from a block to a delivery. */
export type ExplainStage = (typeof EXPLAIN_STAGES)[number];

/** How far something came: `stopped` decides against it, `waiting` is still to come. */
export const EXPLAIN_OUTCOMES = ['passed', 'stopped', 'waiting', 'unknown'] as const;

/** How a question was answered. */
export type ExplainOutcome = (typeof EXPLAIN_OUTCOMES)[number];

/** One question with its answer. */
export interface ExplainReason {
  stage: ExplainStage;
  outcome: ExplainOutcome;
  /** For people, with the values that were compared. */
  what: string;
}

/** A log, a transaction or an internal transaction of the block, as one stream sees it. */
export interface ExplainedRecord {
  kind: 'log' | 'transaction' | 'internalTransaction';
  /** Of a log its index in the block, of an internal transaction that in its transaction, of Aptos the ledger version. */
  index: number;
  transactionHash: string;
  /** Whether it is in the webhook. */
  taken: boolean;
  reasons: ExplainReason[];
}

/**
 * What became of it for one stream. `delivered`, `waiting`, `failed`, `cancelled`: it matched.
 * `not-matched`: its rules do not take it. `not-evaluated`: the stream was not held against it.
 * `watched`, `not-watched`: of an address.
 */
export const EXPLAIN_VERDICTS = [
  'delivered',
  'waiting',
  'failed',
  'cancelled',
  'not-matched',
  'not-evaluated',
  'watched',
  'not-watched',
] as const;

/** What became of it for one stream. */
export type ExplainVerdict = (typeof EXPLAIN_VERDICTS)[number];

/** What became of it for one stream, and why. */
export interface StreamVerdict {
  streamId: string;
  tag: string;
  /** When the stream was last changed: what came before was judged by other rules, perhaps. */
  changedAt: number;
  verdict: ExplainVerdict;
  /** The reason that decided. */
  because: ExplainReason;
  /** Every stage that was reached, in order. */
  stages: ExplainReason[];
  /** How many concern the stream. */
  recordCount: number;
  /** Of these the first 50, those in the webhook before others; of a delivery 20,000, of its transactions alone. */
  records: ExplainedRecord[];
  /** Of this block, and of this transaction where one was asked for. */
  deliveries: DeliverySummary[];
}

/** What the question was understood as. */
export const EXPLAIN_KINDS = [
  'transaction',
  'block',
  'version',
  'address',
  'delivery',
  'unknown',
] as const;

/** Why a webhook was sent, or not. */
export interface Explanation {
  /** As it was asked. */
  query: string;
  kind: (typeof EXPLAIN_KINDS)[number];
  /** Null where it was found on no chain. */
  chainId: string | null;
  /** Null where none was found. */
  block: {
    number: number;
    hash: string;
    /** Unix seconds; null where the nodes do not have it any more. */
    timestamp: number | null;
  } | null;
  transactionHash: string | null;
  /** For people: what was found, or what to try. */
  message: string;
  /** Of the block: seen, fetched, committed. */
  stages: ExplainReason[];
  /** Those that matched first; at most 200. */
  streams: StreamVerdict[];
}
