/** Defines which live events refresh which queries. */
import type { LiveEvent } from '@sluice/kit/sluice';
import type { QueryKey } from '@tanstack/react-query';

type EventType = LiveEvent['type'];

/**
 * How data stays current without an event:
 * - `polled`: it is reloaded at an interval, because it changes with almost every delivery.
 * - `shown`: it is reloaded whenever a page shows it.
 * - `constant`: it does not change, or a page keeps what it has shown.
 */
type WithoutEvent = 'polled' | 'shown' | 'constant';

/**
 * The events after which the data of a query may have changed, or how it stays current without
 * one, by the first element of its key. `reset` refreshes every query.
 */
export const REFRESHES: Readonly<
  Record<string, readonly [EventType, ...EventType[]] | WithoutEvent>
> = {
  streams: ['stream', 'delivery'],
  stream: ['stream'],
  changes: ['stream'],
  addresses: ['stream'],
  'first addresses': ['stream'],
  children: ['job', 'stream'],
  coverage: ['job', 'stream'],
  consumers: ['delivery', 'stream'],
  destinations: ['stream'],
  jobs: ['job'],
  chains: ['block', 'reorg', 'chain'],
  blocks: ['block', 'reorg', 'delivery'],
  deliveries: ['delivery'],
  delivery: ['delivery'],
  inboxes: ['inbox'],
  replays: ['replay'],
  replay: ['replay'],
  counts: 'polled',
  activity: 'polled',
  breakdown: 'polled',
  'chain activity': 'polled',
  expiry: 'polled',
  incidents: 'polled',
  'last tried': 'polled',
  'end of deliveries': 'shown',
  neighbors: 'shown',
  'replay estimate': 'shown',
  about: 'shown',
  alertUrls: 'shown',
  audit: 'shown',
  keys: 'shown',
  publicKeys: 'shown',
  settings: 'shown',
  'stream secret': 'shown',
  'stream secret times': 'shown',
  address: 'shown',
  explain: 'shown',
  palette: 'shown',
  'api document': 'constant',
  'body to verify': 'constant',
  abi: 'constant',
  contract: 'constant',
  docs: 'constant',
  'inbox request': 'constant',
  name: 'constant',
  'new stream': 'constant',
  'why matched': 'constant',
};

/** Queries of one stream: the second element of their key is its id. */
const OF_STREAM: readonly string[] = [
  'stream',
  'changes',
  'addresses',
  'first addresses',
  'children',
  'coverage',
  'consumers',
  'destinations',
];

function streamIdOf(event: LiveEvent): string | undefined {
  if (event.type === 'stream') return event.streamId;
  if (event.type === 'job') return event.job.streamId;
  return event.type === 'delivery' ? event.delivery.streamId : undefined;
}

/** Returns whether one of the events may have changed the data of a query of one stream. */
export function isOutdated([name, id]: QueryKey, events: readonly LiveEvent[]): boolean {
  const of = String(name);
  if (!OF_STREAM.includes(of)) return false;
  return events.some((event) => REFRESHES[of]?.includes(event.type) && streamIdOf(event) === id);
}
