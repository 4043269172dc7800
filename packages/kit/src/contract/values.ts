/** What fields can be, in lists that code goes over, and limits of the contract. */
import type { ActivityStep, DeliveryState } from './shapes.generated.ts';

/** Rows per page when `limit` is absent, and at most. */
export const PAGE_LIMIT = 100;

/** Bytes of the largest webhook that Sluice sends, unless `--max-webhook-bytes` sets another limit. */
export const DEFAULT_MAX_WEBHOOK_BYTES = 8 * 1024 * 1024;

/**
 * What a key may do. `streams:read` and `streams:write`: streams, their addresses, dry runs and
 * chains · `history:read`: deliveries with their bodies, logs, counts, jobs, live events · `replay`:
 * send again, and send past blocks · `settings:admin`: settings, secrets, keys, halted chains, the
 * audit log.
 */
export const SCOPES = [
  'streams:read',
  'streams:write',
  'history:read',
  'replay',
  'settings:admin',
] as const;

/** Where the hosted service sends webhooks from. */
export const REGIONS = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'] as const;

/**
 * In the order a delivery lives: `enriching` awaits what is still read from the chain; `quarantined` is
 * set aside, since the process that sent it died of it time and again.
 */
export const DELIVERY_STATES = [
  'enriching',
  'pending',
  'leased',
  'succeeded',
  'failed',
  'quarantined',
  'cancelled',
] as const;

/** The states of deliveries that did not succeed, and that a replay sends again. */
export const UNDELIVERED = ['failed', 'quarantined', 'pending'] as const satisfies DeliveryState[];

export const REPLAY_STATES = ['running', 'done', 'cancelled'] as const;

/** Where a backfill can stand. */
export const JOB_STATES = ['running', 'paused', 'done', 'cancelled', 'failed'] as const;

export const STREAM_CHANGE_KINDS = [
  'edited',
  'paused',
  'resumed',
  'secret-rotated',
  'failed',
  'recovered',
  'terminated',
] as const;

/** Minutes that a point of a chart stands for. */
export const ACTIVITY_STEPS = [1, 5, 60] as const;

/**
 * How many points there are at most of each step: counts are kept by the minute for two days, by the hour
 * for eight.
 */
export const MOST_POINTS: Readonly<Record<ActivityStep, number>> = { 1: 1_500, 5: 576, 60: 192 };

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

/** How far something came: `stopped` decides against it, `waiting` is still to come. */
export const EXPLAIN_OUTCOMES = ['passed', 'stopped', 'waiting', 'unknown'] as const;

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

/** What the question was understood as. */
export const EXPLAIN_KINDS = [
  'transaction',
  'block',
  'version',
  'address',
  'delivery',
  'unknown',
] as const;
