/** Lists of allowed field values, and limits of the contract. */
import type { ActivityStep, DeliveryState } from './shapes.generated.ts';

/** Default and maximum rows per page. */
export const PAGE_LIMIT = 100;

/** Maximum size of a webhook that Sluice sends, unless `--max-webhook-bytes` changes it. */
export const DEFAULT_MAX_WEBHOOK_BYTES = 8 * 1024 * 1024;

/**
 * Permissions of API keys. `streams:read` and `streams:write`: streams, addresses, dry runs and
 * chains · `history:read`: deliveries with bodies, logs, counts, jobs, live events · `replay`:
 * replays, past blocks · `settings:admin`: settings, secrets, keys, halted chains, the audit log.
 */
export const SCOPES = [
  'streams:read',
  'streams:write',
  'history:read',
  'replay',
  'settings:admin',
] as const;

/** Regions from which the hosted service sends webhooks. */
export const REGIONS = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'] as const;

/**
 * States of a delivery, in lifecycle order. `enriching` waits for data from the chain;
 * `quarantined` is set aside because sending it crashed the process repeatedly.
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

/** States of undelivered deliveries, which a replay sends again. */
export const UNDELIVERED = ['failed', 'quarantined', 'pending'] as const satisfies DeliveryState[];

export const REPLAY_STATES = ['running', 'done', 'cancelled'] as const;

/** States of a backfill. */
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

/** Minutes per point of a chart. */
export const ACTIVITY_STEPS = [1, 5, 60] as const;

/**
 * Maximum points by step. Counts are kept for 2 days per minute and 15 days per hour.
 */
export const MAX_POINTS: Readonly<Record<ActivityStep, number>> = { 1: 1_500, 5: 576, 60: 360 };

/** Checks on the way from a block to a delivery, in order. */
export const EXPLAIN_STAGES = [
  /** The nodes have the block. */
  'seen',
  /** The number of nodes that have reached the block. */
  'fetched',
  /** The service has committed it, and it is still in the chain. */
  'committed',
  /** The stream watches this chain. */
  'chain',
  /** The stream is active. */
  'status',
  /** The stream watches one of its addresses, or all addresses. */
  'address',
  /** The stream includes this kind of record. */
  'records',
  /** It is not possible spam, or the stream does not filter spam. */
  'spam',
  /** The stream selects the event or function, or selects none. */
  'event',
  /** The record passes a filter of the stream. */
  'filter',
  /** The record is included because of another record of its transaction. */
  'along',
  /** The stream was matched against this block. */
  'coverage',
  /** The match is in the ledger. */
  'match',
  /** The enrichment of the body is complete. */
  'enrichment',
  /** The state of the deliveries. */
  'delivery',
  /** Enough blocks have followed for a confirmation. */
  'confirmation',
] as const;

/** Outcomes of a check: `stopped` rejects the record, `waiting` is still pending. */
export const EXPLAIN_OUTCOMES = ['passed', 'stopped', 'waiting', 'unknown'] as const;

/**
 * Results of Explain for one stream. `delivered`, `waiting`, `failed`, `cancelled`: it matched.
 * `not-matched`: the rules exclude it. `not-evaluated`: the stream was not matched against it.
 * `watched`, `not-watched`: for an address.
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

/** Interpretations of a query. */
export const EXPLAIN_KINDS = [
  'transaction',
  'block',
  'version',
  'address',
  'delivery',
  'unknown',
] as const;
