/**
 * The client of the service on the same origin, and the query keys. The browser sends the session
 * cookie.
 */
import type { Client } from '@sluice/kit';
import { createSluiceCalls } from '@sluice/kit/operator';
import { isSluiceError } from '@sluice/kit/sluice';

export const sluice = createSluiceCalls({ baseUrl: location.origin });

/**
 * Loads the client of the compatible API, which is not part of the code that the page loads first.
 */
export const loadClient = async (): Promise<Client> => (await import('../client.ts')).client;

/** Interval at which data that changes without a live event is reloaded, such as 24-hour counts. */
export const SUMMARY_REFRESH_MS = 30_000;

export const queryKeys = {
  streams: ['streams'],
  chains: ['chains'],
  blocks: ['blocks'],
  deliveries: ['deliveries'],
  delivery: (id: string) => ['delivery', id],
  stream: (id: string) => ['stream', id],
  addresses: (id: string) => ['addresses', id],
  children: (id: string) => ['children', id],
  coverage: (id: string) => ['coverage', id],
  consumers: (id: string) => ['consumers', id],
  destinations: (id: string) => ['destinations', id],
  jobs: ['jobs'],
  inboxes: ['inboxes'],
  keys: ['keys'],
  alertUrls: ['alertUrls'],
  publicKeys: ['publicKeys'],
  replays: ['replays'],
  replay: ['replay'],
} as const;

/** Returns whether the service rejected the id as unknown or invalid. */
export const isUnknownId = (error: unknown): boolean =>
  isSluiceError(error, 'not_found') || isSluiceError(error, 'validation_failed');
