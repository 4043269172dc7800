/** Defines which live events refresh which queries. */
import type { LiveEvent } from '@sluice/kit/sluice';
import type { QueryKey } from '@tanstack/react-query';

type EventType = LiveEvent['type'];

/**
 * The events after which the data of a query may have changed, by the first element of its key.
 * `reset` refreshes every query, and is the only event of data that the service does not announce,
 * that is polled or that never changes.
 */
export const REFRESHES: Readonly<Record<string, readonly [EventType, ...EventType[]]>> = {
  streams: ['stream', 'delivery'],
  stream: ['stream'],
  changes: ['stream'],
  addresses: ['stream'],
  'first addresses': ['stream'],
  coverage: ['job', 'stream'],
  jobs: ['job'],
  chains: ['block', 'reorg', 'chain'],
  deliveries: ['delivery'],
  delivery: ['delivery'],
  inboxes: ['inbox'],
  replays: ['replay'],
  replay: ['replay'],
  // Polled, because they change with almost every delivery.
  counts: ['reset'],
  activity: ['reset'],
  breakdown: ['reset'],
  'end of deliveries': ['reset'],
  neighbours: ['reset'],
  'replay estimate': ['reset'],
  expiry: ['reset'],
  'last tried': ['reset'],
  // Not announced.
  about: ['reset'],
  alertUrls: ['reset'],
  audit: ['reset'],
  keys: ['reset'],
  publicKeys: ['reset'],
  settings: ['reset'],
  'stream secret': ['reset'],
  'stream secret times': ['reset'],
  explain: ['reset'],
  palette: ['reset'],
  // Do not change.
  'api document': ['reset'],
  'body to verify': ['reset'],
  contract: ['reset'],
  docs: ['reset'],
  'inbox request': ['reset'],
  name: ['reset'],
  'new stream': ['reset'],
  'why matched': ['reset'],
};

/** Queries of one stream: the second element of their key is its id. */
const OF_STREAM: readonly string[] = [
  'stream',
  'changes',
  'addresses',
  'first addresses',
  'coverage',
];

const streamIdOf = (event: LiveEvent): string | undefined =>
  event.type === 'stream' ? event.streamId : event.type === 'job' ? event.job.streamId : undefined;

/** Returns whether one of the events may have changed the data of a query of one stream. */
export function isOutdated([name, id]: QueryKey, events: readonly LiveEvent[]): boolean {
  const of = String(name);
  if (!OF_STREAM.includes(of)) return false;
  return events.some((event) => REFRESHES[of]?.includes(event.type) && streamIdOf(event) === id);
}
