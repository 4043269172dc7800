/** Lists of allowed field values, and limits of the contract. */
import type { ActivityStep, DeliveryState } from './shapes.generated.ts';

/** Default and maximum number of rows per page. */
export const PAGE_LIMIT = 100;

/** Maximum length of the text that a list is searched for, in characters. */
export const MAX_FIND_LENGTH = 100;

/** Maximum number of destinations of a stream, including its `webhookUrl`. */
export const MAX_DESTINATIONS = 5;

/** Default of `--max-webhook-bytes`, the maximum size of a webhook that Sluice sends. */
export const DEFAULT_MAX_WEBHOOK_BYTES = 8 * 1024 * 1024;

/**
 * Permissions of API keys, with the main objects of each:
 * - `streams:read`: streams, addresses, dry runs, chains, contracts;
 * - `streams:write`: streams, addresses, inboxes;
 * - `history:read`: deliveries with bodies, logs, counts, replays, jobs, inboxes, live events;
 * - `feed:read`: feeds and the positions of their consumers;
 * - `replay`: replays, past blocks, backfills;
 * - `settings:admin`: settings, secrets, keys, nodes, alert URLs, halted chains, the audit log.
 */
export const SCOPES = [
  'streams:read',
  'streams:write',
  'history:read',
  'feed:read',
  'replay',
  'settings:admin',
] as const;

/** Regions from which the hosted service sends webhooks. */
export const REGIONS = ['us-east-1', 'us-west-2', 'eu-central-1', 'ap-southeast-1'] as const;

/**
 * States of a delivery, in lifecycle order. `enriching`: waits for data from the chain; `held`:
 * waits until another node confirms its unverified block, or until it is released; `pending`: waits
 * for its first attempt; `retrying`: waits for another attempt; `quarantined`: set aside because it
 * cannot be sent, for example because sending it crashed the process repeatedly.
 */
export const DELIVERY_STATES = [
  'enriching',
  'held',
  'pending',
  'retrying',
  'leased',
  'succeeded',
  'failed',
  'quarantined',
  'cancelled',
] as const;

/** Returns whether a delivery in this state waits for its first or another attempt. */
export const isWaiting = (state: DeliveryState | undefined): boolean =>
  state === 'pending' || state === 'retrying';

/** States of undelivered deliveries that a replay in the CLI or the console selects by default. */
export const UNDELIVERED = [
  'failed',
  'quarantined',
  'pending',
  'retrying',
] as const satisfies DeliveryState[];

export const REPLAY_STATES = ['running', 'done', 'cancelled'] as const;

/** States of a backfill. */
export const JOB_STATES = ['running', 'paused', 'done', 'cancelled', 'failed'] as const;

export const STREAM_CHANGE_KINDS = [
  'edited',
  'paused',
  'resumed',
  'secret-rotated',
  'secret-overlap-ended',
  'failed',
  'recovered',
  'terminated',
] as const;

/**
 * Results of attempts: a success, or a failure by the first digit of its status. `timeout`: no
 * complete response in time; `none`: no complete response for another reason, such as a refused
 * connection.
 */
export const ATTEMPT_RESULTS = ['succeeded', '3xx', '4xx', '5xx', 'timeout', 'none'] as const;

/**
 * Upper bounds in milliseconds of the ranges in which durations of attempts are counted, each 1.3 to
 * 2 times the previous one. One more range counts longer durations.
 */
export const DURATION_BOUNDS_MS = [
  1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000,
  5_000, 7_000, 10_000, 15_000,
] as const satisfies readonly number[];

/** Possible numbers of minutes per point of a chart. */
export const ACTIVITY_STEPS = [1, 5, 60] as const;

/**
 * Maximum number of points of a chart, by step. The service keeps counts per minute for 2 days, and
 * per hour for 30 days.
 */
export const MAX_POINTS: Readonly<Record<ActivityStep, number>> = { 1: 1_500, 5: 576, 60: 720 };

/** Types of calls, as the EVM defines them. */
export const CALL_TYPES = ['call', 'callcode', 'delegatecall', 'staticcall'] as const;

/** Checks on the way from a block to a delivery, in order. */
export const EXPLAIN_STAGES = [
  /** A node returned the block. */
  'seen',
  /** At least one node has reached the number of the block. */
  'fetched',
  /** The service has committed the block, and no other block has replaced it. */
  'committed',
  /** The evidence covers the complete block. Only reported for unverified blocks. */
  'verified',
  /** The stream watches this chain. */
  'chain',
  /** The stream is active or in error: it is matched against new blocks. */
  'status',
  /** The stream watches an address of the record, or all addresses. */
  'address',
  /** The stream includes this kind of record. */
  'records',
  /** The record is not possible spam, or the stream does not filter spam. */
  'spam',
  /** The stream selects this event or function, or does not select any. */
  'event',
  /** The call succeeded or failed, as the stream requires. */
  'outcome',
  /** The record passes a filter of the stream. */
  'filter',
  /** The record is included because of another record of its transaction. */
  'along',
  /** A value on chain that the stream reads met its condition. */
  'value',
  /** The stream was matched against this block. */
  'coverage',
  /** The match is in the ledger. */
  'match',
  /** The enrichment of the body is complete. */
  'enrichment',
  /** A delivery succeeded. */
  'delivery',
  /** The block is confirmed: enough blocks have followed. */
  'confirmation',
] as const;

/**
 * Outcomes of a check. `stopped`: it failed; `waiting`: its result is pending; `unknown`: it could
 * not run, because no node returned the block, or its evidence is incomplete.
 */
export const EXPLAIN_OUTCOMES = ['passed', 'stopped', 'waiting', 'unknown'] as const;

/**
 * Results of Explain for one stream:
 * - `delivered`, `failed`, `cancelled`: the result of the deliveries of a match;
 * - `held`: a delivery waits until another node confirms its block, or until it is released;
 * - `waiting`: a block, a confirmation or a delivery is pending;
 * - `not-matched`: the stream watches other chains, or excludes all records of the block;
 * - `not-evaluated`: the ledger has no match, for example because the stream was paused;
 * - `watched`, `not-watched`: whether the stream watches an address.
 */
export const EXPLAIN_VERDICTS = [
  'delivered',
  'held',
  'waiting',
  'failed',
  'cancelled',
  'not-matched',
  'not-evaluated',
  'watched',
  'not-watched',
] as const;

/** How Explain can interpret its input. */
export const EXPLAIN_KINDS = [
  'transaction',
  'block',
  'version',
  'address',
  'delivery',
  'unknown',
] as const;
