import type { WebhookOrigin } from '@sluice/kit/contract';

/** Returns the origin of a match as receivers see it. */
export const originOf = (origin: string): WebhookOrigin =>
  origin.startsWith('live:') ? 'live' : origin.startsWith('job:') ? 'backfill' : 'replay';
