/**
 * Creates the client for the service on the same origin, and query keys. The browser sends the session
 * cookie.
 */
import type { Client } from '@sluice/kit';
import { createSluiceClient, isSluiceError } from '@sluice/kit/sluice';

export const sluice = createSluiceClient({ baseUrl: location.origin });

/** Loads the client of the compatible API, which the first load does without. */
export const loadClient = async (): Promise<Client> => (await import('../client.ts')).client;

/** The service's limit for one page. */
export const PAGE_ROWS = 100;

/** Counts over 24 hours change without an event, so they are updated every half minute. */
export const SUMMARY_REFRESH_MS = 30_000;

export const queryKeys = {
  streams: ['streams'],
  chains: ['chains'],
  deliveries: ['deliveries'],
  delivery: (id: string) => ['delivery', id],
  stream: (id: string) => ['stream', id],
  addresses: (id: string) => ['addresses', id],
  coverage: (id: string) => ['coverage', id],
  jobs: ['jobs'],
  inboxes: ['inboxes'],
  keys: ['keys'],
  replays: ['replays'],
  replay: ['replay'],
} as const;

/** Returns whether the service reported that the id is unknown or invalid. */
export const isNone = (error: unknown): boolean =>
  isSluiceError(error, 'not_found') || isSluiceError(error, 'validation_failed');
