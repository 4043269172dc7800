/**
 * Our own routes under `/sluice/…`: what the console and the command line need beyond the
 * compatible API. Reached by `x-api-key` or by a console session.
 * Times are Unix milliseconds; sizes are bytes.
 */

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

/** Where a delivery stands. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];
/** `removed`: the notice that the block left the chain. */
export type DeliveryPhase = 'unconfirmed' | 'confirmed' | 'removed';

export const DELIVERY_ORDERS = ['newest', 'oldest'] as const;

/** How deliveries are listed. */
export interface DeliveryOrder {
  /** Which come first. Default `newest`. */
  order?: (typeof DELIVERY_ORDERS)[number] | undefined;
}

/** Where a backfill can stand. */
export const JOB_STATES = ['running', 'paused', 'done', 'cancelled', 'failed'] as const;

/** Where a backfill stands. */
export type JobState = (typeof JOB_STATES)[number];
