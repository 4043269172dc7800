/** The service on the same origin: its clients, and the keys of what is cached of it. The session cookie travels by itself. */
import { createClient, isSluiceError } from '@sluice/kit';
import { createSluiceClient } from '@sluice/kit/sluice';

const baseUrl = location.origin;

export const sluice = createSluiceClient({ baseUrl });

export const client = createClient({ baseUrl, apiKey: null });

/** The service's limit for one page. */
export const PAGE_ROWS = 100;

/** Counts over 24 hours slide without an event; half a minute is finer than anyone reads them. */
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

/** The service knows nothing of this id, or it can be none. */
export const isNone = (error: unknown): boolean =>
  isSluiceError(error, 'not_found') || isSluiceError(error, 'validation_failed');
