/**
 * Why a webhook was sent, or not: what `GET /sluice/explain` answers of a transaction, a block, a ledger
 * version, an address or a delivery.
 */

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

/** What the question was understood as. */
export const EXPLAIN_KINDS = [
  'transaction',
  'block',
  'version',
  'address',
  'delivery',
  'unknown',
] as const;
